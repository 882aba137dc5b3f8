"""Scores of different scales made comparable, one question at a time."""

from __future__ import annotations

import numpy as np

from hybrid_ir.rerank.candidates import Scores
from hybrid_ir.rerank.settings import Normalisation


def normalised(scores: Scores, method: Normalisation) -> Scores:
    """Bring the scores of one question's documents to a common scale.

    Scores that are all equal say nothing and become 0.

    Args:
        scores: Of shape (documents,), finite.
        method: ``min_max``: the worst 0, the best 1. ``z_score``: mean 0, standard deviation 1.
            ``rank``: the share of the documents that score lower, those of the same score counted
            half; scale and outliers do not matter. ``none``: as they are.
    """
    if method == "none":
        return scores
    if not len(scores) or scores.min() == scores.max():
        return np.zeros_like(scores)
    if method == "rank":
        lower = (scores[:, None] > scores).sum(1)
        same = (scores[:, None] == scores).sum(1) - 1
        return np.asarray((lower + same / 2) / (len(scores) - 1), np.float64)
    scaled: Scores = (
        scores / np.abs(scores).max()
    )  # sums of very large scores are no finite numbers
    lowest, width = scaled.min(), scaled.max() - scaled.min()
    if method == "z_score":
        lowest, width = scaled.mean(), scaled.std()
    return np.asarray((scaled - lowest) / width, np.float64)
