"""Two tests of paired differences, and the correction for making many of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import stats

LEAST_QUESTIONS = 6
"""With n questions the randomisation test gives 2 / 2**n at best; below 0.05 takes n = 6."""

NOISE = 1e-12
"""Differences up to this come from the order of summation, not from the systems."""

_BATCH = 2_000


class Outcome(NamedTuple):
    """P-values of the two tests, the interval of the mean difference; or why there are none."""

    randomisation: float | None = None
    t_test: float | None = None
    interval: tuple[float, float] | None = None
    note: str = ""


def assess(
    differences: NDArray[np.float64], confidence: float, resamples: int, seed: int
) -> Outcome:
    """Test, two-sided, whether paired differences are more than chance.

    Args:
        differences: Of n questions, shape (n,), finite.
        confidence: Of the interval, between 0 and 1.
        resamples: Sign patterns drawn; where there are no more than that, all of them are tried
            and the test is exact.
        seed: Of the draws.
    """
    n = len(differences)
    if n < LEAST_QUESTIONS:
        return Outcome(note=f"not testable: {n} questions, at least {LEAST_QUESTIONS} are needed")
    if np.max(np.abs(differences)) <= NOISE:
        return Outcome(note=f"not testable: no difference on any of {n} questions")
    randomisation = _randomisation(differences, resamples, seed)
    if np.ptp(differences) <= NOISE:
        return Outcome(randomisation, note=f"no t-test: the same difference on all {n} questions")
    t_test = stats.ttest_1samp(differences, 0)  # on differences this is the paired t-test
    low, high = t_test.confidence_interval(confidence)
    return Outcome(randomisation, float(t_test.pvalue), (float(low), float(high)))


def _randomisation(differences: NDArray[np.float64], resamples: int, seed: int) -> float:
    result = stats.permutation_test(
        (differences,),
        np.mean,
        permutation_type="samples",  # of a single sample: signs are flipped
        n_resamples=resamples,
        batch=_BATCH,
        rng=np.random.default_rng(seed),
    )
    return float(result.pvalue)


def holm(p_values: Sequence[float]) -> list[float]:
    """Correct p-values for their number as Holm (1979) does; the order stays.

    The smallest of m is multiplied by m, the next by m - 1, and so on; none may fall below the one
    before it or exceed 1.
    """
    raw = np.asarray(p_values, dtype=float)
    order = np.argsort(raw, kind="stable")
    corrected = np.empty_like(raw)
    corrected[order] = np.maximum.accumulate(raw[order] * np.arange(len(raw), 0, -1))
    return [float(value) for value in np.minimum(corrected, 1)]
