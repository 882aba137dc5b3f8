"""Which words of a long query are worth searching for; knows no search engine."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

from hybrid_ir.retrieval.rm3 import heaviest


def prune(
    terms: Mapping[str, float], size: int, documents: int, frequency: Callable[[str], int]
) -> dict[str, float]:
    """Keep the terms that weigh most by boost times idf, equal ones in alphabetical order.

    The idf is that of Lucene's BM25: ln(1 + (N - n + 0.5) / (n + 0.5)). A term that no document has
    weighs nothing and is kept only where there is room.

    Args:
        terms: Term -> boost.
        size: How many are kept.
        documents: N, the documents of the index.
        frequency: Gives n, the documents that have a term.
    """
    weights = {term: boost * _idf(documents, frequency(term)) for term, boost in terms.items()}
    return {term: terms[term] for term in heaviest(weights, size)}


def _idf(documents: int, frequency: int) -> float:
    return math.log1p((documents - frequency + 0.5) / (frequency + 0.5)) if frequency else 0.0
