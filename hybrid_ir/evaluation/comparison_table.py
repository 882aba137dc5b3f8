"""Paired comparisons laid out for people."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import groupby

from hybrid_ir.evaluation.columns import columns
from hybrid_ir.evaluation.comparison import Comparison, PValue, Report

LEVEL = 0.05
"""Corrected p-values below it are marked."""


def comparison_table(report: Report) -> str:
    """Lay a report out as text: a table for each pair of systems, what moved most, what was done.

    ``*`` marks corrected p-values below 0.05. Types of question stand indented below a measure.
    """
    pairs = groupby(
        report.comparisons, key=lambda comparison: (comparison.first, comparison.second)
    )
    blocks = [_block(list(comparisons), report.confidence) for _, comparisons in pairs]
    return "\n".join([*blocks, _method(report)])


def _block(comparisons: Sequence[Comparison], confidence: float) -> str:
    first, second = comparisons[0].first, comparisons[0].second
    head = ["", "n", first, second, "difference", f"{confidence:.0%} interval"]
    head += ["p", "Holm", "p (t)", "Holm (t)"]
    lines = columns([head, *map(_row, comparisons)]).splitlines()
    notes = ["", *(_note(comparison) for comparison in comparisons)]
    table = "".join(f"{line}{note}\n" for line, note in zip(lines, notes, strict=True))
    return f"{second} against {first}\n{table}" + "".join(_moved(comparisons))


def _row(comparison: Comparison) -> list[str]:
    whole = comparison.group == "all"
    interval = comparison.interval
    return [
        comparison.measure if whole else f"  {comparison.group}",
        str(comparison.n),
        _number(comparison.first_mean),
        _number(comparison.second_mean),
        _number(comparison.difference, "+"),
        f"{interval[0]:+.4f} .. {interval[1]:+.4f}" if interval else "",
        *_p(comparison.randomisation),
        *_p(comparison.t_test),
    ]


def _number(value: float, sign: str = "") -> str:
    return f"{value:{sign}.4f}" if math.isfinite(value) else ""


def _p(p_value: PValue | None) -> tuple[str, str]:
    if p_value is None:
        return "", ""
    return _small(p_value.raw), _small(p_value.holm) + ("*" if p_value.holm < LEVEL else " ")


def _small(p: float) -> str:
    return f"{p:.4f}" if p >= 0.0001 else "<0.0001"


def _note(comparison: Comparison) -> str:
    left_out = comparison.left_out
    parts = [comparison.note] if comparison.note else []
    parts += [f"{left_out} questions have a value of one system only"] if left_out else []
    return f"  {'; '.join(parts)}" if parts else ""


def _moved(comparisons: Sequence[Comparison]) -> Iterator[str]:
    """Yield the questions that moved most, for each measure over all questions."""
    for comparison in comparisons:
        if comparison.group == "all" and comparison.moved:
            rows = [
                [
                    f"  {move.question_id}",
                    _number(move.first),
                    _number(move.second),
                    _number(move.difference, "+"),
                ]
                for move in comparison.moved
            ]
            yield f"\nmoved most: {comparison.measure}\n{columns(rows)}"


def _method(report: Report) -> str:
    floor = 2 / (report.resamples + 1)
    least = min(1.0, report.tested * floor)
    text = (
        "Means are over the n questions that both systems have a value for; difference: second\n"
        "minus first, with its t interval. p: two-sided randomisation test of "
        f"{report.resamples} sign patterns,\n"
        f"seed {report.seed}; p (t): two-sided paired t-test. Holm: corrected for all "
        f"{report.tested} tested comparisons; *: below {LEVEL}.\n"
    )
    if least >= LEVEL:
        needed = math.ceil(2 * report.tested / LEVEL)
        text += (
            f"No randomisation test can come out below {LEVEL} after the correction: draw more than"
            f" {needed}\nsign patterns (resamples), or compare fewer systems or measures.\n"
        )
    return text
