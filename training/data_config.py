"""The settings of training data."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal

from hybrid_ir.errors import InputError, refuse
from training.batches import Batch, parse_batch
from training.false_negatives import FilterConfig
from training.negatives import Amount, NegativesConfig
from training.positives import GoldPart


@dataclass(frozen=True, slots=True)
class StageTwoConfig:
    """What goes with the pseudo-documents of the target questions, which are the positives.

    Experts' judgements of the target questions are not to be had, so a negative may be right after
    all; high ranks of a ranking hold many such.

    Attributes:
        negatives: Documents; without ranks of positives no margin is kept to them.
        other_texts: Pseudo-documents of other target questions as further negatives, called
            ``random``: with documents alone a model can learn to tell a language model's style
            from PubMed's.
        least_weight: Pseudo-documents of less weight are left out; those of weight 0 always are.
    """

    negatives: NegativesConfig = field(default_factory=NegativesConfig)
    other_texts: Amount = field(default_factory=Amount)
    least_weight: float = 0.0

    def __post_init__(self) -> None:
        fine = 0 <= self.least_weight <= 1
        refuse("stage 2", ("least_weight", "0 to 1", self.least_weight, fine))


@dataclass(frozen=True, slots=True)
class TrainDataConfig:
    """What the training data is made of.

    Attributes:
        before: Golden files of this batch (``12B1``) and later are not used; None for the target's
            own batch. It is all that changes between two test days.
        batches: File name -> batch, for golden and target files whose names do not say it.
        texts: Where documents' texts come from: ``snippets`` of the golden files that are used, or
            the ``index`` (:mod:`training.passages`). A collection that is made of BioASQ's snippets
            needs ``snippets``: its documents hold those of the target, too.
        positives: What is right: gold ``documents``, gold ``snippets``, or both.
        max_positives: Gold positives of a question at most, drawn at random; None for all.
        max_synthetic: Synthetic positives of a question at most; None for all.
        max_negatives: Negatives of a question at most; None for all. It holds in stage 2, too.
        negatives: Which negatives a question gets.
        filter: Which candidates are left out as too likely to be right.
        curriculum: Make negatives harder from the first question to the last
            (:mod:`training.curriculum`); the order of the rows then counts.
        stage2: What goes with pseudo-documents.
        seed: The same seed gives the same bytes. What a question gets does not depend on which
            others there are, but for the curriculum.
    """

    before: str | None = None
    batches: dict[str, str] = field(default_factory=dict)
    texts: Literal["snippets", "index"] = "snippets"
    positives: tuple[GoldPart, ...] = ("documents", "snippets")
    max_positives: int | None = 4
    max_synthetic: int | None = 4
    max_negatives: int | None = None
    negatives: NegativesConfig = field(default_factory=NegativesConfig)
    filter: FilterConfig = field(default_factory=FilterConfig)
    curriculum: bool = False
    stage2: StageTwoConfig = field(default_factory=StageTwoConfig)
    seed: int = 0

    def __post_init__(self) -> None:
        caps = {
            name: getattr(self, name)
            for name in ("max_positives", "max_synthetic", "max_negatives")
        }
        refuse(
            "the training data",
            *((name, "1 or more", most, most is None or most >= 1) for name, most in caps.items()),
            ("positives", "one or both of documents and snippets", list(self.positives),
             0 < len(self.positives) == len(set(self.positives))),
            *_negatives("negatives", self.negatives, Amount()),
            *_negatives("stage2.negatives", self.stage2.negatives, self.stage2.other_texts),
            ("curriculum", "mined negatives to go with it (negatives.bm25 or negatives.run)",
             "none of them", not self.curriculum or _are_mined(self.negatives)),
        )  # fmt: skip
        _ = self.first_unused

    @property
    def first_unused(self) -> Batch | None:
        """The batch that ``before`` names.

        Raises:
            InputError: it names none.
        """
        if self.before is None:
            return None
        try:
            return parse_batch(self.before)
        except InputError as error:
            raise InputError(f"before: {error}") from error


def _negatives(
    name: str, config: NegativesConfig, more: Amount
) -> Iterator[tuple[str, str, object, bool]]:
    some = config.random.count or more.count or _are_mined(config)
    yield name, "a count above 0 for at least one kind", "0 for each", bool(some)


def _are_mined(config: NegativesConfig) -> bool:
    return bool(config.bm25.count or config.run.count)
