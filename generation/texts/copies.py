"""How much of a text another one repeats, and near-duplicates among many texts.

Everything is counted in words: runs of letters, digits and inner hyphens, in one case.
"""

from __future__ import annotations

import re
import zlib
from collections import defaultdict
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

SHINGLE = 3
"""Words of a shingle."""

_BANDS, _ROWS = 16, 3
_PRIME = 4_294_967_311  # the first above 2^32: products wrap around often enough to mix well
_WORD = re.compile(r"\w+(?:-\w+)*")


def words(text: str) -> list[str]:
    """Give the words of a text in lower case."""
    return _WORD.findall(text.casefold())


def shingles(text: str) -> frozenset[tuple[str, ...]]:
    """Give the runs of three words of a text; of a shorter one the text itself."""
    found = words(text)
    starts = range(max(1, len(found) - SHINGLE + 1))
    return frozenset(tuple(found[start : start + SHINGLE]) for start in starts) - {()}


def repeated_share(part: str, whole: str) -> float:
    """Give the share of the first text's three-word runs that stand in the second, 0 to 1."""
    wanted = shingles(part)
    return len(wanted & shingles(whole)) / len(wanted) if wanted else 0.0


def longest_run(text: str, other: str) -> int:
    """Give the number of words in the longest run that stands in both texts."""
    places = defaultdict(list)
    for place, word in enumerate(words(other)):
        places[word].append(place)
    longest, before = 0, dict[int, int]()
    for word in words(text):
        before = {place: before.get(place - 1, 0) + 1 for place in places.get(word, ())}
        longest = max(longest, *before.values(), 0)
    return longest


class NearDuplicates:
    """Finds, among the texts seen so far, one that is nearly the same.

    Near means a Jaccard similarity of the three-word runs of at least ``threshold``. Candidates
    come from MinHash signatures in bands (Broder 1997; Leskovec, Rajaraman and Ullman 2014, chapter
    3) and are compared exactly, by 32-bit hashes of the runs: what is called near is near, and of
    pairs with a similarity of 0.7 one in 800 is overlooked (1 - 0.7^3)^16, of 0.6 one in 50. A text
    of 150 words takes about 2 KB of memory.
    """

    def __init__(self, threshold: float) -> None:
        self._threshold = threshold
        self._hashes: list[NDArray[np.uint32]] = []
        self._names: list[str] = []
        self._last: dict[int, int] = {}  # a band's hash -> the last text that has it
        self._before: list[NDArray[np.int32]] = []  # for each band the text before with the same
        chance = np.random.default_rng(0)
        count = _BANDS * _ROWS
        self._factors = chance.integers(1, 1 << 31, count, dtype=np.uint64)[:, None]
        self._terms = chance.integers(0, 1 << 31, count, dtype=np.uint64)[:, None]

    def add(self, name: str, text: str) -> str | None:
        """Give the name of the first text that this one nearly repeats; keep it where none is."""
        hashes = _hashes(text)
        bands = self._bands_of(hashes)
        for place in sorted(self._candidates(bands)):
            if _jaccard(hashes, self._hashes[place]) >= self._threshold:
                return self._names[place]
        place = len(self._names)
        self._before.append(np.array([self._last.get(key, -1) for key in bands], dtype=np.int32))
        self._last.update(dict.fromkeys(bands, place))
        self._hashes.append(hashes)
        self._names.append(name)
        return None

    def _candidates(self, bands: Sequence[int]) -> set[int]:
        """Give the texts that share a band's values with another."""
        found = set()
        for band, key in enumerate(bands):
            place = self._last.get(key, -1)
            while place >= 0:
                found.add(place)
                place = int(self._before[place][band])
        return found

    def _bands_of(self, hashes: NDArray[np.uint32]) -> list[int]:
        """Hash each band of a signature."""
        if not len(hashes):
            return [0] * _BANDS
        mixed = (self._factors * hashes.astype(np.uint64) + self._terms) % np.uint64(_PRIME)
        least = mixed.min(axis=1).reshape(_BANDS, _ROWS)
        return [hash((band, rows.tobytes())) for band, rows in enumerate(least)]


def _hashes(text: str) -> NDArray[np.uint32]:
    values = [zlib.crc32(" ".join(run).encode()) for run in shingles(text)]
    return np.unique(np.array(values, dtype=np.uint32))


def _jaccard(left: NDArray[np.uint32], right: NDArray[np.uint32]) -> float:
    if not len(left) and not len(right):
        return 1.0
    common = len(np.intersect1d(left, right, assume_unique=True))
    return common / (len(left) + len(right) - common)
