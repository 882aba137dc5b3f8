"""Ideal answers: which texts are scored, and averages over all and some questions."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hybrid_ir.bioasq.rouge import Rouge, average, score_question
from hybrid_ir.errors import InputError
from hybrid_ir.evaluation.ideal import ideal_means, score_ideal
from hybrid_ir.evaluation.reference import reference
from hybrid_ir.evaluation.scores import MEASURES, scores_to_json
from hybrid_ir.evaluation.scoring import evaluate_submission

GOLD = {"a": ["x y z", "x y"], "b": "p q r", "c": ["u v"], "none": [], "blank": [" "], "null": None}


def answered(**answers):
    return [{"id": id_, "ideal_answer": answer} for id_, answer in answers.items()]


def values(means, group):
    return dict(zip(MEASURES[group], means[group].values, strict=True))


def test_means_over_all_questions_and_over_some():
    scores = score_ideal(GOLD, answered(a="x y z w", b="p q"))
    means = ideal_means(scores, GOLD)
    assert means.keys() == {"ideal", "ideal_best", "ideal_text"}
    pooled = values(means, "ideal")
    # bigrams: 2 of 2 and 1 of 1 of an answer of 3; 1 of 2 of an answer of 1; nothing
    assert pooled["rouge2_recall"] == pytest.approx((3 / 3 + 1 / 2 + 0) / 3)
    assert pooled["rouge2_precision"] == pytest.approx((3 / (2 * 3) + 1 / 1 + 0) / 3)
    assert values(means, "ideal_text") == {
        "words": (4 + 2) / 2, "tokens": (4 + 2) / 2,  # of the answers that are there
        "gold_words": (5 / 2 + 3 + 2) / 3, "gold_tokens": (5 / 2 + 3 + 2) / 3,
        "cut": 0, "golds_cut": 0, "missing": 1,
    }  # fmt: skip
    part = values(ideal_means(scores, {"a", "c"}), "ideal")
    assert part["rouge2_recall"] == (3 / 3 + 0) / 2
    rows = [score_question("a", "x y z w", GOLD["a"]).pooled, Rouge(0, 0, 0, 0, 0, 0)]
    assert part["rouge2_recall_bootstrap"] == average(rows).bootstrap.rouge_2_recall
    assert ideal_means(scores, {"none"}) == {}


def test_bootstrap_means_have_no_values_of_questions():
    scores = score_ideal(GOLD, answered(a="x y z"))
    rows = ideal_means(scores, GOLD)["ideal"].per_question
    assert rows.keys() == {"a", "b", "c"}
    assert {len(row) for row in rows.values()} == {6}
    assert len(MEASURES["ideal"]) == 2 * 6


def test_what_counts_as_an_answer(caplog):
    answers = answered(a=["x y z"], b=["p q r", "p"], c=" ", none="z")
    scores = score_ideal(GOLD, answers, "ours")
    assert scores.missing == {"b", "c"}
    assert scores.rouge[0].best == (1,) * 6
    warnings = [record.getMessage() for record in caplog.records]
    assert warnings == [
        "ours: 1 ideal answers (first: question a) are a list of one text, where BioASQ asks for "
        "the text; scored as text",
        "ours: 1 ideal answers (first: question b) are no single text; they count as missing",
    ]


def test_of_a_question_twice_the_first_counts():
    twice = [*answered(a="x y z"), *answered(a="w")]
    assert score_ideal(GOLD, twice).rouge[0].best.rouge_2_f1 == 1


def test_nothing_to_score():
    assert score_ideal({"a": [], "b": None, "c": " "}, answered(a="x")) is None
    assert score_ideal(GOLD, [{"id": "a"}, *answered(b=None)]) is None


def test_a_gold_that_is_no_text_is_named():
    with pytest.raises(InputError, match=r"question a: .*\n.*question b: .* got 7"):
        score_ideal({"a": [["x"]], "b": 7, "c": "x"}, answered(a="x"))


def test_missing_answers_only():
    means = ideal_means(score_ideal(GOLD, answered(a="")), GOLD)
    assert math.isnan(values(means, "ideal_text")["words"])
    assert values(means, "ideal_text")["missing"] == 3
    assert set(means["ideal"].values) == {0.0}


def test_strict_and_official_scores_of_ideal_answers_are_the_same():
    gold = reference([{"id": id_, "type": "list", "ideal_answer": GOLD[id_]} for id_ in "abc"])
    official, strict = (
        evaluate_submission(gold, answered(a="x y", z="z"), mode=mode)
        for mode in ("official", "strict")
    )
    assert official.measures == strict.measures
    assert official.by_type["list"].measures == official.measures
    assert official.scored["ideal"] == (3, 3)


anything = st.recursive(
    st.none() | st.booleans() | st.integers(0, 9) | st.text("ab <\n", max_size=9),
    lambda inner: st.lists(inner, max_size=3),
    max_leaves=4,
)
golds = st.dictionaries(
    st.sampled_from("abcd"), st.lists(st.text("ab <\n", max_size=9), max_size=3), min_size=1
)


@settings(max_examples=60, deadline=None)
@given(golds, st.dictionaries(st.sampled_from("abcdz"), anything), st.randoms())
def test_any_answers_are_scored_within_0_and_1_in_any_order(gold, answers, random):
    submission = answered(**answers)
    scores = score_ideal(gold, submission)
    shuffled = random.sample(submission, len(submission))
    assert score_ideal(dict(reversed(gold.items())), shuffled) == scores
    if scores is None:
        return
    means = ideal_means(scores, gold)
    for group in ("ideal", "ideal_best"):
        assert all(0 <= value <= 1 for value in means[group].values)
        assert all(0 <= value <= 1 for row in means[group].per_question.values() for value in row)
    assert means["ideal_text"].values[-1] == len(scores.missing)
    raw = [{"id": id_, "type": "list", "ideal_answer": texts} for id_, texts in gold.items()]
    if gold.keys() & answers.keys():
        assert scores_to_json(evaluate_submission(reference(raw), submission))["scored"]


@given(st.lists(st.lists(st.sampled_from("abc"), min_size=2, max_size=9).map(" ".join), min_size=1))
def test_the_gold_as_an_answer_scores_1(texts):
    gold = {str(number): [text] for number, text in enumerate(texts)}
    means = ideal_means(score_ideal(gold, answered(**{i: t[0] for i, t in gold.items()})), gold)
    for group in ("ideal", "ideal_best"):
        assert means[group].values == pytest.approx((1,) * 12)
