"""Do two TREC runs hold the same documents with the same scores, as far as Pyserini's tells?

Pyserini rounds scores to 4 digits and then takes 0.000001 off for every further document of a tie
(Anserini's ScoreTiesAdjusterReranker); it also orders ties by other rules. So a document's two
scores may differ by rounding, and of documents that tie at the cut either run may hold any.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby, zip_longest
from pathlib import Path

ROUNDING = 1e-4  # half a unit of the 4th digit, a few dozen ties, single precision


def compare(ours: Path, theirs: Path) -> int:
    """Compare two runs of the same queries, query by query.

    Returns:
        The number of (query, document) pairs whose scores were compared and agree.

    Raises:
        RuntimeError: they differ; where they do.
    """
    pairs = 0
    nothing: tuple[str, dict[str, float]] = ("no query", {})
    rankings = zip_longest(_rankings(ours), _rankings(theirs), fillvalue=nothing)
    for (query, left), (other, right) in rankings:
        if query != other or len(left) != len(right):
            raise RuntimeError(f"{query}: {len(left)} documents; {other}: {len(right)} documents")
        if faults := list(_differences(left, right)):
            raise RuntimeError(f"{query}: {len(faults)} differences, such as {faults[:3]}")
        pairs += len(left.keys() & right.keys())
    return pairs


def _differences(left: dict[str, float], right: dict[str, float]) -> Iterator[str]:
    for one, other in zip(sorted(left.values()), sorted(right.values()), strict=True):
        if abs(one - other) > ROUNDING:
            yield f"sorted scores {one} and {other}"
    for document in left.keys() & right.keys():
        if abs(left[document] - right[document]) > ROUNDING:
            yield f"{document} scores {left[document]} and {right[document]}"
    cut = min(left.values(), default=0.0) + 2 * ROUNDING
    for document in left.keys() ^ right.keys():
        score = (left | right)[document]
        if score > cut:
            yield f"only one holds {document}, which scores {score}"


def _rankings(run: Path) -> Iterator[tuple[str, dict[str, float]]]:
    """Stream (query, document -> score) of a run whose lines stand query by query."""
    with run.open(encoding="utf-8") as file:
        lines = (line.split() for line in file)
        for query, group in groupby(lines, key=lambda parts: parts[0]):
            yield query, {parts[2]: float(parts[4]) for parts in group}
