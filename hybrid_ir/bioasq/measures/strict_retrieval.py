"""Documents and snippets, scored strictly; see :mod:`hybrid_ir.bioasq.measures.strict`."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache

from hybrid_ir.bioasq.limits import MAX_DOCUMENTS, MAX_SNIPPETS
from hybrid_ir.bioasq.measures.documents import (
    GMAP_EPSILON,
    NO_CONCEPTS,
    NO_HIT,
    Retrieval,
    RetrievalMeans,
    average,
    f_measure,
    mean,
    score_items,
)
from hybrid_ir.bioasq.measures.java import total
from hybrid_ir.bioasq.measures.questions import Edition, Entry, Passage
from hybrid_ir.bioasq.measures.snippets import by_url, merge, shared_characters, size
from hybrid_ir.bioasq.raw import document_id_of as document_id_of

STRICT_EDITION: Edition = 9
"""The official edition whose definitions the strict measures share."""

_document_id = lru_cache(maxsize=100_000)(document_id_of)


def strict_documents(gold: Sequence[Entry], responses: Mapping[str, Entry]) -> RetrievalMeans:
    """Score documents by PMID, the first 10 distinct ones of each question."""
    return _average(
        {
            question.id: score_items(
                document_ids(question), document_ids(response)[:MAX_DOCUMENTS], STRICT_EDITION
            )
            for question, response in answered_or_empty(
                gold, responses, lambda entry: entry.documents
            )
        }
    )


def document_ids(entry: Entry) -> list[str]:
    """Give an entry's distinct documents: PMIDs, or the reference itself outside PubMed."""
    return list(dict.fromkeys(map(_document_id, entry.documents)))


def strict_snippets(gold: Sequence[Entry], responses: Mapping[str, Entry]) -> RetrievalMeans:
    """Score snippets by the characters they cover, the first 10 of each question."""
    return _average(
        {
            question.id: score_ranges(ranges(question), ranges(response)[:MAX_SNIPPETS])
            for question, response in answered_or_empty(gold, responses, _covers)
        }
    )


def ranges(entry: Entry) -> list[Passage]:
    """Give an entry's snippets with PMIDs and with ends as the official functions take them.

    Taking one from an exclusive end makes it the inclusive end that those functions expect, so
    that sizes and overlaps become right and passages that touch do not overlap.
    """
    return [
        Passage(
            _document_id(passage.document),
            _section(passage.begin_section),
            _section(passage.end_section),
            passage.begin,
            passage.end - 1,
        )
        for passage in entry.snippets
    ]


def _section(name: str) -> str:
    return "abstract" if name == "0" else name


def _covers(entry: Entry) -> bool:
    return any(passage.begin < passage.end for passage in entry.snippets)


def score_ranges(gold: Sequence[Passage], answered: Sequence[Passage]) -> Retrieval:
    """Score one question's snippets, best first; empty ranges cover nothing.

    Average precision: the precision in characters of the snippets so far, at each snippet that
    meets a gold passage none before has met, over min(10, gold passages). Gold passages that
    overlap are one.
    """
    expected = merge([passage for passage in gold if size(passage) > 0])
    given = [passage for passage in answered if size(passage) > 0]
    files = by_url(expected)
    precisions: list[float] = []
    met: set[Passage] = set()
    for rank, passage in enumerate(given, start=1):
        new = {other for other in files.get(passage.document, ()) if _share(passage, other)} - met
        if new:
            met |= new
            shared, covered = _characters(given[:rank], files)
            precisions.append(shared / covered)
    if not met:
        return NO_HIT
    shared, covered = _characters(given, files)
    precision, recall = shared / covered, shared / sum(map(size, expected))
    divisor = min(MAX_SNIPPETS, len(expected))
    return Retrieval(precision, recall, f_measure(precision, recall), total(precisions) / divisor)


def _share(one: Passage, other: Passage) -> bool:
    return shared_characters(one, (other,)) > 0


def _characters(given: Sequence[Passage], gold: Mapping[str, Sequence[Passage]]) -> tuple[int, int]:
    """Count the characters that snippets cover, each once: those in the gold, and all."""
    unions = merge(given)
    shared = sum(shared_characters(one, gold.get(one.document, ())) for one in unions)
    return shared, sum(map(size, unions))


def answered_or_empty(
    gold: Sequence[Entry], responses: Mapping[str, Entry], counts: Callable[[Entry], object]
) -> Iterator[tuple[Entry, Entry]]:
    """Pair the gold questions that count with their responses, an empty one where it is missing."""
    for question in gold:
        if counts(question):
            yield question, responses.get(question.id, _unanswered(question.id))


def _unanswered(question_id: str) -> Entry:
    return Entry(question_id, None, (), (), (), (), None)


def _average(per_question: Mapping[str, Retrieval]) -> RetrievalMeans:
    """Average as the official program does, but for a GMAP that cannot exceed 1.

    It takes 1e-5 for smaller average precisions instead of adding 1e-5 to every one.
    """
    means = average(per_question, nothing=NO_CONCEPTS)
    if not per_question:
        return means
    logarithms = (
        math.log(max(score.average_precision, GMAP_EPSILON)) for score in per_question.values()
    )
    return replace(means, gmap=math.exp(mean(logarithms)))
