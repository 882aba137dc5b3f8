"""Money and tokens: exact sums, worst cases, and an account that outlives its processes."""

import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from generation.budget import PICO, Budget, at_most, cost_of
from generation.cache.ledger import Reservation, Settlement
from generation.cache.replies import ReplyCache
from generation.llm import Message, ModelConfig, Prices, Request, Sampling, Schema, Usage
from hybrid_ir.errors import InputError

CONFIG = ModelConfig("m", "openai", "m")


@pytest.fixture
def cache(tmp_path):
    with ReplyCache(tmp_path / "replies.db") as opened:
        yield opened


def test_cost_is_exact():
    # 1,000 tokens at 0.075 USD a million and 100 at 0.3 USD a million
    assert cost_of(Usage(1_000, 100), Prices(0.075, 0.3)) == 1_000 * 75_000 + 100 * 300_000
    assert cost_of(Usage(1_000_000, 1_000_000), Prices(2.5, 10)) == round(12.5 * PICO)


def test_worst_case_is_a_token_for_two_bytes_and_all_of_max_tokens():
    request = Request("q", (Message("user", "abcde"), Message("user", "é")), Sampling(100))
    # (5 + 2 bytes) / 2, rounded up; 8 a message; 32 for the template
    assert at_most(request, CONFIG) == Usage(4 + 2 * 8 + 32, 100)
    shaped = Request("q", request.messages, Sampling(100), Schema("A", {"type": "object"}))
    # '{"type": "object"}' has 18 bytes more
    assert at_most(shaped, CONFIG) == Usage(13 + 2 * 8 + 32, 100)
    assert at_most(request, ModelConfig("r", "recorded", "r.jsonl")) == Usage(0, 0)


def test_budget_that_cannot_be_is_refused():
    with pytest.raises(InputError, match=r"usd.*\n.*tokens"):
        Budget(usd=-1, tokens=-1)
    with pytest.raises(InputError, match="usd"):
        Budget(usd=float("nan"))


def test_calls_are_taken_as_long_as_they_fit(cache):
    calls = [Reservation("k", 100, 2 * PICO)] * 4
    numbers, spent = cache.ledger.begin("s", calls, Budget(usd=6.0))
    assert (len(numbers), spent) == (3, (300, 6 * PICO))
    numbers, _ = cache.ledger.begin("s", calls, Budget(usd=6.0))
    assert len(numbers) == 0
    numbers, _ = cache.ledger.begin("s", calls, Budget(tokens=350))
    assert len(numbers) == 0
    numbers, _ = cache.ledger.begin("another", calls, Budget(tokens=350))
    assert len(numbers) == 3


def test_what_a_call_did_not_take_is_free_again(cache):
    (call,), _ = cache.ledger.begin("s", [Reservation("k", 100, 5 * PICO)], Budget(usd=5))
    cache.ledger.settle("s", [Settlement(call, "done", 10, PICO)])
    (second,), spent = cache.ledger.begin("s", [Reservation("k", 100, 4 * PICO)], Budget(usd=5))
    assert spent == (10 + 100, PICO + 4 * PICO)
    cache.ledger.settle("s", [Settlement(second, "free", 0, 0)])
    (account,) = cache.ledger.accounts()
    assert (account.calls, account.tokens, account.usd) == (2, 10, 1.0)
    assert (account.open_calls, account.possible_calls) == (0, 0)


@settings(max_examples=25, deadline=None)
@given(
    st.lists(
        st.tuples(st.integers(0, 50), st.sampled_from(["done", "free", "possible", "open"])),
        max_size=8,
    )
)
def test_running_sums_are_the_sums_of_the_calls(tmp_path_factory, calls):
    with ReplyCache(tmp_path_factory.mktemp("sums") / "replies.db") as cache:
        for tokens, state in calls:
            worst = Reservation("k", tokens, 3 * tokens)
            (call,), _ = cache.ledger.begin("s", [worst], Budget())
            if state == "possible":
                cache.ledger.settle("s", [Settlement(call, "possible", tokens, 3 * tokens)])
            elif state != "open":
                used = tokens // 2 if state == "done" else 0
                cache.ledger.settle("s", [Settlement(call, state, used, 3 * used)])
        expected = sum(
            {"done": tokens // 2, "free": 0}.get(state, tokens) for tokens, state in calls
        )
        _, spent = cache.ledger.begin("s", [], Budget())
        assert spent == (expected, 3 * expected)
        assert sum(account.tokens for account in cache.ledger.accounts()) == expected


def test_two_processes_share_one_budget(tmp_path):
    with ReplyCache(tmp_path / "c.db") as one, ReplyCache(tmp_path / "c.db") as two:
        calls = [Reservation("k", 100, 0)]
        taken = [
            len(cache.ledger.begin("s", calls, Budget(tokens=350))[0])
            for cache in (one, two, one, two, one)
        ]
        assert taken == [1, 1, 1, 0, 0]


DIE = """
import os, sys
from pathlib import Path
from generation.budget import Budget
from generation.cache.replies import ReplyCache
from generation.cache.ledger import Reservation, Settlement
cache = ReplyCache(Path(sys.argv[1]))
calls, _ = cache.ledger.begin("s", [Reservation("k", 100, 7)] * 3, Budget())
cache.ledger.settle("s", [Settlement(calls[0], "done", 10, 1)])
print("begun", flush=True)
sys.stdin.read()
os._exit(9)
"""


def test_calls_of_a_dead_process_are_possibly_charged(tmp_path):
    path = tmp_path / "c.db"
    child = subprocess.Popen(
        [sys.executable, "-c", DIE, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert child.stdout.readline() == b"begun\n"
    with ReplyCache(path) as cache:
        (account,) = cache.ledger.accounts()
        assert (account.open_calls, account.possible_calls) == (2, 0)
        child.communicate()
        (account,) = cache.ledger.accounts()
        assert (account.calls, account.open_calls, account.possible_calls) == (3, 0, 2)
        assert account.tokens == 10 + 2 * 100
        assert account.possible_usd == 2 * 7 / PICO
    with ReplyCache(path) as cache:
        _, spent = cache.ledger.begin("s", [], Budget())
        assert spent == (10 + 2 * 100, 1 + 2 * 7)
