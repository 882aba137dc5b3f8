"""Mending a question's documents and snippets where that needs no guess."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from hybrid_ir.bioasq.limits import MAX_DOCUMENTS, MAX_SNIPPETS
from hybrid_ir.bioasq.raw import is_offset, is_text, url_of
from hybrid_ir.bioasq.submission.document_faults import shape_of_snippet, unreadable_snippet
from hybrid_ir.bioasq.submission.faults import (
    SNIPPET_KEYS,
    Change,
    Phase,
    Place,
    changed,
    misspelled,
    shown,
)

T = TypeVar("T")


def repair_documents(
    references: list[Any], place: Place, phase: Phase
) -> tuple[list[Any], list[Change]]:
    """Leave out what is no address; in Phase A also respell, drop duplicates and cut to 10."""
    kept: list[Any] = []
    changes = []
    for position, reference in enumerate(references):
        spot = place.item(position)
        url = _respelled(reference) if phase == "A" else reference
        if not is_text(reference):
            changes.append(changed(spot, f"left out {shown(reference)}: no address"))
        elif phase == "A" and url in kept:
            changes.append(changed(spot, f"left out {shown(reference)}: stands there before"))
        else:
            kept.append(url)
            changes.extend(_rewritten(reference, url, spot))
    if phase == "A":
        kept = _cut(kept, MAX_DOCUMENTS, place, changes)
    return kept, changes


def repair_snippets(
    snippets: list[Any], place: Place, phase: Phase
) -> tuple[list[Any], list[Change]]:
    """Mend keys and values; leave out what stays unreadable; in Phase A also as documents."""
    kept: list[Any] = []
    changes = []
    shapes = []
    for position, snippet in enumerate(snippets):
        spot = place.item(position)
        mended, its_changes = repair_snippet(snippet, spot, phase)
        if fault := next(unreadable_snippet(mended, spot), None):
            changes.append(changed(spot, f"left out: {fault.problem}"))
        elif phase == "A" and shape_of_snippet(mended) in shapes:
            changes.append(changed(spot, "left out: stands there before"))
        else:
            kept.append(mended)
            shapes.append(shape_of_snippet(mended))
            changes.extend(its_changes)
    if phase == "A":
        kept = _cut(kept, MAX_SNIPPETS, place, changes)
    return kept, changes


def repair_snippet(snippet: object, place: Place, phase: Phase) -> tuple[object, list[Change]]:
    """Mend one snippet: its six keys, sections given as lists, offsets given as 3.0."""
    if not isinstance(snippet, dict):
        return snippet, []
    changes: list[Change] = []
    mended = {}
    for key, value in _six_keys(snippet, place, changes).items():
        mended[key] = _snippet_value(key, value, phase)
        changes.extend(_rewritten(value, mended[key], place.key(key)))
    return mended, changes


def _six_keys(snippet: Mapping[str, Any], place: Place, changes: list[Change]) -> dict[str, Any]:
    meant = misspelled(snippet, SNIPPET_KEYS)
    members = {key: value for key, value in snippet.items() if key in SNIPPET_KEYS}
    for key in sorted(snippet.keys() - members.keys()):
        name = meant.get(key)
        if name and name not in members:
            members[name] = snippet[key]
            changes.append(changed(place.key(key), f"renamed {name}"))
        else:
            changes.append(changed(place.key(key), f"left out {shown(snippet[key])}"))
    return members


def _snippet_value(key: str, value: object, phase: Phase) -> object:
    if key.startswith("offset"):
        return _mended_offset(value, phase)
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    if phase == "A" and key == "document":
        return _respelled(value)
    if phase == "A" and key.endswith("Section") and isinstance(value, str):
        name = value.strip().lower()
        return name if name in ("title", "abstract") else value
    return value


def _mended_offset(value: object, phase: Phase) -> object:
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if phase == "A" and isinstance(value, str) and is_offset(value):
        return int(value)
    return value


def _respelled(reference: object) -> object:
    try:
        return url_of(reference)
    except ValueError:
        return reference


def _rewritten(before: object, after: object, place: Place) -> list[Change]:
    if type(before) is type(after) and before == after:
        return []
    return [changed(place, f"{shown(before)} became {shown(after)}")]


def _cut(values: list[T], limit: int, place: Place, changes: list[Change]) -> list[T]:
    if len(values) > limit:
        changes.append(changed(place, f"cut from {len(values)} to {limit}"))
    return values[:limit]
