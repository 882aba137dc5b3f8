"""BM25 over a Lucene index: queries made of clauses in, rankings out.

No query parser is involved: a clause's text goes through the index's analyser and becomes a bag of
words, whatever characters it holds; on ``publication_type`` and ``year`` it is a list of values.

Three things make this faster than handing Lucene's hits to Python one by one: Java writes a whole
result as one JSON string (one crossing of the language border instead of some thousand), document
ids come from an array instead of stored fields, and ties are broken here instead of by a sort on
ids inside the search.
"""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType

import msgspec
import numpy as np

from hybrid_ir.errors import InputError, refuse
from hybrid_ir.records import Clause, Query, Question, Ranked, Ranking
from hybrid_ir.retrieval.fields import CONTENTS, EXACT_FIELDS, fault_of_values, words_of
from hybrid_ir.retrieval.ids import open_ids
from hybrid_ir.retrieval.index import (
    LUCENE,
    analyzer,
    check_sequence,
    open_reader,
    open_store,
    read_settings,
    searcher_of,
)
from hybrid_ir.retrieval.jvm import JavaObject, java_class, lock
from hybrid_ir.retrieval.lucene_query import encodable, to_query, weighted_terms
from hybrid_ir.retrieval.parallel import Found, SearchPool
from hybrid_ir.retrieval.pruning import prune
from hybrid_ir.retrieval.rm3 import Rm3Config, expand, useful
from hybrid_ir.trec import rank

_ONLY_MUST_NOT = (
    "every clause is must_not, which rules documents out and finds none: add a clause that finds"
    " some (should, must or filter)"
)
_NO_LIMIT = 2**31 - 1
MAX_BOOST = 1e6
BOOSTS = "weights from 0 to 1,000,000"
_TIE_MARGIN = 50  # hits beyond the last place, so that most ties there need no second search


@dataclass(frozen=True, slots=True)
class SearchConfig:
    """How to search.

    Attributes:
        hits: Documents a query returns at most.
        k1: BM25's saturation of term frequency, 0 or more.
        b: BM25's length normalisation, 0 to 1.
        threads: Queries searched at the same time.
        rm3: Pseudo-relevance feedback, or None for none.
        words: Words of a query that are searched for, the heaviest by boost times idf, or None for
            all: long texts in a query bring words that say little and cost much. It holds for the
            optional clauses of ``contents``; others are searched for as they are.
        fields: Weights of the index's fields a question is looked up in; none means ``contents``,
            title and abstract as one. Only fields of words: ``publication_type`` and ``year`` are
            for clauses.
        rrf_k: The constant of reciprocal rank fusion, 0 or more, for questions with several
            queries: their rankings, ``hits`` deep each, become one.
    """

    hits: int = 1000
    k1: float = 0.9
    b: float = 0.4
    threads: int = 2
    rm3: Rm3Config | None = None
    words: int | None = None
    fields: dict[str, float] = field(default_factory=dict)
    rrf_k: float = 60.0

    def __post_init__(self) -> None:
        weights = self.fields.values()
        refuse(
            "the search",
            ("hits", "1 to 1,000,000", self.hits, 1 <= self.hits <= 1_000_000),
            ("k1", "0 to 1,000", self.k1, 0 <= self.k1 <= 1_000),
            ("b", "0 to 1", self.b, 0 <= self.b <= 1),
            ("rrf_k", "0 to 1,000,000", self.rrf_k, 0 <= self.rrf_k <= 1_000_000),
            ("words", "1 or more", self.words, self.words is None or self.words >= 1),
            ("threads", "1 to 256", self.threads, 1 <= self.threads <= 256),
            ("fields", BOOSTS, dict(self.fields), all(map(_is_boost, weights))),
            (
                "fields",
                f"fields of words, not {' or '.join(EXACT_FIELDS)}",
                list(self.fields),
                not set(EXACT_FIELDS).intersection(self.fields),
            ),
        )


def _is_optional(clause: Clause) -> bool:
    return clause.field == CONTENTS and clause.operator == "should"


