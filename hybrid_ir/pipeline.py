"""The composition root: stages joined into chains, each skipped while its artefact is up to date.

A stage function takes paths and a configuration, makes one artefact and a manifest beside it, and
is what the command of the same name calls. :func:`run` is the chain:

    documents ── index ──┐
    questions ───────────┴─ search (BM25) ── submit ── evaluate

Between search and submit will stand: expand and search again (BM25LLM), rerank, fuse; after submit:
snippets, context, answer.
"""

from __future__ import annotations

import fcntl
import json
import logging
import os
import shutil
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field, replace
from importlib.metadata import version
from io import TextIOWrapper
from pathlib import Path
from typing import Any, Literal, TypeVar

from tqdm import tqdm

from hybrid_ir.bioasq.limits import MAX_DOCUMENTS
from hybrid_ir.bioasq.questions import read_questions
from hybrid_ir.bioasq.raw import read_raw
from hybrid_ir.bioasq.submission import write_phase_a
from hybrid_ir.config import save_config
from hybrid_ir.errors import InputError, refuse
from hybrid_ir.evaluation.reference import reference
from hybrid_ir.evaluation.scores import Scores, scores_to_json
from hybrid_ir.evaluation.scoring import evaluate_run
from hybrid_ir.files import read_jsonl, refuse_to_write, remove, writing
from hybrid_ir.manifests import Manifest, Stage, run_stage
from hybrid_ir.pubmed.store import DuplicateError
from hybrid_ir.records import Query
from hybrid_ir.retrieval.bm25 import SearchConfig, Searcher, plain_queries
from hybrid_ir.retrieval.index import IndexConfig, open_store
from hybrid_ir.retrieval.indexing import build_index, places_of, read_documents
from hybrid_ir.trec import completed, format_ranking, read_run, refuse_blanks

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


@dataclass(frozen=True, slots=True)
class EvaluateConfig:
    """How the run is scored.

    Attributes:
        edition: The official program's edition; 9 for BioASQ 9 and later.
        cutoffs: The k of recall@k.
        within_collection: Leave gold documents that the index does not hold out of the gold; the
            table says how many are left. For a collection that is a part of PubMed.
    """

    edition: Literal[2, 3, 5, 8, 9] = 9
    cutoffs: tuple[int, ...] = (10, 100, 800, 1000)
    within_collection: bool = False

    def __post_init__(self) -> None:
        fine = bool(self.cutoffs) and min(self.cutoffs) >= 1
        refuse("the evaluation", ("cutoffs", "numbers of 1 or more", self.cutoffs, fine))


@dataclass(frozen=True, slots=True)
class RunConfig:
    """The whole chain; a file in ``configs/`` fills it.

    Attributes:
        documents: JSONL files of documents.
        questions: The batch, as BioASQ hands it out.
        gold: Its golden file, or None when there is none yet.
        work: The folder of all artefacts.
        name: The run's name.
        index: Settings of the index.
        search: Settings of the search.
        submit: Settings of the submission.
        evaluate: Settings of the scoring.
    """

    documents: tuple[Path, ...]
    questions: Path
    gold: Path | None = None
    work: Path = Path("work")
    name: str = "BM25"
    index: IndexConfig = field(default_factory=IndexConfig)
    search: SearchConfig = field(default_factory=SearchConfig)
    submit: SubmitConfig = field(default_factory=SubmitConfig)
    evaluate: EvaluateConfig = field(default_factory=EvaluateConfig)

    def __post_init__(self) -> None:
        plain = self.name.isprintable() and self.name.split() == [self.name]
        fine = plain and "/" not in self.name
        refuse("the run", ("name", "one word without a slash", repr(self.name), fine))


