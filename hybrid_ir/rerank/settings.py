"""The settings of re-ranking; nothing heavy is imported for them."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from hybrid_ir.errors import refuse

Kind = Literal["cross_encoder", "bi_encoder", "mono_t5", "duo_t5", "bm25"]
Precision = Literal["", "float32", "bf16", "fp16"]
Similarity = Literal["", "cosine", "dot"]
Normalisation = Literal["none", "min_max", "z_score", "rank"]

_HEAVIEST = 1_000_000
"""A weight at most: sums of normalised scores stay finite, and the other scores count."""


@dataclass(frozen=True, slots=True)
class WindowConfig:
    """How a document that is longer than the model takes is scored.

    Attributes:
        tokens: Of one window, without those of the question; 0 for as many as the model takes.
        stride: Tokens from the start of a window to that of the next; 0 for half a window.
        score: A document's score is that of its best window, or the ``mean`` of all.
        most: Windows of a document at most; what lies behind is left out and counted.
    """

    tokens: int = 0
    stride: int = 0
    score: Literal["max", "mean"] = "max"
    most: int = 16

    def __post_init__(self) -> None:
        reach = self.stride <= self.tokens or not self.tokens
        refuse(
            "the windows",
            ("tokens", "0, or 16 or more", self.tokens, self.tokens == 0 or self.tokens >= 16),
            ("stride", "0 or more", self.stride, self.stride >= 0),
            ("stride", "no more than tokens", self.stride, reach),
            ("most", "1 or more", self.most, self.most >= 1),
        )


@dataclass(frozen=True, slots=True)
class ScorerConfig:
    """One way to score a question's documents.

    Attributes:
        kind: ``cross_encoder``, ``bi_encoder`` (sentence-transformers), ``mono_t5``, ``duo_t5``
            (each document against each other one: the mean of its chances), ``bm25`` (over the
            candidates alone).
        model: A hub name or a folder, with weights as safetensors; not used by ``bm25``.
        revision: The hub's commit or branch, empty for the newest.
        max_length: Tokens of question and passage together (``bi_encoder``: of either); 0 for what
            the model was made for. The passage's end is cut where no windows are asked for.
        tokens_at_once: Tokens of a batch, padding included: what decides memory and speed. 0 for
            1,024 on a CPU, 32,768 on an accelerator.
        precision: Empty for bf16 where the machine computes in it, else float32.
        device: Such as ``cpu`` or ``cuda:1``; empty for an accelerator where there is one.
        similarity: Of ``bi_encoder``; empty for what the model says of itself, and the cosine where
            it says nothing. TAS-B was trained for ``dot`` and does not say so.
        with_texts: Of ``bi_encoder``: documents are compared with the mean of the vectors of the
            question and of its pseudo-documents, weighted (HyDE: Gao et al., 2023).
        windows: For documents longer than that (not ``duo_t5``, ``bm25``); None cuts them.
        weight: In an ensemble.
        k1: BM25's saturation of term frequency.
        b: BM25's length normalisation.
    """

    kind: Kind = "cross_encoder"
    model: str = ""
    revision: str = ""
    max_length: int = 0
    tokens_at_once: int = 0
    precision: Precision = ""
    device: str = ""
    similarity: Similarity = ""
    with_texts: bool = False
    windows: WindowConfig | None = None
    weight: float = 1.0
    k1: float = 1.5
    b: float = 0.75

    def __post_init__(self) -> None:
        by_words = self.kind == "bm25"
        refuse(
            "a scorer",
            ("model", f"a folder or a hub name, for {self.kind}", repr(self.model),
             by_words or bool(self.model)),
            ("model", "none for bm25", repr(self.model), not (by_words and self.model)),
            ("max_length", "0, or 16 or more", self.max_length,
             self.max_length == 0 or self.max_length >= 16),
            ("tokens_at_once", "0, or 16 or more", self.tokens_at_once,
             self.tokens_at_once == 0 or self.tokens_at_once >= 16),
            ("windows", f"none with {self.kind}", self.windows,
             self.windows is None or self.kind not in ("bm25", "duo_t5")),
            ("similarity", f"none with {self.kind}", self.similarity,
             not self.similarity or self.kind == "bi_encoder"),
            ("with_texts", f"false with {self.kind}", self.with_texts,
             not self.with_texts or self.kind == "bi_encoder"),
            ("weight", "more than 0, at most 1,000,000", self.weight, 0 < self.weight <= _HEAVIEST),
            ("k1", "0 to 1,000", self.k1, 0 <= self.k1 <= 1_000),
            ("b", "0 to 1", self.b, 0 <= self.b <= 1),
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class CutoffConfig:
    """Which of a stage's documents go on, by their scores.

    Attributes:
        below_best: Those that score at most so much below the question's best; None for all.
        at_least: Those with at least that score; None for all.
        keep: Documents of a question that go on in any case, the best ones.
    """

    below_best: float | None = None
    at_least: float | None = None
    keep: int = 1

    def __post_init__(self) -> None:
        below, least = self.below_best, self.at_least
        refuse(
            "the cut-off",
            ("below_best", "0 or more", below, below is None or below >= 0),
            ("at_least", "a number", least, least is None or not math.isnan(least)),
            ("keep", "1 or more", self.keep, self.keep >= 1),
        )


@dataclass(frozen=True, slots=True)
class StageConfig:
    """One stage of a cascade.

    Attributes:
        depth: So many of the best documents of the stage before are scored; the others are left
            behind.
        scorers: Name -> scorer; several make an ensemble: the weighted sum of their normalised
            scores.
        first: The weight of the scores that the stage before gave, in that sum; 0 for none.
        normalisation: How scores are made comparable, question by question; a single scorer's are
            left as they are.
        cutoff: Which documents go on; None for all.
    """

    depth: int = 60
    scorers: dict[str, ScorerConfig] = field(default_factory=dict)
    first: float = 0.0
    normalisation: Normalisation = "z_score"
    cutoff: CutoffConfig | None = None

    def __post_init__(self) -> None:
        several = len(self.scorers) + (self.first > 0) > 1
        comparable = self.normalisation != "none" or not several
        refuse(
            "a stage of re-ranking",
            ("depth", "1 or more", self.depth, self.depth >= 1),
            ("scorers", "one or more", list(self.scorers), bool(self.scorers)),
            ("first", "0 to 1,000,000", self.first, 0 <= self.first <= _HEAVIEST),
            ("normalisation", "one, with several scores", self.normalisation, comparable),
        )


@dataclass(frozen=True, slots=True)
class RerankConfig:
    """How a run is re-ranked.

    Attributes:
        stages: Name -> stage, in the order in which they follow each other.
        rest: Documents that a stage left behind are dropped, or ranked below all others, in the
            order they had.
        cache: The file of scores that were computed before, by any command; None for no such.
        threads: Of torch on a CPU; 0 for its own choice.
    """

    stages: dict[str, StageConfig] = field(default_factory=dict)
    rest: Literal["drop", "append"] = "drop"
    cache: Path | None = Path("work/scores.sqlite")
    threads: int = 0

    def __post_init__(self) -> None:
        refuse(
            "re-ranking",
            ("stages", "one or more", list(self.stages), bool(self.stages)),
            ("threads", "0 to 1,024", self.threads, 0 <= self.threads <= 1_024),
        )

    @property
    def takes_texts(self) -> bool:
        """Whether a scorer takes pseudo-documents."""
        stages = self.stages.values()
        return any(scorer.with_texts for stage in stages for scorer in stage.scorers.values())
