from dataclasses import replace

import pytest

from generation.asking.outcomes import Failure, Outcome, Progress
from generation.asking.tally import Tally
from generation.cache.replies import ReplyCache, key_of
from generation.llm import Identity, Message, ModelConfig, Prices, Reply, Request, Usage
from generation.texts.refusals import Cleaned

IDENTITY = Identity("openai", "gpt", "r")
REQUEST = Request("q", (Message("user", "why?"),))
REPLY = Reply("Sure! So.", "stop", Usage(1_000, 100), "gpt-2026", "{}")
GOOD = Outcome(REQUEST, Cleaned("So.", ("opening",)), REPLY, rejected=("it refuses: 'No'",))
BAD = Outcome(
    REQUEST, None, None, Failure("unusable", "no"), ("it refuses: 'Never'", "it was filtered")
)


def test_what_came_is_counted(tmp_path):
    config = ModelConfig("m", "openai", "gpt", prices=Prices(1.0, 2.0))
    tally = Tally(config, IDENTITY)
    with ReplyCache(tmp_path / "replies.db") as cache:
        cache.store(key_of(IDENTITY, REQUEST), IDENTITY, REQUEST, REPLY, None)
        day = cache.date_of(key_of(IDENTITY, REQUEST))
        for outcome in (GOOD, BAD, GOOD, replace(GOOD, rejected=())):
            tally.add(outcome, cache)
    info = tally.info()
    assert info["texts"] == 3
    assert info["unusable"] == {"it refuses": 3, "it was filtered": 1}
    assert info["failures"] == {"unusable": 1}
    assert info["cut"] == {"opening": 3}
    assert info["served_as"] == {"gpt-2026": 3}
    assert info["replied"] == [day]
    assert (info["prompt_tokens"], info["completion_tokens"]) == (3 * 1_000, 3 * 100)
    assert info["usd"] == 3 * (1_000 * 1 + 100 * 2) / 10**6


@pytest.mark.parametrize(
    ("progress", "prices", "line"),
    [
        (Progress(), None, "m: 0 texts"),
        (
            Progress(calls=1, tokens=9, usd=0.5),
            Prices(1, 1),
            "m: 0 texts, 1 call, 9 tokens, 0.5000 USD",
        ),
        (
            Progress(calls=3, retried=1, changed=1, tokens=9, failed=2, not_asked=1),
            None,
            "m: 0 texts, 3 calls (1 retried, 1 asked anew after a reply of no use), 9 tokens,"
            " cost unknown (no prices set), 2 failed (1 not asked)",
        ),
    ],
)  # fmt: skip
def test_a_line_says_what_happened_and_nothing_else(progress, prices, line):
    config = ModelConfig("m", "openai", "gpt", prices=prices)
    assert Tally(config, IDENTITY, progress).line() == line


def test_without_a_cache_no_day_is_known():
    tally = Tally(ModelConfig("m", "openai", "gpt"), IDENTITY)
    tally.add(GOOD, None)
    assert tally.info()["replied"] == []
