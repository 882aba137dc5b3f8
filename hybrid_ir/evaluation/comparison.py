"""Paired comparisons of systems on the same questions: is the difference more than chance?

For each measure, over all questions and by question type, two systems are compared on the questions
for which both have a value:

* the two-sided randomisation test: if the systems were alike, the sign of each question's
  difference would be a coin toss (M. D. Smucker, J. Allan, B. Carterette: A comparison of
  statistical significance tests for information retrieval evaluation, CIKM 2007),
* the two-sided paired t-test, and the confidence interval of the mean difference that goes with it,
* the p-values of each test corrected for all comparisons of the report (S. Holm: A simple
  sequentially rejective multiple test procedure, Scandinavian Journal of Statistics 6, 1979).

The result depends on the values and the seed alone, not on the order of questions or systems.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from hybrid_ir.errors import InputError
from hybrid_ir.evaluation.paired_samples import Group, Sample, Values, pair_up
from hybrid_ir.evaluation.paired_tests import NOISE, Outcome, assess, holm
from hybrid_ir.evaluation.scores import Scores
from hybrid_ir.files import unknown_keys
from hybrid_ir.records import QUESTION_TYPES, QuestionType


@dataclass(frozen=True, slots=True)
class CompareConfig:
    """How systems are compared.

    Attributes:
        baseline: The system all others are compared with; without, every pair is compared.
        measures: What to compare; without, all measures there are. Each one more makes the
            correction harder to pass, so name those you set out to test.
        confidence: Of the interval around the mean difference.
        resamples: Sign patterns drawn; all of them are tried where they are no more than that.
        moved: How many of the questions that moved most to name for each comparison.
        seed: Of the draws.
    """

    baseline: str | None = None
    measures: tuple[str, ...] = ()
    confidence: float = 0.95
    resamples: int = 9_999
    moved: int = 5
    seed: int = 0


@dataclass(frozen=True, slots=True)
class PValue:
    """A p-value as tested, and corrected for all comparisons of the report."""

    raw: float
    holm: float


@dataclass(frozen=True, slots=True)
class Moved:
    """A question on which the two systems differ; ``difference`` is second minus first."""

    question_id: str
    first: float
    second: float
    difference: float


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two systems on one measure.

    Attributes:
        n: Questions for which both systems have a value; means are over these.
        left_out: Questions for which only one of them has one.
        first_mean: NaN where ``n`` is 0, as ``second_mean`` and ``difference``.
        difference: Mean of second minus first: the effect, in units of the measure.
        interval: Confidence interval of ``difference`` by Student's t, or None.
        randomisation: The randomisation test, or None.
        t_test: The paired t-test, or None.
        note: Why there is no test, empty where there are both.
        moved: The questions that moved most, largest difference first.
    """

    measure: str
    group: Group
    first: str
    second: str
    n: int
    left_out: int
    first_mean: float
    second_mean: float
    difference: float
    interval: tuple[float, float] | None
    randomisation: PValue | None
    t_test: PValue | None
    note: str
    moved: tuple[Moved, ...]


@dataclass(frozen=True, slots=True)
class Report:
    """All comparisons of some systems, and what the p-values were corrected for.

    Attributes:
        tested: How many comparisons were tested: what Holm's correction is for.
        confidence: Of the intervals.
        resamples: Sign patterns drawn for each randomisation test.
        seed: Of the draws.
    """

    systems: tuple[str, ...]
    comparisons: tuple[Comparison, ...]
    tested: int
    confidence: float
    resamples: int
    seed: int


def compare_scores(systems: Sequence[Scores], measures: tuple[str, ...]) -> Report:
    """Compare systems with the first of them, as they were scored against one gold.

    Args:
        systems: Two or more.
        measures: What to compare.
    """
    first = systems[0]
    values = {system.system: system.per_question for system in systems}
    types = {
        question_id: kind
        for kind in QUESTION_TYPES
        if kind in first.by_type
        for question_id in first.by_type[kind].per_question
    }
    return compare(values, types, CompareConfig(first.system, measures, moved=0))


