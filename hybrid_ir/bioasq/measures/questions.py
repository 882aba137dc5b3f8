"""Questions as the official evaluator reads them, and everything it cannot read.

The program reads the JSON piece by piece, expecting a certain kind of value at each place, and
ends with a Java exception at the first other one, which takes the whole submission along. Here all
such places are found and named at once. What it does not read (bodies, ideal answers, other keys
of a question) may have any form.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, NoReturn, TypeAlias, TypeVar

from hybrid_ir.errors import InputError

T = TypeVar("T")

Edition = Literal[2, 3, 5, 8, 9]
"""The program's ``-e``: 2 for BioASQ 1-2, 3 for 3-4, 5 for 5-7, 8 for 8, 9 for 9 and later."""

EDITIONS: tuple[Edition, ...] = (2, 3, 5, 8, 9)

Raw: TypeAlias = Mapping[str, Any]
"""One question exactly as the JSON file has it."""

Exact: TypeAlias = "str | tuple[str | tuple[str, ...], ...] | None"
"""An exact answer as read: a text, a list of lists of texts, a flat list (edition 2), or none."""

SNIPPET_KEYS = frozenset(
    ("document", "beginSection", "endSection", "offsetInBeginSection", "offsetInEndSection", "text")
)
INTEGER = re.compile(r"[+-]?[0-9]{1,10}", re.ASCII)
FLAT_LIST_EDITION: Edition = 2


class Passage(NamedTuple):
    """A snippet as the evaluator holds it; ``end`` is the last character for it, not the next."""

    document: str
    begin_section: str
    end_section: str
    begin: int
    end: int


class Triple(NamedTuple):
    """A statement of the first editions: subject, predicate, object."""

    subject: str
    predicate: str
    object: str


@dataclass(frozen=True, slots=True)
class Entry:
    """One question of a gold or of a submission as the evaluator holds it."""

    id: str
    type: str | None
    documents: tuple[str, ...]
    concepts: tuple[str, ...]
    snippets: tuple[Passage, ...]
    triples: tuple[Triple, ...]
    exact: Exact


class _UnreadableError(Exception):
    """The value at one place is none the program can read; the text says where and what."""


def read_questions(questions: Sequence[Raw], edition: Edition, source: str) -> tuple[Entry, ...]:
    """Read questions as the official program does.

    Args:
        questions: The questions as they stand in the file.
        edition: Decides which exact answers can be read.
        source: What to call the file in messages, such as its path, "gold" or "submission".

    Raises:
        InputError: the program would die; names every question, place and cause.
    """
    entries: list[Entry] = []
    faults: list[str] = []
    for position, question in enumerate(questions):
        try:
            entries.append(_entry(question, edition))
        except _UnreadableError as fault:
            name = question.get("id", f"number {position + 1}")
            faults.append(f"question {name}: {fault}")
    if faults:
        raise InputError.of_all(
            f"{source}: the official program (edition {edition}) dies on "
            f"{len(faults)} of {len(questions)} questions; repair the file",
            faults,
        )
    return tuple(entries)


def by_id(entries: Sequence[Entry]) -> dict[str, Entry]:
    """Find the responses by question id: where an id occurs twice, the first one counts."""
    found: dict[str, Entry] = {}
    for entry in entries:
        found.setdefault(entry.id, entry)
    return found


def section_name(section: str) -> str:
    """Give the name sections are compared by: what follows the first dot, ``sections.0`` -> ``0``.

    A section without a dot (``title``, ``abstract``) goes by its whole name.
    """
    return section.partition(".")[2] if "." in section else section


def _entry(question: Raw, edition: Edition) -> Entry:
    return Entry(
        id=_text(question["id"], "id") if "id" in question else _missing("id"),
        type=_text(question["type"], "type") if "type" in question else None,
        documents=_distinct_texts(question, "documents"),
        concepts=_distinct_texts(question, "concepts"),
        snippets=_each(question, "snippets", _passage),
        triples=_each(question, "triples", _triple),
        exact=_exact(question, edition),
    )


def _missing(key: str) -> NoReturn:
    raise _UnreadableError(f"{key}: expected text, got nothing")


