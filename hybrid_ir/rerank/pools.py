"""Questions that are scored together, so that batches are full and of like length."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from hybrid_ir.rerank.candidates import Candidates


def pools_of(questions: Iterable[Candidates], documents: int) -> Iterator[list[Candidates]]:
    """Put questions together, in order, until they have so many documents or there are no more."""
    pool: list[Candidates] = []
    for question in questions:
        pool.append(question)
        if sum(len(one.documents) for one in pool) >= documents:
            yield pool
            pool = []
    if pool:
        yield pool
