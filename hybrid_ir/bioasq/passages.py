"""Questions with the passages that answer them, as a data set to train on, and what recurs in it.

The JSONL has one line for each question and passage. Hugging Face's ``datasets`` loads it with
``load_dataset("json", data_files=...)``; its first two columns, ``question`` and ``passage``, are
an anchor and a positive as sentence-transformers takes them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from hybrid_ir.bioasq.gold import gold_of
from hybrid_ir.bioasq.questions import questions_of
from hybrid_ir.bioasq.raw import read_raw
from hybrid_ir.errors import InputError
from hybrid_ir.files import write_jsonl
from hybrid_ir.records import Question, QuestionType, Snippet


@dataclass(frozen=True, slots=True)
class PositivePassage:
    """A question and a gold snippet's text, verbatim; ``source`` is the golden file's name."""

    question: str
    passage: str
    question_id: str
    type: QuestionType
    document_id: str
    section: str
    source: str


class Place(NamedTuple):
    """Where a question stands."""

    source: str
    question_id: str


@dataclass(frozen=True, slots=True)
class Recurrence:
    """A question that stands in several places, with the body it has in the first."""

    body: str
    places: tuple[Place, ...]


@dataclass(frozen=True, slots=True)
class PassagesReport:
    """What became of some golden files.

    Attributes:
        passages: Lines written.
        questions: Questions that have at least one of them.
        without_passage: Questions that have none.
        repeated: Snippets left out because the question has that text already.
        blank: Snippets left out because their text is blank.
        recurrences: Questions that stand there more than once; all their lines are written.
    """

    passages: int
    questions: int
    without_passage: tuple[Place, ...]
    repeated: int
    blank: int
    recurrences: tuple[Recurrence, ...]


def write_passages(goldens: Sequence[Path], output: Path) -> PassagesReport:
    """Write the positive passages of golden or training files as JSONL.

    Raises:
        InputError: a file cannot be read, or two have the same name.
    """
    names = [path.name for path in goldens]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise InputError(
            f"expected golden files of different names, got several {', '.join(twice)}"
        )
    batches: dict[str, tuple[Question, ...]] = {}
    snippets: dict[Place, tuple[Snippet, ...]] = {}
    for path in goldens:
        raw = read_raw(path)
        batches[path.name] = questions_of(raw, path)
        for gold in gold_of(raw, "enriched", path):
            snippets[Place(path.name, gold.question_id)] = gold.snippets
    rows = [
        row
        for name, questions in batches.items()
        for question in questions
        for row in _passages(question, snippets[Place(name, question.id)], name)
    ]
    write_jsonl(output, rows)
    return _report(rows, snippets, recurrences(batches))


def recurrences(batches: Mapping[str, Iterable[Question]]) -> tuple[Recurrence, ...]:
    """Find questions that stand in several places, within a file or across files.

    Two bodies are the same when their letters and digits are, word by word, in any case.

    Args:
        batches: Name of the file -> its questions.
    """
    places: dict[tuple[str, ...], list[Place]] = {}
    bodies: dict[tuple[str, ...], str] = {}
    for source, questions in batches.items():
        for question in questions:
            key = tuple(re.findall(r"\w+", question.body.casefold()))
            bodies.setdefault(key, question.body)
            places.setdefault(key, []).append(Place(source, question.id))
    return tuple(
        Recurrence(bodies[key], tuple(found)) for key, found in places.items() if len(found) > 1
    )


def passages_text(report: PassagesReport) -> str:
    """Say for people what became of the golden files."""
    lines = [
        f"{report.passages} passages of {report.questions} questions",
        f"{len(report.without_passage)} questions have no passage",
        f"left out: {report.repeated} repeated and {report.blank} blank snippets",
        f"{len(report.recurrences)} questions stand there more than once",
    ]
    for recurrence in report.recurrences:
        places = ", ".join(f"{place.source} {place.question_id}" for place in recurrence.places)
        lines.append(f"  {recurrence.body}: {places}")
    return "".join(f"{line}\n" for line in lines)


def _passages(
    question: Question, snippets: Iterable[Snippet], source: str
) -> Iterator[PositivePassage]:
    seen: set[str] = set()
    for snippet in snippets:
        if snippet.text.strip() and snippet.text not in seen:
            seen.add(snippet.text)
            yield PositivePassage(
                question.body,
                snippet.text,
                question.id,
                question.type,
                snippet.document_id,
                snippet.section,
                source,
            )


def _report(
    rows: Sequence[PositivePassage],
    snippets: Mapping[Place, Sequence[Snippet]],
    recurring: tuple[Recurrence, ...],
) -> PassagesReport:
    answered = {Place(row.source, row.question_id) for row in rows}
    texts = [snippet.text for found in snippets.values() for snippet in found]
    blank = sum(not text.strip() for text in texts)
    return PassagesReport(
        passages=len(rows),
        questions=len(answered),
        without_passage=tuple(place for place in snippets if place not in answered),
        repeated=len(texts) - blank - len(rows),
        blank=blank,
        recurrences=recurring,
    )
