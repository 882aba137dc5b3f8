"""Checking a submission: all that BioASQ refuses, ignores or dies of, at once.

The limits are those of the BioASQ guidelines (http://participants-area.bioasq.org); what the
official evaluator (github.com/BioASQ/Evaluation-Measures) dies of was found by running it. It
reads a whole file in every phase, so a flat answer in a Phase A file stops it too.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from hybrid_ir.bioasq.answer_faults import answer_faults, unreadable_exact
from hybrid_ir.bioasq.document_faults import (
    DocumentOf,
    phase_a_faults,
    text_faults,
    unknown_documents,
    unreadable_list,
)
from hybrid_ir.bioasq.faults import DIES, Fault, Phase, Place, error, misspelled, shown, warning
from hybrid_ir.bioasq.questions import question_type
from hybrid_ir.bioasq.raw import texts_in
from hybrid_ir.records import Question

LIST_KEYS = ("documents", "snippets", "concepts", "triples")
QUESTION_KEYS = ("id", "type", "body", *LIST_KEYS, "exact_answer", "ideal_answer")


def validate(
    raw_questions: Sequence[Mapping[str, Any]],
    questions: Sequence[Question],
    phase: Phase,
    document_of: DocumentOf | None = None,
) -> tuple[Fault, ...]:
    """Find everything wrong with a submission.

    Args:
        raw_questions: The submission, as :func:`~hybrid_ir.bioasq.raw.read_raw` gives it.
        questions: The batch it answers.
        phase: Documents and snippets are held against the limits in Phase A, answers in A+ and
            B; whether the official evaluator can read the file is checked in every phase.
        document_of: Gives a citation by its PMID, to compare snippets with the text their offsets
            point at (Phase A); without it offsets are only compared with the snippet's length.

    Returns:
        The faults, those of the file first, then question by question in the file's order.
        A submission without an ``error`` is one that BioASQ takes and scores.
    """
    batch = {question.id: question for question in questions}
    faults = [*_batch_faults(raw_questions, batch), *_nothing_at_all(raw_questions, phase)]
    if document_of and phase == "A":
        faults.extend(_uncompared(raw_questions, document_of))
    seen: set[str] = set()
    for position, raw in enumerate(raw_questions):
        identity = raw.get("id")
        place = Place(identity if isinstance(identity, str) else "").item(position)
        faults.extend(_id_faults(identity, batch, seen, place))
        if isinstance(identity, str):
            seen.add(identity)
        faults.extend(_question_faults(raw, batch.get(place.question_id), phase, place))
        if document_of and phase == "A":
            faults.extend(text_faults(raw, place, document_of))
    return tuple(faults)


def _batch_faults(
    raw_questions: Sequence[Mapping[str, Any]], batch: Mapping[str, Question]
) -> Iterator[Fault]:
    present = {raw["id"] for raw in raw_questions if isinstance(raw.get("id"), str)}
    for identity in batch:
        if identity not in present:
            problem = "the question is missing; the number of questions must equal the batch's"
            yield error(Place(identity), problem, "give every question, if need be without answer")


def _nothing_at_all(raw_questions: Sequence[Mapping[str, Any]], phase: Phase) -> Iterator[Fault]:
    keys = ("documents", "snippets") if phase == "A" else ("exact_answer", "ideal_answer")
    given = (text for raw in raw_questions for key in keys for text in texts_in(raw.get(key)))
    if not any(text.strip() for text in given):
        problem = f"no question has {' or '.join(keys)}: nothing to score in Phase {phase}"
        yield error(Place(), problem, "check the phase and the file")


def _uncompared(
    raw_questions: Sequence[Mapping[str, Any]], document_of: DocumentOf
) -> Iterator[Fault]:
    unknown = [pmid for raw in raw_questions for pmid in unknown_documents(raw, document_of)]
    if unknown:
        problem = (
            f"{len(unknown)} snippets lie in {len(set(unknown))} documents that are not at hand "
            f"(first: {unknown[0]}): their text was not compared"
        )
        yield warning(Place(), problem, "give a document store that holds them")


def _id_faults(
    identity: object, batch: Mapping[str, Question], seen: set[str], place: Place
) -> Iterator[Fault]:
    if not isinstance(identity, str):
        problem = f"expected the id as text, got {shown(identity)}"
        yield error(place.key("id"), problem, "take the id from the question file")
    elif identity not in batch:
        problem = f"{identity!r} is not a question of this batch"
        yield error(place.key("id"), problem, "leave it out, or give the batch it belongs to")
    elif identity in seen:
        problem = f"{identity!r} stands there before: only the first one counts"
        yield error(place.key("id"), problem, "leave it out")


def _question_faults(
    raw: Mapping[str, Any], question: Question | None, phase: Phase, place: Place
) -> Iterator[Fault]:
    yield from _key_faults(raw, question, place)
    for key in LIST_KEYS:
        yield from unreadable_list(raw, key, place)
    if phase == "A":
        yield from phase_a_faults(raw, place)
    if "exact_answer" in raw:
        kind = question.type if question else question_type(raw.get("type")) or "summary"
        yield from unreadable_exact(raw["exact_answer"], kind, place.key("exact_answer"))
    if question and phase != "A":
        yield from answer_faults(raw, question.type, place)


def _key_faults(raw: Mapping[str, Any], question: Question | None, place: Place) -> Iterator[Fault]:
    for key, known in misspelled(raw, QUESTION_KEYS).items():
        yield error(place.key(key), f"the key {key!r} is not read", f"write {known!r}")
    for key in ("type", "body"):
        if key in raw and not isinstance(raw[key], str):
            problem = f"expected text, got {shown(raw[key])}; {DIES}"
            yield error(place.key(key), problem, "take it from the question file")
    if question and isinstance(raw.get("type"), str) and raw["type"] != question.type:
        problem = f"the batch says {question.type!r}, the submission {raw['type']!r}"
        yield warning(place.key("type"), problem, f"write {question.type!r}")
