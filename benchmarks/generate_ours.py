"""Our side of generate.py: the whole path, with cache, account, limits, budget and retries."""

from __future__ import annotations

import hashlib
import sys
import tempfile
import time
from pathlib import Path

from generation.asking.calls import ask_all
from generation.budget import Budget
from generation.cache.replies import ReplyCache
from generation.clients import open_llm
from generation.llm import LLM, Limits, Message, ModelConfig, Prices, Request, Sampling

LIMITS = Limits(requests_per_second=100_000, tokens_per_minute=2_000_000_000)


def ask(llm: LLM, config: ModelConfig, prompts: list[str], cache: Path) -> list[str]:
    """Give the replies' texts."""
    sampling = Sampling(max_tokens=256, temperature=0.7, seed=1)
    requests = [
        Request(str(number), (Message("user", prompt),), sampling)
        for number, prompt in enumerate(prompts)
    ]
    with ReplyCache(cache) as replies:
        outcomes = ask_all(
            llm,
            requests,
            config,
            "benchmark",
            replies,
            Budget(usd=1_000.0),
            lambda _, reply: reply.text,
        )
        return [outcome.value or "" for outcome in outcomes]


def main() -> None:
    """Print the seconds and a digest of the replies."""
    url, prompts, concurrency = sys.argv[1], Path(sys.argv[2]), int(sys.argv[3])
    config = ModelConfig(
        "benchmark",
        "openai",
        "m",
        base_url=url,
        concurrency=concurrency,
        limits=LIMITS,
        prices=Prices(0.1, 0.4),
    )
    llm = open_llm(config)
    texts = prompts.read_text(encoding="utf-8").splitlines()
    with tempfile.TemporaryDirectory(prefix="hybrid-ir-generate-") as folder:
        ask(llm, config, [f"warm up {text}" for text in texts[:concurrency]], Path(folder, "a.db"))
        start = time.perf_counter()
        replies = ask(llm, config, texts, Path(folder, "b.db"))
        print(time.perf_counter() - start)
    print(hashlib.sha256("\n".join(replies).encode()).hexdigest())


if __name__ == "__main__":
    main()
