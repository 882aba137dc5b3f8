"""How fast a cross-encoder scores: this project against CrossEncoder.predict.

    python benchmarks/rerank.py            # three rounds, half an hour on two cores
    python benchmarks/rerank.py --quick    # few pairs, one round: does it run?
    python benchmarks/rerank.py --precision float32    # where the CPU has no bfloat16 of its own

Both score the same 2,000 pairs with MiniLM (22 million parameters) and a head of chance: 40
questions of BioASQ's batch 10B1, 50 real documents each, at most 256 tokens. ``ours`` is
``hybrid_ir.rerank.cross_encoder`` with its defaults; ``predict`` is sentence-transformers' at equal
precision, all pairs in one call, with the batch size of 4, 8, 16, 32 and 64 that was the fastest on
100 of the pairs in that process (``throughput_vs_bf16``, or ``throughput_vs_float32``); ``default``
is ``predict`` as it comes: 32 pairs a batch, float32, 512 tokens (``throughput_vs_default``, for
information: with more tokens a pair it does more).

Pairs a second are counted over all that happens between a question's text and its score,
tokenizing included; loading and a warm-up are not in it. Every side runs in a process of its own,
the sides by turns; medians. ``kendall_tau`` is the mean over the questions of tau-b between the
orders of ours and of ``predict`` in float32 at 256 tokens. Peak memory is that of the whole
process, imports included. The last line printed is JSON.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import tempfile
from pathlib import Path
from typing import Any

from processes import median, run, spread
from scipy.stats import kendalltau
from small_model import minilm

from hybrid_ir.bioasq.questions import questions_of
from hybrid_ir.bioasq.raw import read_raw
from hybrid_ir.files import read_jsonl
from hybrid_ir.records import Document

MINI = Path(__file__).resolve().parents[1] / "examples" / "bioasq-mini"
QUESTIONS = MINI / "dev" / "10B1.questions.json"
DOCUMENTS = 50
"""Of each question."""


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="200 pairs, one round")
    parser.add_argument("--rounds", type=int, help="repetitions, the sides by turns (default 3)")
    parser.add_argument("--precision", choices=("bf16", "float32"), default="bf16")
    parser.add_argument("--model", type=Path, help="a folder (default: the installed MiniLM)")
    args = parser.parse_args()
    rounds = args.rounds or (1 if args.quick else 3)
    sides = {
        "ours": ("rerank_ours.py", args.precision),
        "predict": ("rerank_plain.py", args.precision, "best"),
        "default": ("rerank_plain.py", "float32", "default"),
    }
    results: dict[str, list[dict[str, Any]]] = {side: [] for side in sides}
    with tempfile.TemporaryDirectory(prefix="hybrid-ir-rerank-") as folder:
        prepare(Path(folder), 4 if args.quick else 40, args.model or minilm())
        for _ in range(rounds):
            for side, (program, *arguments) in sides.items():
                finished = run(program, folder, *arguments)
                results[side].append(json.loads(finished.lines[-1]) | {"peak_mb": finished.peak_mb})
        exact = results["predict"][0]
        if args.precision != "float32":
            exact = json.loads(run("rerank_plain.py", folder, "float32", "best").lines[-1])
    report(results, exact["scores"], args.precision)


def prepare(folder: Path, questions: int, model: Path) -> None:
    """Write the pairs, and the model with a head of chance."""
    import torch
    from sentence_transformers import CrossEncoder

    chance = random.Random(0)
    texts = [document.text for document in read_jsonl(MINI / "documents.jsonl.gz", Document)]
    asked = questions_of(read_raw(QUESTIONS), QUESTIONS)[:questions]
    rows = [(question.body, chance.sample(texts, DOCUMENTS)) for question in asked]
    (folder / "pairs.json").write_text(json.dumps(rows))
    torch.manual_seed(0)
    CrossEncoder(str(model), num_labels=1, device="cpu").save_pretrained(
        str(folder / "model"), create_model_card=False
    )


def report(results: dict[str, list[dict[str, Any]]], exact: list[float], precision: str) -> None:
    """Print speeds, agreement and memory, for people and as JSON."""
    figures: dict[str, float] = {}
    for side, rounds in results.items():
        for name in ("pairs_per_second", "peak_mb"):
            values = [one[name] for one in rounds]
            print(f"{name + '_' + side:34} {spread(values)}")
            figures[f"{name}_{side}"] = median(values)
    print(f"{'batch sizes of predict':34} {[one['batch_size'] for one in results['predict']]}")
    speed = {side: figures[f"pairs_per_second_{side}"] for side in results}
    ratios = {
        f"throughput_vs_{precision}": median([speed["ours"] / speed["predict"]]),
        "throughput_vs_default": median([speed["ours"] / speed["default"]]),
        "kendall_tau": agreement(results["ours"][0]["scores"], exact),
    }
    for name, value in ratios.items():
        print(f"{name:34} {value}")
    print(json.dumps(ratios | figures))


def agreement(ours: list[float], theirs: list[float]) -> float:
    """Give the mean over the questions of Kendall's tau between two orders."""
    starts = range(0, len(ours), DOCUMENTS)
    ends = [slice(start, start + DOCUMENTS) for start in starts]
    return float(statistics.mean(kendalltau(ours[one], theirs[one]).statistic for one in ends))


if __name__ == "__main__":
    main()
