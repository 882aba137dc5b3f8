"""Texts, and questions, that say nearly the same."""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping

_WORD = re.compile(r"\w+")
SHINGLE = 3
"""Words of a shingle."""


def shingles(text: str) -> frozenset[tuple[str, ...]]:
    """Give the runs of three words of a text, in one case; of a shorter one the text itself."""
    words = _WORD.findall(text.casefold())
    starts = range(max(1, len(words) - SHINGLE + 1))
    return frozenset(tuple(words[start : start + SHINGLE]) for start in starts) - {()}


def near(left: frozenset[tuple[str, ...]], right: frozenset[tuple[str, ...]]) -> float:
    """Give how nearly two texts' shingles are the same, 0 to 1.

    The larger of their Jaccard similarity and, where one text stands in the other as a whole, 1:
    a snippet and the abstract it is cut from are the same to a reader.
    """
    if not left or not right:
        return 0.0
    common = len(left & right)
    if common == min(len(left), len(right)):
        return 1.0
    return common / (len(left) + len(right) - common)


def near_questions(bodies: Mapping[str, str], threshold: float) -> dict[str, frozenset[str]]:
    """Find questions with nearly the same words: Jaccard similarity of ``threshold`` or more.

    Two sets so similar share one of the rarest few words of each, so only questions that do are
    compared (S. Chaudhuri, V. Ganti, R. Kaushik: A primitive operator for similarity joins in data
    cleaning, 2006): none is overlooked.

    Args:
        bodies: Question id -> body.
        threshold: Above 0, at most 1.

    Returns:
        Question id -> the other questions; one without any is left out.
    """
    words = {id_: frozenset(_WORD.findall(body.casefold())) for id_, body in bodies.items()}
    frequency = Counter(word for found in words.values() for word in found)
    having: dict[str, list[str]] = defaultdict(list)
    pairs: dict[str, set[str]] = defaultdict(set)
    for id_, mine in words.items():
        rarest = sorted(mine, key=lambda word: (frequency[word], word))
        shared = math.ceil(threshold * len(mine) - 1e-9)
        prefix = rarest[: len(mine) - shared + 1]
        for other in {other for word in prefix for other in having[word]}:
            if _jaccard(mine, words[other]) >= threshold:
                pairs[id_].add(other)
                pairs[other].add(id_)
        for word in prefix:
            having[word].append(id_)
    return {id_: frozenset(others) for id_, others in pairs.items()}


def _jaccard(left: frozenset[str], right: frozenset[str]) -> float:
    return len(left & right) / len(left | right)


class NearAny:
    """Says whether a text is nearly one of some texts.

    Args:
        texts: The texts.
        threshold: From what similarity on (:func:`near`) two texts are nearly the same; above 1
            none are.
    """

    def __init__(self, texts: Iterable[str], threshold: float) -> None:
        self._threshold = threshold
        self._known = [shingles(text) for text in texts]

    def __contains__(self, text: object) -> bool:
        found = shingles(str(text))
        return any(near(found, known) >= self._threshold for known in self._known)
