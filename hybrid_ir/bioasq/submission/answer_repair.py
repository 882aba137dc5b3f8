"""Mending a question's exact and ideal answers where that needs no guess."""

from __future__ import annotations

import re
from typing import Any

from hybrid_ir.bioasq.limits import MAX_FACTOID_ENTRIES, MAX_IDEAL_WORDS, MAX_LIST_ENTRIES
from hybrid_ir.bioasq.raw import is_text, texts_in
from hybrid_ir.bioasq.submission.answer_faults import entry_key, unreadable_exact
from hybrid_ir.bioasq.submission.faults import Change, Phase, Place, changed, shown
from hybrid_ir.records import QuestionType

_YES_NO = {"yes": "yes", "no": "no", "true": "yes", "false": "no"}

_SENTENCE_END = re.compile(r"""[.!?]["'”’)\]]*(?=\s+["'“‘(\[]*[A-Z0-9])|[.!?]["'”’)\]]*\s*$""")
_ABBREVIATIONS = {
    "al", "approx", "ca", "cf", "dr", "e.g", "etc", "fig", "i.e", "incl", "no", "resp", "sp", "spp",
    "st", "subsp", "var", "viz", "vs",
}  # fmt: skip


def repair_exact(
    answer: object, kind: QuestionType, place: Place, phase: Phase
) -> tuple[object, list[Change]]:
    """Bring an exact answer into the shape of its question's type.

    In Phase A only what the official evaluator cannot read is touched. A flat list becomes one
    entry a text, brackets too many go, "Yes." becomes "yes", empty, repeated and surplus entries
    go. Of several texts in an entry of a factoid answer the first stays, as it does in the official
    evaluator; in a list answer any of them can match, and leaving one out would be a guess: such an
    entry stays, and validation names it.

    Returns:
        The answer, None where it has to be left out, and the changes.
    """
    if kind == "summary" and (phase != "A" or any(unreadable_exact(answer, kind, place))):
        return None, [changed(place, f"left out {shown(answer)}: a summary question has none")]
    if phase == "A" and not any(unreadable_exact(answer, kind, place)):
        return answer, []
    mended, changes = _yes_no(answer, place) if kind == "yesno" else _nested(answer, place)
    if any(unreadable_exact(mended, kind, place)):
        return None, [changed(place, f"left out {shown(answer)}: it cannot be read")]
    if phase != "A" and isinstance(mended, list):
        mended = _clean(mended, kind, place, changes)
        limit = MAX_FACTOID_ENTRIES if kind == "factoid" else MAX_LIST_ENTRIES
        if len(mended) > limit:
            changes.append(changed(place, f"cut from {len(mended)} entries to {limit}"))
        mended = mended[:limit]
    return mended, changes


def repair_ideal(answer: object, place: Place) -> tuple[object, list[Change]]:
    """Take an ideal answer out of its brackets and cut it at a sentence end within 200 words.

    Several texts in a list, or a first sentence of more than 200 words, stay as they are.
    """
    changes = []
    if isinstance(answer, list) and len(answer) == 1 and isinstance(answer[0], str):
        answer = answer[0]
        changes.append(changed(place, "took the one text out of its list"))
    if isinstance(answer, str) and (words := len(answer.split())) > MAX_IDEAL_WORDS:
        cut = cut_at_sentence_end(answer, MAX_IDEAL_WORDS)
        if cut:
            report = f"cut from {words} to {len(cut.split())} words; left out {answer[len(cut) :]}"
            changes.append(changed(place, report))
            answer = cut
    return answer, changes


def cut_at_sentence_end(text: str, words: int) -> str:
    """Give the longest run of whole sentences from the start that has at most so many words.

    A full stop after an abbreviation, a single letter ("E. coli") or the number of a list's item
    ends no sentence. The result is empty where the first sentence alone is longer.
    """
    ends = (
        match.end()
        for match in _SENTENCE_END.finditer(text)
        if text[match.start()] != "." or not _is_label(text[: match.start()])
    )
    fitting = [end for end in ends if len(text[:end].split()) <= words]
    return text[: fitting[-1]] if fitting else ""


def _is_label(before: str) -> bool:
    """Whether the full stop after a text belongs to its last word and not to a sentence."""
    word = (before.split() or [""])[-1].lstrip("(['\"").lower()
    line = before[before.rfind("\n") + 1 :].strip()
    return len(word) <= 1 or word in _ABBREVIATIONS or line.isdigit()


def _yes_no(answer: object, place: Place) -> tuple[object, list[Change]]:
    texts = list(texts_in(answer))
    word = texts[0].strip().removesuffix(".").lower() if len(texts) == 1 else ""
    mended = _YES_NO.get(word, answer)
    changes = [changed(place, f"{shown(answer)} became {shown(mended)}")]
    return mended, changes if mended is not answer and mended != answer else []


def _nested(answer: object, place: Place) -> tuple[object, list[Change]]:
    """Give every text an entry of its own, and no entry more brackets than one."""
    if is_text(answer):
        return [[answer]], [changed(place, f"{shown(answer)} became {shown([[answer]])}")]
    if not isinstance(answer, list):
        return answer, []
    changes = []
    entries = _without_outer_brackets(answer)
    if entries is not answer:
        changes.append(changed(place, "removed a pair of brackets around all entries"))
    mended = []
    for position, entry in enumerate(entries):
        readable = _entry(entry)
        if readable is None:
            changes.append(changed(place.item(position), f"left out {shown(entry)}: unreadable"))
            continue
        mended.append(readable)
        if readable != entry:
            report = f"{shown(entry)} became {shown(readable)}"
            changes.append(changed(place.item(position), report))
    return mended, changes


def _without_outer_brackets(answer: list[Any]) -> list[Any]:
    while len(answer) == 1 and isinstance(answer[0], list) and _holds_lists(answer[0]):
        answer = answer[0]
    return answer


def _holds_lists(entry: list[Any]) -> bool:
    return bool(entry) and all(isinstance(item, list) for item in entry)


def _entry(entry: object) -> list[Any] | None:
    while isinstance(entry, list) and len(entry) == 1 and isinstance(entry[0], list):
        entry = entry[0]
    texts = entry if isinstance(entry, list) else [entry]
    texts = [text for text in texts if text is not None]
    return texts if all(map(is_text, texts)) else None


def _clean(
    entries: list[list[Any]], kind: QuestionType, place: Place, changes: list[Change]
) -> list[list[str]]:
    """Keep one text an entry (a list: all of them), none empty or twice, no blanks at the edges."""
    kept: dict[str, list[str]] = {}
    for position, entry in enumerate(entries):
        spot = place.item(position)
        key = entry_key(entry, kind)
        if not key or key in kept:
            reason = "stands there before" if key else "empty"
            changes.append(changed(spot, f"left out {shown(entry)}: {reason}"))
            continue
        names = entry if kind == "list" else entry[:1]
        kept[key] = [str(name).strip() for name in names]
        if kept[key] != entry:
            changes.append(changed(spot, f"{shown(entry)} became {shown(kept[key])}"))
    return list(kept.values())
