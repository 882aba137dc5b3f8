from __future__ import annotations

import math
from dataclasses import replace

from hybrid_ir.evaluation.score_table import table
from hybrid_ir.evaluation.scores import Count, Scores

LIST = Scores(
    system="bm25",
    gold="12B1",
    mode="official",
    edition=9,
    questions=1,
    measures={"documents_map": 0.25, "recall@100": 1.0, "recall@10": 0.5, "list_f1": math.nan},
    scored={"documents": Count(1, 1), "recall": Count(1, 1), "list": Count(1, 1)},
    per_question={},
)
ALL = replace(
    LIST,
    questions=2,
    measures={"documents_map": 0.125, "recall@10": 0.5, "recall@100": 0.75},
    scored={"documents": Count(1, 2), "recall": Count(2, 2)},
    by_type={"list": LIST},
    documents=Count(680, 687),
)


def test_one_system_has_its_types_side_by_side() -> None:
    assert table([ALL]) == (
        "bm25 against 12B1, official, edition 9\n"
        "                                         all    list\n"
        "questions                                  2       1\n"
        "gold documents in the collection  680 of 687\n"
        "documents                             1 of 2  1 of 1\n"
        "  precision\n"
        "  recall\n"
        "  F1\n"
        "  MAP@10                              0.1250  0.2500\n"
        "  GMAP\n"
        "recall at k                           2 of 2  1 of 1\n"
        "  recall@10                           0.5000  0.5000\n"
        "  recall@100                          0.7500  1.0000\n"
        "list                                          1 of 1\n"
        "  precision\n"
        "  recall\n"
        "  F1                                             nan\n"
    )


def test_several_systems_have_a_column_each_and_a_table_for_each_type() -> None:
    other = replace(
        ALL,
        system="fused",
        mode="strict",
        measures={"yesno_macro_f1": 1.0},
        scored={"yesno": Count(2, 2)},
        by_type={},
        documents=None,
    )
    text = table([ALL, other])
    whole, lists = text.split("\n\n")
    lines = whole.splitlines()
    assert lines[0].split() == ["all", "questions", "bm25", "fused"]
    assert lines[1].split() == ["gold", "12B1", "12B1"]
    assert lines[2].split() == ["mode", "official,", "edition", "9", "strict,", "edition", "9"]
    assert any(line.split() == ["macro-F1", "1.0000"] for line in lines)
    assert lists.splitlines()[0].split() == ["list", "questions", "bm25"]
    assert len({len(line) for line in lines[:3]}) == 1
    assert table([ALL, other], by_type=False) == whole + "\n"
