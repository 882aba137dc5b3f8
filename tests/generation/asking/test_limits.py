"""A provider's limits, held over any stretch of time, with a clock of the test's own."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from generation.asking.limits import Limiter
from generation.llm import Limits


def send_all(limits, weights, think=0.0):
    """Send calls as early as the limiter says; give (time, weight) of each."""
    limiter, now, sent = Limiter(limits), 0.0, []
    left = list(weights)
    while left:
        count, next_time = limiter.admit(left, now)
        for weight in left[:count]:
            limiter.send(weight, now)
            sent.append((now, weight))
        left = left[count:]
        assert count or now < next_time < now + 3700  # else it would wait for ever
        now = max(next_time, now + think)
    return sent


def most_in(sent, seconds, value):
    return max(
        sum(value(weight) for time, weight in sent if start <= time < start + seconds)
        for start, _ in sent
    )


@settings(deadline=None)
@given(
    st.lists(st.integers(1, 60), min_size=1, max_size=60),
    st.integers(1, 5),
    st.integers(1, 20),
    st.integers(1, 30),
    st.integers(60, 300),
    st.floats(0, 3),
)
def test_no_stretch_of_time_ever_holds_more(weights, second, minute, hour, tokens, think):
    sent = send_all(Limits(second, minute, hour, tokens), weights, think)
    assert [weight for _, weight in sent] == weights
    assert most_in(sent, 1, lambda _: 1) <= second
    assert most_in(sent, 60, lambda _: 1) <= minute
    assert most_in(sent, 3600, lambda _: 1) <= hour
    assert most_in(sent, 60, lambda weight: weight) <= tokens


def test_no_limit_holds_nothing_back():
    assert Limiter(Limits()).admit([10**9] * 1000, 5.0) == (1000, 5.0)


def test_as_many_go_at_once_as_may():
    sent = send_all(Limits(requests_per_minute=3), [1] * 7)
    # windows are 60 s and a quarter of a second for the way
    assert [time for time, _ in sent] == [0, 0, 0, 60.25, 60.25, 60.25, 120.5]


def test_a_fraction_of_a_request_a_second_is_one_in_several():
    sent = send_all(Limits(requests_per_second=0.5), [1] * 3)
    assert [time for time, _ in sent] == pytest.approx([0, 2.1, 4.2])
    sent = send_all(Limits(requests_per_second=2.9), [1] * 3)  # rounded down to 2 a second
    assert [time for time, _ in sent] == pytest.approx([0, 0, 1.05])


def test_a_call_larger_than_the_limit_goes_alone():
    sent = send_all(Limits(tokens_per_minute=100), [10, 500, 10])
    assert [time for time, _ in sent] == [0, 60.25, 120.5]


def test_tokens_not_taken_are_free_again():
    limiter = Limiter(Limits(tokens_per_minute=100))
    first = limiter.send(90, 0.0)
    assert limiter.admit([50], 1.0) == (0, 60.25)
    limiter.settle(first, 20)
    assert limiter.admit([50], 1.0) == (1, 1.0)
    limiter.send(50, 1.0)
    assert limiter.admit([40], 2.0) == (0, 60.25)  # 20 + 50 + 40 > 100
    assert limiter.admit([40], 60.25) == (1, 60.25)


def test_a_reply_that_comes_after_its_window_changes_nothing():
    limiter = Limiter(Limits(tokens_per_minute=100))
    first = limiter.send(100, 0.0)
    second_time = 60.25
    assert limiter.admit([100], second_time) == (1, second_time)
    limiter.send(100, second_time)
    limiter.settle(first, 0)
    assert limiter.admit([1], second_time) == (0, 2 * second_time)


def test_a_reply_longer_than_thought_counts_in_full():
    limiter = Limiter(Limits(tokens_per_minute=100))
    limiter.settle(limiter.send(90, 0.0), 150)
    assert limiter.admit([1], 1.0) == (0, 60.25)
