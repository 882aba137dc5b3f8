"""Judging a model while it learns: a real run is re-ranked and scored against gold."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from hybrid_ir.bioasq.questions import questions_of
from hybrid_ir.bioasq.raw import read_raw
from hybrid_ir.errors import InputError
from hybrid_ir.evaluation.reference import Reference, reference
from hybrid_ir.evaluation.scoring import evaluate_run
from hybrid_ir.records import Ranking, Run
from hybrid_ir.retrieval.index import open_store
from hybrid_ir.trec import rank, read_run
from training.settings import DevelopmentConfig

if TYPE_CHECKING:
    from collections.abc import Sequence

Score: TypeAlias = "Callable[[Sequence[tuple[str, str]]], Sequence[float]]"
"""Scores pairs of question and passage."""

Judge: TypeAlias = Callable[[Score], float]
"""Gives the MAP@10 of the batch re-ranked by a model's scores."""


def open_development(config: DevelopmentConfig) -> Judge | None:
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
    return _judge(config, gold, bodies, found, texts)


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


def _judge(
    config: DevelopmentConfig,
    gold: Reference,
    bodies: dict[str, str],
    found: dict[str, Ranking],
    texts: dict[str, str],
) -> Judge:
    places = [(name, ranked.item) for name, ranking in found.items() for ranked in ranking]

    def judge(score: Score) -> float:
        scores = score([(bodies[name], texts[document]) for name, document in places])
        by_question: dict[str, dict[str, float]] = {name: {} for name in found}
        for (name, document), value in zip(places, scores, strict=True):
            by_question[name][document] = float(value)
        rankings = {name: rank(documents) for name, documents in by_question.items()}
        scored = evaluate_run(gold, Run("development", rankings), config.mode, cutoffs=(10,))
        return scored.measures["documents_map"]

    return judge
