"""The values of each question as ``evaluate --per-question`` writes them, read back."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hybrid_ir.errors import InputError
from hybrid_ir.evaluation.scores import Mode
from hybrid_ir.files import read_lines
from hybrid_ir.records import QUESTION_TYPES, QuestionType

TEXTS = ("system", "gold", "mode", "id")
STATED = (*TEXTS, "edition", "type")
"""What every line states beside the values."""


@dataclass(frozen=True, slots=True)
class SystemValues:
    """What a system scored on each question.

    Attributes:
        name: The system.
        origin: Where the values come from, for messages.
        gold: What it was scored against.
        values: Question id -> measure -> value; a measure that is no number is absent.
        types: Question id -> type, where it is known.
    """

    name: str
    origin: str
    gold: str
    edition: int
    values: dict[str, dict[str, float]] = field(default_factory=dict)
    types: dict[str, QuestionType] = field(default_factory=dict)


def read_question_values(path: Path, mode: Mode) -> list[SystemValues]:
    """Read the systems of a file, those values that are of one mode.

    Raises:
        InputError: a line that is none of values, a question twice for a system, several golds of
            one system, or no value of the mode.
    """
    systems: dict[str, SystemValues] = {}
    others: set[str] = set()
    for number, row in _rows(path):
        if row["mode"] != mode:
            others.add(str(row["mode"]))
            continue
        name, gold, edition, id_ = row["system"], row["gold"], row.get("edition", 9), row["id"]
        system = systems.setdefault(name, SystemValues(name, f"{path}: {name}", gold, edition))
        if (gold, edition) != (system.gold, system.edition) or id_ in system.values:
            raise InputError(
                f"{path}:{number}: expected one value of {name} for question {id_} against one "
                f"gold, got {system.gold} (edition {system.edition}) and {gold} (edition "
                f"{edition}): write them to a file each"
            )
        measures = {key: value for key, value in row.items() if key not in STATED}
        system.values[id_] = {key: float(v) for key, v in measures.items() if v is not None}
        if row.get("type") in QUESTION_TYPES:
            system.types[id_] = row["type"]
    if not systems:
        found = f"only {', '.join(sorted(others))}" if others else "it is empty"
        raise InputError(f"{path}: expected values of mode {mode}, {found}")
    return list(systems.values())


def _rows(path: Path) -> Iterator[tuple[int, Mapping[str, Any]]]:
    for number, line in read_lines(path):
        try:
            row = json.loads(line)
        except ValueError as error:
            raise InputError(f"{path}:{number}: expected JSON: {error}") from error
        if not isinstance(row, dict) or not all(isinstance(row.get(key), str) for key in TEXTS):
            raise InputError(
                f"{path}:{number}: expected an object with texts under {', '.join(TEXTS)} and "
                f"values, as evaluate --per-question writes it, got {line:.80}"
            )
        faulty = [key for key in row if key not in STATED and not _is_value(row[key])]
        if faulty:
            raise InputError(f"{path}:{number}: expected numbers, got {row[faulty[0]]!r:.80}")
        yield number, row


def _is_value(value: object) -> bool:
    return value is None or (isinstance(value, int | float) and not isinstance(value, bool))
