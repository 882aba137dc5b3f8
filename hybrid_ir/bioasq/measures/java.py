"""What Java does with doubles where Python does otherwise.

The official evaluator is a Java program: to print its very digits, sums run left to right, a
division by zero gives NaN or infinity, and numbers are written as ``Double.toString`` writes them.
Logarithm and exponential are the C library's. Java's differ from them in the last bit now and then
(against Java 17 on x86-64 in 0.06 % of logarithms and 0.24 % of exponentials; Java does not promise
the same bits on every processor), which shows in the last digit of 0.5 % of GMAPs and nowhere else.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

PLAIN_FROM, PLAIN_BELOW = 1e-3, 1e7
"""``Double.toString`` writes numbers outside these bounds with an exponent."""


def total(values: Iterable[float]) -> float:
    """Add up from left to right, as a Java loop does.

    From Python 3.12 on ``sum`` compensates rounding errors, which gives other last digits.
    """
    result = 0.0
    for value in values:
        result += value
    return result


def divide(dividend: float, divisor: float) -> float:
    """Divide as IEEE 754 says: by zero gives NaN or infinity, never an error."""
    if divisor:
        return dividend / divisor
    return math.nan if dividend == 0 or math.isnan(dividend) else math.copysign(math.inf, dividend)


def log(value: float) -> float:
    """Give the natural logarithm: of 0 it is minus infinity, of less it is NaN, never an error."""
    if value > 0:
        return math.log(value)
    return -math.inf if value == 0 else math.nan


def double_to_string(value: float) -> str:
    """Write a number as ``Double.toString`` does: ``0.05``, ``1.0``, ``8.64E-4``, ``NaN``.

    The digits are the fewest that give the same double back, which Java guarantees from JDK 19 on.
    Older ones print a superfluous digit for a few numbers; none was met in 200,000 compared with
    Java 17, nor in the reference outputs.
    """
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    if value == 0 or PLAIN_FROM <= abs(value) < PLAIN_BELOW:
        return repr(value)
    sign = "-" if value < 0 else ""
    digits, exponent = _scientific(repr(abs(value)))
    return f"{sign}{digits[0]}.{digits[1:] or '0'}E{exponent}"


def _scientific(number: str) -> tuple[str, int]:
    """Split a positive decimal into its significant digits and the exponent of the first one."""
    mantissa, _, exponent = number.partition("e")
    whole, _, fraction = mantissa.partition(".")
    digits = (whole + fraction).lstrip("0")
    zeros = len(whole + fraction) - len(digits)
    return digits.rstrip("0"), len(whole) - 1 - zeros + int(exponent or 0)
