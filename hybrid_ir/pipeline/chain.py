"""The whole way in one configuration: from documents and questions to a scored submission.

    documents ── index ──┐
    questions ───────────┴─ search (BM25) ── submit ── evaluate

Between search and submit will stand: expand and search again (BM25LLM), rerank, fuse; after submit:
snippets, context, answer.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from hybrid_ir.bioasq.questions import read_questions
from hybrid_ir.bioasq.raw import read_raw
from hybrid_ir.config import save_config
from hybrid_ir.errors import InputError, refuse
from hybrid_ir.evaluation.scores import Scores
from hybrid_ir.files import remove
from hybrid_ir.pipeline.evaluation import EvaluateConfig, batch_name, evaluate
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
