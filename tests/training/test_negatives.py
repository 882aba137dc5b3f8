"""What is wrong for a question, and what is too likely to be right."""

import math
from collections import Counter
from random import Random

import pytest

from hybrid_ir.errors import InputError
from hybrid_ir.records import Ranked
from training.false_negatives import FalseNegatives, FilterConfig
from training.negatives import Amount, Mining, mined_negatives, random_negatives
from training.passages import Passages

TEXTS = {str(number): f"words {number} of {number} document {number}" for number in range(30)}
PASSAGES = Passages(TEXTS.get, len(TEXTS), list(TEXTS).__getitem__)


def ranking(*scores):
    """Documents 0, 1, 2 ... with these scores."""
    return tuple(Ranked(str(number), score) for number, score in enumerate(scores))


def false_negatives(positives=(), elsewhere=(), texts=(), **settings):
    return FalseNegatives(positives, elsewhere, texts, FilterConfig(**settings))


def mined(count, found, ranks, known, passages=PASSAGES):
    dropped = Counter()
    negatives = mined_negatives(count, found, ranks, "run", passages, known, dropped)
    return [passage.document_id for passage in negatives], dropped


@pytest.mark.parametrize(
    ("settings", "most"),
    [
        ({}, 0.95 * 4),  # the lowest positive that is ranked
        ({"margin": 0.5}, 0.5 * 4),
        ({"margin": 1.0}, 4.0),
        ({"margin_to": "highest"}, 0.95 * 8),
        ({"margin": None}, math.inf),
    ],
)
def test_the_margin_is_a_share_of_a_positives_score(settings, most):
    known = false_negatives({"1", "3", "99"}, **settings)
    assert known.most(ranking(10, 8, 6, 4, 2)) == pytest.approx(most)


def test_a_margin_to_a_negative_score_lies_below_it():
    # as far below as to a score of 4: 0.05 * 4
    assert false_negatives({"0"}).most(ranking(-4.0, -9.0)) == pytest.approx(-4 - 0.05 * 4)


def test_a_ranking_without_a_positive_has_no_margin():
    assert false_negatives({"99"}).most(ranking(3, 2, 1)) == math.inf


def test_candidates_above_the_margin_are_left_out_and_counted():
    found, dropped = mined(9, ranking(10, 8, 7.7, 7.6, 7.5, 4), range(1, 7), false_negatives({"1"}))
    assert found == ["5", "4", "3"]  # 0.95 * 8 = 7.6 is not above
    assert dropped == {
        "run negative: scores too near a positive": 2,
        "run negative: is gold of the question": 1,
    }


def test_candidates_that_are_right_elsewhere_repeat_or_have_no_text_are_left_out():
    texts = TEXTS | {"3": "one two three four five", "4": " "}
    passages = Passages(lambda id_: texts[id_].strip() or None, 30, str)
    known = false_negatives({"1"}, {"2"}, ["one two three four five"], margin=None)
    known.take("5")
    found, dropped = mined(9, ranking(*range(9, 1, -1)), range(1, 9), known, passages)
    assert found == ["7", "6", "0"]
    assert dropped == {
        "run negative: is gold of the question": 1,
        "run negative: is gold of a nearly equal question": 1,
        "run negative: nearly repeats a positive": 1,
        "run negative: has no text": 1,
        "run negative: is a negative already": 1,
    }


def test_no_more_are_tried_than_are_wanted_and_the_farthest_stands_first():
    known = false_negatives({"1"})
    found, dropped = mined(2, ranking(5, 4, 3, 2, 1), [2, 3, 5, 1, 4], known)
    assert found == ["4", "2"]  # ranks 5 and 3; rank 2 is right, 1 and 4 are not tried
    assert dropped == {"run negative: is gold of the question": 1}


def test_the_same_document_is_never_taken_twice():
    known = false_negatives()
    assert mined(2, ranking(2, 1), [1, 2], known)[0] == ["1", "0"]
    assert mined(2, ranking(2, 1), [1, 2], known)[0] == []


def test_random_negatives_are_drawn_without_the_right_ones():
    dropped = Counter()
    right = {str(number) for number in range(10)}
    drawn = random_negatives(12, PASSAGES, false_negatives(right), Random(1), dropped)
    ids = [passage.document_id for passage in drawn]
    assert len(set(ids)) == 12
    assert not right.intersection(ids)
    assert {passage.source for passage in drawn} == {"random"}


def test_where_hardly_any_document_can_be_one_the_search_ends():
    few = false_negatives({str(number) for number in range(1, 30)})
    drawn = random_negatives(3, PASSAGES, few, Random(0), Counter())
    assert {passage.document_id for passage in drawn} <= {"0"}
    empty = Passages({}.get, 0, str)
    assert random_negatives(3, empty, few, Random(0), Counter()) == []


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Amount(-1), "count: expected 0 or more, got -1"),
        (lambda: Mining(1, first=0), "first, last: expected 1 <= first <= last, got 0, 100"),
        (lambda: Mining(1, first=9, last=8), "got 9, 8"),
        (lambda: FilterConfig(margin=1.5), "margin: expected 0 to 1, got 1.5"),
        (lambda: FilterConfig(near_duplicate=0), "near_duplicate: expected above 0"),
        (lambda: FilterConfig(near_question=2), "near_question: expected above 0"),
    ],
)
def test_settings_out_of_range_are_refused(make, message):
    with pytest.raises(InputError, match=message):
        make()
