"""BioASQ files to and from TREC runs, TREC qrels and JSONL.

The other way from a run is :func:`~hybrid_ir.bioasq.submission.phase_a.write_phase_a`. What a
format has no place for is counted in a warning.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from hybrid_ir.bioasq.gold import qrels, read_gold
from hybrid_ir.bioasq.questions import read_questions
from hybrid_ir.bioasq.raw import address_of, document_id_of, is_text, read_raw, write_raw
from hybrid_ir.errors import InputError
from hybrid_ir.files import read_jsonl, write_jsonl
from hybrid_ir.records import GoldKind, Question, Ranked, Ranking, Run
from hybrid_ir.trec import read_qrels, write_qrels, write_run

log = logging.getLogger(__name__)


def golden_to_qrels(golden: Path, output: Path, kind: GoldKind = "enriched") -> int:
    """Write the documents of a golden, training or Phase B file as qrels, each of grade 1.

    Gives the number of questions written; one without documents leaves no line.

    Raises:
        InputError: the golden cannot be read, or a document's address holds white space.
    """
    judged = qrels(read_gold(golden, kind))
    write_qrels(output, judged)
    return _count_written(golden, judged)


def qrels_to_golden(judged: Path, questions: Path, output: Path) -> int:
    """Write qrels as a golden file: the batch with its documents of a grade above 0.

    The official evaluator takes it for Phase A; there are no snippets and no answers. Gives the
    number of questions, those without documents included.

    Args:
        judged: TREC qrels; a document id that is no PMID stands in the golden as it is.
        questions: The batch; the golden has its questions in their order.
        output: The golden file.

    Raises:
        InputError: a file cannot be read, or qrels of a question that is not in the batch.
    """
    grades, batch = read_qrels(judged), read_questions(questions)
    if strangers := grades.keys() - {question.id for question in batch}:
        raise InputError.of_all(
            f"{judged}: questions that are not in {questions}", sorted(strangers)
        )
    write_raw(output, [_golden(question, grades.get(question.id, {})) for question in batch])
    return len(batch)


def submission_to_run(submission: Path, output: Path, name: str) -> int:
    """Write the documents of a Phase A submission as a TREC run, in the submission's order.

    Gives the number of questions written; one without documents leaves no line.

    Args:
        submission: The file; document references of any spelling.
        output: The TREC run.
        name: The run's name.

    Raises:
        InputError: no submission of documents, or an id or name that holds white space.
    """
    run = run_of_submission(read_raw(submission), name, submission)
    write_run(output, run.rankings.items(), name)
    return _count_written(submission, run.rankings)


def run_of_submission(raw: Sequence[Mapping[str, Any]], name: str, source: Path) -> Run:
    """Give the documents of a submission as a run that keeps their order.

    A submission has no scores: of n documents the first gets n, the last 1. Of a document that
    stands there twice for a question, however it is spelled, the first place counts.

    Args:
        raw: The questions of the submission, verbatim.
        name: The run's name.
        source: Where they come from, for messages.

    Raises:
        InputError: a question without an id or with one that was there before, documents that are
            no list of references, or no documents at all; all of them are named.
    """
    rankings: dict[str, Ranking] = {}
    faults, repeated = [], 0
    for position, question in enumerate(raw):
        id_, documents = question.get("id"), question.get("documents", [])
        if not isinstance(id_, str) or not id_ or id_ in rankings:
            faults.append(f"question {position + 1}: expected an id of its own, got {id_!r}")
        elif not isinstance(documents, list) or not all(map(is_text, documents)):
            faults.append(f"question {id_}: expected a list of documents, got {documents!r:.80}")
        else:
            unique = dict.fromkeys(map(document_id_of, documents))
            repeated += len(documents) - len(unique)
            rankings[id_] = _ranking(tuple(unique))
    if not faults and not any(rankings.values()):
        faults.append("no question has documents; a Phase A submission has")
    if faults:
        raise InputError.of_all(f"{source}: cannot become a run", faults)
    if repeated:
        log.warning(
            "%s: %d documents stand there twice; their first place counts", source, repeated
        )
    return Run(name, rankings)


def questions_to_jsonl(questions: Path, output: Path) -> int:
    """Write the questions of a BioASQ file as JSONL with id, body and type; say how many."""
    return write_jsonl(output, read_questions(questions))


def jsonl_to_questions(questions: Path, output: Path) -> int:
    """Write JSONL questions as a BioASQ question file (Phase A); say how many there were."""
    batch = list(read_jsonl(questions, Question))
    write_raw(output, map(asdict, batch))
    return len(batch)


def golden_to_jsonl(golden: Path, output: Path, kind: GoldKind = "enriched") -> int:
    """Write what a golden file holds as JSONL of gold records; say how many questions."""
    return write_jsonl(output, read_gold(golden, kind))


def _golden(question: Question, grades: Mapping[str, int]) -> dict[str, Any]:
    documents = [address_of(document) for document, grade in grades.items() if grade > 0]
    return {**asdict(question), "documents": documents, "snippets": []}


def _ranking(documents: Sequence[str]) -> Ranking:
    places = range(len(documents), 0, -1)
    return tuple(Ranked(id_, float(place)) for id_, place in zip(documents, places, strict=True))


def _count_written(source: Path, written: Mapping[str, object]) -> int:
    empty = sorted(id_ for id_, documents in written.items() if not documents)
    if empty:
        log.warning(
            "%s: %d of %d questions have no documents and leave no line (first: %s)",
            source, len(empty), len(written), empty[0],
        )  # fmt: skip
    return len(written) - len(empty)
