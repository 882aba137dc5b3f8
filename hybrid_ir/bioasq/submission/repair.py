"""Repairing a submission: only what needs no guess, and every change reported.

What the official evaluator dies of is always removed, if need be by leaving out the one value, so
that a repaired file can be scored. What only its author can mend is named and left as it is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from hybrid_ir.bioasq.submission.answer_repair import repair_exact, repair_ideal
from hybrid_ir.bioasq.submission.document_faults import unreadable_item
from hybrid_ir.bioasq.submission.document_repair import repair_documents, repair_snippets
from hybrid_ir.bioasq.submission.faults import (
    Change,
    Fault,
    Phase,
    Place,
    changed,
    misspelled,
    shown,
)
from hybrid_ir.bioasq.submission.validation import LIST_KEYS, QUESTION_KEYS, validate
from hybrid_ir.records import Question


def repair(
    raw_questions: Sequence[Mapping[str, Any]], questions: Sequence[Question], phase: Phase
) -> tuple[list[dict[str, Any]], tuple[Change, ...], tuple[Fault, ...]]:
    """Mend a submission.

    Mended are: addresses of documents; keys that differ in case or underscores; keys too many in
    snippets; shapes of answers; lists that are too long; ideal answers of more than 200 words;
    duplicates; type and body that differ from the batch; questions that are not in the batch
    (left out), stand there twice (the first stays) or are missing (added without an answer).
    Repairing a repaired submission changes nothing.

    Args:
        raw_questions: The submission, as :func:`~hybrid_ir.bioasq.raw.read_raw` gives it.
        questions: The batch it answers.
        phase: What else than unreadable values is mended: documents and snippets in Phase A,
            answers in A+ and B.

    Returns:
        The repaired questions, the changes (their paths are those of the given file) and the
        faults that remain (their paths are those of the repaired one).
    """
    missing = {question.id: question for question in questions}
    repaired = []
    changes: list[Change] = []
    for position, raw in enumerate(raw_questions):
        identity = raw.get("id")
        place = Place(identity if isinstance(identity, str) else "").item(position)
        question = missing.pop(place.question_id, None)
        if question is None and (question := missing.pop(place.question_id.strip(), None)):
            changes.append(changed(place.key("id"), "cut the blanks at its edge"))
            raw = {**raw, "id": question.id}
        if question is None:
            report = "left out: not in the batch, or a question that stands there before"
            changes.append(changed(place, report))
            continue
        mended, its_changes = _repair_question(raw, question, place, phase)
        repaired.append(mended)
        changes.extend(its_changes)
    for question in missing.values():
        repaired.append(_unanswered(question, phase))
        changes.append(changed(Place(question.id), "added the missing question, unanswered"))
    return repaired, tuple(changes), validate(repaired, questions, phase)


def _unanswered(question: Question, phase: Phase) -> dict[str, Any]:
    named = {"id": question.id, "type": question.type, "body": question.body}
    return named | ({"documents": [], "snippets": []} if phase == "A" else {})


def _repair_question(
    raw: Mapping[str, Any], question: Question, place: Place, phase: Phase
) -> tuple[dict[str, Any], list[Change]]:
    mended, changes = _known_keys(raw, place)
    changes.extend(_as_the_batch_says(mended, question, place))
    for key in LIST_KEYS:
        changes.extend(_without_unreadable_list(mended, key, place))
    if "documents" in mended:
        spot = place.key("documents")
        mended["documents"], its = repair_documents(mended["documents"], spot, phase)
        changes.extend(its)
    if "snippets" in mended:
        spot = place.key("snippets")
        mended["snippets"], its = repair_snippets(mended["snippets"], spot, phase)
        changes.extend(its)
    for key in ("concepts", "triples"):
        changes.extend(_without_unreadable_items(mended, key, place))
    changes.extend(_repair_answers(mended, question, place, phase))
    return mended, changes


def _repair_answers(
    mended: dict[str, Any], question: Question, place: Place, phase: Phase
) -> list[Change]:
    changes = []
    if "exact_answer" in mended:
        spot = place.key("exact_answer")
        mended["exact_answer"], its = repair_exact(
            mended["exact_answer"], question.type, spot, phase
        )
        changes.extend(its)
        if mended["exact_answer"] is None:
            del mended["exact_answer"]
    if "ideal_answer" in mended and phase != "A":
        spot = place.key("ideal_answer")
        mended["ideal_answer"], its = repair_ideal(mended["ideal_answer"], spot)
        changes.extend(its)
    return changes


def _known_keys(raw: Mapping[str, Any], place: Place) -> tuple[dict[str, Any], list[Change]]:
    meant = misspelled(raw, QUESTION_KEYS)
    mended = {key: value for key, value in raw.items() if key not in meant}
    changes = []
    for key, name in meant.items():
        if mended.get(name) not in (None, "", []):
            changes.append(changed(place.key(key), f"left out: {name} is there too"))
        else:
            mended[name] = raw[key]
            changes.append(changed(place.key(key), f"renamed {name}"))
    return mended, changes


def _as_the_batch_says(mended: dict[str, Any], question: Question, place: Place) -> list[Change]:
    changes = []
    for key, value in (("type", question.type), ("body", question.body)):
        given = mended.get(key, value)
        if given != value and (key == "type" or not isinstance(given, str)):
            mended[key] = value
            changes.append(changed(place.key(key), f"{shown(given)} became {shown(value)}"))
    return changes


def _without_unreadable_list(mended: dict[str, Any], key: str, place: Place) -> list[Change]:
    value = mended.get(key, [])
    if isinstance(value, list):
        return []
    if key == "documents" and isinstance(value, str):
        mended[key] = [value]
        return [changed(place.key(key), f"{shown(value)} became {shown([value])}")]
    del mended[key]
    return [changed(place.key(key), f"left out {shown(value)}: no list")]


def _without_unreadable_items(mended: dict[str, Any], key: str, place: Place) -> list[Change]:
    kept = []
    changes = []
    for position, item in enumerate(mended.get(key, [])):
        spot = place.key(key).item(position)
        if fault := next(unreadable_item(key, item, spot), None):
            changes.append(changed(spot, f"left out: {fault.problem}"))
        else:
            kept.append(item)
    if changes:
        mended[key] = kept
    return changes
