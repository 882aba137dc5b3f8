from __future__ import annotations

from typing import Any

import pytest

from hybrid_ir.bioasq.measures import PhaseB, read_gold, read_responses, score_phase_b
from hybrid_ir.bioasq.measures.exact import compare_lists, rank_answers
from hybrid_ir.bioasq.measures.questions import Edition
from hybrid_ir.bioasq.measures.yesno import label_in
from hybrid_ir.errors import InputError


def score(kind: str, gold: list[Any], answers: list[Any], edition: Edition = 9) -> PhaseB:
    asked = [{"id": str(i), "type": kind, "exact_answer": x} for i, x in enumerate(gold)]
    given = [{"id": str(i), "exact_answer": x} for i, x in enumerate(answers)]
    return score_phase_b(read_gold(asked, edition), read_responses(given, edition), edition)


@pytest.mark.parametrize(
    ("answer", "label"),
    [
        ("yes", "yes"),
        ("Yes.", "yes"),
        ("No", "no"),
        ("not sure", "no"),
        ("unknown", "no"),
        ("no, yes", "yes"),
        ("maybe", None),
        ("", None),
    ],
)
def test_labels(answer: str, label: str | None) -> None:
    assert label_in(answer) == label


def test_yes_and_no() -> None:
    yesno = score("yesno", ["yes", "yes", "yes", "no"], ["yes", "maybe", "no", "no"]).yesno
    f1_yes = 2 * 1 / (2 * 1 + 0 + 2)
    f1_no = 2 * 1 / (2 * 1 + 2 + 0)  # what is neither counts as the wrong label
    assert yesno.values == (2 / 4, (f1_yes + f1_no) / 2, f1_yes, f1_no)
    assert yesno.per_question == {"0": (1,), "1": (0,), "2": (0,), "3": (1,)}


def test_a_gold_of_yes_only_has_a_macro_f1_of_a_half_at_best() -> None:
    assert score("yesno", ["yes"], ["yes"]).yesno.values == (1, (1 + 0) / 2, 1, 0)


def test_a_missing_answer_counts_as_the_wrong_label() -> None:
    gold = read_gold([{"id": "q", "type": "yesno", "exact_answer": "no"}], 9)
    yesno = score_phase_b(gold, read_responses([{"id": "q"}], 9), 9).yesno
    assert yesno.per_question == {"q": (0,)}


@pytest.mark.parametrize(("edition", "counts"), [(3, True), (5, False), (8, False), (9, False)])
def test_synonyms_in_a_factoid_answer_count_until_edition_3(edition: Edition, counts: bool) -> None:
    factoid = score("factoid", [[["a", "b"]]], [[["x", "B"]]], edition).factoid
    assert factoid.values == (counts, counts, counts)


def test_factoids() -> None:
    gold, answers = [[["a"]]] * 3, [[["A"]], [["x"], ["a"]], [["a "]]]
    factoid = score("factoid", gold, answers).factoid
    assert factoid.values == (1 / 3, 2 / 3, (1 / 1 + 1 / 2 + 0) / 3)


def test_factoids_are_not_cut_at_five() -> None:
    assert rank_answers({"a"}, [["x"]] * 6 + [["a"]]).reciprocal_rank == 1 / 7


def test_edition_2_reads_flat_factoids_only() -> None:
    assert score("factoid", [["a", "b"]], [["x", "b"]], 2).factoid.values == (0, 1, 1 / 2)
    assert score("factoid", [[["a"]]], [[["a"]]], 2).factoid.values == (0, 0, 0)


@pytest.mark.parametrize("answer", [[], "a", [[]]])
def test_answers_of_no_use_score_zero(answer: Any) -> None:
    assert score("factoid", [[["a"]]], [answer]).factoid.values == (0, 0, 0)
    assert score("list", [[["a"]]], [answer]).lists.values == (0, 0, 0)


@pytest.mark.parametrize(
    ("gold", "answers", "precision", "recall"),
    [
        ([["a"], ["b"]], [["a"]], 1 / 1, 1 / 2),
        ([["a"], ["b"]], [["a"], ["a"]], 1 / 2, 1 / 2),  # the second "a" finds its entity gone
        ([["a"], ["a", "b"]], [["a"]], 1 / 1, 1 / 1),  # a shared name is not missed
        ([["a", "b"]], [["x", "b"]], 1 / 1, 1 / 1),  # synonyms in the answer count
        ([["a"]], [["b"]], 0, 0),
    ],
)
def test_lists(
    gold: list[list[str]], answers: list[list[str]], precision: float, recall: float
) -> None:
    f1 = 2 * precision * recall / (precision + recall) if precision else 0
    assert compare_lists(gold, answers) == (precision, recall, f1)


def test_list_means_ignore_case() -> None:
    lists = score("list", [[["A"], ["b"]], [["c"]]], [[["a"]], [["x"], ["C"]]]).lists
    assert lists.values == ((1 + 1 / 2) / 2, (1 / 2 + 1) / 2, (2 / 3 + 2 / 3) / 2)


@pytest.mark.parametrize("edition", [2, 3, 5, 8])
def test_before_edition_9_a_missing_question_is_refused(edition: Edition) -> None:
    with pytest.raises(InputError, match="question 1"):
        score("yesno", ["yes", "no"], ["yes"], edition)


def test_edition_9_leaves_out_missing_questions_and_golds_without_an_answer() -> None:
    assert list(score("yesno", ["yes", "no", ""], ["yes"]).yesno.per_question) == ["0"]


def test_phase_b_with_nothing_answered_is_all_zeros() -> None:
    assert score("yesno", ["yes"], []).values == (0,) * 10


def test_a_list_for_a_yes_no_question_is_refused() -> None:
    with pytest.raises(InputError, match="submission: question 0: exact_answer"):
        score("yesno", ["yes"], [[["yes"]]])


def test_a_gold_that_is_neither_yes_nor_no_is_refused() -> None:
    with pytest.raises(InputError, match=r"gold: question 0: .* 'maybe'"):
        score("yesno", ["maybe"], ["yes"])
