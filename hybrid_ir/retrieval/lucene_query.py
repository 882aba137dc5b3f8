"""Lucene queries made of clauses or of weighted terms. The caller holds the lock on Java."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import get_args

from hybrid_ir.records import Clause, Operator
from hybrid_ir.retrieval.fields import CONTENTS, EXACT_FIELDS, exact_word, values_of, year_window
from hybrid_ir.retrieval.jvm import JavaObject, java_class

_SEARCH = "org.apache.lucene.search"


def to_query(
    clauses: Iterable[Clause], analyzer: JavaObject, terms: Mapping[str, float] | None = None
) -> JavaObject:
    """Turn clauses into one query; a clause of words without an indexed one asks for nothing.

    Args:
        clauses: What is asked for.
        analyzer: The index's.
        terms: Weighted terms of ``contents``, as the index has them, that are asked for, too.
    """
    builder = java_class(f"{_SEARCH}.BooleanQuery$Builder")()
    occur = java_class(f"{_SEARCH}.BooleanClause$Occur")
    boosted = java_class(f"{_SEARCH}.BoostQuery")
    kinds = {name: getattr(occur, name.upper()) for name in get_args(Operator)}
    used = set()
    if terms is not None:
        weighted = weighted_terms(terms)  # made first: builder.add is bound when it is looked up,
        builder.add(weighted, kinds["should"])  # and pyjnius binds anew for any other builder
        used.add("should")
    for clause in clauses:
        exact = clause.field in EXACT_FIELDS
        query = _one_of_values(clause) if exact else _bag_of_words(clause, analyzer)
        if clause.operator == "should" or query.toString():
            builder.add(boosted(query, clause.boost), kinds[clause.operator])
            used.add(clause.operator)
    if used >= {"should", "filter"} and "must" not in used:
        builder.setMinimumNumberShouldMatch(1)  # else all that pass the filter are hits
    return builder.build()


def _bag_of_words(clause: Clause, analyzer: JavaObject) -> JavaObject:
    bag = java_class("io.anserini.search.query.BagOfWordsQueryGenerator")()
    return bag.buildQuery(clause.field, analyzer, encodable(clause.text))


def _one_of_values(clause: Clause) -> JavaObject:
    """Ask for any of the values; a match scores 1, however rare the value is."""
    builder = java_class(f"{_SEARCH}.BooleanQuery$Builder")()
    should = java_class(f"{_SEARCH}.BooleanClause$Occur").SHOULD
    ranges = java_class(f"{_SEARCH}.TermRangeQuery")
    for value in values_of(clause.text):
        word = exact_word(value)
        first, last = (clause.field == "year" and year_window(value)) or (word, word)
        builder.add(ranges.newStringRange(clause.field, first, last, True, True), should)
    return java_class(f"{_SEARCH}.ConstantScoreQuery")(builder.build())


def weighted_terms(weights: Mapping[str, float]) -> JavaObject:
    """Ask for terms of ``contents`` as the index has them, each with its weight."""
    builder = java_class(f"{_SEARCH}.BooleanQuery$Builder")()
    should = java_class(f"{_SEARCH}.BooleanClause$Occur").SHOULD
    java_term = java_class("org.apache.lucene.index.Term")
    term_query = java_class(f"{_SEARCH}.TermQuery")
    boosted = java_class(f"{_SEARCH}.BoostQuery")
    for term, weight in weights.items():
        builder.add(boosted(term_query(java_term(CONTENTS, term)), weight), should)
    return builder.build()


def encodable(text: str) -> str:
    """Replace half surrogates, which no Java string can take over from Python, by blanks."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace").replace("\0", " ")
