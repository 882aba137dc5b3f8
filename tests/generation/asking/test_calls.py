"""Asking many things of a server that misbehaves: nothing lost, order kept, nothing paid twice."""

import itertools
import os
import random
import signal
import tempfile
import threading
import time
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from provider_server import Act

from generation.asking.calls import ask_all
from generation.asking.estimates import dry_run
from generation.asking.limits import Limiter
from generation.asking.outcomes import Progress
from generation.asking.slots import pause
from generation.budget import Budget, at_most, cost_of
from generation.cache.replies import ReplyCache
from generation.clients import open_llm
from generation.llm import (
    Identity,
    Limits,
    LLMError,
    Message,
    ModelConfig,
    Prices,
    Reply,
    Request,
    Sampling,
    Usage,
)
from generation.structured import Unusable
from hybrid_ir.errors import InputError

UNLIMITED = Budget()
KEY = "sk-a-key-that-nobody-may-see"


@pytest.fixture
def cache(tmp_path):
    with ReplyCache(tmp_path / "replies.db") as opened:
        yield opened


@pytest.fixture
def config(provider):
    return ModelConfig(
        "m", "openai", "m", base_url=provider.openai_url, timeout=1.0, prices=Prices(1.0, 2.0)
    )


def questions(count, prefix="q"):
    sampling = Sampling(max_tokens=50, seed=1)
    return [
        Request(
            f"{prefix}{number}", (Message("user", f"Tell me about {prefix}{number}."),), sampling
        )
        for number in range(count)
    ]


def text_of(_, reply):
    return reply.text


def ask(config, requests, cache, parse=text_of, budget=UNLIMITED, **rest):
    return list(ask_all(open_llm(config), requests, config, "test", cache, budget, parse, **rest))


def test_outcomes_come_in_order_whatever_the_order_of_the_replies(provider, config, cache):
    requests = questions(40)
    for number in range(0, 40, 7):
        provider.script(f"q{number}.", Act(seconds=0.1 + number / 200))
    outcomes = ask(config, requests, cache)
    assert [outcome.request for outcome in outcomes] == requests
    assert all(f"about q{n}." in outcome.value for n, outcome in enumerate(outcomes))
    assert provider.most_in_flight <= config.concurrency
    assert not any(outcome.cached or outcome.failure for outcome in outcomes)


def test_stored_replies_are_not_asked_for_again(provider, config, cache):
    requests = questions(10)
    first = ask(config, requests, cache)
    again = ask(config, requests, cache)
    assert provider.arrived == 10
    assert [o.value for o in again] == [o.value for o in first]
    assert all(outcome.cached for outcome in again)


def test_without_a_cache_all_is_asked_anew(provider, config):
    assert [o.value for o in ask(config, questions(3), None)] == [
        o.value for o in ask(config, questions(3), None)
    ]
    assert provider.arrived == 6


PASSING = {
    "rate": Act("status", status=429, retry_after="1"),
    "server": Act("status", status=500),
    "hang": Act("hang"),
    "reset": Act("reset"),
    "cut": Act("cut"),
    "malformed": Act("malformed"),
    "truncated": Act("truncated"),
    "wrong_shape": Act("wrong_shape"),
    "no_choices": Act("no_choices"),
}
CHANGED = {
    "refusal": Act("refusal"),
    "filtered": Act("filtered"),
    "blocked": Act("blocked"),
    "length": Act("length"),
    "empty": Act(text=""),
    "blank": Act(text=" \n"),
}


