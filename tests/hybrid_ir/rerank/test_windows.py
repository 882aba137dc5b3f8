import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hybrid_ir.rerank.settings import WindowConfig
from hybrid_ir.rerank.windows import joined, windows_of


def test_windows_start_a_stride_apart_until_the_end_is_reached():
    # 16 tokens from 0, 10 and 20 on: the third ends behind the last of 30
    cut = windows_of(30, 100, WindowConfig(tokens=16, stride=10))
    assert cut.windows == [(0, 16), (10, 26), (20, 30)]
    assert cut.left == 0


def test_half_a_window_is_the_stride_where_none_is_given():
    assert windows_of(8, 4, WindowConfig()).windows == [(0, 4), (2, 6), (4, 8)]


def test_a_document_of_one_window_is_not_cut():
    assert windows_of(20, 20, WindowConfig()).windows == [(0, 20)]
    assert windows_of(5, 20, WindowConfig()).windows == [(0, 5)]


def test_a_long_question_makes_windows_smaller_without_gaps():
    cut = windows_of(25, 10, WindowConfig(tokens=64, stride=32))
    assert cut.windows == [(0, 10), (10, 20), (20, 25)]


def test_what_lies_behind_the_most_windows_is_counted():
    cut = windows_of(100, 20, WindowConfig(stride=0, most=3))
    assert cut.windows == [(0, 20), (10, 30), (20, 40)]
    assert cut.left == 100 - 40


@given(
    st.integers(1, 500),
    st.integers(1, 80),
    st.integers(16, 80),
    st.integers(0, 80),
    st.integers(1, 20),
)
def test_windows_cover_all_before_what_is_left(tokens, room, size, stride, most):
    config = WindowConfig(tokens=size, stride=min(stride, size), most=most)
    cut = windows_of(tokens, room, config)
    covered = {place for first, last in cut.windows for place in range(first, last)}
    assert covered == set(range(tokens - cut.left))
    assert len(cut.windows) <= most
    assert all(0 < last - first <= min(room, size) for first, last in cut.windows)
    assert cut.left == 0 or len(cut.windows) == most
    assert all(last < tokens for _, last in cut.windows[:-1])


def test_a_score_is_the_best_or_the_mean_of_the_windows():
    assert joined([1.0, -2.0, 4.0], WindowConfig(score="max")) == 4.0
    assert joined([1.0, -2.0, 4.0], WindowConfig(score="mean")) == (1 - 2 + 4) / 3
    assert joined([-3.0], None) == -3.0


@pytest.mark.parametrize("how", ["max", "mean"])
def test_a_window_without_a_number_leaves_the_document_without_one(how):
    assert math.isnan(joined([1.0, math.nan, 2.0], WindowConfig(score=how)))
