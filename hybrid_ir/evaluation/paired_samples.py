"""The values of two systems on the questions they share, measure by measure."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hybrid_ir.records import QUESTION_TYPES, QuestionType

Values: TypeAlias = Mapping[str, Mapping[str, float]]
"""Question id -> measure -> value; a measure that a question has no value for is absent or NaN."""

Group: TypeAlias = Literal["all"] | QuestionType


class Sample(NamedTuple):
    """Two systems on one measure and one group of questions.

    ``ids`` are the n questions both have a value for, ascending; ``first`` and ``second`` their
    values, shape (n,); ``left_out`` the questions for which only one of them has a value.
    """

    measure: str
    group: Group
    ids: tuple[str, ...]
    left_out: frozenset[str]
    first: NDArray[np.float64]
    second: NDArray[np.float64]


def pair_up(first: Values, second: Values, types: Mapping[str, QuestionType]) -> Iterator[Sample]:
    """Yield the samples of two systems: each measure over all questions, then by type.

    Types follow only where the measure has values for questions of several: those of one are all.
    """
    rows = (*first.values(), *second.values())
    for measure in dict.fromkeys(measure for row in rows for measure in row):
        sample = _whole(measure, _column(first, measure), _column(second, measure))
        yield sample
        kinds = {types[id_] for id_ in sample.ids}
        if len(kinds) > 1:
            for kind in QUESTION_TYPES:
                if kind in kinds:
                    yield _part(sample, kind, types)


def _column(values: Values, measure: str) -> dict[str, float]:
    column = {id_: row[measure] for id_, row in values.items() if measure in row}
    return {id_: value for id_, value in column.items() if math.isfinite(value)}


def _whole(measure: str, first: Mapping[str, float], second: Mapping[str, float]) -> Sample:
    ids = tuple(sorted(first.keys() & second.keys()))
    columns = (np.array([column[id_] for id_ in ids], float) for column in (first, second))
    return Sample(measure, "all", ids, frozenset(first.keys() ^ second.keys()), *columns)


def _part(sample: Sample, kind: QuestionType, types: Mapping[str, QuestionType]) -> Sample:
    chosen = np.array([types[id_] == kind for id_ in sample.ids])
    return sample._replace(
        group=kind,
        ids=tuple(id_ for id_ in sample.ids if types[id_] == kind),
        left_out=frozenset(id_ for id_ in sample.left_out if types[id_] == kind),
        first=sample.first[chosen],
        second=sample.second[chosen],
    )