def test_nothing_is_lost_whatever_goes_wrong(provider, config, cache):
    acts = PASSING | CHANGED
    requests = [replace(r, question_id=name) for r, name in zip(questions(15), acts, strict=True)]
    for request, act in zip(requests, acts.values(), strict=True):
        provider.script(request.messages[0].content, act)
    progress = Progress()
    outcomes = ask(config, requests, cache, progress=progress)
    assert {o.request.question_id: o.failure for o in outcomes} == dict.fromkeys(acts)
    attempts = {o.request.question_id: o.request.attempt for o in outcomes}
    assert attempts == dict.fromkeys(PASSING, 0) | dict.fromkeys(CHANGED, 1)
    assert provider.arrived == progress.calls == 2 * 15
    assert (progress.retried, progress.changed) == (len(PASSING), len(CHANGED))
    # a reply may have been lost on its way: hang, reset, cut, and the four that are not JSON
    assert progress.possible_calls == 3 + 4
    kept = {(record.request.question_id, record.rejected is None) for record in cache.replies()}
    assert kept == {(name, True) for name in acts} | {(name, False) for name in CHANGED}


def test_rejected_replies_never_come_out_of_the_cache_as_good(provider, config, cache):
    requests = questions(len(CHANGED))
    for request, act in zip(requests, CHANGED.values(), strict=True):
        provider.script(request.messages[0].content, act, forever=True)
    first = ask(config, requests, cache, attempts=2)
    asked = provider.arrived
    assert asked == 2 * len(CHANGED)
    again = ask(config, requests, cache, attempts=2)
    assert provider.arrived == asked
    for outcome in first + again:
        assert (outcome.value, outcome.failure.kind) == (None, "unusable")
    assert "2 is of use; the last one: it was refused" in again[0].failure.message
    assert [o.cached for o in again] == [True] * len(CHANGED)
    cache.forget_rejected()
    ask(config, requests, cache, attempts=2)
    assert provider.arrived == 2 * asked


def test_another_parser_takes_kept_replies_without_a_call(provider, config, cache):
    def strict(_, reply):
        if "seed" in reply.text:
            raise Unusable("it names the seed")
        return reply.text

    assert ask(config, questions(3), cache, strict)[0].failure.kind == "unusable"
    asked = provider.arrived
    outcomes = ask(config, questions(3), cache, lambda _, reply: reply.text.upper())
    assert provider.arrived == asked == 3 * 3
    assert [outcome.request.attempt for outcome in outcomes] == [0, 0, 0]
    assert outcomes[2].value.startswith("A REPLY TO: TELL ME ABOUT Q2.")
    (count,) = cache.counts()
    assert (count.good, count.rejected) == (3, 6)


def test_a_failed_question_loses_no_other_and_is_asked_alone_again(provider, config, cache):
    config = replace(config, retries=1)
    provider.script("q3.", Act("status", status=500), Act("status", status=500))
    provider.script("q5.", Act("status", status=400, message="too long"))
    outcomes = ask(config, questions(8), cache)
    failures = {o.request.question_id: o.failure.kind for o in outcomes if o.failure}
    assert failures == {"q3": "server", "q5": "request"}
    assert "2 tries" in outcomes[3].failure.message
    before = provider.arrived
    assert before == 8 + 1  # one retry, and none for what is refused as it is
    again = ask(config, questions(8), cache)
    assert not any(o.failure for o in again)
    assert [o.request.question_id for o in again if not o.cached] == ["q3", "q5"]
    assert provider.arrived == before + 2


def test_a_refused_key_stops_the_rest(provider, config, cache):
    config = replace(config, concurrency=2)
    ask(config, questions(100)[90:], cache)
    before = provider.arrived
    provider.script("", Act("status", status=401), forever=True)
    outcomes = ask(config, questions(100), cache)
    kinds = [o.failure.kind if o.failure else None for o in outcomes]
    assert kinds[90:] == [None] * 10  # cached replies are handed out all the same
    assert 1 <= kinds[:90].count("key") <= 2
    assert kinds[:90].count("key") + kinds[:90].count("stopped") == 90
    assert provider.arrived - before <= 2


def test_limits_hold(provider, config, cache):
    config = replace(config, limits=Limits(requests_per_minute=5))
    outcomes = ask_all(open_llm(config), questions(8), config, "t", cache, Budget(), text_of)
    assert len(list(itertools.islice(outcomes, 5))) == 5
    assert not threading.Event().wait(0.3)
    outcomes.close()
    assert provider.arrived == 5


