"""Scores laid out as tables for people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

from hybrid_ir.evaluation.scores import MEASURES, Scores
from hybrid_ir.records import QUESTION_TYPES

GROUPS = ("documents", "recall", "snippets", "concepts", "triples", "yesno", "factoid", "list")
"""The order of a table's parts; ``recall`` is recall@k."""

GROUP_LABELS: Mapping[str, str] = {"recall": "recall at k", "yesno": "yes/no"}
MEASURE_LABELS: Mapping[str, str] = {
    "f1": "F1",
    "map": "MAP@10",
    "gmap": "GMAP",
    "macro_f1": "macro-F1",
    "f1_yes": "F1 yes",
    "f1_no": "F1 no",
    "strict": "strict accuracy",
    "lenient": "lenient accuracy",
    "mrr": "MRR",
}

Row: TypeAlias = tuple[str, list[str]]
"""A label and a cell for each column."""


def table(columns: Sequence[Scores], by_type: bool = True) -> str:
    """Lay scores out as aligned text, each line ended.

    One system: its question types side by side. Several systems, golds or modes: one column each,
    first over all questions, then a table for each type. "n of m" beside a group of measures are
    the questions scored, of all that the group is about.

    Args:
        columns: At least one.
        by_type: Whether to show the question types.
    """
    if len(columns) == 1 and by_type:
        whole = columns[0]
        title = f"{whole.system} against {whole.gold}, {mode_name(whole)}"
        heads = [("", ["all", *whole.by_type])]
        return f"{title}\n{_grid(heads + _body([whole, *whole.by_type.values()]))}"
    blocks = [_block("all questions", columns)]
    for kind in QUESTION_TYPES if by_type else ():
        if parts := [column.by_type[kind] for column in columns if kind in column.by_type]:
            blocks.append(_block(f"{kind} questions", parts))
    return "\n".join(blocks)


def mode_name(scores: Scores) -> str:
    """Say whose measures they are: "official, edition 9" or "strict, edition 9"."""
    return f"{scores.mode}, edition {scores.edition}"


def _block(title: str, columns: Sequence[Scores]) -> str:
    heads = [
        (title, [column.system for column in columns]),
        ("gold", [column.gold for column in columns]),
        ("mode", [mode_name(column) for column in columns]),
    ]
    return _grid(heads + _body(columns))


def _body(columns: Sequence[Scores]) -> list[Row]:
    rows = [("questions", [str(column.questions or "") for column in columns])]
    if any(column.documents for column in columns):
        found = [str(column.documents) if column.documents else "" for column in columns]
        rows.append(("gold documents in the collection", found))
    for group in GROUPS:
        if any(group in column.scored for column in columns):
            rows += _group(group, columns)
    return rows


def _group(group: str, columns: Sequence[Scores]) -> list[Row]:
    counts = [str(column.scored.get(group, "")) for column in columns]
    if group == "recall":
        cutoffs = {
            key for column in columns for key in column.measures if key.startswith("recall@")
        }
        keys = {key: key for key in sorted(cutoffs, key=lambda key: int(key.partition("@")[2]))}
    else:
        keys = {f"{group}_{name}": MEASURE_LABELS.get(name, name) for name in MEASURES[group]}
    cells = {key: [_number(column.measures.get(key)) for column in columns] for key in keys}
    return [
        (GROUP_LABELS.get(group, group), counts),
        *((f"  {label}", cells[key]) for key, label in keys.items()),
    ]


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.4f}"


def _grid(rows: Sequence[Row]) -> str:
    """Align labels to the left and cells to the right."""
    margin = max(len(label) for label, _ in rows)
    widths = [max(map(len, cells)) for cells in zip(*(cells for _, cells in rows), strict=True)]
    lines = (
        label.ljust(margin)
        + "".join(f"  {cell.rjust(width)}" for cell, width in zip(cells, widths, strict=True))
        for label, cells in rows
    )
    return "".join(f"{line.rstrip()}\n" for line in lines)
