"""Faults of a question's exact and ideal answers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from hybrid_ir.bioasq.limits import (
    MAX_FACTOID_ENTRIES,
    MAX_IDEAL_WORDS,
    MAX_LIST_ENTRIES,
    MAX_LIST_ENTRY_CHARACTERS,
)
from hybrid_ir.bioasq.raw import is_text
from hybrid_ir.bioasq.submission.faults import DIES, Fault, Place, error, shown, warning
from hybrid_ir.records import QuestionType

_NESTED = 'write one list an entry: [["first"], ["second"]]'


def unreadable_exact(answer: object, kind: QuestionType, place: Place) -> Iterator[Fault]:
    """Find what stops the official evaluator, in any phase, from reading an exact answer.

    A bare text is read even where a list is due, but earns nothing there.
    """
    if kind == "yesno" or not isinstance(answer, list):
        if not isinstance(answer, str):
            wanted = '"yes" or "no"' if kind == "yesno" else "a list of lists of texts"
            problem = f"expected {wanted}, got {shown(answer)}; {DIES}"
            yield error(place, problem, f"write {wanted}, or leave the key out")
        return
    if flat := [entry for entry in answer if not isinstance(entry, list)]:
        problem = f"{len(flat)} of {len(answer)} entries are no lists, such as {shown(flat[0])}"
        yield error(place, f"{problem}; {DIES}", _NESTED)
    for position, entry in enumerate(answer):
        if isinstance(entry, list) and not all(map(is_text, entry)):
            problem = f"expected one text, got {shown(entry)}; {DIES}"
            yield error(place.item(position), problem, _NESTED)


def answer_faults(question: Mapping[str, Any], kind: QuestionType, place: Place) -> Iterator[Fault]:
    """Find what breaks the limits of Phases A+ and B or can earn nothing there."""
    exact, spot = question.get("exact_answer"), place.key("exact_answer")
    if exact is None:
        if kind != "summary":
            yield warning(spot, "no exact answer: scores 0", "answer the question")
    elif kind == "summary":
        yield warning(spot, "summary questions have no exact answer", "leave it out")
    elif not any(unreadable_exact(exact, kind, spot)):
        yield from (
            _yes_no_faults(exact, spot) if kind == "yesno" else _entry_faults(exact, kind, spot)
        )
    yield from _ideal_faults(question.get("ideal_answer"), place.key("ideal_answer"))


def _yes_no_faults(answer: object, place: Place) -> Iterator[Fault]:
    if answer not in ("yes", "no"):
        problem = f'expected "yes" or "no", exactly, got {shown(answer)}'
        yield error(place, problem, 'write "yes" or "no"')


def _entry_faults(answer: object, kind: QuestionType, place: Place) -> Iterator[Fault]:
    if not isinstance(answer, list):
        problem = f"expected a list of lists, got {shown(answer)}: scores 0"
        yield error(place, problem, _NESTED)
        return
    limit = MAX_FACTOID_ENTRIES if kind == "factoid" else MAX_LIST_ENTRIES
    if len(answer) > limit:
        problem = f"expected at most {limit} entries, got {len(answer)}"
        yield error(place, problem, f"keep the best {limit}, best first")
    if not any(str(text).strip() for entry in answer for text in entry):
        yield warning(place, "an empty answer: scores 0", "answer the question")
    first_places: dict[str, int] = {}
    for position, entry in enumerate(answer):
        spot = place.item(position)
        yield from _one_entry_faults(entry, kind, spot)
        first = first_places.setdefault(entry_key(entry, kind), position)
        if first < position and entry_key(entry, kind):
            yield warning(spot, f"the same as [{first}]: counts as wrong", "leave it out")


def entry_key(entry: list[Any], kind: QuestionType) -> str:
    """Give what the official evaluator compares of an entry; empty for an empty one.

    Of a factoid's entry it takes the first text, of a list's any.
    """
    names = entry if kind == "list" else entry[:1]
    return "\n".join(str(name).strip().lower() for name in names).strip()


def _one_entry_faults(entry: list[Any], kind: QuestionType, place: Place) -> Iterator[Fault]:
    if len(entry) > 1:
        problem = f"expected one text an entry, got {len(entry)}: {shown(entry)}"
        yield error(place, problem, "synonyms are the gold's business: keep one")
    for text in entry[:1]:
        if not isinstance(text, str):
            yield warning(place, f"a number: {shown(text)}", f'write "{text}"')
        elif text != text.strip() and text.strip():
            yield warning(place, f"blanks at the edge of {shown(text)} cannot match", "cut them")
        if kind == "list" and (length := len(str(text))) > MAX_LIST_ENTRY_CHARACTERS:
            problem = f"expected at most {MAX_LIST_ENTRY_CHARACTERS} characters, got {length}"
            yield error(place, f"{problem}: {shown(text)}", "name the entity, no more")
    if not entry_key(entry, kind):
        yield warning(place, "an empty entry", "leave it out")


def _ideal_faults(answer: object, place: Place) -> Iterator[Fault]:
    if answer is None or (isinstance(answer, str) and not answer.strip()):
        yield warning(place, "no ideal answer: judged 0", "answer the question in a few sentences")
        return
    if not isinstance(answer, str):
        yield error(place, f"expected one text, got {shown(answer)}", "write one string")
        return
    if (words := len(answer.split())) > MAX_IDEAL_WORDS:
        problem = f"expected at most {MAX_IDEAL_WORDS} words, got {words}"
        yield error(place, problem, "shorten it at the end of a sentence")
    if "<" in answer or "\n" in answer.strip():
        problem = 'BioASQ\'s ROUGE reads an answer up to its first "<" or line break'
        yield warning(place, problem, 'write one line, "less than" in words')
