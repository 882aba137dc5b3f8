"""Judging a model while it learns: a real run is re-ranked and scored against gold."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from hybrid_ir.bioasq.questions import questions_of
from hybrid_ir.bioasq.raw import read_raw
from hybrid_ir.errors import InputError
from hybrid_ir.evaluation.reference import Reference, reference
from hybrid_ir.evaluation.scores import Mode
from hybrid_ir.evaluation.scoring import evaluate_run
from hybrid_ir.records import Ranking, Run
from hybrid_ir.retrieval.index import open_store
from hybrid_ir.trec import rank, read_run
from training.settings import DevelopmentConfig

if TYPE_CHECKING:
    from collections.abc import Sequence

Score: TypeAlias = "Callable[[Sequence[tuple[str, str]]], Sequence[float]]"
"""Scores pairs of question and passage."""

COLUMNS = ("question_id", "body", "run_ap", "reranked_ap")
"""What a table of the batch's questions says of each: its average precision before and after."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """What an order of the batch's documents scores.

    Attributes:
        map: MAP@10 of the batch.
        questions: Question id -> average precision, of every question of the gold.
    """

    map: float
    questions: dict[str, float]


@dataclass(frozen=True, slots=True)
class Development:
    """A batch and the documents a first stage has found for it.

    Attributes:
        mode: Whose MAP.
        gold: What to score against.
        bodies: Question id -> question.
        found: Question id -> documents in the first stage's order.
        texts: Document id -> title and abstract.
    """

    mode: Mode
    gold: Reference
    bodies: dict[str, str]
    found: dict[str, Ranking]
    texts: dict[str, str]

    def judge(self, score: Score) -> Judgement:
        """Judge the order that a model's scores give."""
        places = [(name, ranked.item) for name, ranking in self.found.items() for ranked in ranking]
        scores = score([(self.bodies[name], self.texts[document]) for name, document in places])
        by_question: dict[str, dict[str, float]] = {name: {} for name in self.found}
        for (name, document), value in zip(places, scores, strict=True):
            by_question[name][document] = float(value)
        return self._judged({name: rank(scored) for name, scored in by_question.items()})

    def judge_run(self) -> Judgement:
        """Judge the first stage's own order."""
        return self._judged(self.found)

    def table(self, after: Judgement) -> list[tuple[str, str, float, float]]:
        """Give the rows of :data:`COLUMNS`, those that the model has made worse first."""
        run = self.judge_run().questions
        gains = {name: value - run[name] for name, value in after.questions.items()}
        return [
            (name, self.bodies[name], run[name], after.questions[name])
            for name in sorted(gains, key=lambda name: (gains[name], name))
        ]

    def _judged(self, rankings: dict[str, Ranking]) -> Judgement:
        scored = evaluate_run(self.gold, Run("development", rankings), self.mode, cutoffs=(10,))
        each = {name: values["documents_map"] for name, values in scored.per_question.items()}
        return Judgement(scored.measures["documents_map"], each)


def open_development(config: DevelopmentConfig) -> Development | None:
    """Read the development batch; None where there is none.

    Raises:
        InputError: the files do not belong together: another batch, or another index.
    """
    if config.run is None or config.gold is None or config.index is None:
        return None
    raw = read_raw(config.gold)
    bodies = {question.id: question.body for question in questions_of(raw, config.gold)}
    run = read_run(config.run, config.depth)
    found = {name: ranking for name, ranking in run.rankings.items() if name in bodies}
    with closing(open_store(config.index)) as store:
        within = store if config.within_collection else None
        gold = reference(raw, config.gold.name, config.edition, within)
        texts = {
            document.id: document.text
            for ranking in found.values()
            for document in store.find(ranked.item for ranked in ranking).values()
        }
    _refuse(config.run, config.gold, config.index, found, texts)
    return Development(config.mode, gold, bodies, found, texts)


def _refuse(
    run: Path, gold: Path, index: Path, found: dict[str, Ranking], texts: dict[str, str]
) -> None:
    if not found:
        raise InputError(f"{run}: has none of the questions of {gold}: is it the same batch?")
    missing = {ranked.item for ranking in found.values() for ranked in ranking} - texts.keys()
    if missing:
        raise InputError(
            f"{run}: {len(missing)} of its documents are not in {index} (first:"
            f" {min(missing)}): give the index it was searched with"
        )
