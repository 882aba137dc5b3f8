"""Questions and texts as vectors of weighted words, whose products are similarities.

Words are runs of letters and digits in one case, cut after six characters: a stemmer of one line,
which parted questions' own texts from other questions' better than whole words did and than cuts at
four, five or seven (batches 10B1, 10B2, 11B2). Stop words and the words that make a question a
question do not count. A word's weight is BM25's inverse document frequency (S. Robertson, H.
Zaragoza: The probabilistic relevance framework, 2009) among all questions and texts given.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from hybrid_ir.evaluation.description import FORMS, STOP_WORDS

Floats: TypeAlias = NDArray[np.float64]
Sparse: TypeAlias = Any
"""A scipy.sparse.csr_array: scipy carries no types."""

_WORD = re.compile(r"[^\W_]+")
_STEM = 6
_UNCOUNTED = STOP_WORDS | FORMS


class LexicalVectors(NamedTuple):
    """Rows over the same words.

    Attributes:
        questions: Each word's share of the question's weight: a row sums to 1.
        presence: 1 for each word of a text; times a question's row, the share of it in the text.
        texts: Words' weights times ``1 + log(count)``, in rows of length 1.
    """

    questions: Sparse
    presence: Sparse
    texts: Sparse


def terms(text: str) -> list[str]:
    """Give a text's words that count, cut to their stems."""
    found = _WORD.findall(text.casefold())
    return [word[:_STEM] for word in found if word not in _UNCOUNTED]


def lexical_vectors(questions: Sequence[str], texts: Sequence[str]) -> LexicalVectors:
    """Turn questions and texts into vectors."""
    asked = [Counter(dict.fromkeys(terms(question), 1)) for question in questions]
    written = [Counter(terms(text)) for text in texts]
    idf = _idf([*asked, *written])
    shares = [_scaled({word: idf[word] for word in row}, 1) for row in asked]
    weights = [
        _scaled({word: idf[word] * (1 + math.log(n)) for word, n in row.items()}, 2)
        for row in written
    ]
    places = {word: place for place, word in enumerate(idf)}
    return LexicalVectors(
        _rows(shares, places),
        _rows([dict.fromkeys(row, 1.0) for row in written], places),
        _rows(weights, places),
    )


def _idf(rows: Sequence[Counter[str]]) -> dict[str, float]:
    holding = Counter(word for row in rows for word in row)
    return {word: math.log(1 + (len(rows) - n + 0.5) / (n + 0.5)) for word, n in holding.items()}


def _scaled(row: Mapping[str, float], order: int) -> dict[str, float]:
    """Divide by the sum (order 1) or the Euclidean length (order 2)."""
    length = math.fsum(value**order for value in row.values()) ** (1 / order)
    return {word: value / length for word, value in row.items()}


def _rows(rows: Sequence[Mapping[str, float]], places: Mapping[str, int]) -> Sparse:
    values = np.array([value for row in rows for value in row.values()], np.float64)
    columns = np.array([places[word] for row in rows for word in row], np.int64)
    starts = np.cumsum([0, *(len(row) for row in rows)])
    return csr_array((values, columns, starts), shape=(len(rows), len(places)))
