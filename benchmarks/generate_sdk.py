"""The other side of generate.py: OpenAI's SDK as its documentation says, in a thread pool."""

from __future__ import annotations

import hashlib
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import openai


def ask(client: openai.OpenAI, prompts: list[str], pool: ThreadPoolExecutor) -> list[str]:
    """Give the replies' texts."""

    def one(prompt: str) -> str:
        completion = client.chat.completions.create(
            model="m",
            messages=[{"role": "user", "content": prompt}],
            max_tokens=256,
            temperature=0.7,
            seed=1,
        )
        return completion.choices[0].message.content or ""

    return list(pool.map(one, prompts))


def main() -> None:
    """Print the seconds and a digest of the replies."""
    url, prompts, concurrency = sys.argv[1], Path(sys.argv[2]), int(sys.argv[3])
    client = openai.OpenAI(api_key="no-key", base_url=url)
    texts = prompts.read_text(encoding="utf-8").splitlines()
    with ThreadPoolExecutor(concurrency) as pool:
        ask(client, [f"warm up {text}" for text in texts[:concurrency]], pool)
        start = time.perf_counter()
        replies = ask(client, texts, pool)
        print(time.perf_counter() - start)
    print(hashlib.sha256("\n".join(replies).encode()).hexdigest())


if __name__ == "__main__":
    main()
