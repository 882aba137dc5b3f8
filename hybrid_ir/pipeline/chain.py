"""The whole way in one configuration: from documents and questions to scored submissions.

    documents ── index ──────────────────────────────────┐
    questions ──────────────────────────── search (BM25) ┼── submit ── evaluate
        └── pseudo ── entities ── expand ── search (BM25LLM) ──┘

Still to stand between search and submit: rerank, fuse; after submit: snippets, context, answer.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from generation.pseudo_documents import PseudoConfig
from hybrid_ir.bioasq.questions import read_questions
from hybrid_ir.bioasq.raw import read_raw
from hybrid_ir.config import save_config
from hybrid_ir.errors import InputError, refuse
from hybrid_ir.evaluation.scores import Scores
from hybrid_ir.expansion import ExpansionConfig
from hybrid_ir.files import remove
from hybrid_ir.pipeline.evaluation import EvaluateConfig, batch_name, evaluate
from hybrid_ir.pipeline.expansion import expand
from hybrid_ir.pipeline.generation import pseudo
from hybrid_ir.pipeline.retrieval import SubmitConfig, index, search, submit
from hybrid_ir.retrieval.bm25 import SearchConfig
from hybrid_ir.retrieval.index import IndexConfig


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
    submit: SubmitConfig = field(default_factory=SubmitConfig)
    evaluate: EvaluateConfig = field(default_factory=EvaluateConfig)

    def __post_init__(self) -> None:
        plain = self.name.isprintable() and self.name.split() == [self.name]
        fine = plain and "/" not in self.name
        refuse("the run", ("name", "one word without a slash", repr(self.name), fine))


def run(config: RunConfig, verify: bool = False) -> list[Scores]:
    """Go the whole way from documents to submissions and, with gold, to the scores of each run."""
    if config.gold:
        _refuse_other_batch(config.questions, config.gold)
    batch = batch_name(config.questions)
    save_config(config, config.work / f"{batch}.{config.name}.config.yaml")
    places = config.work / "index"
    index(config.documents, places, config.index, verify)
    names = [config.name]
    search(places, config.questions, None, _trec(config, config.name), config.name, config.search,
           verify)  # fmt: skip
    if config.pseudo:
        names.append(f"{config.name}LLM")
        queries = _expanded_queries(config, config.pseudo, names[-1], verify)
        search(places, None, queries, _trec(config, names[-1]), names[-1], config.search, verify)
    for name in names:
        submission = config.work / f"{batch}.{name}.phaseA.json"
        submit(_trec(config, name), config.questions, submission, config.submit, verify)
    return [scores for name in names if (scores := _scored(config, name))]


def _trec(config: RunConfig, name: str) -> Path:
    return config.work / f"{batch_name(config.questions)}.{name}.trec"


def _expanded_queries(config: RunConfig, generators: PseudoConfig, name: str, verify: bool) -> Path:
    """Have the questions written about, and make queries of what was written."""
    batch = batch_name(config.questions)
    texts = config.work / f"{batch}.pseudo.jsonl"
    pseudo(config.questions, texts, generators, verify)
    queries = config.work / f"{batch}.{name}.queries.jsonl"
    expand(config.questions, [texts], queries, config.expand, verify)
    return queries


def _scored(config: RunConfig, name: str) -> Scores | None:
    scores = config.work / f"{batch_name(config.questions)}.{name}.scores.json"
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
