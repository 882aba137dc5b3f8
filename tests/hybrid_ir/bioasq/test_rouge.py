"""ROUGE against hand-computed values and against what the organisers' program printed."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hybrid_ir.bioasq.rouge import (
    Rouge,
    average,
    bigrams,
    is_cut,
    score_batch,
    score_question,
    skip_units,
    tokenise,
)
from hybrid_ir.errors import InputError
from hybrid_ir.files import read_text


def five_digits(score: Rouge) -> list[float]:
    return [round(value, 5) for value in score]


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("The TNF-α, IL-2-like; $5 x_y", ["the", "tnf", "il", "2", "like", "5", "x", "y"]),
        ("naïve β-cell", ["nave", "cell"]),
        ("lost after p<0.05 all", ["lost", "after", "p"]),
        ("line one\nline two", ["line", "one"]),
        ("carriage\rreturn\ttab", ["carriage", "return", "tab"]),
        ("\nall lost", []),
        ("<p>", []),
        (" - -- ", []),
        ("", []),
    ],
)
def test_tokens(text, tokens):
    assert tokenise(text) == tokens


@pytest.mark.parametrize(
    ("text", "cut"),
    [("p<0.05", True), ("a\nb", True), ("a\n", False), ("a <", False), ("a > b", False)],
)
def test_a_text_is_cut_when_words_are_lost(text, cut):
    assert is_cut(text) is cut


def test_units():
    words = ["a", "b", "a", "b"]
    assert bigrams(words) == {("a", "b"): 2, ("b", "a"): 1}
    assert skip_units(words) == {
        ("a",): 2, ("b",): 1,  # the last b is not counted
        ("a", "b"): 3, ("b", "a"): 1, ("a", "a"): 1, ("b", "b"): 1,
    }  # fmt: skip
    seven = skip_units(list("abcdefg"))
    assert ("a", "f") in seven
    assert ("a", "g") not in seven
    assert seven.total() == 6 + (5 + 5 + 4 + 3 + 2 + 1)


def test_pooled_and_best_by_hand():
    scored = score_question("q", "a b c d", ["a b c", "a b x y z"])
    # ROUGE-2: 2 of gold 1's 2 bigrams, 1 of gold 2's 4; the answer has 3.
    recall, precision = 3 / 6, 3 / (2 * 3)
    assert scored.pooled[:3] == (recall, precision, 0.5)
    precision = round(2 / 3, 5)
    assert scored.best[:3] == (1.0, precision, round(2 * precision / (1 + precision), 5))
    # SU4: the answer has 3 words + 6 pairs, gold 1 has 2 + 3, gold 2 has 4 + 10.
    hits = [2 + 3, 2 + 1]
    recall, precision = round(sum(hits) / (5 + 14), 5), round(sum(hits) / (2 * 9), 5)
    f1 = round(2 * recall * precision / (recall + precision), 5)
    assert scored.pooled[3:] == (recall, precision, f1)
    assert scored.best[3:5] == (5 / 5, round(5 / 9, 5))


def test_best_is_chosen_by_recall_not_by_f1():
    assert score_question("q", "a b c d e f", ["a b", "a b c d e f g h"]).best[:2] == (1.0, 1 / 5)


def test_repeated_units_are_clipped():
    scored = score_question("q", "a b a b", ["a b"])
    assert scored.pooled[:2] == (1.0, round(1 / 3, 5))


def test_one_word_and_no_word_score_zero():
    for answer in ("word", ""):
        scored = score_question("q", answer, ["word"])
        assert scored.pooled == scored.best == Rouge(0, 0, 0, 0, 0, 0)


def test_lengths_and_cuts():
    scored = score_question("q", "IL-2 works p<0.05", ["a b c", "d <e"])
    assert scored.answer_length == (3, 4)  # words by white space; il 2 works p
    assert scored.gold_length == ((3 + 2) / 2, (3 + 1) / 2)
    assert (scored.cut, scored.golds_cut) == (True, 1)


def test_a_batch_keeps_to_questions_with_a_gold_answer_and_names_the_missing():
    golds = {"b": ["x y z"], "a": ["x y z"], "none": [], "blank": ["", " "]}
    scored = score_batch({"b": "x y z", "other": "x"}, golds)
    assert [question.question_id for question in scored.questions] == ["a", "b"]
    assert scored.missing == ("a",)
    assert scored.pooled.plain == Rouge(*[(0 + 1) / 2] * 6)


def test_a_gold_without_ideal_answers_is_an_error():
    with pytest.raises(InputError, match="none for any of 1 questions"):
        score_batch({"a": "x"}, {"a": []})


def test_the_bootstrap_is_drand48_over_numbers_sorted_as_strings():
    # First two drand48 values of seed 0, as in any C library: 0.170828 and 0.749902.
    scores = [Rouge(float(index == 0), 1, 0, 0, 0, 0) for index in range(2)]
    drawn = 0
    for seed in range(1000):
        state = seed * 2**16 + 0x330E
        for _ in range(2):
            state = (state * 25214903917 + 11) % 2**48
            drawn += state * 2 < 2**48
            if seed == 0:
                assert round(state / 2**48, 6) in (0.170828, 0.749902)
    averages = average(scores)
    assert averages.plain[:2] == (1 / 2, 1)
    assert averages.bootstrap[:2] == (drawn / 2000, 1)


@given(
    answer=st.text("ab <\n-α", max_size=40),
    golds=st.lists(st.text("ab <\n-α", max_size=40), min_size=1, max_size=3),
)
def test_scores_lie_between_0_and_1_and_best_recall_is_not_below_pooled(answer, golds):
    scored = score_question("q", answer, golds)
    assert all(0 <= value <= 1 for value in scored.pooled + scored.best)
    assert scored.best.rouge_2_recall >= scored.pooled.rouge_2_recall
    assert scored.best.rouge_su4_recall >= scored.pooled.rouge_su4_recall


@given(st.lists(st.sampled_from("abc"), min_size=2, max_size=30).map(" ".join))
def test_an_answer_equal_to_its_gold_scores_1(text):
    assert score_question("q", text, [text, text]).pooled == Rouge(1, 1, 1, 1, 1, 1)


@pytest.mark.shared
def test_the_organisers_program_on_the_rouge_pairs(shared):
    pairs = json.loads(
        read_text(shared / "data" / "eval_reference" / "bioasq" / "rouge_pairs.json")
    )
    numbered = {f"{number:02}": pair for number, pair in enumerate(pairs, start=1)}
    scored = score_batch(
        {id_: pair["system"] for id_, pair in numbered.items()},
        {id_: pair["golds"] for id_, pair in numbered.items()},
    )
    assert len(scored.questions) == 25
    reported = [0.08437, 0.12821, 0.09241, 0.19737, 0.25377, 0.17997]
    assert five_digits(scored.pooled.bootstrap) == reported
    plain = [0.08561, 0.12916, 0.0937, 0.19998, 0.25574, 0.18266]
    assert five_digits(scored.pooled.plain) == plain
    best = [0.11856, 0.16455, 0.12175, 0.24362, 0.23268, 0.19966]
    assert five_digits(scored.best.bootstrap) == best


def golds_of(shared: Path, batch: str) -> dict[str, list[str]]:
    golden = json.loads(read_text(shared / "data" / "bioasq_golden" / f"{batch}_golden.json.gz"))
    return {question["id"]: question["ideal_answer"] for question in golden["questions"]}


def answers_of(shared: Path, name: str) -> dict[str, str]:
    lines = read_text(shared / "data" / "llm" / f"{name}.jsonl").splitlines()
    return {record["id"]: record["ideal_answer"] for record in map(json.loads, lines)}


@pytest.mark.shared
@pytest.mark.parametrize("batch", ["11B2", "12B1", "10B1"])
@pytest.mark.parametrize("style", ["expert", "abstract"])
def test_the_organisers_program_on_real_answers(shared, batch, style):
    path = shared / "data" / "eval_reference" / "bioasq" / "rouge_real_expected.json"
    expected = json.loads(read_text(path))
    assert len(expected) == 3 * 2
    scored = score_batch(answers_of(shared, f"{batch}.{style}"), golds_of(shared, batch))
    assert expected[f"{batch}.{style}"] == {
        "n": len(scored.questions),
        "pooled": five_digits(scored.pooled.bootstrap),
        "best_reference": five_digits(scored.best.bootstrap),
        "plain_mean_pooled": five_digits(scored.pooled.plain),
        "plain_mean_best": five_digits(scored.best.plain),
    }
