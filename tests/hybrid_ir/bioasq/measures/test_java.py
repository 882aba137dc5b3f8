from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hybrid_ir.bioasq.measures.java import divide, double_to_string, log, total


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0.0"),
        (-0.0, "-0.0"),
        (1.0, "1.0"),
        (1 / 3, "0.3333333333333333"),
        (0.001, "0.001"),
        (0.0008640582486042483, "8.640582486042483E-4"),
        (1e-5, "1.0E-5"),
        (-2.5e-7, "-2.5E-7"),
        (9999999.0, "9999999.0"),
        (1e7, "1.0E7"),
        (123456789.0, "1.23456789E8"),
        (1e300, "1.0E300"),
        (5e-324, "5.0E-324"),
        (math.nan, "NaN"),
        (math.inf, "Infinity"),
        (-math.inf, "-Infinity"),
    ],
)
def test_numbers_are_written_as_java_writes_them(value: float, text: str) -> None:
    assert double_to_string(value) == text


@settings(deadline=None)
@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_written_number_reads_back_as_the_same(value: float) -> None:
    text = double_to_string(value)
    assert float(text) == value
    mantissa, _, exponent = text.partition("E")
    assert len(mantissa.lstrip("-").partition(".")[0]) == 1 or not exponent
    assert bool(exponent) == (value != 0 and not 1e-3 <= abs(value) < 1e7)


def test_sums_run_from_left_to_right_without_compensation() -> None:
    assert total([0.1] * 10) == 0.9999999999999999 != math.fsum([0.1] * 10)


def test_division_by_zero_is_no_error() -> None:
    assert math.isnan(divide(0.0, 0))
    assert divide(3, 0) == math.inf
    assert divide(-3, 0) == -math.inf
    assert divide(3, 2) == 1.5


def test_logarithms_are_no_error() -> None:
    assert log(math.e) == 1.0
    assert log(0.0) == -math.inf
    assert math.isnan(log(-1.0))
