"""kill -9 in the middle of 200 questions, and two processes on one cache.

python tests/generation/asking/test_kill.py URL CACHE OUTPUT     # what the tests start and kill
"""

import json
import random
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

from generation.asking.calls import ask_all
from generation.budget import Budget
from generation.cache.replies import ReplyCache
from generation.clients import open_llm
from generation.llm import Message, ModelConfig, Prices, Request, Sampling

QUESTIONS = 200
CONCURRENCY = 8
KILLS = 4


def main():
    url, cache_path, output = sys.argv[1:]
    config = ModelConfig(
        "m", "openai", "m", base_url=url, concurrency=CONCURRENCY, prices=Prices(1, 1)
    )
    sampling = Sampling(max_tokens=50, seed=1)
    requests = [
        Request(f"q{n}", (Message("user", f"Tell me about q{n}."),), sampling)
        for n in range(QUESTIONS)
    ]
    with ReplyCache(Path(cache_path)) as cache:
        outcomes = ask_all(
            open_llm(config), requests, config, "t", cache, Budget(), lambda _, reply: reply.text
        )
        lines = [f"{outcome.request.question_id}\t{outcome.value}\n" for outcome in outcomes]
    Path(output).write_text("".join(lines))


def start(provider, cache, output):
    return subprocess.Popen([sys.executable, __file__, provider.openai_url, cache, output])


@pytest.mark.slow
def test_kill_9_and_resume_gives_the_same_and_repeats_little(provider, tmp_path):
    provider.latency = 0.05
    undisturbed, resumed = tmp_path / "undisturbed", tmp_path / "resumed"
    assert start(provider, tmp_path / "a.db", undisturbed).wait() == 0
    assert provider.arrived == QUESTIONS
    provider.calls.clear()
    seed = random.randrange(10**6)
    moments = random.Random(seed).sample(range(5, QUESTIONS), KILLS)
    for moment in sorted(moments):
        child = start(provider, tmp_path / "b.db", resumed)
        while len(provider.calls) < moment and child.poll() is None:
            time.sleep(random.random() / 100)
        child.kill()
        child.wait()
        assert not resumed.exists()
    assert start(provider, tmp_path / "b.db", resumed).wait() == 0
    assert resumed.read_text() == undisturbed.read_text(), seed
    bodies = Counter(json.dumps(call.body, sort_keys=True) for call in provider.calls)
    assert len(bodies) == QUESTIONS
    repeated = bodies.total() - QUESTIONS
    assert repeated <= KILLS * CONCURRENCY, seed
    with ReplyCache(tmp_path / "b.db") as cache:
        (account,) = cache.ledger.accounts()
        done = sum(
            record.reply.usage.prompt + record.reply.usage.completion for record in cache.replies()
        )
    assert repeated <= account.possible_calls <= KILLS * CONCURRENCY
    assert account.open_calls == 0
    # at worst a call has 50 tokens and (17 to 19 bytes) / 2 + 8 + 32 of the prompt
    assert 99 * account.possible_calls <= account.tokens - done <= 100 * account.possible_calls


@pytest.mark.slow
def test_two_processes_on_one_cache_agree(provider, tmp_path):
    provider.latency = 0.01
    outputs = [tmp_path / "one", tmp_path / "two"]
    children = [start(provider, tmp_path / "c.db", output) for output in outputs]
    assert [child.wait() for child in children] == [0, 0]
    assert outputs[0].read_text() == outputs[1].read_text()
    assert len(outputs[0].read_text().splitlines()) == QUESTIONS
    with ReplyCache(tmp_path / "c.db") as cache:
        (account,) = cache.ledger.accounts()
        (count,) = cache.counts()
    assert count.good == QUESTIONS
    assert account.calls == provider.arrived <= 2 * QUESTIONS
    assert (account.open_calls, account.possible_calls) == (0, 0)


if __name__ == "__main__":
    main()
