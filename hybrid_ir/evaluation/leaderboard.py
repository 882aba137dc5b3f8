"""Published scores set beside ours: the best, the median and the worst of each measure."""

from __future__ import annotations

import csv
import math
import re
from pathlib import Path
from statistics import median

from hybrid_ir.errors import InputError
from hybrid_ir.evaluation.scores import MEASURES, Scores
from hybrid_ir.files import read_lines

ALIASES = {
    "mean_precision": "documents_precision",
    "precision": "documents_precision",
    "recall": "documents_recall",
    "f_measure": "documents_f1",
    "map": "documents_map",
    "gmap": "documents_gmap",
    "yes_no_macro_f1": "yesno_macro_f1",
    "macro_f1": "yesno_macro_f1",
    "mrr": "factoid_mrr",
    "strict_acc": "factoid_strict",
    "lenient_acc": "factoid_lenient",
    "r_2_rec": "ideal_rouge2_recall_bootstrap",
    "r_2_f1": "ideal_rouge2_f1_bootstrap",
    "r_su4_rec": "ideal_rougesu4_recall_bootstrap",
    "r_su4_f1": "ideal_rougesu4_f1_bootstrap",
}
"""Headings as BioASQ's result pages spell them -> our names; the bare ones are of documents. How
today's ROUGE treats several gold answers is not published; it is set beside the pooled scores."""


def read_leaderboard(path: Path) -> list[Scores]:
    """Read a tab-separated table: a system a line, its name first, measures as headings.

    Headings are those of BioASQ's result pages (``mean_precision``, ``MAP``...) or our own names
    (``snippets_f1``). Lines that begin with ``#`` are left out. Each measure's best, median and
    worst may come from different systems.

    Raises:
        InputError: no table, a heading that is no known measure, a cell that is no number.
    """
    lines = [(number, line) for number, line in read_lines(path) if not line.startswith("#")]
    rows = list(csv.reader((line for _, line in lines), delimiter="\t", quoting=csv.QUOTE_NONE))
    if len(rows) < 2 or len(rows[0]) < 2:
        raise InputError(f"{path}: expected a heading and a line a system, tab-separated")
    measures = _measures(path, rows[0][1:])
    columns: list[list[float]] = [[] for _ in measures]
    for (number, _), row in zip(lines[1:], rows[1:], strict=True):
        for column, value in zip(columns, _values(path, number, row, len(measures)), strict=True):
            column.append(value)
    systems = f"{len(rows) - 1} systems"
    return [
        _column(f"{name} of {systems}", dict(zip(measures, map(pick, columns), strict=True)))
        for name, pick in (("best", max), ("median", median), ("worst", min))
    ]


def _measures(path: Path, headings: list[str]) -> list[str]:
    known = {f"{group}_{name}" for group, names in MEASURES.items() for name in names}
    names = [re.sub("[^a-z0-9]+", "_", heading.lower()).strip("_") for heading in headings]
    measures = [ALIASES.get(name, name) for name in names]
    if twice := sorted({name for name in measures if measures.count(name) > 1}):
        raise InputError(f"{path}: several headings mean {', '.join(twice)}: leave one")
    if unknown := [
        h for h, measure in zip(headings, measures, strict=True) if measure not in known
    ]:
        raise InputError(
            f"{path}: unknown headings {', '.join(unknown)}; known: {', '.join(sorted(known))},"
            f" {', '.join(sorted(ALIASES))}"
        )
    return measures


def _values(path: Path, number: int, row: list[str], count: int) -> list[float]:
    try:
        values = [float(cell) for cell in row[1:]]
    except ValueError:
        values = []
    if len(values) != count or not all(map(math.isfinite, values)):
        raise InputError(f"{path}:{number}: expected a name and {count} numbers, got {row}")
    return values


def _column(name: str, measures: dict[str, float]) -> Scores:
    return Scores(
        system=name,
        gold="published",
        mode="official",
        edition=9,
        questions=0,
        measures=measures,
        scored={},
        per_question={},
    )
