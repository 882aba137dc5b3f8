"""Snippets as the official evaluator scores them: character ranges, merged, compared by overlap.

BioASQ's offsets are end exclusive, the program takes them as inclusive: every passage counts one
character more than it has, and passages that only touch overlap by one.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

from hybrid_ir.bioasq.measures.documents import (
    GMAP_EPSILON,
    Retrieval,
    RetrievalMeans,
    average_precision_divisor,
    f_measure,
)
from hybrid_ir.bioasq.measures.java import divide, log, total
from hybrid_ir.bioasq.measures.questions import Edition, Entry, Passage

NO_SNIPPETS = RetrievalMeans(math.nan, math.nan, math.nan, math.nan, 0.0)
"""Not one question scored: no mean is guarded, and the geometric mean's empty sum counts as 0."""


def score_snippets(
    gold: Sequence[Entry], responses: Mapping[str, Entry], edition: Edition
) -> RetrievalMeans:
    """Score the snippets of every gold question that was answered, in the gold's order."""
    return average_passages(
        {
            entry.id: score_passages(entry.snippets, responses[entry.id].snippets, edition)
            for entry in gold
            if entry.id in responses and not skips_empty_snippets(entry, edition)
        }
    )


def skips_empty_snippets(gold: Entry, edition: Edition) -> bool:
    """Tell whether a question falls out: edition 9 leaves out golds without snippets.

    Earlier editions keep them. It holds for the triples, too.
    """
    return edition >= 9 and not gold.snippets


def score_passages(
    gold: Sequence[Passage], answered: Sequence[Passage], edition: Edition
) -> Retrieval:
    """Score one question's snippets, best first.

    Without snippets an answer scores 0 throughout. NaN comes from golds without snippets and from
    passages whose sizes add up to nothing.
    """
    if not answered:
        nothing = divide(0.0, average_precision_divisor(len(gold), edition))
        return Retrieval(0.0, 0.0, 0.0, nothing)
    gold, answered = merge(gold), merge(answered)
    files = by_name(gold)
    shared = sum(
        shared_characters(passage, files.get(last_component(passage.document), ()))
        for passage in answered
    )
    precision = divide(shared, sum(map(size, answered)))
    recall = divide(shared, sum(map(size, gold)))
    return Retrieval(
        precision,
        recall,
        f_measure(precision, recall),
        average_precision(gold, answered, edition),
    )


def size(passage: Passage) -> int:
    """Count characters as the program does: the end included, one more than there are."""
    return passage.end - passage.begin + 1


def overlap(one: Passage, other: Passage) -> int:
    """Count the characters two ranges share, ends included; ranges that touch share one."""
    return max(0, min(one.end, other.end) - max(one.begin, other.begin) + 1)


def same_section(answered: Passage, gold: Passage) -> bool:
    """Tell whether a response's section is the gold's.

    Equal names at both ends, or the response's old name ``sections.0`` for the gold's abstract;
    not the other way round.
    """
    same = answered[1:3] == gold[1:3]
    return same or (answered.begin_section == "0" and gold.begin_section == "abstract")


def last_component(url: str) -> str:
    """Give what stands after the last slash of a URL, a slash at its very end forgiven."""
    return url.rstrip("/").rpartition("/")[2]


def by_name(gold: Sequence[Passage]) -> dict[str, list[Passage]]:
    """File passages for precision and recall: under the last part of the document's URL."""
    return _filed((last_component(passage.document), passage) for passage in gold)


def by_url(gold: Sequence[Passage]) -> dict[str, list[Passage]]:
    """File passages for average precision: under the document's whole URL."""
    return _filed((passage.document, passage) for passage in gold)


def _filed(passages: Iterable[tuple[str, Passage]]) -> dict[str, list[Passage]]:
    files: dict[str, list[Passage]] = {}
    for key, passage in passages:
        files.setdefault(key, []).append(passage)
    return files


def shared_characters(answered: Passage, gold: Iterable[Passage]) -> int:
    """Count the characters a passage shares with those of its document in the gold."""
    return sum(overlap(answered, other) for other in gold if same_section(answered, other))


def average_precision(
    gold: Sequence[Passage], answered: Sequence[Passage], edition: Edition
) -> float:
    """Sum the precision in characters after each hit and divide; can exceed 1.

    A hit is any snippet of a document that the gold has a snippet of. The program means to ask
    for an overlap, but a stray semicolon ends that condition early: a snippet beside the gold's
    counts, and of several in one gold snippet each counts.
    """
    files = by_url(gold)
    shared, seen = 0, 0
    precisions: list[float] = []
    for passage in answered:
        is_hit = passage.document in files
        shared += shared_characters(passage, files.get(passage.document, ()))
        seen += size(passage)
        precisions.append(divide(shared, seen) * is_hit)
    return divide(total(precisions), average_precision_divisor(len(gold), edition))


def merge(passages: Sequence[Passage]) -> tuple[Passage, ...]:
    """Join passages of one document and section that overlap, ends included.

    [0, 9] and [9, 29] become one, [0, 9] and [10, 29] do not. A union stands where its earliest
    member stood. Documents are compared by their whole URL.
    """
    places: dict[tuple[str, str, str], list[int]] = {}
    for place, passage in enumerate(passages):
        places.setdefault(passage[:3], []).append(place)
    unions = [union for group in places.values() for union in _unions(passages, group)]
    return tuple(union for _, union in sorted(unions))


def _unions(passages: Sequence[Passage], places: Sequence[int]) -> list[tuple[int, Passage]]:
    """Sweep one section's passages by their begin; gives each union with its earliest place.

    A passage that ends before it begins overlaps nothing and stays as it is.
    """
    if len(places) == 1:
        return [(places[0], passages[places[0]])]
    inverted = [(place, passages[place]) for place in places if _is_inverted(passages[place])]
    unions: list[tuple[int, Passage]] = []
    for place in sorted(places, key=lambda place: passages[place].begin):
        passage = passages[place]
        if unions and passage.begin <= unions[-1][1].end and not _is_inverted(passage):
            first, last = unions[-1]
            unions[-1] = (min(first, place), last._replace(end=max(last.end, passage.end)))
        elif not _is_inverted(passage):
            unions.append((place, passage))
    return unions + inverted


def _is_inverted(passage: Passage) -> bool:
    return passage.end < passage.begin


def average_passages(per_question: Mapping[str, Retrieval]) -> RetrievalMeans:
    """Average over the questions scored, where NaN adds nothing to a sum but counts as a question.

    In the geometric mean that makes a NaN weigh like an average precision of 1. A sum of logarithms
    that is exactly 0 or NaN gives 0.
    """
    if not per_question:
        return NO_SNIPPETS
    columns = zip(*per_question.values(), strict=True)
    precision, recall, f1, ap = ([v for v in column if not math.isnan(v)] for column in columns)
    count = len(per_question)
    logarithms = total(log(value + GMAP_EPSILON) for value in ap)
    has_geometric_mean = logarithms != 0 and not math.isnan(logarithms)
    return RetrievalMeans(
        total(precision) / count,
        total(recall) / count,
        total(f1) / count,
        total(ap) / count,
        math.exp(logarithms / count) if has_geometric_mean else 0.0,
        per_question,
    )
