"""Paired comparisons of systems: samples, correction over all of them, what is stated."""

import json
import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hybrid_ir.bioasq.questions import read_questions
from hybrid_ir.bioasq.raw import read_raw
from hybrid_ir.errors import InputError
from hybrid_ir.evaluation.comparison import CompareConfig, Moved, compare, compare_scores
from hybrid_ir.evaluation.comparison_table import comparison_table
from hybrid_ir.evaluation.paired_tests import holm
from hybrid_ir.evaluation.reference import reference
from hybrid_ir.evaluation.scores import Count, Scores
from hybrid_ir.evaluation.scoring import evaluate_run
from hybrid_ir.files import to_json
from hybrid_ir.trec import read_run

IDS = [f"q{number}" for number in range(12)]
TYPES = {id_: "yesno" if number < 6 else "list" for number, id_ in enumerate(IDS)}
A = {id_: {"map": number / 16} for number, id_ in enumerate(IDS)}
B = {id_: {"map": number / 16 + (0.25 if number < 6 else -0.125)} for number, id_ in enumerate(IDS)}


def test_two_systems_over_all_questions_and_by_type():
    report = compare({"A": A, "B": B}, TYPES)
    whole, yesno, lists = report.comparisons
    assert [c.group for c in report.comparisons] == ["all", "yesno", "list"]
    assert (whole.first, whole.second, whole.measure, whole.n) == ("A", "B", "map", 12)
    assert whole.first_mean == pytest.approx(sum(range(12)) / 16 / 12)
    assert whole.difference == pytest.approx((6 * 0.25 - 6 * 0.125) / 12)
    assert whole.second_mean == pytest.approx(whole.first_mean + whole.difference)
    assert (yesno.difference, lists.difference) == (0.25, -0.125)
    # 6 questions of the same sign: 2 / 2**6 each; of 12, exact over 2**12 patterns.
    assert yesno.randomisation.raw == lists.randomisation.raw == 2 / 64
    raw = [c.randomisation.raw for c in report.comparisons]
    assert [c.randomisation.holm for c in report.comparisons] == holm(raw)
    assert yesno.randomisation.holm == 3 * 2 / 64
    assert (report.tested, report.systems) == (3, ("A", "B"))
    assert yesno.t_test is None
    assert yesno.note == "no t-test: the same difference on all 6 questions"
    assert whole.t_test.holm == whole.t_test.raw  # the only t-test


def test_the_questions_that_moved_most():
    moved = compare({"A": A, "B": B}, TYPES, CompareConfig(moved=7)).comparisons[0].moved
    assert [move.question_id for move in moved] == [*IDS[:6], "q10"]  # then by id: q10, q11, q6...
    assert moved[-1] == Moved("q10", 10 / 16, 10 / 16 - 0.125, -0.125)
    assert compare({"A": A, "B": A}, TYPES).comparisons[0].moved == ()


def test_a_measure_of_one_type_stands_once():
    first = {id_: {"map": 0.5} for id_ in IDS}
    first |= {id_: {"map": 0.5, "mrr": 0.5} for id_ in IDS[:6]}
    report = compare({"A": first, "B": first}, TYPES)
    assert [(c.measure, c.group) for c in report.comparisons] == [
        ("map", "all"), ("map", "yesno"), ("map", "list"), ("mrr", "all"),
    ]  # fmt: skip


def test_values_of_one_system_only_are_left_out_and_counted():
    second = {id_: dict(row) for id_, row in B.items()}
    second["q0"]["map"] = math.nan
    del second["q1"]
    del second["q11"]["map"]
    report = compare({"A": A, "B": second}, TYPES)
    whole, yesno, lists = report.comparisons
    assert (whole.n, whole.left_out) == (9, 3)
    assert (yesno.n, yesno.left_out) == (4, 2)
    assert (lists.n, lists.left_out) == (5, 1)
    assert yesno.note == "not testable: 4 questions, at least 6 are needed"
    assert (yesno.randomisation, yesno.t_test, yesno.interval) == (None, None, None)
    assert report.tested == 1


