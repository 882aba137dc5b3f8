"""Gold, synthetic pairs, pseudo-documents and negatives -> pairs to train a cross-encoder with.

Stage 1 teaches from older batches' gold and from synthetic pairs; stage 2 from texts that were
written for the target questions, which are the only questions in it. What may be used at all is
settled before (:mod:`training.leaks`); here nothing is read and nothing is searched for.

The rows of a question stand together: positives, then negatives from easy to hard.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Literal, NamedTuple, TypeAlias

from hybrid_ir.records import PairSource, PseudoDocument, Question, Ranking, TrainingPair
from training.asked import Asked
from training.curriculum import in_order, mined_count
from training.data_config import TrainDataConfig
from training.false_negatives import FalseNegatives
from training.negatives import (
    Amount,
    Mining,
    NegativesConfig,
    mined_negatives,
    random_negatives,
)
from training.passages import Passages
from training.positives import (
    GOLD_PARTS,
    Passage,
    at_most,
    gold_positives,
    pseudo_positives,
    synthetic_positives,
)

Scores: TypeAlias = Mapping[str, Mapping[str, float]]
"""Question id -> document id -> score."""

OF_DOCUMENTS: tuple[PairSource, ...] = ("gold", "random", "bm25", "run")
"""Sources whose passages are whole documents, which a teacher may have scored."""


@dataclass(frozen=True, slots=True)
class Material:
    """What all questions' pairs are made with.

    Attributes:
        config: Settings.
        passages: Where documents' texts come from.
        near: Question id -> the nearly equal questions, among those to train on and the target's.
        documents: Question id -> the documents that are right for it.
        run: Question id -> its ranking in the run that is mined.
        teacher: The scores that another model gave.
        dropped: Counts what is left out or short, by reason.
    """

    config: TrainDataConfig
    passages: Passages
    near: Mapping[str, frozenset[str]]
    documents: Mapping[str, frozenset[str]]
    run: Mapping[str, Ranking]
    teacher: Scores
    dropped: Counter[str]


class _Made(NamedTuple):
    """A question under way; ``progress`` is its place in a curriculum, if there is one."""

    id: str
    body: str
    stage: Literal[1, 2]
    positives: Sequence[Passage]
    filter: FalseNegatives
    chance: Random
    progress: float | None = None


def stage_one(
    asked: Sequence[Asked], bm25: Iterable[Ranking], material: Material
) -> Iterator[TrainingPair]:
    """Make the pairs of stage 1.

    Args:
        asked: The questions.
        bm25: The ranking of each, empty where none is mined.
        material: What else is needed.
    """
    config = material.config
    last = max(1, len(asked) - 1)
    for place, (question, ranking) in enumerate(zip(asked, bm25, strict=True)):
        chance = _chance(config, 1, question.id)
        right = _right(question, chance, material)
        if not right:
            material.dropped["question of stage 1 without a positive"] += 1
            continue
        progress = place / last if config.curriculum else None
        filter_ = _filter(question.id, _marked(question, right, material), material)
        made = _Made(question.id, question.body, 1, right, filter_, chance, progress)
        yield from _pairs(made, _negatives(made, config.negatives, ranking, material), material)


def stage_two(
    targets: Sequence[Question],
    texts: Mapping[str, Sequence[PseudoDocument]],
    bm25: Iterable[Ranking],
    material: Material,
) -> Iterator[TrainingPair]:
    """Make the pairs of stage 2.

    Args:
        targets: The questions that are to be answered.
        texts: Question id -> its pseudo-documents.
        bm25: The ranking of each question, empty where none is mined.
        material: What else is needed.
    """
    config = material.config
    right = {
        question.id: pseudo_positives(
            texts.get(question.id, ()), config.stage2.least_weight, material.dropped
        )
        for question in targets
    }
    for question, ranking in zip(targets, bm25, strict=True):
        mine = right[question.id]
        if not mine:
            material.dropped["question of stage 2 without a positive"] += 1
            continue
        filter_ = _filter(question.id, [passage.text for passage in mine], material)
        made = _Made(question.id, question.body, 2, mine, filter_, _chance(config, 2, question.id))
        others = _other_texts(made, right, material)
        wrong = _negatives(made, config.stage2.negatives, ranking, material)
        yield from _pairs(made, [*others, *wrong], material)


def _chance(config: TrainDataConfig, stage: int, question_id: str) -> Random:
    """Give chances of a question's own: others change nothing for it."""
    return Random(f"{config.seed} {stage} {question_id}")  # noqa: S311 (no secret)


