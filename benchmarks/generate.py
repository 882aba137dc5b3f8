"""How fast a hosted model is asked: this project against OpenAI's SDK in a thread pool.

    python benchmarks/generate.py            # five rounds
    python benchmarks/generate.py --quick    # fewer requests, one round

Both ask the same local server the same questions, 32 at a time: once it answers at once, once
after 500 ms. Ours is the whole path (reply cache on disk, account, limits, budget); the SDK keeps
nothing. The replies must be the same. The last line printed is JSON; README.md says what is timed
and what its keys mean.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from documents import make_queries, read_sentences
from processes import Finished, median, run, spread

CONCURRENCY = 32
SERVER = Path(__file__).parents[1] / "tests" / "provider_server.py"
PROGRAMS = {"ours": "generate_ours.py", "sdk": "generate_sdk.py"}
LATENCIES = {"no_latency": 0.0, "500_ms": 0.5}


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="fewer requests, one round")
    parser.add_argument("--rounds", type=int, help="repetitions, the sides by turns (default 5)")
    args = parser.parse_args()
    rounds = args.rounds or (1 if args.quick else 5)
    counts = (
        {"no_latency": 500, "500_ms": 128} if args.quick else {"no_latency": 2_000, "500_ms": 640}
    )
    figures: dict[str, float] = {}
    for name, latency in LATENCIES.items():
        with serving(latency) as url, tempfile.TemporaryDirectory() as folder:
            prompts = write_prompts(Path(folder, "prompts.txt"), counts[name])
            finished = [by_turns(url, prompts, number) for number in range(rounds)]
        figures |= report(name, counts[name], finished)
    worst = min(figures[f"throughput_vs_sdk_{name}"] for name in LATENCIES)
    print(json.dumps({"throughput_vs_sdk": worst} | figures))


@contextlib.contextmanager
def serving(latency: float) -> Iterator[str]:
    """Run the server in a process of its own and give its address."""
    command = [sys.executable, str(SERVER), "--latency", str(latency)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        try:
            yield f"{process.stdout.readline().strip()}/v1"
        finally:
            process.terminate()


def write_prompts(path: Path, count: int) -> Path:
    """Write prompts of 60 words, one a line."""
    made = make_queries(read_sentences(), count, 60, seed=1)
    path.write_text("".join(f"{one.id} {one.body}\n" for one in made), encoding="utf-8")
    return path


def by_turns(url: str, prompts: Path, number: int) -> dict[str, Finished]:
    """Run both sides once, each in its own process; who begins alternates."""
    order = sorted(PROGRAMS, reverse=bool(number % 2))
    finished = {side: run(PROGRAMS[side], url, prompts, CONCURRENCY) for side in order}
    digests = {one.lines[1] for one in finished.values()}
    if len(digests) != 1:
        raise RuntimeError("the two sides' replies differ")
    return finished


def report(name: str, requests: int, finished: list[dict[str, Finished]]) -> dict[str, float]:
    """Print and give the speeds at one latency."""
    speeds = {side: [requests / float(one[side].lines[0]) for one in finished] for side in PROGRAMS}
    figures = {}
    for side, values in speeds.items():
        print(f"{f'requests per second, {name}, {side}':45} {spread(values)}")
        figures[f"requests_per_second_{name}_{side}"] = median(values)
        figures[f"peak_mb_{name}_{side}"] = median([one[side].peak_mb for one in finished])
    ratios = [ours / sdk for ours, sdk in zip(speeds["ours"], speeds["sdk"], strict=True)]
    figures[f"throughput_vs_sdk_{name}"] = median(ratios)
    return figures


if __name__ == "__main__":
    main()
