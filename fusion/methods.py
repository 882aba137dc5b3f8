"""Ways to fuse rankings of the same question."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from math import fsum

from hybrid_ir.records import Ranking
from hybrid_ir.trec import rank


def rrf(rankings: Iterable[Ranking], k: float = 60.0) -> Ranking:
    """Fuse rankings of one question by reciprocal rank: the score is the sum of 1 / (k + rank).

    Cormack, Clarke and Büttcher, "Reciprocal rank fusion outperforms Condorcet and individual rank
    learning methods" (SIGIR 2009), with k = 60.

    Args:
        rankings: Best first; the first rank is 1. A document that one lacks gets nothing from it.
        k: 0 or more; the larger, the less the first places count more than later ones.
    """
    shares: dict[str, list[float]] = defaultdict(list)
    for ranking in rankings:
        for place, (document, _) in enumerate(ranking, start=1):
            shares[document].append(1 / (k + place))
    # exact sums: the same ranks in another order are a tie, and the ids decide
    return rank((document, fsum(of_document)) for document, of_document in shares.items())
