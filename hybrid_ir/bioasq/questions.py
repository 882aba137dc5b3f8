"""BioASQ questions as records."""

from __future__ import annotations

import logging
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any, TypeVar

from hybrid_ir.bioasq.raw import read_raw
from hybrid_ir.errors import InputError
from hybrid_ir.records import QUESTION_TYPES, Question, QuestionType

log = logging.getLogger(__name__)

T = TypeVar("T")

_USUAL_ID = re.compile("[0-9a-f]{24}", re.IGNORECASE)


def read_questions(path: Path) -> tuple[Question, ...]:
    """Read the questions of any BioASQ file that gives them: test set, golden, training, Synergy.

    White space in a body is normalised (line breaks and runs become one blank, edges are cut):
    a body becomes a query, a prompt and a line of a table, and the blanks are slips of editing.
    :func:`~hybrid_ir.bioasq.raw.read_raw` has the body as it came. Types are read in any case.

    Raises:
        InputError: no BioASQ file, no question in it, or questions that cannot be read: without
            id, body or a type known to BioASQ, or with an id twice; all of them are named.
    """
    return questions_of(read_raw(path), path)


def questions_of(raw: Sequence[Mapping[str, Any]], source: Path) -> tuple[Question, ...]:
    """Turn verbatim questions into records, as :func:`read_questions` does.

    Args:
        raw: The questions of a file.
        source: Where they come from, for messages.
    """
    questions = convert_all(raw, source, _question)
    if unusual := [question.id for question in questions if not _USUAL_ID.fullmatch(question.id)]:
        log.warning(
            "%s: %d of %d question ids are not 24 hexadecimal characters (first: %r)",
            source, len(unusual), len(questions), unusual[0],
        )  # fmt: skip
    return questions


def convert_all(
    raw: Sequence[Mapping[str, Any]], source: Path, convert: Callable[[Mapping[str, Any]], T]
) -> tuple[T, ...]:
    """Convert every question of a file, or say at once which cannot be converted and why.

    Args:
        raw: The questions of a file.
        source: Where they come from, for messages.
        convert: Gives the record of a question or raises a ValueError that states the reason.

    Raises:
        InputError: there is no question, an id is missing or stands twice, a conversion fails.
    """
    if not raw:
        raise InputError(f"{source}: expected questions, but the list is empty")
    faults = list(_id_faults(raw))
    records = []
    for position, question in enumerate(raw):
        try:
            records.append(convert(question))
        except ValueError as error:
            faults.append(f"{_name(question, position)}: {error}")
    if faults:
        raise InputError.of_all(f"{source}: cannot read these of {len(raw)} questions", faults)
    return tuple(records)


def question_type(value: object) -> QuestionType | None:
    """Give the question type a value names, in any case ("YesNo", "yes/no"); None for no type."""
    letters = re.sub("[^a-z]", "", value.lower()) if isinstance(value, str) else ""
    return next((kind for kind in QUESTION_TYPES if kind == letters), None)


def _id_faults(raw: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    ids = [question.get("id") for question in raw]
    counts = Counter(identity for identity in ids if isinstance(identity, str))
    for position, question in enumerate(raw):
        identity = question.get("id")
        if not isinstance(identity, str) or not identity.strip():
            yield f"question {position + 1}: id: expected text, got {_shown(question, 'id')}"
        elif counts[identity] > 1 and ids.index(identity) == position:
            yield f"question {identity}: stands {counts[identity]} times in the file"


def _name(question: Mapping[str, Any], position: int) -> str:
    identity = question.get("id")
    named = isinstance(identity, str) and identity.strip()
    return f"question {identity if named else position + 1}"


def _question(question: Mapping[str, Any]) -> Question:
    body = question.get("body")
    words = body.split() if isinstance(body, str) else []
    reasons = [] if words else [f"body: expected text, got {_shown(question, 'body')}"]
    kind = question_type(question.get("type"))
    if kind is None:
        reasons.append(f"type: {_type_hint(question)}")
    if kind is None or reasons:
        raise ValueError("; ".join(reasons))
    return Question(str(question.get("id")), " ".join(words), kind)


def _type_hint(question: Mapping[str, Any]) -> str:
    near = get_close_matches(str(question.get("type")).lower(), QUESTION_TYPES, n=1)
    hint = f" (did you mean {near[0]!r}?)" if near else ""
    return f"expected {', '.join(QUESTION_TYPES)}, got {_shown(question, 'type')}{hint}"


def _shown(question: Mapping[str, Any], key: str) -> str:
    return f"{question[key]!r:.80}" if key in question else "nothing"