def test_a_measure_of_one_system_only_is_stated():
    second = {id_: row | {"only": 1.0} for id_, row in B.items()}
    only = compare({"A": A, "B": second}, TYPES).comparisons[-1]
    assert (only.measure, only.n, only.left_out) == ("only", 0, 12)
    assert math.isnan(only.difference)
    assert json.loads(to_json(only))["difference"] is None


def test_pairs_with_and_without_a_baseline():
    systems = {"A": A, "B": B, "C": A}

    def pairs(**settings):
        report = compare(systems, TYPES, CompareConfig(resamples=99, **settings))
        return list(dict.fromkeys((c.first, c.second) for c in report.comparisons))

    assert pairs() == [("A", "B"), ("A", "C"), ("B", "C")]
    assert pairs(baseline="B") == [("B", "A"), ("B", "C")]


def test_the_correction_is_for_the_measures_asked_for():
    first = {id_: row | {"f1": row["map"]} for id_, row in A.items()}
    second = {id_: row | {"f1": row["map"]} for id_, row in B.items()}
    both = compare({"A": first, "B": second}, TYPES)
    one = compare({"A": first, "B": second}, TYPES, CompareConfig(measures=("f1",)))
    assert [c.measure for c in one.comparisons] == ["f1"] * 3
    assert both.comparisons[1].randomisation.holm == 6 * 2 / 64
    assert one.comparisons[1].randomisation.holm == 3 * 2 / 64


def scored(system, values):
    """Give scores that hold the values of each question, whole and by type."""

    def part(ids, by_type):
        rows = {id_: values[id_] for id_ in ids}
        count = {"documents": Count(len(rows), len(rows))}
        return Scores(system, "g", "strict", 9, len(rows), {}, count, rows, by_type)

    kinds = ("yesno", "list")
    return part(IDS, {kind: part([i for i in IDS if TYPES[i] == kind], {}) for kind in kinds})


def test_scores_are_compared_with_the_first_system_on_the_measures_named():
    first, second, third = (
        {id_: row | {"f1": 0.0} for id_, row in values.items()} for values in (A, B, A)
    )
    systems = [scored("A", first), scored("B", second), scored("C", third)]
    report = compare_scores(systems, ("map",))
    config = CompareConfig("A", ("map",), moved=0)
    assert report == compare({"A": first, "B": second, "C": third}, TYPES, config)
    assert [(c.first, c.second, c.group) for c in report.comparisons] == [
        ("A", other, group) for other in "BC" for group in ("all", "yesno", "list")
    ]
    whole = report.comparisons[0]
    assert whole.difference == pytest.approx((6 * 0.25 - 6 * 0.125) / 12)
    assert whole.moved == ()


def test_scores_of_one_name_are_no_two_systems():
    with pytest.raises(InputError, match="at least two systems, got A"):
        compare_scores([scored("A", A), scored("A", B)], ("map",))


def test_everything_wrong_is_said_at_once():
    with pytest.raises(InputError) as caught:
        compare(
            {"A": A},
            {"q0": "yesno"},
            CompareConfig(baseline="X", confidence=95, resamples=0, measures=("mapp",)),
        )
    message = str(caught.value)
    assert "at least two systems, got A" in message
    assert "baseline: expected one of A, got 'X'" in message
    assert "confidence: expected a number between 0 and 1, got 95" in message
    assert "resamples" in message
    assert "unknown key 'mapp' (did you mean 'map'?)" in message
    assert "question q11: has values but no type is given" in message


def test_systems_without_a_common_question_cannot_be_compared():
    with pytest.raises(InputError, match="no question has a value of two systems"):
        compare({"A": {"q0": {"map": 1.0}}, "B": {"q1": {"map": 1.0}}}, TYPES)


