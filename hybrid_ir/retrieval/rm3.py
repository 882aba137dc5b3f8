"""RM3 pseudo-relevance feedback on term counts; knows no search engine.

The relevance model of Lavrenko and Croft (SIGIR 2001), interpolated with the query as by
Abdul-Jaleel et al. (TREC 2004). Which terms are left out and when a vector is cut follows
Anserini's Rm3Reranker, so that both give the same ranking.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from hybrid_ir.errors import refuse

_PLAIN = re.compile("[a-z0-9]+")
_SHORTEST, _LONGEST = 2, 20
_COMMON = 0.1  # a term in more of the collection than this says nothing


@dataclass(frozen=True, slots=True)
class Rm3Config:
    """How feedback is taken.

    Attributes:
        documents: Top documents that feed the relevance model.
        terms: Terms the model keeps.
        query_weight: Weight of the original query, 0 to 1; the model has the rest.
    """

    documents: int = 10
    terms: int = 10
    query_weight: float = 0.5

    def __post_init__(self) -> None:
        refuse(
            "RM3",
            ("documents", "1 or more", self.documents, self.documents >= 1),
            ("terms", "1 or more", self.terms, self.terms >= 1),
            ("query_weight", "0 to 1", self.query_weight, 0 <= self.query_weight <= 1),
        )


def useful(term: str, document_frequency: int, documents: int) -> bool:
    """Say whether a term may enter the model: plain, 2-20 characters, not in over 10 % of texts."""
    return (
        _SHORTEST <= len(term) <= _LONGEST
        and _PLAIN.fullmatch(term) is not None
        and document_frequency <= _COMMON * documents
    )


def heaviest(weights: Mapping[str, float], size: int) -> dict[str, float]:
    """Keep the ``size`` heaviest terms, equal weights in the order of the terms."""
    ordered = sorted(weights.items(), key=lambda pair: (-pair[1], pair[0]))
    return dict(ordered[:size])


def to_unit_sum(weights: Mapping[str, float]) -> dict[str, float]:
    """Scale weights to a sum of 1; an empty model stays empty."""
    total = sum(weights.values())
    return {term: weight / total for term, weight in weights.items()} if total else {}


def relevance_model(
    feedback: Iterable[tuple[Mapping[str, int], float]], terms: int
) -> dict[str, float]:
    """Estimate P(term | relevance) from (term counts, retrieval score) of the top documents."""
    model: dict[str, float] = defaultdict(float)
    for counts, score in feedback:
        for term, share in to_unit_sum(heaviest(counts, terms)).items():
            model[term] += share * score
    return to_unit_sum(heaviest(model, terms))


def expand(
    query_terms: Mapping[str, float],
    feedback: Iterable[tuple[Mapping[str, int], float]],
    config: Rm3Config,
    keep: Callable[[str], bool],
) -> dict[str, float]:
    """Give the weighted terms of the expanded query.

    Args:
        query_terms: The weights of the analysed query terms (how often each occurs).
        feedback: (counts of analysed terms, score) of the top documents, best first.
        config: Numbers of documents and terms, the query's weight.
        keep: Which terms may enter the relevance model.
    """
    query = to_unit_sum(query_terms)
    kept = (
        ({term: count for term, count in counts.items() if keep(term)}, score)
        for counts, score in feedback
    )
    model = relevance_model(kept, config.terms)
    weight = config.query_weight
    return {
        term: weight * query.get(term, 0.0) + (1 - weight) * model.get(term, 0.0)
        for term in sorted(query.keys() | model.keys())
    }
