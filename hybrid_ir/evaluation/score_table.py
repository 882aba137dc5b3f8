"""Scores laid out as tables for people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

from hybrid_ir.evaluation.columns import columns as align
from hybrid_ir.evaluation.scores import BOOTSTRAP, MEASURES, ROUGE, Scores
from hybrid_ir.records import QUESTION_TYPES

GROUPS = (
    "documents", "recall", "snippets", "concepts", "triples", "yesno", "factoid", "list",
    "ideal", "ideal_best", "ideal_text", "ideal_bertscore",
)  # fmt: skip
"""The order of a table's parts; ``recall`` is recall@k."""

GROUP_LABELS: Mapping[str, str] = {
    "recall": "recall at k",
    "yesno": "yes/no",
    "ideal": "ideal answers, gold answers pooled",
    "ideal_best": "ideal answers, best gold answer",
    "ideal_text": "ideal answers, lengths",
    "ideal_bertscore": "ideal answers, BERTScore",
}
ROUGE_LABELS = (
    "ROUGE-2 recall", "ROUGE-2 precision", "ROUGE-2 F1",
    "ROUGE-SU4 recall", "ROUGE-SU4 precision", "ROUGE-SU4 F1",
)  # fmt: skip
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
    **dict(zip(ROUGE, (f"{label}, mean" for label in ROUGE_LABELS), strict=True)),
    **{
        name + BOOTSTRAP: f"{label}, bootstrap mean"
        for name, label in zip(ROUGE, ROUGE_LABELS, strict=True)
    },
    "words": "words, mean",
    "tokens": "tokens (ROUGE's), mean",
    "gold_words": "gold: words, mean",
    "gold_tokens": "gold: tokens, mean",
    "ideal_text_cut": 'answers cut at "<" or a line break',
    "ideal_text_golds_cut": "gold answers cut so",
    "missing": "answers missing",
    "ideal_bertscore_cut": "answers longer than the model takes",
    "ideal_bertscore_golds_cut": "gold answers longer",
}
"""By the name in a group or, where that says too little, by the whole name."""

COUNTS = frozenset(("cut", "golds_cut", "missing"))
LENGTHS = frozenset(("words", "tokens", "gold_words", "gold_tokens"))

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
    settings = {column.bertscore for column in columns} - {""}
    notes = [f"BERTScore: {setting}\n" for setting in sorted(settings)]
    if any("ideal" in column.scored for column in columns):
        notes.append("Bootstrap means are what BioASQ's organisers report of ROUGE.\n")
    return "\n".join([*_blocks(columns, by_type), *(["".join(notes)] if notes else [])])


def overview(systems: Sequence[Scores]) -> str:
    """Set systems below each other, a block for each measure of documents, question types aside.

    Args:
        systems: At least one, all of the same gold and mode.
    """
    first = systems[0]
    keys = {"documents_map": "MAP@10", "documents_gmap": "GMAP"}
    keys |= {key: key for key in first.measures if key.startswith("recall@")}
    title = f"{first.gold}, {mode_name(first)}"
    rows = [[title, "all", *first.by_type]]
    rows.append(["questions", *(str(part.questions) for part in _parts(first))])
    if first.documents:
        found = [str(part.documents) if part.documents else "" for part in _parts(first)]
        rows.append(["gold documents in the collection", *found])
    for key, label in keys.items():
        rows.append([label, *[""] * (len(first.by_type) + 1)])
        rows += [
            [f"  {system.system}", *(_number(key, p.measures.get(key)) for p in _parts(system))]
            for system in systems
        ]
    return align(rows)


def _parts(scores: Scores) -> list[Scores]:
    return [scores, *scores.by_type.values()]


def _blocks(columns: Sequence[Scores], by_type: bool) -> list[str]:
    if len(columns) == 1 and by_type:
        whole = columns[0]
        title = f"{whole.system} against {whole.gold}, {mode_name(whole)}"
        heads = [("", ["all", *whole.by_type])]
        return [f"{title}\n{_grid(heads + _body([whole, *whole.by_type.values()]))}"]
    blocks = [_block("all questions", columns)]
    for kind in QUESTION_TYPES if by_type else ():
        if parts := [column.by_type[kind] for column in columns if kind in column.by_type]:
            blocks.append(_block(f"{kind} questions", parts))
    return blocks


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
        keys = {f"{group}_{name}": name for name in MEASURES[group]}
    return [
        (GROUP_LABELS.get(group, group), counts),
        *(
            (
                f"  {MEASURE_LABELS.get(key) or MEASURE_LABELS.get(name, name)}",
                [_number(name, column.measures.get(key)) for column in columns],
            )
            for key, name in keys.items()
        ),
    ]


def _number(name: str, value: float | None) -> str:
    if value is None:
        return ""
    digits = 0 if name in COUNTS else 1 if name in LENGTHS else 4
    return f"{value:.{digits}f}"


def _grid(rows: Sequence[Row]) -> str:
    return align([[label, *cells] for label, cells in rows])