def test_the_table_says_what_was_done():
    text = comparison_table(compare({"base": A, "ours": B}, TYPES))
    assert text.startswith("ours against base\n")
    lines = text.splitlines()
    assert lines[1].split()[:4] == ["n", "base", "ours", "difference"]
    assert lines[2].split()[:5] == ["map", "12", "0.3438", "0.4062", "+0.0625"]
    assert lines[3].split()[:2] == ["yesno", "6"]
    assert "no t-test" in lines[3]
    assert "moved most: map" in text
    assert "9999 sign patterns" in text
    assert "corrected for all 3 tested comparisons" in text
    assert "q0  0.0000  0.2500  +0.2500" in text
    assert "No randomisation test can come out" not in text
    few = compare({"base": A, "ours": B}, TYPES, CompareConfig(resamples=99))
    # 3 tests x 2 / (99 + 1) = 0.06; below 0.05 takes more than 2 * 3 / 0.05 - 1 patterns
    assert "draw more than 120" in comparison_table(few)


def test_the_table_marks_what_is_below_the_level():
    first = {f"q{n}": {"map": n / 32} for n in range(16)}
    second = {f"q{n}": {"map": n / 32 + 0.25 + n / 100} for n in range(16)}
    types = dict.fromkeys(first, "summary")
    (row,) = [
        line
        for line in comparison_table(compare({"A": first, "B": second}, types)).splitlines()
        if line.startswith("map")
    ]
    assert row.split()[-4:] == ["0.0002", "0.0002*", "<0.0001", "<0.0001*"]


VALUES = st.dictionaries(
    st.sampled_from(IDS),
    st.dictionaries(st.sampled_from(["map", "mrr"]), st.floats(allow_infinity=False) | st.none()),
    min_size=1,
)


@settings(max_examples=50, deadline=None)
@given(values=st.lists(VALUES, min_size=2, max_size=2), random=st.randoms())
def test_any_values_are_compared_in_any_order_of_questions(values, random):
    systems = {
        name: {
            id_: {key: value for key, value in row.items() if value is not None and abs(value) < 9}
            for id_, row in rows.items()
        }
        for name, rows in zip("AB", values, strict=True)
    }
    shuffled = {}
    for name, rows in systems.items():
        ids = list(rows)
        random.shuffle(ids)
        shuffled[name] = {id_: rows[id_] for id_ in ids}
    config = CompareConfig(resamples=99)
    try:
        report = compare(systems, TYPES, config)
    except InputError as error:
        assert "no question has a value" in str(error)  # noqa: PT017
        return
    again = compare(shuffled, TYPES, config)
    assert sorted(map(to_json, report.comparisons)) == sorted(map(to_json, again.comparisons))
    assert comparison_table(report)


@pytest.mark.shared
def test_real_runs(shared):
    gold = shared / "data" / "bioasq_golden" / "9B1_golden.json.gz"
    runs = shared / "data" / "bioasq_runs_9b"
    scores = {
        name: evaluate_run(
            reference(read_raw(gold)), read_run(runs / f"rnd1__{name}.trec.gz"), cutoffs=[10]
        )
        for name in ("bm25-baseline", "BIT.UA-04")
    }
    types = {question.id: question.type for question in read_questions(gold)}
    config = CompareConfig(measures=("documents_map",))
    report = compare({name: s.per_question for name, s in scores.items()}, types, config)
    whole = report.comparisons[0]
    means = [s.measures["documents_map"] for s in scores.values()]
    assert [whole.first_mean, whole.second_mean] == pytest.approx(means)
    assert whole.n == 100
    assert whole.interval[0] < whole.difference < whole.interval[1]
    assert whole.randomisation.raw == pytest.approx(whole.t_test.raw, abs=0.01)
    assert report.tested == 1 + 4
    assert sum(c.n for c in report.comparisons[1:]) == 100
