"""Fusion by hand: reciprocal ranks as sums of fractions."""

from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fusion.methods import rrf
from hybrid_ir.records import Ranked


def ranking(*documents):
    return tuple(Ranked(document, float(-place)) for place, document in enumerate(documents))


def test_the_score_is_the_sum_of_reciprocal_ranks():
    fused = rrf([ranking("a", "b", "c"), ranking("c", "a")])
    assert [document for document, _ in fused] == ["a", "c", "b"]
    assert dict(fused) == pytest.approx(
        {"a": 1 / (60 + 1) + 1 / (60 + 2), "c": 1 / (60 + 3) + 1 / (60 + 1), "b": 1 / (60 + 2)},
        rel=1e-15,
    )


def test_scores_of_the_rankings_do_not_count_only_ranks_do():
    assert rrf([(Ranked("a", 9.0), Ranked("b", 8.9))]) == rrf([ranking("a", "b")])


def test_a_smaller_constant_favours_the_first_rank():
    rankings = [ranking("a", "b", "c"), ranking("d", "b", "c")]
    assert dict(rrf(rankings, k=0)) == {"a": 1.0, "d": 1.0, "b": 1 / 2 + 1 / 2, "c": 1 / 3 + 1 / 3}
    assert [document for document, _ in rrf(rankings, k=60)][:2] == ["b", "c"]


def test_equal_ranks_are_a_tie_in_whatever_order_they_are_added_up():
    """Added up one by one, 1/61 + 1/62 + 1/67 and its permutations are not all the same float."""
    places = (1, 2, 7)
    assert len({a + b + c for a, b, c in permutations(1 / (60 + place) for place in places)}) > 1
    orders = dict(zip("621453", permutations(places), strict=True))
    rankings = [one_place(document, place) for document, order in orders.items() for place in order]
    fused = [pair for pair in rrf(rankings) if pair.item in orders]
    assert len({score for _, score in fused}) == 1
    assert [document for document, _ in fused] == list("123456")


def one_place(document, place):
    """Give a ranking with a document at one place, behind others that stand in no other ranking."""
    return ranking(*(f"{document} {place} {number}" for number in range(1, place)), document)


def test_no_rankings_and_empty_ones():
    assert rrf([]) == ()
    assert rrf([(), ()]) == ()
    assert rrf([(), ranking("b", "a")]) == (Ranked("b", 1 / 61), Ranked("a", 1 / 62))


RANKINGS = st.lists(st.permutations("abcde").map(lambda names: ranking(*names[:4])), max_size=4)


@given(RANKINGS, st.randoms(), st.floats(0, 1000))
def test_the_order_of_the_rankings_changes_nothing(rankings, random, k):
    shuffled = random.sample(rankings, len(rankings))
    fused = rrf(rankings, k)
    assert rrf(shuffled, k) == fused
    assert {document for document, _ in fused} == {d for one in rankings for d, _ in one}
    assert rrf(rankings * 2, k) == tuple(Ranked(d, 2 * score) for d, score in fused)
