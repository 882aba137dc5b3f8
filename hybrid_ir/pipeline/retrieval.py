"""Index documents, search them, and turn a run into a submission."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any, TypeVar

from fusion.methods import rrf
from hybrid_ir.bioasq.limits import MAX_DOCUMENTS
from hybrid_ir.bioasq.questions import read_questions
from hybrid_ir.bioasq.submission import write_phase_a
from hybrid_ir.errors import InputError, refuse
from hybrid_ir.files import read_jsonl
from hybrid_ir.manifests import Manifest, Stage, run_stage
from hybrid_ir.pipeline.growing import growing_run
from hybrid_ir.pipeline.progress import progress, versions, watched
from hybrid_ir.pubmed.store import DuplicateError
from hybrid_ir.records import Query, Rankings
from hybrid_ir.retrieval.bm25 import SearchConfig, Searcher, plain_queries
from hybrid_ir.retrieval.index import IndexConfig, read_settings
from hybrid_ir.retrieval.indexing import build_index, places_of, read_documents
from hybrid_ir.trec import format_ranking, read_run, refuse_blanks
from hybrid_ir.wording import counted

log = logging.getLogger(__name__)

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class SubmitConfig:
    """How a run becomes a submission.

    Attributes:
        documents: Documents a question at most; BioASQ allows 10.
    """

    documents: int = MAX_DOCUMENTS

    def __post_init__(self) -> None:
        fine = 1 <= self.documents <= MAX_DOCUMENTS
        refuse("the submission", ("documents", f"1 to {MAX_DOCUMENTS}", self.documents, fine))


def index(
    documents: Sequence[Path], output: Path, config: IndexConfig, verify: bool = False
) -> Manifest:
    """Index JSONL documents into the folder ``output``."""

    def work(_: str) -> dict[str, Any]:
        with progress("index", "documents") as bar:
            try:
                settings = build_index(read_documents(documents), output, config, bar.update)
            except DuplicateError as error:
                places = ", ".join(places_of(error.document_id, documents))
                raise InputError(f"{error}: {places}; leave one out") from error
        if settings.without_text:
            without = counted(settings.without_text, "document")
            log.warning("%s without any text to be found by", without)
        return {"documents": settings.documents, "without_text": settings.without_text}

    inputs = {f"documents {number}": path for number, path in enumerate(documents, start=1)}
    settings = replace(config, threads=1, buffer_mb=16)  # how it is made, not what is made
    stage = Stage("index", 2, settings, inputs)
    return run_stage(stage, output, lambda key: {**work(key), **versions()}, verify)


def search(
    index: Path,
    questions: Path | None,
    queries: Path | None,
    output: Path,
    name: str,
    config: SearchConfig,
    verify: bool = False,
) -> Manifest:
    """Search an index and write a TREC run; interrupted, the same call goes on where it stopped.

    Args:
        index: The index folder.
        questions: A BioASQ file whose bodies are the queries, or None.
        queries: A JSONL file of queries instead, or None. Several of one question stand together;
            their rankings are fused.
        output: The TREC run.
        name: The run's name, its last column.
        config: Settings.
        verify: Hash inputs and artefact instead of trusting sizes and time stamps.
    """
    read_settings(index)  # says so where it is no index, or one that is being updated
    source, wanted = _queries(questions, queries, config)
    ids = tuple(dict.fromkeys(query.question_id for query in wanted))
    refuse_blanks([name, *ids])
    inputs = {"index": index, source[0]: source[1]}
    settings = _NamedSearch(name, replace(config, threads=1))  # threads change no result
    stage = Stage("search", 1, settings, inputs)

    def work(key: str) -> dict[str, Any]:
        with Searcher(index, config) as searcher, ExitStack() as stack:
            searcher.check(wanted)
            file, done = stack.enter_context(growing_run(output, key))
            todo = [query for query in wanted if query.question_id not in done]
            if done:
                log.info("%d of %d questions were searched before", len(done), len(ids))
            empty = 0
            results = fused(searcher.search_all(todo), config)
            left = len(ids) - len(done)
            for question_id, ranking in watched(results, "search", "questions", left):
                file.write(format_ranking(question_id, ranking, name))
                file.flush()
                empty += not ranking
        if empty:
            log.warning("%d of %d questions found nothing", empty, len(ids))
        counts = {"questions": len(ids), "queries": len(wanted), "without_hits": empty}
        return {**counts, **versions()}

    return run_stage(stage, output, work, verify)


def submit(
    run: Path, questions: Path, output: Path, config: SubmitConfig, verify: bool = False
) -> Manifest:
    """Turn a TREC run into a Phase A submission for the batch of ``questions``."""

    def work(_: str) -> dict[str, Any]:
        batch = read_questions(questions)
        write_phase_a(output, batch, read_run(run, config.documents), config.documents)
        return {"questions": len(batch)}

    stage = Stage("submit", 1, config, {"run": run, "questions": questions})
    return run_stage(stage, output, work, verify)


@dataclass(frozen=True, slots=True)
class _NamedSearch:
    name: str
    config: SearchConfig


def _queries(
    questions: Path | None, queries: Path | None, config: SearchConfig
) -> tuple[tuple[str, Path], list[Query]]:
    """Give the input (role, path) and its queries, those of a question together."""
    if questions:
        return ("questions", questions), list(
            plain_queries(read_questions(questions), config.fields)
        )
    if queries is None:
        raise InputError("search needs questions or queries")
    if config.fields:
        raise InputError("field weights go with questions; a query's clauses name their own fields")
    wanted = list(read_jsonl(queries, Query))
    if not wanted:
        raise InputError(f"{queries}: has no queries")
    _refuse_apart(queries, wanted)
    return ("queries", queries), wanted


def _refuse_apart(path: Path, queries: Sequence[Query]) -> None:
    """Refuse queries of one question that stand apart, or that no variant tells apart."""
    groups = [question_id for question_id, _ in groupby(query.question_id for query in queries)]
    faults = [
        f"question {question_id}: its queries stand apart: sort the file"
        for question_id in _twice(groups)
    ]
    faults += [
        f"question {question_id}: variant {variant!r} stands there several times: leave one, or"
        " name them apart to fuse them"
        for question_id, variant in _twice((query.question_id, query.variant) for query in queries)
    ]
    if faults:
        raise InputError.of_all(f"{path}: these queries cannot be searched:", faults)


def _twice(items: Iterable[T]) -> list[T]:
    return [item for item, count in Counter(items).items() if count > 1]


def fused(results: Rankings, config: SearchConfig) -> Rankings:
    """Make one ranking of the rankings of a question's queries, if there are several."""
    for question_id, group in groupby(results, key=itemgetter(0)):
        rankings = [ranking for _, ranking in group]
        several = len(rankings) > 1
        yield question_id, rrf(rankings, config.rrf_k)[: config.hits] if several else rankings[0]