def index(
    documents: Sequence[Path], output: Path, config: IndexConfig, verify: bool = False
) -> Manifest:
    """Index JSONL documents into the folder ``output``."""

    def work(_: str) -> dict[str, Any]:
        with _progress("index", "documents") as bar:
            try:
                settings = build_index(read_documents(documents), output, config, bar.update)
            except DuplicateError as error:
                places = ", ".join(places_of(error.document_id, documents))
                raise InputError(f"{error}: {places}; leave one out") from error
        if settings.without_text:
            log.warning("%d documents have no text to be found by", settings.without_text)
        return {"documents": settings.documents, "without_text": settings.without_text}

    inputs = {f"documents {number}": path for number, path in enumerate(documents, start=1)}
    settings = replace(config, threads=1, buffer_mb=16)  # how it is made, not what is made
    stage = Stage("index", 1, settings, inputs)
    return run_stage(stage, output, lambda key: {**work(key), **_versions()}, verify)


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
        queries: A JSONL file of queries instead, one a question, or None.
        output: The TREC run.
        name: The run's name, its last column.
        config: Settings.
        verify: Hash inputs and artefact instead of trusting sizes and time stamps.
    """
    source, wanted = _queries(questions, queries, config)
    refuse_blanks([name, *(query.question_id for query in wanted)])
    inputs = {"index": index, source[0]: source[1]}
    settings = _NamedSearch(name, replace(config, threads=1))  # threads change no result
    stage = Stage("search", 1, settings, inputs)

    def work(key: str) -> dict[str, Any]:
        with Searcher(index, config) as searcher, ExitStack() as stack:
            searcher.check(wanted)
            file, done = stack.enter_context(_growing(output, key))
            todo = [query for query in wanted if query.question_id not in done]
            if done:
                log.info("%d of %d questions were searched before", len(done), len(wanted))
            empty = 0
            results = searcher.search_all(todo)
            for question_id, ranking in _watched(results, "search", "questions", len(todo)):
                file.write(format_ranking(question_id, ranking, name))
                file.flush()
                empty += not ranking
        if empty:
            log.warning("%d of %d questions found nothing", empty, len(wanted))
        return {"questions": len(wanted), "without_hits": empty, **_versions()}

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


def evaluate(run: Path, gold: Path, index: Path, output: Path, config: EvaluateConfig) -> Scores:
    """Score a run against gold and write the scores as JSON; quick enough to be done each time."""
    with closing(open_store(index)) as store:
        within = store if config.within_collection else None
        batch = reference(read_raw(gold), batch_name(gold), config.edition, within)
    deepest = max(MAX_DOCUMENTS, *config.cutoffs)
    scores = evaluate_run(batch, read_run(run, deepest), cutoffs=config.cutoffs)
    with writing(output) as file:
        json.dump(scores_to_json(scores), file, indent=1)
        file.write("\n")
    return scores


def batch_name(path: Path) -> str:
    """Give the name of a batch from that of its file: ``12B1.golden.json.gz`` -> ``12B1``."""
    return path.name.partition(".")[0].removesuffix("_golden")


def run(config: RunConfig, verify: bool = False) -> Scores | None:
    """Go the whole way from documents to a submission and, with gold, to its scores."""
    if config.gold:
        _refuse_other_batch(config.questions, config.gold)
    folder = config.work
    save_config(config, folder / f"{batch_name(config.questions)}.{config.name}.config.yaml")
    index(config.documents, folder / "index", config.index, verify)
    batch = batch_name(config.questions)
    trec = folder / f"{batch}.{config.name}.trec"
    search(folder / "index", config.questions, None, trec, config.name, config.search, verify)
    submission = folder / f"{batch}.{config.name}.phaseA.json"
    submit(trec, config.questions, submission, config.submit, verify)
    scores = folder / f"{batch}.{config.name}.scores.json"
    if config.gold is None:
        remove(scores)  # they may be of another run
        return None
    return evaluate(trec, config.gold, folder / "index", scores, config.evaluate)


def _refuse_other_batch(questions: Path, gold: Path) -> None:
    """Look before the work that the gold is of these questions."""
    ids = {question.id for question in read_questions(questions)}
    if not ids & {question.get("id") for question in read_raw(gold)}:
        raise InputError(f"{gold}: has none of the questions of {questions}: is it the same batch?")


@dataclass(frozen=True, slots=True)
class _NamedSearch:
    name: str
    config: SearchConfig


def _queries(
    questions: Path | None, queries: Path | None, config: SearchConfig
) -> tuple[tuple[str, Path], list[Query]]:
    """Give the input (role, path) and its queries, one a question."""
    if questions:
        return ("questions", questions), list(
            plain_queries(read_questions(questions), config.fields)
        )
    if queries is None:
        raise InputError("search needs questions or queries")
    if config.fields:
        raise InputError("field weights go with questions; a query's clauses name their own fields")
    wanted = list(read_jsonl(queries, Query))
    counts = Counter(query.question_id for query in wanted)
    if twice := sorted(question_id for question_id, count in counts.items() if count > 1):
        raise InputError(f"{queries}: expected one query a question, got several for {twice[:10]}")
    return ("queries", queries), wanted


@contextmanager
def _growing(path: Path, key: str) -> Iterator[tuple[TextIOWrapper, set[str]]]:
    """Open a run that grows question by question under another name and appears when it is whole.

    Gives the file and the questions it holds already from an interrupted call with the same key.

    Raises:
        InputError: another process is writing it, or a folder or a device has that name.
    """
    refuse_to_write(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    partial, made_for = (path.with_name(f".{path.name}.{part}") for part in ("partial", "key"))
    with _locked(partial, path) as file:
        if not made_for.exists() or made_for.read_text() != key:
            file.truncate(0)
            made_for.write_text(key)
        try:
            yield file, completed(partial)
            file.flush()
            os.fsync(file.fileno())
            _finish(partial, path)
        finally:
            if not partial.exists() or not partial.stat().st_size:  # done, or nothing to go on from
                remove(made_for)
                remove(partial)


@contextmanager
def _locked(partial: Path, path: Path) -> Iterator[TextIOWrapper]:
    """Open a file for appending, for this process alone."""
    while True:
        with partial.open("a", encoding="utf-8") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError as error:
                raise InputError(f"{path}: another process is writing it: wait for it") from error
            # whoever held the lock before may have moved the file to its place in the meantime
            if partial.exists() and os.path.samestat(os.fstat(file.fileno()), partial.stat()):
                yield file
                return


def _finish(partial: Path, path: Path) -> None:
    if path.suffix == ".gz":
        with writing(path) as packed, partial.open(encoding="utf-8") as file:
            shutil.copyfileobj(file, packed)
        remove(partial)
    else:
        partial.replace(path.resolve())


def _progress(verb: str, unit: str, total: int | None = None) -> tqdm[Any]:
    """Give a progress bar on stderr, none where stderr is no terminal."""
    return tqdm(total=total, desc=verb, unit=f" {unit}", disable=None)


def _watched(items: Iterable[T], verb: str, unit: str, total: int) -> Iterator[T]:
    with _progress(verb, unit, total) as bar:
        for item in items:
            yield item
            bar.update()


def _versions() -> dict[str, str]:
    return {f"{name}_version": version(name) for name in ("hybrid-ir", "pyserini")}