def compare(
    systems: Mapping[str, Values],
    types: Mapping[str, QuestionType],
    config: CompareConfig | None = None,
) -> Report:
    """Compare systems pair by pair, measure by measure, over all questions and by type.

    A type is shown where a measure has values for several; too few questions, or no difference on
    any, are stated instead of tested and do not count for the correction.

    Args:
        systems: Name -> values of each question. A difference is the later system minus the
            earlier one, so give the baseline first.
        types: Question id -> question type.
        config: Settings; without, the defaults.

    Raises:
        InputError: fewer than two systems, a baseline that is none of them, settings out of their
            range, a measure that no system has, a question whose type is not given, or no question
            that two systems share.
    """
    config = config or CompareConfig()
    _check(systems, types, config)
    samples = [
        ((first, second), sample)
        for first, second in _pairs(systems, config.baseline)
        for sample in pair_up(systems[first], systems[second], types)
        if not config.measures or sample.measure in config.measures
    ]
    if not any(sample.ids for _, sample in samples):
        raise InputError(f"{', '.join(systems)}: no question has a value of two systems to compare")
    outcomes = [
        assess(sample.second - sample.first, config.confidence, config.resamples, config.seed)
        for _, sample in samples
    ]
    corrected = zip(
        _corrected([outcome.randomisation for outcome in outcomes]),
        _corrected([outcome.t_test for outcome in outcomes]),
        strict=True,
    )
    comparisons = tuple(
        _comparison(names, sample, outcome, p_values, config.moved)
        for (names, sample), outcome, p_values in zip(samples, outcomes, corrected, strict=True)
    )
    tested = sum(outcome.randomisation is not None for outcome in outcomes)
    return Report(
        tuple(systems), comparisons, tested, config.confidence, config.resamples, config.seed
    )


def _check(
    systems: Mapping[str, Values], types: Mapping[str, QuestionType], config: CompareConfig
) -> None:
    faults = []
    if len(systems) < 2:
        faults.append(f"expected at least two systems, got {', '.join(systems) or 'none'}")
    if config.baseline is not None and config.baseline not in systems:
        faults.append(f"baseline: expected one of {', '.join(systems)}, got {config.baseline!r}")
    if not 0 < config.confidence < 1:
        faults.append(f"confidence: expected a number between 0 and 1, got {config.confidence}")
    if config.resamples < 1 or config.moved < 0:
        faults.append(f"resamples, moved: got {config.resamples}, {config.moved}, below 1 or 0")
    known = {key for values in systems.values() for row in values.values() for key in row}
    if unknown := set(config.measures) - known:
        faults.append(f"measures: {unknown_keys(unknown, known)}")
    untyped = {id_ for values in systems.values() for id_ in values if id_ not in types}
    faults += [f"question {id_}: has values but no type is given" for id_ in sorted(untyped)]
    if faults:
        raise InputError.of_all("cannot compare", faults)


def _pairs(systems: Iterable[str], baseline: str | None) -> list[tuple[str, str]]:
    if baseline is None:
        return list(combinations(systems, 2))
    return [(baseline, name) for name in systems if name != baseline]


def _corrected(p_values: Sequence[float | None]) -> list[PValue | None]:
    """Correct the p-values that there are; the others stay None and do not count."""
    raw = [p for p in p_values if p is not None]
    corrected = iter(map(PValue, raw, holm(raw)))
    return [None if p is None else next(corrected) for p in p_values]


def _comparison(
    names: tuple[str, str],
    sample: Sample,
    outcome: Outcome,
    p_values: tuple[PValue | None, PValue | None],
    moved: int,
) -> Comparison:
    first, second = names
    randomisation, t_test = p_values
    return Comparison(
        measure=sample.measure,
        group=sample.group,
        first=first,
        second=second,
        n=len(sample.ids),
        left_out=len(sample.left_out),
        first_mean=_mean(sample.first),
        second_mean=_mean(sample.second),
        difference=_mean(sample.second - sample.first),
        interval=outcome.interval,
        randomisation=randomisation,
        t_test=t_test,
        note=outcome.note,
        moved=_moved(sample)[:moved],
    )


def _moved(sample: Sample) -> tuple[Moved, ...]:
    rows = zip(sample.ids, sample.first.tolist(), sample.second.tolist(), strict=True)
    moves = (Moved(id_, first, second, second - first) for id_, first, second in rows)
    different = (move for move in moves if abs(move.difference) > NOISE)
    return tuple(sorted(different, key=lambda move: (-abs(move.difference), move.question_id)))


def _mean(values: NDArray[np.float64]) -> float:
    return float(np.mean(values)) if len(values) else math.nan