def test_limits_let_all_through_in_time(provider, config, cache):
    config = replace(config, limits=Limits(requests_per_second=10))
    assert not any(o.failure for o in ask(config, questions(15), cache))
    assert provider.arrived == 15


def test_retry_after_holds_back_every_call(provider, config, cache):
    config = replace(config, concurrency=1)
    provider.script("q0.", Act("status", status=429, retry_after="1"))
    outcomes = ask_all(open_llm(config), questions(3), config, "t", cache, Budget(), text_of)
    done = threading.Event()
    thread = threading.Thread(target=lambda: (list(outcomes), done.set()))
    thread.start()
    while provider.arrived == 0:
        done.wait(0.01)
    assert not done.wait(0.5)
    assert provider.arrived == 1
    thread.join()
    assert provider.arrived == 4


def test_pauses_double_up_to_a_minute_or_are_what_was_asked_for():
    for tries in range(20):
        longest = min(60, 0.5 * 2**tries)
        assert all(longest / 2 <= pause(tries, None) <= longest for _ in range(50))
    assert all(7 <= pause(3, 7.0) <= 7.25 for _ in range(50))
    assert len({pause(3, None) for _ in range(50)}) > 1


def test_a_provider_that_says_tomorrow_has_refused(provider, config, cache):
    provider.script("q0.", Act("status", status=429, retry_after="86400"))
    outcomes = ask(config, questions(2), cache)
    assert [o.failure.kind if o.failure else None for o in outcomes] == ["rate", None]


def test_budget_is_never_passed_and_a_larger_one_goes_on(provider, config, cache):
    requests = questions(20)
    worst = at_most(requests[0], config)
    budget = Budget(tokens=3 * (worst.prompt + worst.completion))
    progress = Progress()
    outcomes = ask(config, requests, cache, budget=budget, progress=progress)
    kinds = [o.failure.kind if o.failure else None for o in outcomes]
    done = kinds.count(None)
    assert 3 <= done < 20
    assert kinds == [None] * done + ["budget"] * (20 - done)
    assert "raise it" in outcomes[-1].failure.message
    assert (progress.failed, progress.not_asked) == (20 - done, 20 - done)
    (account,) = cache.ledger.accounts()
    assert account.tokens <= budget.tokens
    assert account.tokens + worst.prompt + worst.completion > budget.tokens
    assert account.calls == provider.arrived == done
    outcomes = ask(config, requests, cache)
    assert not any(o.failure for o in outcomes)
    assert provider.arrived == 20


def test_budget_in_money_counts_earlier_runs(provider, config, cache):
    ask(config, questions(4), cache)
    (account,) = cache.ledger.accounts()
    replies = list(cache.replies())
    dollars = sum(r.reply.usage.prompt * 1 + r.reply.usage.completion * 2 for r in replies) / 1e6
    assert account.usd == pytest.approx(dollars, rel=1e-12)
    outcomes = ask(config, questions(5), cache, budget=Budget(usd=account.usd))
    assert [o.failure.kind if o.failure else None for o in outcomes] == [None] * 4 + ["budget"]
    assert provider.arrived == 4


def test_estimate_is_kept_to(provider, config, cache):
    ask(config, questions(4), cache)
    provider.script("q9.", Act("refusal"), forever=True)
    ask(config, questions(10)[9:], cache, attempts=2)
    estimate = dry_run(open_llm(config).identity, questions(10), config, cache, text_of, attempts=2)
    assert (estimate.calls, estimate.cached, estimate.unusable) == (5, 4, 1)
    # 17 bytes / 2, rounded up, 8 for the message and 32 for the template
    assert estimate.prompt_tokens == 5 * (9 + 8 + 32)
    assert estimate.completion_tokens == 5 * 50
    assert estimate.usd == pytest.approx(5 * (49 * 1 + 50 * 2) / 1e6)
    before = provider.arrived
    ask(config, questions(10), cache, attempts=2)
    assert provider.arrived - before == 5
    assert "5 calls (4 more are cached, 1 have no usable reply)" in str(estimate)


