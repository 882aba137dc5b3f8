"""Stage after stage scores fewer documents with a better (and slower) scorer.

Questions stream through all stages at once, so memory holds those that scorers look ahead to and
what is finished can be written. The stages are plain generators: one's pools are the next one's.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import tee

import numpy as np

from hybrid_ir.records import Ranking
from hybrid_ir.rerank.candidates import Candidates, Scorer, Scores
from hybrid_ir.rerank.normalisation import normalised
from hybrid_ir.rerank.settings import CutoffConfig, RerankConfig, StageConfig
from hybrid_ir.trec import rank


@dataclass(frozen=True, slots=True)
class Pool:
    """A question on its way through the stages.

    Attributes:
        question_id: Which.
        query: Its body.
        ranking: The documents that are still in, best first.
        texts: The text of each.
        written: Texts that were written for it, each with its weight.
        behind: The documents that stages left behind, best first.
    """

    question_id: str
    query: str
    ranking: Ranking
    texts: Mapping[str, str] = field(repr=False)
    written: tuple[tuple[str, float], ...] = ()
    behind: tuple[str, ...] = ()


Fault = Callable[[str, str], None]
"""Takes a question's id and why it cannot be re-ranked."""


def cascade(
    pools: Iterable[Pool],
    config: RerankConfig,
    scorers: Mapping[str, Mapping[str, Scorer]],
    fault: Fault,
) -> Iterator[Pool]:
    """Send questions through all stages, in order.

    Args:
        pools: The questions with the documents of the first stage of all.
        config: Settings.
        scorers: Stage -> name -> scorer, as in the settings.
        fault: Told of a question whose scores are no numbers; it does not come out.
    """
    stream = iter(pools)
    for name, stage in config.stages.items():
        stream = _stage(stream, stage, scorers[name], fault)
    return stream


def _stage(
    pools: Iterable[Pool], config: StageConfig, scorers: Mapping[str, Scorer], fault: Fault
) -> Iterator[Pool]:
    waiting: deque[Pool] = deque()

    def candidates() -> Iterator[Candidates]:
        for pool in pools:
            cut = _cut(pool, config.depth)
            waiting.append(cut)
            documents = tuple(item.item for item in cut.ranking)
            texts = tuple(cut.texts[document] for document in documents)
            yield Candidates(cut.question_id, cut.query, documents, texts, cut.written)

    streams = tee(candidates(), len(config.scorers))
    results = [scorers[name](stream) for name, stream in zip(config.scorers, streams, strict=True)]
    for scores in zip(*results, strict=True):
        pool = waiting.popleft()
        if wrong := _not_finite(pool, dict(zip(config.scorers, scores, strict=True))):
            fault(pool.question_id, wrong)
        else:
            yield _ranked(pool, scores, config)


def _cut(pool: Pool, depth: int) -> Pool:
    """Leave the documents below the depth behind; they stand above those left behind before."""
    left = tuple(item.item for item in pool.ranking[depth:])
    return replace(pool, ranking=pool.ranking[:depth], behind=left + pool.behind)


def _not_finite(pool: Pool, scores: Mapping[str, Scores]) -> str:
    for name, values in scores.items():
        if len(wrong := np.flatnonzero(~np.isfinite(values))):
            document = pool.ranking[int(wrong[0])].item
            return (
                f"{name} gave {len(wrong)} of {len(values)} documents a score that is no finite"
                f" number (first: {document}: {values[wrong[0]]}); try precision=float32, or"
                " another model"
            )
    return ""


def _ranked(pool: Pool, scores: Sequence[Scores], config: StageConfig) -> Pool:
    total = _summed(pool, scores, config)
    documents = [item.item for item in pool.ranking]
    ranking = rank(zip(documents, total.tolist(), strict=True))
    on = _kept(ranking, config.cutoff)
    left = tuple(item.item for item in ranking[on:])
    return replace(pool, ranking=ranking[:on], behind=left + pool.behind)


def _summed(pool: Pool, scores: Sequence[Scores], config: StageConfig) -> Scores:
    """Give a lone scorer's scores as they are, several as the weighted sum of comparable ones."""
    if len(scores) == 1 and not config.first:
        return scores[0]
    total = np.zeros(len(pool.ranking))
    for scorer, values in zip(config.scorers.values(), scores, strict=True):
        total += scorer.weight * normalised(values, config.normalisation)
    if config.first:
        before = np.array([item.score for item in pool.ranking], np.float64)
        total += config.first * normalised(before, config.normalisation)
    return total


def _kept(ranking: Ranking, cutoff: CutoffConfig | None) -> int:
    """Give how many of a ranking go on."""
    if cutoff is None or not ranking:
        return len(ranking)
    least = -np.inf if cutoff.at_least is None else cutoff.at_least
    if cutoff.below_best is not None:
        least = max(least, ranking[0].score - cutoff.below_best)
    return max(cutoff.keep, sum(item.score >= least for item in ranking))


def finished(pool: Pool, rest: str) -> Ranking:
    """Give a question's ranking: what came through, and what was left behind below it if wanted.

    Documents left behind keep their order: their scores fall by 1 from the worst one above them.
    """
    if rest == "drop" or not pool.behind:
        return pool.ranking
    lowest = pool.ranking[-1].score if pool.ranking else 0.0
    low = {document: lowest - place for place, document in enumerate(pool.behind, start=1)}
    return rank([*pool.ranking, *low.items()])
