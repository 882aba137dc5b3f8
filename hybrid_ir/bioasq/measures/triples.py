"""Triples (subject, predicate, object), which only the first editions asked for.

The rules for whole lists are checked only on inputs without triples, which is what all data of
today is; no reference output holds any.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from hybrid_ir.bioasq.measures.documents import (
    NO_CONCEPTS,
    NO_HIT,
    Retrieval,
    RetrievalMeans,
    average,
    average_precision_divisor,
    f_measure,
)
from hybrid_ir.bioasq.measures.questions import Edition, Entry, Triple
from hybrid_ir.bioasq.measures.snippets import skips_empty_snippets


def score_triples(
    gold: Sequence[Entry], responses: Mapping[str, Entry], edition: Edition
) -> RetrievalMeans:
    """Score the triples of every answered question whose gold has any."""
    return average(
        {
            entry.id: score_statements(entry.triples, responses[entry.id].triples, edition)
            for entry in gold
            if entry.id in responses and not skips_empty_snippets(entry, edition)
            if entry.triples
        },
        nothing=NO_CONCEPTS,
    )


def left_by_first_pass(gold: Sequence[Triple], answered: Sequence[Triple]) -> list[Triple]:
    """Give the answered triples that are correct.

    The program scores every question twice on the same objects, and average precision strikes the
    wrong triples from the response's own list. So the second pass, whose numbers are printed, sees
    no wrong triple: precision is 1 although half of them may have been wrong.
    """
    return [triple for triple in answered if triple in gold]


def score_statements(
    gold: Sequence[Triple], answered: Sequence[Triple], edition: Edition
) -> Retrieval:
    """Score one question's triples as the second pass does: all that is left is correct."""
    correct = left_by_first_pass(gold, answered)
    if not correct:
        return NO_HIT
    missed = sum(triple not in correct for triple in gold)
    recall = len(correct) / (len(correct) + missed)
    divisor = average_precision_divisor(len(gold), edition)
    return Retrieval(1.0, recall, f_measure(1.0, recall), len(correct) / divisor)
