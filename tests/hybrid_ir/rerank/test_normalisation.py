import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hybrid_ir.rerank.normalisation import normalised

METHODS = "min_max", "z_score", "rank"
scores = st.lists(st.floats(-1e300, 1e300), min_size=1, max_size=20)


def given_scores(*values: float):
    return np.array(values, np.float64)


def test_min_max_takes_the_worst_to_0_and_the_best_to_1():
    # (2 - 1) / (5 - 1)
    assert normalised(given_scores(5, 1, 2), "min_max").tolist() == [1, 0, 0.25]


def test_z_score_has_mean_0_and_deviation_1():
    # mean 3, deviation sqrt((4 + 0 + 4) / 3)
    step = 2 / (8 / 3) ** 0.5
    assert normalised(given_scores(5, 3, 1), "z_score") == pytest.approx([step, 0, -step])


def test_rank_counts_what_scores_lower_and_half_of_what_scores_the_same():
    # 3 others: two lower and one the same for each of the best; one below the third; none below
    assert normalised(given_scores(7, 7, 1, -9), "rank") == pytest.approx(
        [2.5 / 3, 2.5 / 3, 1 / 3, 0]
    )


def test_none_leaves_scores_as_they_are():
    assert normalised(given_scores(7, -3), "none").tolist() == [7, -3]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("values", [(3.0,), (2.0, 2.0, 2.0), ()])
def test_equal_scores_say_nothing(method, values):
    assert normalised(given_scores(*values), method).tolist() == [0] * len(values)


@pytest.mark.parametrize("method", METHODS)
@given(values=scores)
def test_the_order_stays_and_all_is_finite(method, values):
    before = given_scores(*values)
    after = normalised(before, method)
    assert np.isfinite(after).all()
    order = np.argsort(before, kind="stable")
    assert (np.diff(after[order]) >= 0).all()