def _right(question: Asked, chance: Random, material: Material) -> list[Passage]:
    config, dropped = material.config, material.dropped
    gold = (
        gold_positives(question.gold, config.positives, material.passages, dropped)
        if question.gold
        else []
    )
    synthetic = synthetic_positives(question.synthetic, material.passages, dropped)
    return [
        *at_most(gold, config.max_positives, chance, "gold positive", dropped),
        *at_most(synthetic, config.max_synthetic, chance, "synthetic positive", dropped),
    ]


def _marked(question: Asked, right: Iterable[Passage], material: Material) -> list[str]:
    """Give all texts that are right, those too that are not taken as positives."""
    texts = [passage.text for passage in right]
    if question.gold:
        every = gold_positives(question.gold, GOLD_PARTS, material.passages, Counter())
        texts += [passage.text for passage in every]
    return list(dict.fromkeys(texts))


def _filter(question_id: str, right: Iterable[str], material: Material) -> FalseNegatives:
    elsewhere = (
        document
        for other in material.near.get(question_id, ())
        for document in material.documents.get(other, ())
    )
    return FalseNegatives(
        material.documents.get(question_id, ()),
        elsewhere,
        right,
        material.config.filter,
    )


def _negatives(
    made: _Made, config: NegativesConfig, bm25: Ranking, material: Material
) -> list[Passage]:
    """Give a question's negatives from easy to hard: random ones first."""
    rankings: tuple[tuple[PairSource, Mining, Ranking], ...] = (
        ("bm25", config.bm25, bm25),
        ("run", config.run, material.run.get(made.id, ())),
    )
    kinds = (config.random, config.bm25, config.run)
    at_random = _number(config.random, made)
    mined: list[Passage] = []
    for source, mining, ranking in rankings:
        wanted = _number(mining, made)
        count = wanted if made.progress is None else mined_count(wanted, made.progress)
        at_random += wanted - count
        cut = ranking[: mining.last]
        window = range(mining.first, len(cut) + 1)
        ranks = in_order(window, made.progress, made.chance)
        mined += mined_negatives(
            count, cut, ranks, source, material.passages, made.filter, material.dropped
        )
    drawn = random_negatives(
        at_random, material.passages, made.filter, made.chance, material.dropped
    )
    if len(drawn) + len(mined) < sum(_number(kind, made) for kind in kinds):
        material.dropped[f"question of stage {made.stage} short of negatives"] += 1
    return [*drawn, *mined]


def _number(amount: Amount, made: _Made) -> int:
    return amount.count * (len(made.positives) if amount.per == "positive" else 1)


def _other_texts(
    made: _Made, right: Mapping[str, Sequence[Passage]], material: Material
) -> list[Passage]:
    """Draw pseudo-documents of other target questions."""
    wanted = _number(material.config.stage2.other_texts, made)
    if not wanted:
        return []
    same = {made.id, *material.near.get(made.id, ())}
    others = [
        Passage("", passage.text, "random")
        for question_id, passages in right.items()
        if question_id not in same
        for passage in passages
    ]
    drawn = made.chance.sample(others, min(wanted, len(others)))
    return [passage for passage in drawn if made.filter.reason("", passage.text) is None]


def _pairs(made: _Made, wrong: Sequence[Passage], material: Material) -> Iterator[TrainingPair]:
    """Give a question's rows; none where it has no negative."""
    dropped = material.dropped
    wrong = at_most(wrong, material.config.max_negatives, made.chance, "negative", dropped)
    if not wrong:
        dropped[f"question of stage {made.stage} without a negative"] += 1
        return
    scores = material.teacher.get(made.id, {})
    for label, passages in ((1.0, made.positives), (0.0, wrong)):
        for passage in passages:
            whole = passage.source in OF_DOCUMENTS
            yield TrainingPair(
                made.id,
                made.body,
                passage.document_id,
                passage.text,
                label,
                passage.weight,
                passage.source,
                made.stage,
                scores.get(passage.document_id) if whole else None,
            )
