"""What says nearly the same."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from training.near_duplicates import NearAny, near, near_questions, shingles

WORDS = st.lists(st.sampled_from("abcdef"), max_size=8).map(" ".join)


@pytest.mark.parametrize(
    ("text", "count"), [("", 0), ("One", 1), ("one two", 1), ("a b c d", 2), ("a-b c d", 2)]
)
def test_a_text_of_n_words_has_n_minus_2_shingles_and_a_short_one_is_its_own(text, count):
    assert len(shingles(text)) == count


def test_similarity_is_the_share_of_common_shingles():
    # abc bcd cde against abc bcd cdf: 2 in common of 3 + 3 - 2
    assert near(shingles("a b c d e"), shingles("a b c d f")) == 2 / 4


def test_a_text_that_stands_in_the_other_is_the_same():
    assert near(shingles("b c d"), shingles("a b c d e f g h")) == 1.0
    assert near(shingles("A, b: c!"), shingles("a b c")) == 1.0


def test_nothing_is_near_an_empty_text():
    assert near(shingles(""), shingles("")) == 0.0
    assert "" not in NearAny(["", "a b c"], 0.1)


def test_the_threshold_belongs_to_what_is_near():
    assert "a b c d f" in NearAny(["x y z", "a b c d e"], 0.5)
    assert "a b c d f" not in NearAny(["x y z", "a b c d e"], 0.51)


def test_questions_are_near_by_their_words():
    bodies = {
        "a": "Which genes cause Lynch syndrome?",
        "b": "Which genes cause the Lynch syndrome?",  # 5 of 6 words in common: 0.83
        "c": "Which genes cause Marfan syndrome?",  # with a 4 of 6: 0.67
        "d": "What is aspirin?",
    }
    assert near_questions(bodies, 0.8) == {"a": {"b"}, "b": {"a"}}
    assert near_questions(bodies, 5 / 6) == {"a": {"b"}, "b": {"a"}}
    assert near_questions(bodies, 0.84) == {}


@given(st.dictionaries(st.text("0123", min_size=1), WORDS, max_size=12), st.floats(0.05, 1.0))
def test_no_near_question_is_overlooked(bodies, threshold):
    def similar(one, other):
        left, right = set(bodies[one].split()), set(bodies[other].split())
        return bool(left & right) and len(left & right) / len(left | right) >= threshold

    expected = {
        one: {other for other in bodies if other != one and similar(one, other)} for one in bodies
    }
    assert near_questions(bodies, threshold) == {
        id_: near for id_, near in expected.items() if near
    }
