"""The questions of stage 1: golden ones, with synthetic pairs, and ones that a model wrote."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from random import Random
from typing import NamedTuple, TypeVar

from hybrid_ir.records import Gold, SyntheticPair
from training.leaks import Golden, Guard

T = TypeVar("T")


class Asked(NamedTuple):
    """A question to train on with what is right; ``gold`` is None where a model wrote it."""

    id: str
    body: str
    gold: Gold | None = None
    synthetic: tuple[SyntheticPair, ...] = ()

    @property
    def documents(self) -> frozenset[str]:
        """The documents that are right, whether they have a text or not."""
        gold = self.gold
        marked = (*gold.documents, *(part.document_id for part in gold.snippets)) if gold else ()
        return frozenset((*marked, *(pair.document_id for pair in self.synthetic)))


def questions_to_train_on(
    goldens: Iterable[Golden],
    synthetic: Iterable[SyntheticPair],
    guard: Guard,
    seed: int,
    dropped: Counter[str],
) -> list[Asked]:
    """Join golden questions and synthetic pairs, in an order that the seed decides.

    A passage that was written for a question goes with the golden question and is left out where
    that is not used; a question that was written for a document is a question of its own.
    """
    asked = {question.id: Asked(question.id, question.body, gold) for question, gold in goldens}
    real = frozenset(asked)
    for pair in synthetic:
        if fault := _fault_of(pair, real, guard):
            dropped[f"synthetic pair {fault}"] += 1
        else:
            known = asked.get(pair.question_id) or Asked(pair.question_id, pair.question)
            asked[known.id] = known._replace(synthetic=(*known.synthetic, pair))
    return shuffled(asked.values(), seed)


def shuffled(questions: Iterable[T], seed: int) -> list[T]:
    """Give questions in an order that the seed decides."""
    ordered = list(questions)
    Random(f"{seed} order").shuffle(ordered)  # noqa: S311 (no secret)
    return ordered


def _fault_of(pair: SyntheticPair, real: frozenset[str], guard: Guard) -> str | None:
    if pair.label != 1:
        return "is not of label 1"
    if leak := guard.leak(pair.question_id, pair.question):
        return leak
    if pair.source == "passage" and pair.question_id not in real:
        return "has a question of no golden file that is used"
    if pair.source == "question" and pair.question_id in real:
        return "has the id of a golden question, but another question"
    return None
