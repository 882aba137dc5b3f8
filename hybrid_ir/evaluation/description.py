"""What a batch of questions is like: how long, of which types, how they begin.

Batches differ in difficulty, so scores on two of them are compared with caution; these are the
figures by which "MiBi at BioASQ 2024" (section 3.6) compared batches 3 and 4 of task 12b. Batch 3
has 6.6 words that are no stop words there and here; its 10.7 words there count punctuation marks,
too, its 9.5 here do not.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from hybrid_ir.errors import InputError
from hybrid_ir.evaluation.columns import columns
from hybrid_ir.records import QUESTION_TYPES, Question

STOP_WORDS = frozenset((
    "a", "an", "and", "are", "as", "at", "be", "but", "by", "for", "if", "in", "into", "is",
    "it", "no", "not", "of", "on", "or", "such", "that", "the", "their", "then", "there",
    "these", "they", "this", "to", "was", "will", "with",
))  # fmt: skip
"""Lucene's ``EnglishAnalyzer.ENGLISH_STOP_WORDS_SET``, which the index leaves out by default."""

FORMS = frozenset((
    "what", "which", "who", "whose", "whom", "where", "when", "why", "how", "is", "are", "was",
    "were", "do", "does", "did", "has", "have", "had", "can", "could", "may", "might", "must",
    "should", "will", "would", "list", "name", "give", "describe", "define", "explain",
    "summarize", "compare",
))  # fmt: skip
"""Words a question can begin with that say what kind of answer it wants."""

_LEAD_INS = frozenset((
    "please", "in", "for", "on", "to", "from", "of", "with", "at", "by", "through", "during",
    "under",
))  # fmt: skip
"""Words that may stand in front of such a word: "in which", "please list"."""

OTHER = "other"

EntitiesOf: TypeAlias = Callable[[str], Sequence[str]]
"""Gives the entities named in a text."""


@dataclass(frozen=True, slots=True)
class Amount:
    """How many of something questions have: on average, at least, at most."""

    mean: float
    least: int
    most: int


@dataclass(frozen=True, slots=True)
class Description:
    """What a batch of questions is like.

    Attributes:
        questions: How many there are.
        words: Parts between white space that hold a letter or a digit.
        content_words: Those that are no stop word of ``STOP_WORDS``.
        entities: None where nobody looked for entities.
        types: Question type -> questions; all four are there.
        forms: What questions begin with -> questions, frequent first; ``other`` is last.
    """

    questions: int
    words: Amount
    content_words: Amount
    entities: Amount | None
    types: Mapping[str, int]
    forms: Mapping[str, int]


def describe(questions: Sequence[Question], entities_of: EntitiesOf | None = None) -> Description:
    """Describe a batch.

    Args:
        questions: At least one.
        entities_of: Finds entities in a body; without, they are not counted.

    Raises:
        InputError: there is no question.
    """
    if not questions:
        raise InputError("expected questions to describe, got none")
    bodies = [words_of(question.body) for question in questions]
    types = Counter(question.type for question in questions)
    forms = Counter(form_of(question.body) for question in questions)
    return Description(
        questions=len(questions),
        words=_amount(map(len, bodies)),
        content_words=_amount(sum(word not in STOP_WORDS for word in body) for body in bodies),
        entities=entities_of and _amount(len(entities_of(question.body)) for question in questions),
        types={kind: types[kind] for kind in QUESTION_TYPES},
        forms={form: forms[form] for form in _frequent_first(forms)},
    )


def words_of(text: str) -> list[str]:
    """Split a text at white space into words in lower case, punctuation around them cut off.

    A part without a letter or digit is no word; hyphens, slashes and the like part no words.
    """
    parts = (_trim(part) for part in text.lower().split())
    return [part for part in parts if part]


def form_of(body: str) -> str:
    """Give the word of ``FORMS`` that a question begins with, or ``other``."""
    words = words_of(body)
    first = next((word for word in words if word not in _LEAD_INS), "")
    return first if first in FORMS else OTHER


def describe_table(batches: Mapping[str, Description]) -> str:
    """Lay descriptions out side by side as text; of two, the last column is second minus first.

    Args:
        batches: Name -> description.
    """
    several = list(batches.values())
    head = ["", *batches, *(["difference"] if len(several) == 2 else [])]
    rows = [_row("questions", [batch.questions for batch in several])]
    rows += _amounts("words", [batch.words for batch in several])
    rows += _amounts("words but stop words", [batch.content_words for batch in several])
    rows += _amounts("entities", [batch.entities for batch in several])
    rows += _shares("type", QUESTION_TYPES, [batch.types for batch in several])
    forms = sum((Counter(batch.forms) for batch in several), Counter())
    rows += _shares("begins with", _frequent_first(forms), [batch.forms for batch in several])
    width = max(map(len, (head, *rows)))
    return columns([row + [""] * (width - len(row)) for row in (head, *rows)])


def _trim(part: str) -> str:
    kept = [place for place, character in enumerate(part) if character.isalnum()]
    return part[kept[0] : kept[-1] + 1] if kept else ""


def _amount(counts: Iterable[int]) -> Amount:
    numbers = list(counts)
    return Amount(sum(numbers) / len(numbers), min(numbers), max(numbers))


def _row(label: str, values: Sequence[float], digits: int = 0) -> list[str]:
    cells = [f"{value:.{digits}f}" for value in values]
    if len(values) == 2:
        cells.append(f"{values[1] - values[0]:+.{digits}f}")
    return [label, *cells]


def _amounts(label: str, amounts: Sequence[Amount | None]) -> list[list[str]]:
    """Give the rows of an amount, none where not every batch has it."""
    known = [amount for amount in amounts if amount is not None]
    if len(known) < len(amounts):
        return []
    return [
        _row(f"{label}, mean", [amount.mean for amount in known], 1),
        _row("  least", [amount.least for amount in known]),
        _row("  most", [amount.most for amount in known]),
    ]


def _frequent_first(forms: Mapping[str, int]) -> list[str]:
    return sorted(forms, key=lambda form: (form == OTHER, -forms[form], form))


def _shares(
    title: str, keys: Iterable[str], batches: Sequence[Mapping[str, int]]
) -> list[list[str]]:
    """Give a heading and, for each key, its part of every batch in per cent."""
    totals = [sum(batch.values()) for batch in batches]
    shares = {
        key: [100 * batch.get(key, 0) / total for batch, total in zip(batches, totals, strict=True)]
        for key in keys
    }
    return [[f"{title}, %"], *(_row(f"  {key}", values, 1) for key, values in shares.items())]
