"""What is wrong with a submission, where, and how to cure it; BioASQ's limits in one place.

The limits are those BioASQ states for its editions since the fifth. An ``error`` is what breaks
one of them, what the participants' area refuses or what the official evaluator dies of; a
``warning`` is what is accepted but costs score or is ignored.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

Phase = Literal["A", "A+", "B"]
Severity = Literal["error", "warning"]

SNIPPET_KEYS = (
    "document",
    "text",
    "offsetInBeginSection",
    "offsetInEndSection",
    "beginSection",
    "endSection",
)

DIES = "the official evaluator dies of it"


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing wrong with a submission.

    Attributes:
        question_id: The question; empty where the fault is the file's.
        path: JSON path of the value, from ``$``, positions counted from 0.
        problem: What was expected and what came.
        cure: What to do.
        severity: ``error`` or ``warning``.
    """

    question_id: str
    path: str
    problem: str
    cure: str
    severity: Severity

    @property
    def text(self) -> str:
        """The fault in one line."""
        question = f" (question {self.question_id})" if self.question_id else ""
        return f"{self.path}{question}: {self.problem}; cure: {self.cure}"


@dataclass(frozen=True, slots=True)
class Change:
    """One thing a repair changed; ``path`` is where it stood before."""

    question_id: str
    path: str
    change: str


@dataclass(frozen=True, slots=True)
class Place:
    """Where in a submission a value stands."""

    question_id: str = ""
    path: str = "$.questions"

    def key(self, name: str) -> Place:
        """Give the place of a member of the object that stands here."""
        step = f".{name}" if name.isidentifier() else f"[{json.dumps(name)}]"
        return Place(self.question_id, self.path + step)

    def item(self, position: int) -> Place:
        """Give the place of an item of the list that stands here."""
        return Place(self.question_id, f"{self.path}[{position}]")


def error(place: Place, problem: str, cure: str) -> Fault:
    """Make a fault that has to be mended."""
    return Fault(place.question_id, place.path, problem, cure, "error")


def warning(place: Place, problem: str, cure: str) -> Fault:
    """Make a fault that BioASQ accepts."""
    return Fault(place.question_id, place.path, problem, cure, "warning")


def changed(place: Place, change: str) -> Change:
    """Make the report of a change."""
    return Change(place.question_id, place.path, change)


def shown(value: object) -> str:
    """Give a value as JSON, cut where it is long."""
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 80 else f"{text[:77]}..."


def misspelled(keys: Iterable[str], known: Sequence[str]) -> dict[str, str]:
    """Map keys to the known ones they differ from only in case, underscores, hyphens or blanks."""
    unknown = [key for key in keys if key not in known]
    by_letters = {_letters(name): name for name in known} if unknown else {}
    return {key: by_letters[_letters(key)] for key in unknown if _letters(key) in by_letters}


def _letters(key: str) -> str:
    return key.lower().translate({ord(character): None for character in "_- "})
