"""From easy to hard."""

from random import Random

from hypothesis import given
from hypothesis import strategies as st

from training.curriculum import in_order, mined_count


def test_mined_negatives_come_in_steps_of_equal_length():
    # 3 + 1 steps of a quarter each: 0, 1, 2, 3
    assert [mined_count(3, progress) for progress in (0, 0.24, 0.25, 0.5, 0.75, 1)] == [
        0, 0, 1, 2, 3, 3,
    ]  # fmt: skip


@given(st.integers(0, 20), st.lists(st.floats(0, 1), min_size=2, max_size=2))
def test_the_number_never_falls_and_ends_at_all(count, moments):
    earlier, later = sorted(moments)
    assert 0 <= mined_count(count, earlier) <= mined_count(count, later) <= count
    assert mined_count(count, 1.0) == count


def test_ranks_come_from_the_far_end_first_and_from_the_near_end_at_last():
    window = range(10, 15)
    assert in_order(window, 0.0, Random(0)) == [14, 13, 12, 11, 10]
    assert in_order(window, 1.0, Random(0)) == [10, 11, 12, 13, 14]
    assert in_order(window, 0.5, Random(0)) == [12, 13, 11, 14, 10]


@given(st.integers(1, 50), st.integers(0, 50), st.none() | st.floats(0, 1), st.integers())
def test_every_rank_is_tried_once(first, size, progress, seed):
    window = range(first, first + size)
    assert sorted(in_order(window, progress, Random(seed))) == list(window)


def test_without_a_curriculum_the_order_is_the_seeds():
    orders = {tuple(in_order(range(1, 9), None, Random(seed))) for seed in range(30)}
    assert len(orders) > 20
    assert in_order(range(1, 9), None, Random(5)) == in_order(range(1, 9), None, Random(5))