def test_requests_are_read_as_they_are_needed(provider, config, cache):
    taken = itertools.count()
    requests = (request for request, _ in zip(itertools.cycle(questions(10)), taken, strict=False))
    outcomes = ask_all(open_llm(config), requests, config, "t", cache, Budget(), text_of)
    assert len(list(itertools.islice(outcomes, 2_000))) == 2_000
    outcomes.close()
    assert 2_000 <= next(taken) < 2_000 + 1_000


@pytest.mark.parametrize("where", ["loop", "waiting"])
def test_ctrl_c_keeps_what_arrives(provider, config, cache, where):
    provider.latency = 0.3
    outcomes = ask_all(open_llm(config), questions(100), config, "t", cache, Budget(), text_of)

    def interrupt():
        while provider.arrived < 4:
            threading.Event().wait(0.01)
        os.kill(os.getpid(), signal.SIGINT)

    if where == "waiting":
        threading.Thread(target=interrupt).start()

    def loop():
        for _ in outcomes:
            if where == "loop":
                raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        loop()
    outcomes.close()
    asked = provider.arrived
    assert asked < 100
    assert len(list(cache.replies())) == asked
    (account,) = cache.ledger.accounts()
    assert (account.calls, account.open_calls, account.possible_calls) == (asked, 0, 0)


def test_a_bug_in_the_parser_is_raised_and_loses_no_reply(provider, config, cache):
    def parse(_, reply):
        return 1 / ("q3." not in reply.text)

    with pytest.raises(ZeroDivisionError):
        ask(config, questions(20), cache, parse)
    assert len(list(cache.replies())) == provider.arrived


def test_a_bug_in_the_requests_is_raised(config, cache):
    def requests():
        yield from questions(2)
        raise ValueError("no more")

    with pytest.raises(ValueError, match="no more"):
        ask(config, requests(), cache)


def test_no_key_reaches_the_cache(provider, config, tmp_path, monkeypatch):
    monkeypatch.setenv("MY_KEY", KEY)
    config = replace(config, key_variable="MY_KEY")
    provider.script("q0.", Act("status", status=500, message=f"bad {KEY}"))
    provider.script("q1.", Act(text=f"Your key is {KEY}."))
    provider.script("q2.", Act("echo"))
    with ReplyCache(tmp_path / "secret.db") as cache:
        outcomes = ask(config, questions(3), cache)
        assert KEY not in repr(outcomes)
        assert provider.calls[0].headers["authorization"] == f"Bearer {KEY}"
        files = list(tmp_path.glob("secret.db*"))
        assert len(files) >= 2  # the write-ahead log, too
        assert not any(KEY.encode() in file.read_bytes() for file in files)


class Local:
    """A model in this process: batches, one at a time."""

    identity = Identity("transformers", "local")
    batch_size = 4

    def __init__(self, error=None):
        self.batches = []
        self.at_work = threading.Lock()
        self.error = error

    def complete(self, requests):
        assert self.at_work.acquire(blocking=False)
        self.batches.append([request.question_id for request in requests])
        self.at_work.release()
        if self.error and len(self.batches) > 1:
            raise self.error
        return [
            LLMError("request", "no")
            if request.question_id == "q5"
            else Reply(request.question_id, "stop", Usage(1, 1), "local", "{}")
            for request in requests
        ]


LOCAL = ModelConfig("local", "transformers", "local", batch_size=4)


def test_a_local_model_gets_batches_one_at_a_time(cache):
    llm = Local()
    outcomes = list(ask_all(llm, questions(10), LOCAL, "t", cache, Budget(), text_of))
    assert [o.value for o in outcomes] == [f"q{n}" if n != 5 else None for n in range(10)]
    assert [len(batch) for batch in llm.batches] == [4, 4, 2]
    assert list(itertools.chain(*llm.batches)) == [f"q{n}" for n in range(10)]


