"""The whole way in one configuration: from documents and questions to scored submissions.

    documents ── index ───────────────────────────────────────────┐
    questions ─┬──────────────────────────────── search (BM25) ───┼─ rerank ─┬─ submit ── evaluate
               ├─ pseudo ── (entities) ── expand ─ search (BM25LLM) ┘    │    │
    older gold ┴─ train-data ── train ───────────────────────────────┘    │
                                              runs as they were searched ──┘

Still to stand before submit: fuse; after it: snippets, context, answer.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import TypeAlias

from generation.pseudo_documents import PseudoConfig
from hybrid_ir.bioasq.questions import read_questions
from hybrid_ir.bioasq.raw import read_raw
from hybrid_ir.config import save_config
from hybrid_ir.entities.tagging import open_tagger
from hybrid_ir.errors import InputError, refuse
from hybrid_ir.evaluation.scores import Scores
from hybrid_ir.expansion import ExpansionConfig
from hybrid_ir.files import remove
from hybrid_ir.pipeline.evaluation import EvaluateConfig, batch_name, evaluate
from hybrid_ir.pipeline.expansion import expand
from hybrid_ir.pipeline.generation import pseudo
from hybrid_ir.pipeline.rerank import RerankFiles, rerank
from hybrid_ir.pipeline.retrieval import SubmitConfig, index, search, submit
from hybrid_ir.pipeline.training_data import Sources, train_data
from hybrid_ir.rerank.settings import RerankConfig
from hybrid_ir.retrieval.bm25 import SearchConfig
from hybrid_ir.retrieval.fields import MESH
from hybrid_ir.retrieval.index import IndexConfig
from training.data_config import TrainDataConfig
from training.settings import TrainConfig

RERANKED = "/re-ranker"
"""What the name of a run that was re-ranked adds, as in the papers."""

Setting: TypeAlias = tuple[str, str, object, bool]
"""Name, what is expected, what came, whether it can be used."""


@dataclass(frozen=True, slots=True)
class RunConfig:
    """The whole chain; a file in ``configs/`` fills it.

    Attributes:
        documents: JSONL files of documents.
        questions: The batch, as BioASQ hands it out.
        gold: Its golden file, or None when there is none yet.
        work: The folder of all artefacts.
        name: The name of the run of the questions alone; that of the expanded queries adds LLM.
        index: Settings of the index.
        pseudo: Settings of the pseudo-documents, or None for the run of the questions alone.
        expand: Settings of the queries made of them.
        search: Settings of both searches.
        older: Golden files of older batches, to train on; of a folder all ``*.golden.json*``. Those
            that are not older than ``questions`` are left out.
        train_data: Settings of the training data.
        train: Settings of the cross-encoder's training, or None for none; what ``data`` names is
            made before.
        rerank: How every run is re-ranked, or None; the model that is trained here is named like
            any other, by its folder.
        submit: Settings of the submissions.
        evaluate: Settings of the scoring.
    """

    documents: tuple[Path, ...]
    questions: Path
    gold: Path | None = None
    work: Path = Path("work")
    name: str = "BM25"
    index: IndexConfig = field(default_factory=IndexConfig)
    pseudo: PseudoConfig | None = None
    expand: ExpansionConfig = field(default_factory=ExpansionConfig)
    search: SearchConfig = field(default_factory=SearchConfig)
    older: tuple[Path, ...] = ()
    train_data: TrainDataConfig = field(default_factory=TrainDataConfig)
    train: TrainConfig | None = None
    rerank: RerankConfig | None = None
    submit: SubmitConfig = field(default_factory=SubmitConfig)
    evaluate: EvaluateConfig = field(default_factory=EvaluateConfig)

    def __post_init__(self) -> None:
        plain = self.name.isprintable() and self.name.split() == [self.name]
        fine = plain and "/" not in self.name
        settings: list[Setting] = [("name", "one word without a slash", repr(self.name), fine)]
        if self.pseudo:
            settings += _of_expansion(self, self.pseudo)
        if self.train:
            settings.append(("older", "golden files to train on", "none", bool(self.older)))
        if self.rerank:
            texts = self.rerank.takes_texts
            settings.append(
                ("pseudo", "some, for with_texts", None, bool(self.pseudo) or not texts)
            )
        refuse("the run", *settings)


def _of_expansion(config: RunConfig, pseudo: PseudoConfig) -> list[Setting]:
    """Find out before anything is paid for whether expanded queries can be searched."""
    fields, rm3, mesh = config.search.fields, config.search.rm3, config.expand.mesh > 0
    named, known = config.expand.named_generators, ", ".join(pseudo.generators)
    indexed = config.index.fields
    return [
        ("search.fields", "none with pseudo: its queries name their own", fields, not fields),
        ("index.fields", "mesh among them, for expand.mesh", indexed, not mesh or MESH in indexed),
        ("search.rm3", "none with expand.mesh", rm3, not (mesh and rm3)),
        ("expand.generators", f"some of {known}", named, {*named} <= {*pseudo.generators}),
    ]


def run(config: RunConfig, verify: bool = False) -> list[Scores]:
    """Go the whole way from documents to submissions and, with gold, to the scores of each run.

    A run is submitted and scored as soon as it is there: where a language model or a training
    fails, the runs before it are not lost.
    """
    if config.gold:
        _refuse_other_batch(config.questions, config.gold)
    if config.pseudo and config.expand.needs_entities:
        open_tagger(config.expand.entities)  # find out now, not after paying, that there is none
    if config.train:
        from training.backbone import refuse_missing_packages

        refuse_missing_packages(lora=config.train.lora.rank > 0)
    batch = batch_name(config.questions)
    save_config(config, config.work / f"{batch}.{config.name}.config.yaml")
    index(config.documents, config.work / "index", config.index, verify)
    return [scores for name in _runs(config, verify) if (scores := _finished(config, name, verify))]


def _runs(config: RunConfig, verify: bool) -> Iterator[str]:
    """Make run after run, and give its name."""
    names = [config.name]
    _search(config, config.name, config.questions, None, verify)
    yield config.name
    if config.pseudo:
        names.append(f"{config.name}LLM")
        queries = _expanded_queries(config, config.pseudo, names[-1], verify)
        _search(config, names[-1], None, queries, verify)
        yield names[-1]
    if config.train:
        _trained(config, config.train, verify)
    if config.rerank:
        for name in names:
            yield _reranked(config, config.rerank, name, verify)


def _search(
    config: RunConfig, name: str, questions: Path | None, queries: Path | None, verify: bool
) -> None:
    trec = _trec(config, name)
    search(config.work / "index", questions, queries, trec, name, config.search, verify)


def _trained(config: RunConfig, settings: TrainConfig, verify: bool) -> None:
    """Train a cross-encoder on what older batches hold, and on texts written for this one."""
    texts = [_texts(config)] if config.pseudo and settings.stage2.epochs else []
    golden = list(chain.from_iterable(map(_golden_files, config.older)))
    sources = Sources(golden, [config.questions], [], texts, config.work / "index")
    train_data(sources, settings.data, config.train_data, verify)
    from training.cross_encoder import train  # loads torch

    train(settings, verify)


def _golden_files(path: Path) -> list[Path]:
    return sorted(path.glob("*.golden.json*")) if path.is_dir() else [path]


def _reranked(config: RunConfig, settings: RerankConfig, first: str, verify: bool) -> str:
    """Re-rank a run, and give the new one's name."""
    name = f"{first}{RERANKED}"
    texts = [_texts(config)] if settings.takes_texts else []
    files = RerankFiles(_trec(config, first), config.questions, config.work / "index", texts)
    rerank(files, _trec(config, name), name, settings, verify)
    return name


