"""How far a pseudo-document is to be trusted: a weight from what it has in common with others.

A text that misses its question, or that a model made up, tends to share little with the question
and with what other generators (or samples) wrote for it. For a text d of question q with the other
texts p:

    own(d)       = how much of q is in d
    backing(d)   = max over p of own(p) * how much d is like p
    agreement(d) = 1 - (1 - own(d)) * (1 - backing(d))
    weight(d)    = (agreement(d) - nothing) / (everything - nothing), at least 0 and at most 1

So a text is believed for what it shares with the question, or with a text that is itself believed;
a bad companion takes nothing away from a good text. Every part grows with what is shared. The only
text of a question has no backing; an empty one weighs 0.

"How much" is lexical (of q in d: the share of the question's words, each counted by its inverse
document frequency among all questions and texts given; of d like p: the cosine of the words'
weights) or by embeddings (cosines). Texts that have nothing to do with each other share something,
too, more so under some embeddings than under others. So each is taken above chance, as Cohen's
kappa does (J. Cohen: A coefficient of agreement for nominal scales, 1960): (s - c) / (1 - c), c
being the mean over all texts and questions given that do not belong together. Both kinds together
are the mean of the two agreements.

By default a weight is the lexical agreement, which needs no model. On the development batches of
benchmarks/pseudo_quality.py embeddings added 0.002 to 0.005 of MAP@10 to it; steeper ramps, which
leave most texts at 1, did worse except where all texts of a question were another's. On texts that
are all good, weighing did no more than a smaller weight for all; its use is on bad ones.

Weights depend on the batch through the word frequencies and c: weigh a file as a whole.
"""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from generation.lexical import Floats, lexical_vectors
from hybrid_ir.errors import InputError, refuse
from hybrid_ir.records import PseudoDocument, Question
from hybrid_ir.wording import counted

log = logging.getLogger(__name__)

Method = Literal["lexical", "embedding", "both"]
Embed: TypeAlias = Callable[[Sequence[str]], NDArray[Any]]
"""Gives texts as rows of length 1: shape (texts, dimensions)."""
Rows: TypeAlias = Any
"""A matrix, dense or sparse (scipy carries no types)."""


@dataclass(frozen=True, slots=True)
class QualityConfig:
    """How pseudo-documents are weighed.

    Attributes:
        method: What agreement is measured by.
        nothing: Agreement up to which a text weighs 0.
        everything: Agreement from which on it weighs 1.
    """

    method: Method = "lexical"
    nothing: float = 0.0
    everything: float = 1.0

    def __post_init__(self) -> None:
        ordered = 0 <= self.nothing < self.everything <= 1
        both = f"{self.nothing}, {self.everything}"
        refuse("the quality filter", ("nothing, everything", "0 <= nothing < everything <= 1",
                                      both, ordered))  # fmt: skip


def weigh(
    questions: Sequence[Question],
    pseudo_documents: Sequence[PseudoDocument],
    config: QualityConfig = QualityConfig(),
    embed: Embed | None = None,
) -> list[PseudoDocument]:
    """Give pseudo-documents their weights, in their order; what was found is logged.

    Args:
        questions: The questions, more if need be.
        pseudo_documents: Texts of one or more generators; weights they have are replaced.
        config: Settings.
        embed: Embeds texts, for the methods ``embedding`` and ``both``.

    Raises:
        InputError: a text of a question that is not given, or no ``embed`` where it is needed.
    """
    agreement = agreements(questions, pseudo_documents, config.method, embed)
    span = config.everything - config.nothing
    weights = np.clip((agreement - config.nothing) / span, 0.0, 1.0)
    weighed = [
        replace(text, weight=round(float(weight), 6))
        for text, weight in zip(pseudo_documents, weights, strict=True)
    ]
    _report(weighed)
    return weighed


