"""Faults and changes of a submission laid out for people: by kind, the frequent ones counted.

A submission of one habit has the same fault hundreds of times. Up to ``SHOWN`` of a kind are shown
one by one; of more, their number and the first: ``--json`` has every one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from hybrid_ir.bioasq.submission.faults import Change, Fault
from hybrid_ir.wording import counted

SHOWN = 3
FIRST = "    first: "


def faults_text(faults: Sequence[Fault]) -> str:
    """Lay faults out: errors, then warnings, each in the order of their first occurrence."""
    lines: list[str] = []
    for severity in ("error", "warning"):
        chosen = [fault for fault in faults if fault.severity == severity]
        if chosen:
            lines += ["", f"{counted(len(chosen), severity)}:"]
            lines += _by_kind([(f.question_id, f.path, f.problem, f.text) for f in chosen])
    return _text(lines)


def changes_text(changes: Sequence[Change]) -> str:
    """Lay changes out in the order of their first occurrence."""
    rows = [(c.question_id, c.path, c.change, _change_line(c)) for c in changes]
    lines = ["", f"{counted(len(changes), 'change')}:", *_by_kind(rows)] if rows else []
    return _text(lines)


def note(text: str) -> str:
    """Say, below a text of these, how to see what is summed up in it; empty where nothing is."""
    return "\n… stands for what differs; every one: --json\n" if FIRST in text else ""


def verdict(faults: Iterable[Fault]) -> str:
    """Say in a few words how a submission stands."""
    errors, warnings = counts(faults).values()
    if not errors and not warnings:
        return "no fault found"
    found = f"{counted(errors, 'error')}, {counted(warnings, 'warning')}"
    return found if errors else f"{found}: BioASQ takes and scores it"


def counts(faults: Iterable[Fault]) -> dict[str, int]:
    """Count errors and warnings."""
    severities = [fault.severity for fault in faults]
    return {"errors": severities.count("error"), "warnings": severities.count("warning")}


def _change_line(change: Change) -> str:
    question = f" (question {change.question_id})" if change.question_id else ""
    return f"{change.path}{question}: {change.change}"


_Row = tuple[str, str, str, str]
"""Question id, path, what is said, and the whole line."""


def _by_kind(rows: Iterable[_Row]) -> Iterator[str]:
    kinds: dict[tuple[str, str], list[_Row]] = {}
    for row in rows:
        question_id, path, said, _ = row
        kinds.setdefault((_places(path), _pattern(said, question_id)), []).append(row)
    for (path, pattern), members in kinds.items():
        if len(members) <= SHOWN:
            yield from (f"  {line}" for _, _, _, line in members)
        else:
            questions = len({question_id for question_id, _, _, _ in members})
            yield f"  {len(members)} in {counted(questions, 'question')}: {path}: {pattern}"
            yield f"{FIRST}{members[0][3]}"


def _places(path: str) -> str:
    return re.sub(r"\[[0-9]+\]", "[*]", path)


def _pattern(said: str, question_id: str) -> str:
    """Give what two messages of one kind have in common: no values, ids, numbers or answers."""
    said = said.replace(repr(question_id), "'…'")
    said = re.sub("; left out .*", "; left out …", said, flags=re.DOTALL)
    said = re.sub(r'"(?:[^"\\]|\\.)*(?:"|$)', '"…"', said)
    said = re.sub(r"\[.*\]|\{.*\}", "[…]", said)
    return re.sub(r"[0-9]+(?:\.[0-9]+)?", "N", said)


def _text(lines: Iterable[str]) -> str:
    escaped = (line.replace("\n", "\\n").replace("\r", "\\r") for line in lines)
    return "".join(f"{line}\n" for line in escaped)
