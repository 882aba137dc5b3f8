"""A question's wrong passages: drawn at random, and mined from rankings.

Of a ranking only a window of ranks is used, and of a window only so many documents are tried as it
takes to find the number that is wanted. What is tried and left out is counted by reason.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Literal

from hybrid_ir.errors import refuse
from hybrid_ir.records import PairSource, Ranking
from training.false_negatives import FalseNegatives
from training.passages import Passages
from training.positives import Passage

_DRAWS = 20
"""Draws for each random negative that is wanted, before the search for it is given up."""


@dataclass(frozen=True, slots=True)
class Amount:
    """How many negatives.

    Attributes:
        count: So many; 0 for none.
        per: For each positive of the question, or for the question.
    """

    count: int = 0
    per: Literal["positive", "question"] = "positive"

    def __post_init__(self) -> None:
        refuse("the negatives", ("count", "0 or more", self.count, self.count >= 0))


@dataclass(frozen=True, slots=True)
class Mining(Amount):
    """How many negatives, from which ranks of a ranking.

    Attributes:
        first: The first rank of the window, from 1: the ranks before hold too many that are right.
        last: The last rank.
    """

    first: int = 10
    last: int = 100

    def __post_init__(self) -> None:
        window = 1 <= self.first <= self.last
        refuse(
            "the negatives",
            ("count", "0 or more", self.count, self.count >= 0),
            ("first, last", "1 <= first <= last", f"{self.first}, {self.last}", window),
        )


@dataclass(frozen=True, slots=True)
class Bm25Mining(Mining):
    """Mining from a BM25 search for the question's body.

    Attributes:
        k1: BM25's saturation of term frequency.
        b: BM25's length normalisation.
    """

    k1: float = 0.9
    b: float = 0.4


@dataclass(frozen=True, slots=True)
class NegativesConfig:
    """Which negatives a question gets.

    Attributes:
        random: Drawn from all documents with a text: the paper's.
        bm25: From a BM25 search in the index.
        run: From the run that is given, if one is.
    """

    random: Amount = field(default_factory=lambda: Amount(1))
    bm25: Bm25Mining = field(default_factory=Bm25Mining)
    run: Mining = field(default_factory=Mining)


def random_negatives(
    count: int,
    passages: Passages,
    false_negatives: FalseNegatives,
    chance: Random,
    dropped: Counter[str],
) -> list[Passage]:
    """Draw negatives from all documents; fewer where hardly any document can be one."""
    found: list[Passage] = []
    draws = _DRAWS * count if passages.count else 0
    while len(found) < count and draws:
        draws -= 1
        document_id = passages.id_at(chance.randrange(passages.count))
        found += _negative(document_id, "random", passages, false_negatives, dropped)
    return found


def mined_negatives(
    count: int,
    ranking: Ranking,
    ranks: Sequence[int],
    source: PairSource,
    passages: Passages,
    false_negatives: FalseNegatives,
    dropped: Counter[str],
) -> list[Passage]:
    """Take negatives from a ranking, the farthest (easiest) first.

    Args:
        count: How many at most.
        ranking: Best first, down to the last rank of the window.
        ranks: The window's ranks, in the order in which they are tried.
        source: What the negatives are called.
        passages: Where texts come from.
        false_negatives: What is left out.
        dropped: Counts what is tried and left out.
    """
    most = false_negatives.most(ranking)
    found: dict[int, Passage] = {}
    for rank in ranks:
        if len(found) == count:
            break
        document_id, score = ranking[rank - 1]
        if score > most and document_id not in false_negatives.positives:
            dropped[f"{source} negative: scores too near a positive"] += 1
            continue
        for passage in _negative(document_id, source, passages, false_negatives, dropped):
            found[rank] = passage
    return [found[rank] for rank in sorted(found, reverse=True)]


def _negative(
    document_id: str,
    source: PairSource,
    passages: Passages,
    false_negatives: FalseNegatives,
    dropped: Counter[str],
) -> list[Passage]:
    """Give a document as a negative, or nothing where it cannot be one."""
    text = passages.text_of(document_id)
    reason = false_negatives.reason(document_id, text) if text else "has no text"
    if text is None or reason:
        dropped[f"{source} negative: {reason}"] += 1
        return []
    false_negatives.take(document_id)
    return [Passage(document_id, text, source)]