def agreements(
    questions: Sequence[Question],
    pseudo_documents: Sequence[PseudoDocument],
    method: Method,
    embed: Embed | None = None,
) -> Floats:
    """Give the agreement of each pseudo-document, 0 to 1, shape (pseudo-documents,).

    Raises:
        InputError: as :func:`weigh`.
    """
    places = {question.id: place for place, question in enumerate(questions)}
    if unknown := sorted({text.question_id for text in pseudo_documents} - places.keys()):
        raise InputError.of_all(
            "expected pseudo-documents of the questions given; these ids are of none of them:",
            unknown,
        )
    asked = np.array([places[text.question_id] for text in pseudo_documents], np.int64)
    bodies = [question.body for question in questions]
    texts = [text.text for text in pseudo_documents]
    if not texts:
        return np.zeros(0)
    parts = []
    if method != "embedding":
        parts.append(_agreement(asked, texts, *lexical_vectors(bodies, texts)))
    if method != "lexical":
        if embed is None:
            raise InputError(f"weighing by the method {method} needs embeddings, none are given")
        vectors = np.asarray(embed([*bodies, *texts]), np.float64)
        written = vectors[len(bodies) :]
        parts.append(_agreement(asked, texts, vectors[: len(bodies)], written, written))
    holds_text = np.array([bool(text.strip()) for text in texts])
    mean: Floats = np.mean(parts, axis=0) * holds_text
    return mean


def _agreement(
    asked: NDArray[np.int64], texts: Sequence[str], questions: Rows, contents: Rows, alike: Rows
) -> Floats:
    """Give the agreement of each text by one kind of vectors.

    Args:
        asked: The row of each text's question.
        texts: The texts: one that is the same, word for word, backs nothing.
        questions: Vectors of the questions, shape (questions, n).
        contents: Vectors of the texts; a product with a question's is how much of it is in there.
        alike: Vectors of the texts; a product with another's is how much they are alike.
    """
    groups = csr_array((np.ones(len(asked)), (asked, np.arange(len(asked)))))
    groups.resize(questions.shape[0], len(asked))
    members = [groups.indices[start:end] for start, end in pairwise(groups.indptr)]
    used = np.unique(asked)
    c = _chance(questions[used], (groups @ contents)[used], len(used) * len(asked) - len(asked))
    own = _above(_products(questions[asked], contents), c)
    sums = groups @ alike
    pairs = len(asked) ** 2 - sum(len(group) ** 2 for group in members)
    c = _chance(sums, sums, pairs)
    backing = np.zeros(len(asked))
    for group in members:
        for place in group:
            others = [other for other in group if texts[other] != texts[place]]
            if others:
                likeness = _above(_products(alike[others], alike[[place] * len(others)]), c)
                backing[place] = np.max(own[others] * likeness)
    agreement: Floats = 1 - (1 - own) * (1 - backing)
    return agreement


def _products(left: Rows, right: Rows) -> Floats:
    """Multiply two matrices row by row: shape (rows,)."""
    products = left * right
    sums: Floats = np.asarray(products.sum(axis=1), np.float64).reshape(-1)
    return sums


def _chance(left: Rows, right: Rows, pairs: int) -> float:
    """Give the mean product of rows that do not belong together.

    Args:
        left: Sums of rows by question, shape (questions, n).
        right: The same of what they are compared with.
        pairs: How many products of single rows do not belong together.
    """
    if not pairs:
        return 0.0
    every = float(np.asarray(left.sum(axis=0)) @ np.asarray(right.sum(axis=0)))
    return max(0.0, (every - float(_products(left, right).sum())) / pairs)


def _above(similarity: Floats, chance: float) -> Floats:
    return np.clip((similarity - chance) / max(1 - chance, 1e-9), 0.0, 1.0)


def _report(weighed: Sequence[PseudoDocument]) -> None:
    """Log, for each generator, the mean weight and how many of its texts are muted."""
    of_generator = defaultdict(list)
    for text in weighed:
        of_generator[text.generator].append(text.weight)
    for generator, weights in sorted(of_generator.items()):
        log.info(
            "%s: %s, mean weight %.3f, %d of weight 0 and %d of weight 1",
            generator, counted(len(weights), "text"), np.mean(weights),
            weights.count(0.0), weights.count(1.0),
        )  # fmt: skip
