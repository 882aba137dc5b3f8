"""Factoid and list questions as the official evaluator scores them."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias

from hybrid_ir.bioasq.measures.documents import f_measure, mean_or_zero
from hybrid_ir.bioasq.measures.questions import Edition, Entry, Exact

Entities: TypeAlias = Sequence[Collection[str]]
"""A list answer: for each entity the texts that name it."""


class FactoidScore(NamedTuple):
    """What one factoid question scored: first right, any right, 1 / rank of the first hit."""

    strict: float
    lenient: float
    reciprocal_rank: float


@dataclass(frozen=True, slots=True)
class Factoid:
    """Factoid questions: strict and lenient accuracy, mean reciprocal rank."""

    strict: float
    lenient: float
    mrr: float
    per_question: Mapping[str, FactoidScore] = field(default_factory=dict)

    @property
    def values(self) -> tuple[float, float, float]:
        """The three numbers."""
        return self.strict, self.lenient, self.mrr


class ListScore(NamedTuple):
    """What one list question scored."""

    precision: float
    recall: float
    f1: float


@dataclass(frozen=True, slots=True)
class Lists:
    """List questions: mean precision, recall and F1."""

    precision: float
    recall: float
    f1: float
    per_question: Mapping[str, ListScore] = field(default_factory=dict)

    @property
    def values(self) -> tuple[float, float, float]:
        """The three numbers."""
        return self.precision, self.recall, self.f1


def score_factoid(pairs: Sequence[tuple[Entry, Entry]], edition: Edition) -> Factoid:
    """Score the factoid questions among the pairs of gold and response."""
    return average_factoid(
        {
            gold.id: rank_answers(
                {name for entity in factoid_answers(gold.exact, edition) for name in entity},
                [first_only(names, edition) for names in factoid_answers(response.exact, edition)],
            )
            for gold, response in pairs
            if gold.type == "factoid"
        }
    )


def average_factoid(scores: Mapping[str, FactoidScore]) -> Factoid:
    """Average over the factoid questions scored."""
    return Factoid(
        mean_or_zero(score.strict for score in scores.values()),
        mean_or_zero(score.lenient for score in scores.values()),
        mean_or_zero(score.reciprocal_rank for score in scores.values()),
        scores,
    )


def factoid_answers(exact: Exact, edition: Edition) -> list[tuple[str, ...]]:
    """Give the answers to a factoid question, best first, in lower case, which is all that is done.

    Edition 2 sees a flat list of answers and nothing of a nested one; later editions the reverse.
    A bare text holds no answer.
    """
    answers = exact if isinstance(exact, tuple) else ()
    if edition == 2:
        return [(answer.lower(),) for answer in answers if isinstance(answer, str)]
    return _nested(answers)


def _nested(answers: Sequence[str | tuple[str, ...]]) -> list[tuple[str, ...]]:
    return [tuple(map(str.lower, names)) for names in answers if isinstance(names, tuple)]


def first_only(names: tuple[str, ...], edition: Edition) -> tuple[str, ...]:
    """Give the names of one answer that count: from edition 5 on the first, no synonyms."""
    return names[:1] if edition >= 5 else names


def rank_answers(synonyms: Collection[str], answers: Entities) -> FactoidScore:
    """Score ranked answers; nothing is cut at five: a hit at rank 7 gives 1/7."""
    for rank, names in enumerate(answers, start=1):
        if any(name in synonyms for name in names):
            return FactoidScore(float(rank == 1), 1.0, 1 / rank)
    return FactoidScore(0.0, 0.0, 0.0)


def score_lists(pairs: Sequence[tuple[Entry, Entry]]) -> Lists:
    """Score the list questions among the pairs of gold and response."""
    return average_lists(
        {
            gold.id: compare_lists(list_answers(gold.exact), list_answers(response.exact))
            for gold, response in pairs
            if gold.type == "list"
        }
    )


def average_lists(scores: Mapping[str, ListScore]) -> Lists:
    """Average over the list questions scored."""
    return Lists(
        mean_or_zero(score.precision for score in scores.values()),
        mean_or_zero(score.recall for score in scores.values()),
        mean_or_zero(score.f1 for score in scores.values()),
        scores,
    )


def list_answers(exact: Exact) -> list[tuple[str, ...]]:
    """Give the entities of a list answer in lower case, each with all names that stand for it."""
    return _nested(exact) if isinstance(exact, tuple) else []


def compare_lists(gold: Entities, answers: Entities) -> ListScore:
    """Score one list: every answer takes a gold entity out, then the rest looks for answers.

    An answer repeated is wrong the second time, since its entity is gone. A gold entity that is
    left but shares a name with some answer is not missed, though nothing is credited for it: the
    gold [[a], [a, b]] answered with [[a]] has a recall of 1.
    """
    left = list(gold)
    right = 0
    for names in answers:
        if (match := _first_match(left, names)) is not None:
            del left[match]
            right += 1
    missed = sum(_first_match(answers, entity) is None for entity in left)
    if not right:
        return ListScore(0.0, 0.0, 0.0)
    precision, recall = right / len(answers), right / (right + missed)
    return ListScore(precision, recall, f_measure(precision, recall))


def _first_match(entities: Entities, names: Collection[str]) -> int | None:
    for place, entity in enumerate(entities):
        if any(name in entity for name in names):
            return place
    return None