def _is_boost(weight: float) -> bool:
    return 0 <= weight <= MAX_BOOST


class _Hit(msgspec.Struct):
    doc: int
    score: float


class _TopDocs(msgspec.Struct):
    scoreDocs: list[_Hit]  # noqa: N815 (Lucene's name)


@dataclass(frozen=True, slots=True)
class _Search:
    """A search under way."""

    query: JavaObject
    size: int
    wanted: int
    found: Found


_decode_hits = msgspec.json.Decoder(_TopDocs).decode


def plain_queries(questions: Iterable[Question], fields: dict[str, float]) -> Iterator[Query]:
    """Turn questions into queries: the body, looked up in each field with its weight."""
    weights = fields or {CONTENTS: 1.0}
    for question in questions:
        clauses = (Clause(question.body, name, weight) for name, weight in weights.items())
        yield Query(question.id, tuple(clauses))


class Searcher:
    """An open index. Use it in a ``with`` block; threads may share it.

    Raises:
        InputError: the folder is no whole index.
    """

    def __init__(self, index: Path, config: SearchConfig = SearchConfig()) -> None:
        self.config = config
        with ExitStack() as opened:
            self.settings = read_settings(index)
            self._store = open_store(index)
            opened.callback(self._store.close)
            self._ids = open_ids(index, self.settings)
            with lock:
                self._open_lucene(index, opened)
            self._opened = opened.pop_all()

    def _open_lucene(self, index: Path, opened: ExitStack) -> None:
        self._reader = open_reader(index / LUCENE)
        opened.callback(self._reader.close)
        check_sequence(index, self._reader, self.settings)
        bm25 = java_class("org.apache.lucene.search.similarities.BM25Similarity")
        searcher = searcher_of(self._reader)
        searcher.setSimilarity(bm25(self.config.k1, self.config.b))
        searcher.setMaxClauseCount(_NO_LIMIT)
        self._pool = SearchPool(searcher, self.config.threads)
        opened.callback(self._pool.close)
        self._analyzer = analyzer(self.settings.stemmer, self.settings.keep_stopwords)

    def __enter__(self) -> Searcher:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the index."""
        with lock:
            self._opened.close()

    def search_all(self, queries: Iterable[Query]) -> Iterator[tuple[str, Ranking]]:
        """Search many queries, several at a time; results stream in the queries' order.

        Only as many results are held as keep the threads busy, so memory does not grow with the
        number of queries.
        """
        started: deque[tuple[str, _Search]] = deque()
        for query in queries:
            started.append((query.question_id, self._start(query)))
            if len(started) > 2 * self.config.threads:
                question_id, search = started.popleft()
                yield question_id, self._finish(search)
        while started:
            question_id, search = started.popleft()
            yield question_id, self._finish(search)

    def search(self, query: Query) -> Ranking:
        """Rank documents for one query: at most ``hits``, ties broken by document id.

        A query without any indexed word has an empty ranking; one that has nothing but ``filter``
        clauses ranks all that pass, by id.

        Raises:
            InputError: a field the index lacks, a boost that is negative or not finite, or a text
                that means nothing to an exact field.
        """
        return self._finish(self._start(query))

    def analyse(self, text: str) -> list[str]:
        """Give the terms of a text as the index has them."""
        with lock:
            utils = java_class("io.anserini.analysis.AnalyzerUtils")
            return list(utils.analyze(self._analyzer, encodable(text)))

    def check(self, queries: Iterable[Query]) -> None:
        """Raise one InputError for all queries that cannot be searched, before any is."""
        faults: dict[str, dict[str, None]] = defaultdict(dict)
        for query in queries:
            if query.clauses and all(clause.operator == "must_not" for clause in query.clauses):
                faults[_ONLY_MUST_NOT][query.question_id] = None
            for clause in query.clauses:
                for fault in self._faults(clause):
                    faults[fault][query.question_id] = None
        if faults:
            lines = []
            for fault, ids in faults.items():
                more = f" and {len(ids) - 1} more" if len(ids) > 1 else ""
                lines.append(f"question {next(iter(ids))}{more}: {fault}")
            raise InputError.of_all("these queries cannot be searched:", lines)

    def _start(self, query: Query) -> _Search:
        self.check([query])
        with lock:
            return self._search(self._java_query(query.clauses), self.config.hits)

    def _java_query(self, clauses: Sequence[Clause]) -> JavaObject:
        if not (self.config.rm3 or self.config.words):
            return to_query(clauses, self._analyzer)
        optional = [clause for clause in clauses if _is_optional(clause)]
        terms = self._terms(optional)
        if self.config.words:
            documents = self._reader.numDocs()
            terms = prune(terms, self.config.words, documents, self._frequency)
        if self.config.rm3:
            return self._with_feedback(terms, self.config.rm3)
        others = [clause for clause in clauses if not _is_optional(clause)]
        return to_query(others, self._analyzer, terms if optional else None)

    def _terms(self, clauses: Iterable[Clause]) -> dict[str, float]:
        """Give the terms of clauses, each with the sum of its boosts."""
        terms: dict[str, float] = defaultdict(float)
        for clause in clauses:
            for term in self.analyse(clause.text):
                terms[term] += clause.boost
        return terms

    def _search(self, java_query: JavaObject, size: int) -> _Search:
        wanted = size + _TIE_MARGIN
        return _Search(java_query, size, wanted, self._pool.submit(java_query, wanted))

    def _faults(self, clause: Clause) -> Iterator[str]:
        if clause.field not in self.settings.fields:
            yield (
                f"the index has no field {clause.field!r} (it has"
                f" {', '.join(self.settings.fields)}): index with fields=[{clause.field}]"
            )
        elif clause.field in EXACT_FIELDS and (fault := fault_of_values(clause.field, clause.text)):
            yield fault
        if not _is_boost(clause.boost):
            yield f"boosts are {BOOSTS}, got {clause.boost}"
        if self.config.rm3 and not _is_optional(clause):
            yield f"RM3 works on optional clauses of {CONTENTS} only: leave it or them out"

    def _finish(self, search: _Search) -> Ranking:
        """Wait for the hits and break ties; a tie across the last place is looked at as a whole."""
        with lock:
            hits = _decode_hits(search.found.get()).scoreDocs
            wanted = search.wanted
            while (
                len(hits) == wanted < len(self._ids)
                and hits[-1].score == hits[search.size - 1].score
            ):
                wanted = min(4 * wanted, len(self._ids))
                hits = _decode_hits(self._pool.submit(search.query, wanted).get()).scoreDocs
        return self._in_order(hits, search.size)

    def _in_order(self, hits: list[_Hit], size: int) -> Ranking:
        """Give the first ``size`` hits with their ids, ordered by the project's tie rule."""
        if not hits:
            return ()
        ids = self._ids[[hit.doc for hit in hits]]
        scores = [hit.score for hit in hits]
        if ids.dtype.kind != "i":
            return rank(zip((name.decode() for name in ids.tolist()), scores, strict=True))[:size]
        order = np.lexsort((ids, np.negative(scores)))[:size]
        return tuple(map(Ranked, map(str, ids[order].tolist()), np.take(scores, order).tolist()))

    def _with_feedback(self, terms: Mapping[str, float], rm3: Rm3Config) -> JavaObject:
        """Expand a query by RM3; texts of the feedback documents come from the store."""
        top = self._finish(self._search(weighted_terms(terms), rm3.documents))
        found = self._store.find(document for document, _ in top)
        feedback = [(Counter(self.analyse(words_of(found[d].text))), score) for d, score in top]
        return weighted_terms(expand(terms, feedback, rm3, self._is_useful))

    def _is_useful(self, term: str) -> bool:
        return useful(term, self._frequency(term), self._reader.numDocs())

    def _frequency(self, term: str) -> int:
        """Give the number of documents with a term."""
        java_term = java_class("org.apache.lucene.index.Term")(CONTENTS, term)
        return int(self._reader.docFreq(java_term))
