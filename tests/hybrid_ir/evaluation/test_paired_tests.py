"""The tests of paired differences against numbers worked out by hand and against tables."""

import math
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hybrid_ir.evaluation.paired_tests import LEAST_QUESTIONS, assess, holm


def run(differences, confidence=0.95, resamples=9_999, seed=0):
    return assess(np.array(differences, dtype=float), confidence, resamples, seed)


def test_randomisation_tries_all_sign_patterns_where_they_are_few():
    differences = [0.5, 0.25, 0.25, 0.125, -0.125, 0.0]
    sums = [
        sum(s * d for s, d in zip(signs, differences, strict=True))
        for signs in product((-1, 1), repeat=6)
    ]
    extreme = sum(abs(total) >= sum(differences) for total in sums)
    # The first three positive and the rest not below 0: 3 of 4 patterns, times 2 for the 0.0; and
    # the same with all signs turned.
    assert extreme == 2 * 3 * 2
    assert run(differences).randomisation == 12 / 64


def test_all_differences_of_one_sign_give_the_smallest_p():
    assert run([1, 2, 3, 4, 5, 6]).randomisation == 2 / 2**6
    assert run([-1, -2, -3, -4, -5, -6]).randomisation == 2 / 2**6


def test_drawn_sign_patterns_come_close_to_all_of_them():
    differences = np.linspace(-0.3, 0.7, 14)
    exact = run(differences, resamples=2**14).randomisation
    drawn = run(differences, resamples=9_999).randomisation
    assert exact * 2**14 == pytest.approx(round(exact * 2**14), abs=1e-6)
    assert drawn != exact
    assert abs(drawn - exact) < 4 * math.sqrt(2 * exact * (1 - exact) / 9_999)


def test_the_same_seed_gives_the_same_p():
    differences = np.linspace(-0.3, 0.7, 40)
    assert run(differences) == run(differences)
    assert run(differences, seed=1).randomisation != run(differences).randomisation


def test_t_test_and_its_interval_by_hand():
    differences = [1, 2, 3, 4, 5, 3]
    mean, variance = 18 / 6, (4 + 1 + 0 + 1 + 4 + 0) / 5
    error = math.sqrt(variance / 6)
    tested = run(differences)
    quantile = 2.570582  # 0.975 of Student's t with 5 degrees of freedom, from a table
    assert tested.interval == pytest.approx((mean - quantile * error, mean + quantile * error))
    assert run(differences, confidence=0.9).interval == pytest.approx(
        (mean - 2.015048 * error, mean + 2.015048 * error)
    )
    t = mean / error  # 5.196: between the table's 4.773 (p = 0.005) and 5.893 (p = 0.002)
    assert 4.773 < t < 5.893
    assert 0.002 < tested.t_test < 0.005
    assert tested.note == ""


def test_too_few_questions_are_not_tested():
    for n in range(LEAST_QUESTIONS):
        tested = run([1.0, 2.0, 3.0, 4.0, 5.0][:n])
        assert tested == (None, None, None, f"not testable: {n} questions, at least 6 are needed")
    assert run([1.0] * 5 + [2.0]).randomisation == 2 / 2**6


def test_no_difference_is_not_tested_even_with_rounding():
    note = "not testable: no difference on any of 6 questions"
    assert run([0.0] * 6) == (None, None, None, note)
    assert run([0.1 + 0.2 - 0.3, 0, 0, 0, 0, 0]).note == note


def test_a_constant_difference_has_no_t_test():
    tested = run([0.3 - 0.2] * 5 + [0.2 - 0.1])
    assert tested == (2 / 2**6, None, None, "no t-test: the same difference on all 6 questions")


def test_holm_by_hand():
    # Ascending 0.005, 0.01, 0.03, 0.04 times 4, 3, 2, 1 = 0.02, 0.03, 0.06, 0.04 -> 0.06.
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.5, 0.9]) == [1.0, 1.0]
    assert holm([0.04]) == [0.04]
    assert holm([]) == []


@given(st.lists(st.floats(0, 1), min_size=1, max_size=20))
def test_holm_keeps_the_order_and_lies_between_the_raw_and_bonferroni(raw):
    corrected = holm(raw)
    for p, q in zip(raw, corrected, strict=True):
        assert p <= q <= 1
        assert q <= max(min(1, r * len(raw)) for r in raw if r <= p) or math.isclose(q, 1)
    assert [q for _, q in sorted(zip(raw, corrected, strict=True))] == sorted(corrected)


@settings(max_examples=50, deadline=None)
@given(st.lists(st.floats(-1, 1), min_size=6, max_size=8), st.randoms())
def test_turning_the_differences_round_turns_nothing_but_the_interval(differences, random):
    tested, turned = run(differences), run([-d for d in differences])
    assert tested.note == turned.note
    assert tested.randomisation == turned.randomisation
    if tested.interval:
        assert tested.t_test == pytest.approx(turned.t_test)
        assert turned.interval == pytest.approx((-tested.interval[1], -tested.interval[0]))
    random.shuffle(differences)
    assert run(differences).randomisation == tested.randomisation
