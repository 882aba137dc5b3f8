"""Documents and concepts as the official evaluator scores them: lists of distinct texts.

Two items are the same when their texts are: ``https://``, a trailing slash or a bare PMID never
match. Nothing is cut at ten items: all that was submitted counts.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from typing import NamedTuple

from hybrid_ir.bioasq.measures.java import divide, total
from hybrid_ir.bioasq.measures.questions import Edition, Entry

GMAP_EPSILON = 1e-5
"""Added to each average precision, so that one question without a hit leaves a geometric mean."""


class Retrieval(NamedTuple):
    """What one question scored."""

    precision: float
    recall: float
    f1: float
    average_precision: float


NO_HIT = Retrieval(0.0, 0.0, 0.0, 0.0)


@dataclass(frozen=True, slots=True)
class RetrievalMeans:
    """Means over the questions scored, and what each of them scored."""

    precision: float
    recall: float
    f1: float
    map: float
    gmap: float
    per_question: Mapping[str, Retrieval] = field(default_factory=dict)

    @property
    def values(self) -> tuple[float, float, float, float, float]:
        """The five numbers in the order in which the official program prints them."""
        return self.precision, self.recall, self.f1, self.map, self.gmap


NO_DOCUMENTS = RetrievalMeans(0.0, 0.0, math.nan, math.nan, math.nan)
"""Not one question scored: only the first two means are guarded against dividing by zero."""

NO_CONCEPTS = RetrievalMeans(0.0, 0.0, 0.0, 0.0, 0.0)
"""Concepts and triples without a question scored, as in every edition of today: all zeros."""


def score_documents(
    gold: Sequence[Entry], responses: Mapping[str, Entry], edition: Edition
) -> RetrievalMeans:
    """Score the documents of every gold question that was answered, in the gold's order."""
    return average(
        {
            entry.id: score_items(entry.documents, responses[entry.id].documents, edition)
            for entry in gold
            if entry.id in responses and not skips_empty_documents(entry, edition)
        },
        nothing=NO_DOCUMENTS,
    )


def score_concepts(
    gold: Sequence[Entry], responses: Mapping[str, Entry], edition: Edition
) -> RetrievalMeans:
    """Score the concepts of the questions where both sides have at least one."""
    return average(
        {
            entry.id: score_items(entry.concepts, responses[entry.id].concepts, edition)
            for entry in gold
            if entry.id in responses and not skips_empty_documents(entry, edition)
            if entry.concepts and responses[entry.id].concepts
        },
        nothing=NO_CONCEPTS,
    )


def skips_empty_documents(gold: Entry, edition: Edition) -> bool:
    """Tell whether a question falls out: edition 9 leaves out golds without documents.

    Earlier editions score them 0. It holds for the concepts, too.
    """
    return edition >= 9 and not gold.documents


def average_precision_divisor(gold_items: int, edition: Edition) -> int:
    """Give what a sum of precisions is divided by.

    Edition 2: the number of gold items. Editions 3 and 5: always 10, the longest list allowed,
    which punishes questions with fewer gold items. From edition 8 on the smaller of the two.
    """
    if edition == 2:
        return gold_items
    return 10 if edition < 8 else min(10, gold_items)


def score_items(gold: Sequence[str], answered: Sequence[str], edition: Edition) -> Retrieval:
    """Score one question's distinct items, best first; no gold or no answer scores 0."""
    relevant = frozenset(gold)
    found = sum(item in relevant for item in answered)
    if not found:
        return NO_HIT
    precision, recall = found / len(answered), found / len(relevant)
    return Retrieval(
        precision,
        recall,
        f_measure(precision, recall),
        average_precision(relevant, answered, edition),
    )


def average_precision(relevant: Set[str], answered: Sequence[str], edition: Edition) -> float:
    """Sum the precision at each hit and divide; more than 10 hits can give more than 1."""
    precisions: list[float] = []
    for rank, item in enumerate(answered, start=1):
        if item in relevant:
            precisions.append((len(precisions) + 1) / rank)
    return total(precisions) / average_precision_divisor(len(relevant), edition)


def f_measure(precision: float, recall: float) -> float:
    """Give the harmonic mean of two numbers, 0 when both are."""
    if not precision and not recall:
        return 0.0
    return divide(2 * precision * recall, precision + recall)


def average(per_question: Mapping[str, Retrieval], nothing: RetrievalMeans) -> RetrievalMeans:
    """Average over the questions scored; ``nothing`` is the result when there are none."""
    if not per_question:
        return nothing
    scores = per_question.values()
    return RetrievalMeans(
        precision=mean(score.precision for score in scores),
        recall=mean(score.recall for score in scores),
        f1=mean(score.f1 for score in scores),
        map=mean(score.average_precision for score in scores),
        gmap=geometric_mean(score.average_precision for score in scores),
        per_question=per_question,
    )


def mean(values: Iterable[float]) -> float:
    """Add up from left to right and divide; NaN without values."""
    numbers = list(values)
    return divide(total(numbers), len(numbers))


def mean_or_zero(values: Iterable[float]) -> float:
    """Average in order; 0 where no question was scored, as the program prints for exact answers."""
    numbers = list(values)
    return mean(numbers) if numbers else 0.0


def geometric_mean(values: Iterable[float]) -> float:
    """Give exp(mean(ln(value + 1e-5)))."""
    return math.exp(mean(math.log(value + GMAP_EPSILON) for value in values))
