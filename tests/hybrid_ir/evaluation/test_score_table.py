from __future__ import annotations

import math
from dataclasses import replace

from hybrid_ir.evaluation.score_table import overview, table
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


def test_ideal_answers_say_what_is_a_count_and_which_model_it_was() -> None:
    answered = replace(
        LIST,
        measures={
            "ideal_rouge2_f1": 0.25, "ideal_rouge2_f1_bootstrap": 0.26, "ideal_text_words": 31.25,
            "ideal_text_cut": 2, "ideal_bertscore_f1": 0.875, "ideal_bertscore_cut": 1,
        },
        scored={
            group: Count(1, 1) for group in ("ideal", "ideal_text", "ideal_bertscore")
        },
        bertscore="some/model, layer 17 (some-setting)",
    )  # fmt: skip
    text = table([answered, replace(LIST, bertscore="")])
    rows = {line[:37].strip(): line[37:].split() for line in text.splitlines()}
    assert rows["ideal answers, gold answers pooled"] == ["1", "of", "1"]
    assert rows["ROUGE-2 F1, mean"] == ["0.2500"]
    assert rows["ROUGE-2 F1, bootstrap mean"] == ["0.2600"]
    assert rows["words, mean"] == ["31.2"]
    assert rows['answers cut at "<" or a line break'] == ["2"]
    assert rows["answers longer than the model takes"] == ["1"]
    assert text.endswith(
        "\n\nBERTScore: some/model, layer 17 (some-setting)\n"
        "Bootstrap means are what BioASQ's organisers report of ROUGE.\n"
    )


def test_systems_stand_below_each_other_a_block_for_each_measure() -> None:
    measures = {"documents_map": 0.5, "documents_gmap": 0.25, "recall@10": 1.0, "recall@100": 1.0}
    other = replace(
        ALL, system="bm25llm", measures=measures, by_type={"list": replace(LIST, measures=measures)}
    )
    assert overview([ALL, other]) == (
        "12B1, official, edition 9                all    list\n"
        "questions                                  2       1\n"
        "gold documents in the collection  680 of 687\n"
        "MAP@10\n"
        "  bm25                                0.1250  0.2500\n"
        "  bm25llm                             0.5000  0.5000\n"
        "GMAP\n"
        "  bm25\n"
        "  bm25llm                             0.2500  0.2500\n"
        "recall@10\n"
        "  bm25                                0.5000  0.5000\n"
        "  bm25llm                             1.0000  1.0000\n"
        "recall@100\n"
        "  bm25                                0.7500  1.0000\n"
        "  bm25llm                             1.0000  1.0000\n"
    )


def test_an_overview_names_the_collection_only_where_the_gold_was_cut_to_one() -> None:
    whole = replace(ALL, documents=None, by_type={})
    lines = overview([whole]).splitlines()
    assert lines[:3] == ["12B1, official, edition 9     all", f"{'questions':29}   2", "MAP@10"]