def _finished(config: RunConfig, name: str, verify: bool) -> Scores | None:
    """Make a run's submission and, with gold, its scores."""
    submission = _file(config, name, "phaseA.json")
    submit(_trec(config, name), config.questions, submission, config.submit, verify)
    return _scored(config, name)


def _texts(config: RunConfig) -> Path:
    return config.work / f"{batch_name(config.questions)}.pseudo.jsonl"


def _trec(config: RunConfig, name: str) -> Path:
    return _file(config, name, "trec")


def _file(config: RunConfig, name: str, ending: str) -> Path:
    """Give the place of a run's file: ``BM25/re-ranker`` is ``12B1.BM25.re-ranker.trec``."""
    plain = name.replace("/", ".")
    return config.work / f"{batch_name(config.questions)}.{plain}.{ending}"


def _expanded_queries(config: RunConfig, generators: PseudoConfig, name: str, verify: bool) -> Path:
    """Have the questions written about, and make queries of what was written."""
    texts = _texts(config)
    pseudo(config.questions, texts, generators, verify)
    queries = _file(config, name, "queries.jsonl")
    expand(config.questions, [texts], queries, config.expand, verify)
    return queries


def _scored(config: RunConfig, name: str) -> Scores | None:
    scores = _file(config, name, "scores.json")
    if config.gold is None:
        remove(scores)  # they may be of another run
        return None
    run = _trec(config, name)
    return evaluate(run, config.gold, config.work / "index", scores, config.evaluate)


def _refuse_other_batch(questions: Path, gold: Path) -> None:
    """Look before the work that the gold is of these questions."""
    ids = {question.id for question in read_questions(questions)}
    if not ids & {question.get("id") for question in read_raw(gold)}:
        raise InputError(f"{gold}: has none of the questions of {questions}: is it the same batch?")