def test_what_a_model_raises_stops_it(cache):
    llm = Local(LLMError("key", "no key"))
    outcomes = list(ask_all(llm, questions(20), LOCAL, "t", cache, Budget(), text_of))
    kinds = [o.failure.kind if o.failure else None for o in outcomes]
    assert kinds == [None] * 4 + ["key"] * 4 + ["stopped"] * 12
    for error in (InputError("no such model"), RuntimeError("out of memory")):
        llm = Local(error)
        with pytest.raises(type(error), match=str(error)):
            list(ask_all(llm, questions(20, "x"), LOCAL, "t", cache, Budget(), text_of))
        assert len(llm.batches) <= 2


def test_an_outcome_says_what_was_wrong_with_the_replies_before(provider, config, cache):
    provider.script("q0.", Act("refusal"), Act(text=""))
    provider.script("q1.", Act("length"), Act("status", status=400))
    first = ask(config, questions(2), cache)
    assert first[0].rejected == ("it was refused", "it is empty")
    assert (first[0].failure, first[0].request.attempt) == (None, 2)
    assert first[1].rejected == ("it was cut off at the longest length",)
    assert first[1].failure.kind == "request"
    again = ask(config, questions(2), cache)
    assert [o.rejected for o in again] == [o.rejected for o in first]
    assert ask(config, questions(1), None)[0].rejected == ()


def test_the_parser_sees_what_was_asked(provider, config, cache):
    def parse(request, reply):
        if not request.attempt:
            raise Unusable(f"it answers {request.question_id}")
        return request.messages[-1].content

    (outcome,) = ask(config, questions(1), cache, parse)
    assert "cannot be used: it answers q0." in outcome.value
    assert ask(config, questions(1), cache, parse)[0].value == outcome.value


def test_a_failure_says_what_helps(provider, config, cache):
    provider.script("q0.", Act("refusal"), forever=True)
    (kept,) = ask(config, questions(1), cache, attempts=2)
    (unkept,) = ask(config, questions(1), None, attempts=2)
    said = (
        "no reply of 2 is of use; the last one: it was refused; more attempts ask on (attempts=5)"
    )
    forget = f"; `hybrid-ir cache forget-rejected {cache.path}` has what is rejected asked anew"
    assert (kept.failure.message, unkept.failure.message) == (said + forget, said)


def test_recorded_replies_are_asked_for_once(tmp_path):
    path = tmp_path / "recorded.jsonl"
    path.write_text('{"question_id": "q0", "text": ""}\n')
    progress = Progress()
    config = ModelConfig("r", "recorded", str(path))
    (outcome,) = ask(config, questions(1), None, progress=progress)
    assert (outcome.rejected, progress.calls) == (("it is empty",), 1)
    assert outcome.failure.message.endswith(
        "the last one: it is empty; recorded replies stay as they are: mend their file"
    )


def test_recorded_replies_are_not_kept(tmp_path, cache):
    path = tmp_path / "recorded.jsonl"
    path.write_text('{"question_id": "q0", "text": "known"}\n')
    config = ModelConfig("r", "recorded", str(path))
    outcomes = ask(config, questions(2), cache, budget=Budget(tokens=1))
    assert [o.value for o in outcomes] == ["known", None]
    assert outcomes[1].failure.kind == "missing"
    assert list(cache.replies()) == []
    assert cache.ledger.accounts() == []


def test_who_waits_for_a_turn_does_not_fail_while_others_are_answered(provider, config, cache):
    """Three 429s and one retry allowed: others get through, so it is only a matter of time."""
    busy = replace(config, concurrency=2, retries=1, timeout=5.0)
    provider.script("q0.", *[Act("status", status=429)] * 3)
    for number in range(1, 30):
        provider.script(f"q{number}.", Act(seconds=0.15))
    progress = Progress()
    outcomes = ask(busy, questions(30), cache, progress=progress)
    assert not any(outcome.failure for outcome in outcomes)
    assert progress.retried == 3


def test_a_provider_that_refuses_everybody_is_given_up(provider, config, cache):
    provider.script("", Act("status", status=429), forever=True)
    outcomes = ask(replace(config, retries=1), questions(3), cache)
    assert [outcome.failure.kind for outcome in outcomes] == ["rate"] * 3
    assert provider.arrived == 3 * 2


