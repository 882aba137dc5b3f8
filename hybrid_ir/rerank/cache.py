"""The cache of scores: no pair is scored twice by the same model, in whichever command.

A score is found by all that decides it: the scorer's identity (weights, tokenizer, maximum length,
precision, kind and windows), the query's text and the document's text. Only the scores of such
scorers belong here that look at one document at a time.
"""

from __future__ import annotations

import contextlib
import hashlib
import math
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from hybrid_ir.database import Database, Schema
from hybrid_ir.rerank.candidates import Candidates, Scorer, Scores

_SCHEMA = Schema(
    name="cache of scores",
    application=0x48495253,  # "HIRS"
    version=1,
    tables="CREATE TABLE scores (key BLOB PRIMARY KEY, score REAL NOT NULL) WITHOUT ROWID",
)
_DIGEST = 16
"""Bytes of a key: among 10**12 pairs, two share one with a chance of 1 in 10**14."""
_AT_ONCE = 500
"""Keys of one SELECT."""


class ScoreCache:
    """Scores in one file; threads and processes may share it.

    Attributes:
        known: Pairs whose scores were looked up and found.
        computed: Pairs whose scores were not, and came in.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self.known = 0
        self.computed = 0

    def counts(self) -> dict[str, int]:
        """Give both counts by name, for a manifest."""
        return {"scored_pairs": self.computed, "known_pairs": self.known}

    def get_many(self, keys: Sequence[bytes]) -> dict[bytes, float]:
        """Give the scores of those keys that are known."""
        found: dict[bytes, float] = {}
        with self._database.reading() as connection:
            for first in range(0, len(keys), _AT_ONCE):
                part = keys[first : first + _AT_ONCE]
                marks = ", ".join("?" * len(part))
                statement = f"SELECT key, score FROM scores WHERE key IN ({marks})"  # noqa: S608
                found.update(connection.execute(statement, part))
            self.known += len(found)
        return found

    def put_many(self, scores: Mapping[bytes, float]) -> None:
        """Keep scores, all or none; the first one of a key stays, and NaN is not kept."""
        rows = [(key, score) for key, score in scores.items() if not math.isnan(score)]
        with self._database.transaction() as connection:
            connection.executemany("INSERT INTO scores VALUES (?, ?) ON CONFLICT DO NOTHING", rows)
            self.computed += len(scores)


@contextlib.contextmanager
def open_scores(path: str | Path) -> Iterator[ScoreCache]:
    """Open or create a cache of scores, for a ``with`` block.

    Raises:
        InputError: it cannot be opened, is damaged, or is something else.
    """
    with contextlib.closing(Database(Path(path).expanduser(), _SCHEMA)) as database:
        yield ScoreCache(database)


def keys_of(identity: str, query: str, texts: Iterable[str]) -> list[bytes]:
    """Give the keys of pairs: 16 bytes of BLAKE2b over identity, query and text, one a text."""
    start = hashlib.blake2b(digest_size=_DIGEST)
    for part in (identity, query):
        content = part.encode("utf-8", "surrogatepass")
        start.update(len(content).to_bytes(8, "little"))  # so that no two joins are the same
        start.update(content)
    keys = []
    for text in texts:
        whole = start.copy()
        whole.update(text.encode("utf-8", "surrogatepass"))
        keys.append(whole.digest())
    return keys


def cached(scorer: Scorer, identity: str, cache: ScoreCache, with_texts: bool = False) -> Scorer:
    """Put a cache in front of a scorer: it sees only what is not known.

    A question of which all is known does not reach it, and where a question's documents share a
    text it sees the first. What it computes is kept question by question. While it looks ahead to
    the next unknown pair, the questions it passes wait as their scores alone.

    Args:
        scorer: Scores each document by itself.
        identity: Names all that decides a score but the pair.
        cache: Where scores are looked up and kept.
        with_texts: Whether the texts that were written for a question decide a score, too.
    """

    def score(candidates: Iterable[Candidates]) -> Iterator[Scores]:
        stream = _Stream(iter(candidates), identity, cache, with_texts)
        inner = scorer(stream.unknown())
        while question := stream.first():
            if question.places:
                computed = next(inner)
                cache.put_many(dict(zip(question.places, computed.tolist(), strict=True)))
                question.fill(computed)
            stream.drop_first()
            yield question.scores
        next(inner, None)  # it may have something to do at its end

    return score


@dataclass(frozen=True, slots=True)
class _Looked:
    """A question that was looked up: ``places`` holds those of each unknown key."""

    scores: Scores
    places: dict[bytes, list[int]]

    def fill(self, computed: Scores) -> None:
        for value, places in zip(computed, self.places.values(), strict=True):
            self.scores[places] = value


class _Stream:
    """The questions in order, looked up as they are pulled.

    They are pulled by the scorer, and by whoever wants the scores that are known without it.
    """

    def __init__(
        self,
        candidates: Iterator[Candidates],
        identity: str,
        cache: ScoreCache,
        with_texts: bool,
    ) -> None:
        self._candidates = candidates
        self._identity = identity
        self._cache = cache
        self._with_texts = with_texts
        self._waiting: deque[_Looked] = deque()
        self._unknown: deque[Candidates] = deque()

    def first(self) -> _Looked | None:
        """Give the first question whose scores were not given on, None at the end."""
        return self._waiting[0] if self._waiting or self._pull() else None

    def drop_first(self) -> None:
        self._waiting.popleft()

    def unknown(self) -> Iterator[Candidates]:
        """Yield the questions with what is unknown of them."""
        while self._unknown or self._pull():
            if self._unknown:
                yield self._unknown.popleft()

    def _pull(self) -> bool:
        """Look the next question up; False where there is none."""
        question = next(self._candidates, None)
        if question is None:
            return False
        query = repr((question.query, question.written)) if self._with_texts else question.query
        keys = keys_of(self._identity, query, question.texts)
        found = self._cache.get_many(keys)
        scores = np.array([found.get(key, math.nan) for key in keys], dtype=np.float64)
        places: dict[bytes, list[int]] = {}
        for place, key in enumerate(keys):
            if key not in found:
                places.setdefault(key, []).append(place)
        self._waiting.append(_Looked(scores, places))
        if places:
            self._unknown.append(_only(question, [first for first, *_ in places.values()]))
        return True


def _only(question: Candidates, places: Sequence[int]) -> Candidates:
    documents, texts = question.documents, question.texts
    return Candidates(
        question.question_id,
        question.query,
        tuple(documents[place] for place in places),
        tuple(texts[place] for place in places),
        question.written,
    )
