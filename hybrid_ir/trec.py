"""TREC runs and qrels, and the one rule that orders documents.

A run line is ``question Q0 document rank score name``, a qrels line ``question 0 document grade``
(https://trec.nist.gov, trec_eval). Scores are written with as many digits as bring the same float
back, so reading what was written gives the very same run.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from hybrid_ir.errors import InputError
from hybrid_ir.files import read_lines, writing
from hybrid_ir.records import Qrels, Ranked, Ranking, Rankings, Run

log = logging.getLogger(__name__)


def id_order(document_id: str) -> tuple[int, int, str]:
    """Sort key of a document id: integers by value and first, anything else as text."""
    if document_id.isascii() and document_id.isdigit():
        return (0, int(document_id), document_id)
    return (1, 0, document_id)


def rank(scores: Mapping[str, float] | Iterable[tuple[str, float]]) -> Ranking:
    """Order documents: score descending, then id ascending (as integers where they are).

    This is the only tie rule in the project; every stage that returns a ranking goes through it.
    """
    pairs = scores.items() if isinstance(scores, Mapping) else scores
    ordered = sorted(pairs, key=lambda pair: (-pair[1], id_order(pair[0])))
    return tuple(Ranked(document, score) for document, score in ordered)


def format_ranking(question_id: str, ranking: Ranking, name: str) -> str:
    """Give one question's part of a TREC run; empty for an empty ranking.

    Raises:
        InputError: an id or the run's name is empty or holds white space, which the format cannot.
    """
    refuse_blanks([name, question_id, *(document for document, _ in ranking)])
    return "".join(
        f"{question_id} Q0 {document} {position} {score!r} {name}\n"
        for position, (document, score) in enumerate(ranking, start=1)
    )


def refuse_blanks(tokens: list[str]) -> None:
    """Raise an InputError where ids or names could not be told apart in a TREC file."""
    if " ".join(tokens).split() != tokens:
        faulty = [token for token in tokens if token.split() != [token]]
        raise InputError(f"TREC files cannot hold {faulty!r}: ids and names have no white space")


def write_run(path: Path, rankings: Rankings, name: str) -> int:
    """Write a TREC run, question by question, and say how many questions there were.

    A question with an empty ranking leaves no line: the format has no place for it.
    """
    count = 0
    with writing(path) as file:
        for question_id, ranking in rankings:
            file.write(format_ranking(question_id, ranking, name))
            count += 1
    return count


def read_run(path: Path, depth: int | None = None) -> Run:
    """Read a TREC run; documents are ordered by score, whatever their lines' order and ranks.

    Args:
        path: The run.
        depth: Keep only so many documents a question, so that memory does not grow with the depth
            of the run; the lines of a question must then stand together.

    Raises:
        InputError: a line without its six fields, a score that is no finite number, a document
            twice for a question; with ``depth`` a question whose lines stand apart.
    """
    rankings: dict[str, Ranking] = {}
    scores: dict[str, dict[str, float]] = {}
    disagree: set[str] = set()
    name, before = path.name, ("", 0, 0.0)
    for number, question_id, document, position, score, tag in _run_lines(path):
        name = tag
        if depth and question_id != before[0]:
            rankings |= _cut(scores, depth)
            if question_id in rankings:
                raise InputError(
                    f"{path}:{number}: lines of {question_id} stand apart: sort the run"
                )
        documents = scores.setdefault(question_id, {})
        if document in documents:
            raise InputError(f"{path}:{number}: {document} occurs twice for question {question_id}")
        documents[document] = score
        if before[0] == question_id and (position - before[1]) * (score - before[2]) > 0:
            disagree.add(question_id)
        before = (question_id, position, score)
    rankings |= _cut(scores, depth)
    if disagree:
        log.warning(
            "%s: ranks and scores disagree for %d of %d questions (first: %s); scores decide",
            path, len(disagree), len(rankings), min(disagree),
        )  # fmt: skip
    return Run(name, rankings)


def _cut(scores: dict[str, dict[str, float]], depth: int | None) -> dict[str, Ranking]:
    """Rank what has been read, and forget it."""
    rankings = {question_id: rank(documents)[:depth] for question_id, documents in scores.items()}
    scores.clear()
    return rankings


def _run_lines(path: Path) -> Iterator[tuple[int, str, str, int, float, str]]:
    for number, line in read_lines(path):
        parts = line.split()
        try:
            question_id, _, document, position, score, tag = parts
            values = int(position), float(score)
        except ValueError as error:
            raise InputError(
                f"{path}:{number}: expected 'question Q0 document rank score name',"
                f" got {line!r:.100}"
            ) from error
        if not math.isfinite(values[1]):
            raise InputError(f"{path}:{number}: the score must be a finite number, got {score}")
        yield number, question_id, document, *values, tag


def write_qrels(path: Path, qrels: Qrels) -> None:
    """Write qrels, questions and documents in their given order.

    Raises:
        InputError: an id is empty or holds white space, which the format cannot.
    """
    with writing(path) as file:
        for question_id, grades in qrels.items():
            refuse_blanks([question_id, *grades])
            for document, grade in grades.items():
                file.write(f"{question_id} 0 {document} {grade}\n")


def read_qrels(path: Path) -> dict[str, dict[str, int]]:
    """Read qrels; grades may be negative, as in TREC-COVID.

    Raises:
        InputError: a line without its four fields, a grade that is no integer, a document with
            two grades for a question.
    """
    qrels: dict[str, dict[str, int]] = {}
    for number, line in read_lines(path):
        try:
            question_id, _, document, grade = line.split()
            value = int(grade)
        except ValueError as error:
            raise InputError(
                f"{path}:{number}: expected 'question 0 document grade', got {line!r:.100}"
            ) from error
        if qrels.setdefault(question_id, {}).setdefault(document, value) != value:
            raise InputError(
                f"{path}:{number}: {document} has two grades for question {question_id}"
            )
    return qrels


def completed(partial: Path) -> set[str]:
    """Give the questions that an interrupted, growing run holds whole, and cut off the rest.

    The last question may lack documents, and the last line its end, so it is dropped: what is left
    can be appended to. A file that is not there holds none.
    """
    if not partial.exists():
        return set()
    done: set[str] = set()
    last, whole, offset = b"", 0, 0
    with partial.open("rb+") as file:
        for line in file:
            question_id = line.partition(b" ")[0]
            if question_id != last:
                done.add(last.decode())
                last, whole = question_id, offset
            offset += len(line)
        file.truncate(whole)
    return done - {""}