def test_a_reply_that_nobody_counts_is_charged_at_worst(provider, config, cache):
    provider.script("", Act("no_usage"), forever=True)
    requests = questions(3)
    worst = sum(at_most(one, config).prompt + at_most(one, config).completion for one in requests)
    ask(config, requests, cache)
    (account,) = cache.ledger.accounts()
    assert (account.tokens, account.possible_calls) == (worst, 0)


def test_a_reply_with_nul_characters_is_asked_again(provider, config, cache):
    provider.script("q0", Act(text="a\0b"), Act(text="fine"))
    (outcome,) = ask(config, questions(1), cache)
    assert outcome.rejected == ("it holds NUL characters",)
    assert outcome.value == "fine"


def test_limits_hold_from_one_asking_to_the_next(provider, config):
    limits = Limits(requests_per_second=4)
    limited = replace(config, limits=limits)
    limiter = Limiter(limits)
    started = time.monotonic()
    for prefix in ("a", "b", "c"):
        ask(limited, questions(4, prefix), None, limiter=limiter)
    assert time.monotonic() - started >= 2 * 1.0


def test_a_full_disk_stops_it_and_loses_nothing_stored(provider, config, cache):
    provider.script("", Act(text="word " * 2_000), forever=True)
    connection = cache.database.connection
    pages = connection.execute("PRAGMA page_count").fetchone()[0]
    connection.execute(f"PRAGMA max_page_count = {pages + 60}")
    with pytest.raises(InputError, match="full; make room and run the same command again"):
        ask(config, questions(60), cache)
    connection.execute("PRAGMA max_page_count = 1000000")
    kept = sum(1 for _ in cache.replies())
    provider.calls.clear()
    outcomes = ask(config, questions(60), cache)
    assert not any(outcome.failure for outcome in outcomes)
    assert 0 < kept < 60
    assert len(provider.calls) == 60 - kept
    rows = "SELECT sum(tokens), sum(cost) FROM calls"
    spent = connection.execute("SELECT tokens, cost FROM spent").fetchone()
    assert connection.execute(rows).fetchone() == spent


class Erratic:
    """A model that counts what it charges: any usage, time-outs, refusals, cut replies."""

    identity = Identity("openai", "m")
    batch_size = 1

    def __init__(self, config, seed):
        self.config, self.chance, self.lock = config, random.Random(seed), threading.Lock()
        self.tokens = self.cost = 0

    def complete(self, requests):
        worst = at_most(requests[0], self.config)
        with self.lock:
            kind = self.chance.choice(["free", "lost", "uncounted", "cut", "good", "good"])
            usage = Usage(
                self.chance.randint(0, worst.prompt), self.chance.randint(0, worst.completion)
            )
            if kind != "free":
                self.tokens += usage.prompt + usage.completion
                self.cost += cost_of(usage, self.config.prices)
        if kind in ("free", "lost"):
            return [LLMError("server" if kind == "free" else "timeout", "no", 0.0)]
        counted = Usage(1, 1, estimated=True) if kind == "uncounted" else usage
        return [Reply("text", "length" if kind == "cut" else "stop", counted, "m", "{}")]


@given(
    seed=st.integers(0, 2**32),
    concurrency=st.integers(1, 8),
    tokens=st.integers(0, 4_000),
    usd=st.floats(0.0, 0.01),
)
@settings(max_examples=25)
def test_what_is_charged_never_passes_the_budget(seed, concurrency, tokens, usd):
    config = ModelConfig(
        "m", "openai", "m", concurrency=concurrency, retries=1, prices=Prices(1.0, 4.0)
    )
    model, budget = Erratic(config, seed), Budget(usd, tokens)
    with tempfile.TemporaryDirectory() as folder, ReplyCache(Path(folder) / "replies") as cache:
        for _ in range(2):  # the second time goes on with what the first has left
            list(ask_all(model, questions(15), config, "test", cache, budget, text_of, 2))
    assert model.tokens <= tokens
    assert budget.holds(model.tokens, model.cost)
