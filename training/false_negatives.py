"""Which documents are too likely to be right to be a question's negatives.

A document that experts did not mark is not always wrong, least of all one that ranks high. That a
document is gold of *any* other question says nothing: in a collection of snippets every document
is. It counts where the other question asks nearly the same.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from hybrid_ir.errors import refuse
from hybrid_ir.records import Ranking
from training.near_duplicates import NearAny


@dataclass(frozen=True, slots=True)
class FilterConfig:
    """Which candidates are too likely to be right.

    Attributes:
        margin: A mined candidate is left out that scores above this share of its ranking's score of
            a positive (G. Moreira et al.: NV-Retriever, 2024, have 0.95). Where the ranking holds
            no positive, nothing is left out by its score. None switches it off.
        margin_to: The positive it is held against: the ``lowest`` that is in the ranking down to
            the last rank, or the ``highest``.
        near_duplicate: From what similarity on to a positive of the question a text is left out:
            Jaccard of their three-word runs, and 1 where one stands in the other.
        near_question: From what similarity on two questions' words make the gold of one the gold of
            the other, as far as negatives go: Jaccard.
    """

    margin: float | None = 0.95
    margin_to: Literal["lowest", "highest"] = "lowest"
    near_duplicate: float = 0.7
    near_question: float = 0.8

    def __post_init__(self) -> None:
        shares = ("near_duplicate", self.near_duplicate), ("near_question", self.near_question)
        refuse(
            "the filter",
            ("margin", "0 to 1", self.margin, self.margin is None or 0 <= self.margin <= 1),
            *((name, "above 0, at most 1", value, 0 < value <= 1) for name, value in shares),
        )


class FalseNegatives:
    """What must not become a negative of one question.

    Args:
        positives: Document ids of the question's gold, whether with a text or not.
        elsewhere: Document ids of the gold of nearly equal questions.
        texts: Texts of the question's positives.
        config: Settings.
    """

    def __init__(
        self,
        positives: Iterable[str],
        elsewhere: Iterable[str],
        texts: Iterable[str],
        config: FilterConfig,
    ) -> None:
        self.positives = frozenset(positives)
        self._elsewhere = frozenset(elsewhere)
        self._near = NearAny(texts, config.near_duplicate)
        self._config = config
        self._taken: set[str] = set()

    def reason(self, document_id: str, text: str) -> str | None:
        """Say why a document is no negative; None where it is one."""
        if document_id in self.positives:
            return "is gold of the question"
        if document_id in self._elsewhere:
            return "is gold of a nearly equal question"
        if document_id in self._taken:
            return "is a negative already"
        if text in self._near:
            return "nearly repeats a positive"
        return None

    def take(self, document_id: str) -> None:
        """Remember a negative, so that it is not taken again."""
        self._taken.add(document_id)

    def most(self, ranking: Ranking) -> float:
        """Give the score above which a candidate of a ranking is left out."""
        scores = [item.score for item in ranking if item.item in self.positives]
        if self._config.margin is None or not scores:
            return math.inf
        score = min(scores) if self._config.margin_to == "lowest" else max(scores)
        return score - (1 - self._config.margin) * abs(score)  # so below it where it is negative