def _each(question: Raw, key: str, read: Callable[[object], T]) -> tuple[T, ...]:
    """Read the list under a key; an absent key is an empty list, but ``null`` kills the program."""
    items = question.get(key, [])
    if not isinstance(items, list):
        raise _UnreadableError(f"{key}: expected a list, got {_outline(items)}")
    values: list[T] = []
    for position, item in enumerate(items):
        try:
            values.append(read(item))
        except _UnreadableError as fault:
            raise _UnreadableError(f"{key}[{position}]{fault}") from None
    return tuple(values)


def _distinct_texts(question: Raw, key: str) -> tuple[str, ...]:
    """Read documents or concepts: repetitions are dropped on reading, the first one is kept."""
    return tuple(dict.fromkeys(_each(question, key, _text)))


def _text(value: object, place: str = "") -> str:
    """Read a text; a number is taken for its digits, anything else kills the program."""
    if isinstance(value, str):
        return value
    if isinstance(value, int | float) and not isinstance(value, bool):
        return str(value)
    raise _UnreadableError(f"{place}: expected text, got {_outline(value)}")


def _integer(value: object, place: str) -> int:
    """Read an offset: an integer, as a number or as text; a fraction kills the program."""
    if isinstance(value, str) and INTEGER.fullmatch(value):
        value = int(value)
    if isinstance(value, int) and not isinstance(value, bool) and -(2**31) <= value < 2**31:
        return value
    raise _UnreadableError(f"{place}: expected an integer of 32 bits, got {_outline(value)}")


def _passage(value: object) -> Passage:
    """Read a snippet; a key beyond the six ends the program, since it cannot step over one."""
    if not isinstance(value, dict):
        raise _UnreadableError(f": expected an object, got {_outline(value)}")
    if value.keys() != SNIPPET_KEYS:
        _check_keys(value)
    _text(value.get("text", ""), ".text")
    document = _text(value["document"], ".document")
    if document and not document.strip("/"):  # no path component is left to compare
        raise _UnreadableError(f".document: expected a URL, got {document!r}")
    return Passage(
        document,
        section_name(_text(value["beginSection"], ".beginSection")),
        section_name(_text(value["endSection"], ".endSection")),
        _integer(value["offsetInBeginSection"], ".offsetInBeginSection"),
        _integer(value["offsetInEndSection"], ".offsetInEndSection"),
    )


def _check_keys(snippet: dict[str, Any]) -> None:
    if extra := sorted(snippet.keys() - SNIPPET_KEYS):
        raise _UnreadableError(f": unknown key {', '.join(map(repr, extra))}")
    if missing := sorted(SNIPPET_KEYS - snippet.keys() - {"text"}):
        raise _UnreadableError(f": lacks {', '.join(missing)}")


def _triple(value: object) -> Triple:
    if not isinstance(value, dict):
        raise _UnreadableError(f": expected an object with s, p and o, got {_outline(value)}")
    return Triple(*(_text(value.get(key), f".{key}") for key in ("s", "p", "o")))


def _exact(question: Raw, edition: Edition) -> Exact:
    """Read an exact answer by its form alone, since its key may stand before the type.

    From edition 3 on a list must hold lists: the flat list of a training file kills the program.
    Edition 2 takes both.
    """
    if "exact_answer" not in question:
        return None
    answer = question["exact_answer"]
    if isinstance(answer, str):
        return answer
    if not isinstance(answer, list):
        raise _UnreadableError(f"exact_answer: expected text or a list, got {_outline(answer)}")
    if edition == FLAT_LIST_EDITION:
        return _each(
            question, "exact_answer", lambda v: _names(v) if isinstance(v, list) else _text(v)
        )
    return _each(question, "exact_answer", _names)


def _names(value: object) -> tuple[str, ...]:
    if not isinstance(value, list):
        raise _UnreadableError(f": expected a list of texts, got {_outline(value)}")
    return tuple(_text(text, f"[{position}]") for position, text in enumerate(value))


def _outline(value: object) -> str:
    """Describe a JSON value in a few words."""
    if value is None:
        return "null"
    if isinstance(value, list | dict):
        return f"a list of {len(value)}" if isinstance(value, list) else "an object"
    return repr(value)[:60]
