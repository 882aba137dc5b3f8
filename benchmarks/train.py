"""How fast a cross-encoder learns: this project against sentence-transformers' own example.

    python benchmarks/train.py            # three rounds, a quarter of an hour on two cores
    python benchmarks/train.py --quick    # few pairs, one round: does it run?
    python benchmarks/train.py --precision float32    # where the CPU has no bfloat16 of its own

Both train MiniLM (22 million parameters) for one epoch on the same pairs: questions of BioASQ's
batches 6B1 to 9B5 with gold documents and snippets, and as many random documents. Batch size (32),
learning rate, warm-up, optimizer and the longest input (256 tokens) are the same, dropout is the
model's. ``plain`` is the example of sentence-transformers' documentation (train_plain.py), ``ours``
is ``training.cross_encoder``. Both compute in bfloat16 (``throughput_vs_bf16``), and plain once
more in its default, float32 (``throughput_vs_default``, for information). With ``--precision
float32`` both compute in float32 and nothing else is run (``throughput_vs_float32``): a CPU without
bfloat16 of its own takes tens of times as long for it.

Pairs a second are counted over all that happens between the loaded model and the last step,
tokenizing included; loading, checkpoints and evaluation are not in it. Every side runs in a process
of its own, the sides by turns; medians. Whether both learn the same is judged by the loss on pairs
that neither has seen, after the training, in float32: ``loss_difference`` is ours minus plain's at
the same precision, the mean over the rounds, and ``loss_noise`` the standard deviation of plain's
over the rounds, each with a seed of its own. ``loss_first`` and ``loss_last`` are the means of the
training loss in the first and the last fifth of the steps. The last line printed is JSON.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import tempfile
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from processes import median, run, spread
from small_model import minilm

from hybrid_ir.bioasq.gold import gold_of
from hybrid_ir.bioasq.questions import questions_of
from hybrid_ir.bioasq.raw import read_raw
from hybrid_ir.files import read_jsonl
from hybrid_ir.records import Document

MINI = Path(__file__).resolve().parents[1] / "examples" / "bioasq-mini"
HELD_OUT = 256
PROGRAMS = {"ours": "train_ours.py", "plain": "train_plain.py", "default": "train_plain.py"}


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="fewer pairs, one round")
    parser.add_argument("--pairs", type=int, help="pairs to train on (default 1,600)")
    parser.add_argument("--rounds", type=int, help="repetitions, the sides by turns (default 3)")
    parser.add_argument("--precision", choices=("bf16", "float32"), default="bf16")
    parser.add_argument("--model", type=Path, help="a folder (default: the installed MiniLM)")
    args = parser.parse_args()
    defaults = (160, 1) if args.quick else (1600, 3)
    given = (args.pairs, args.rounds)
    pairs, rounds = (one or other for one, other in zip(given, defaults, strict=True))
    model = args.model or minilm()
    sides = {"ours": args.precision, "plain": args.precision}
    sides |= {"default": "float32"} if args.precision == "bf16" else {}
    results: dict[str, list[dict[str, Any]]] = {side: [] for side in sides}
    with tempfile.TemporaryDirectory(prefix="hybrid-ir-train-") as folder:
        prepare(Path(folder), pairs)
        for seed in range(rounds):
            for side, precision in sides.items():
                finished = run(PROGRAMS[side], folder, model, precision, seed)
                result = json.loads(finished.lines[-1])
                results[side].append(result | {"peak_mb": finished.peak_mb})
    print(f"{pairs:,} pairs, {model.parent.name}, batches of 32, at most 256 tokens")
    report(results, args.precision)


def prepare(folder: Path, count: int) -> None:
    """Write the pairs to train on and those held out, of other questions."""
    from datasets import Dataset

    rows = list(islice(_pairs(random.Random(0)), count + HELD_OUT))
    Dataset.from_list(rows[:count]).save_to_disk(str(folder / "data" / "stage1"))
    (folder / "held_out.json").write_text(json.dumps(rows[count:]))


def _pairs(chance: random.Random) -> Iterator[dict[str, Any]]:
    documents = {one.id: one for one in read_jsonl(MINI / "documents.jsonl.gz", Document)}
    ids = list(documents)
    for path in sorted((MINI / "train").glob("[6-9]B*.golden.json.gz")):
        raw = read_raw(path)
        bodies = {question.id: question.body for question in questions_of(raw, path)}
        for gold in gold_of(raw, "enriched", path):
            there = [documents[name].text for name in gold.documents if name in documents]
            snippets = [(text, "snippet") for text in {snippet.text for snippet in gold.snippets}]
            positives = sorted([(text, "gold") for text in there] + snippets)
            negatives = [(documents[name].text, "random") for name in chance.choices(ids, k=3)]
            chosen = chance.sample(positives, min(3, len(positives))) + negatives
            for number, (text, source) in enumerate(chosen):
                yield {
                    "question_id": gold.question_id,
                    "question": bodies[gold.question_id],
                    "document_id": str(number),
                    "text": text,
                    "label": float(source != "random"),
                    "weight": 1.0,
                    "source": source,
                    "teacher": None,
                }


def report(results: dict[str, list[dict[str, Any]]], precision: str) -> None:
    """Print speeds and losses, for people and as JSON."""
    figures: dict[str, float] = {}
    for side, rounds in results.items():
        for name in ("pairs_per_second", "held_out_loss", "loss_first", "loss_last", "peak_mb"):
            values = [one[name] for one in rounds]
            print(f"{name + '_' + side:34} {spread(values)}")
            figures[f"{name}_{side}"] = median(values)
    speed = {side: figures[f"pairs_per_second_{side}"] for side in results}
    ours, plain = ([one["held_out_loss"] for one in results[side]] for side in ("ours", "plain"))
    names = {"plain": f"throughput_vs_{precision}", "default": "throughput_vs_default"}
    ratios = {
        **{names[side]: median([speed["ours"] / speed[side]]) for side in list(results)[1:]},
        "loss_difference": median([statistics.mean(ours) - statistics.mean(plain)]),
        "loss_noise": median([statistics.stdev(plain) if len(plain) > 1 else 0.0]),
    }
    for name, value in ratios.items():
        print(f"{name:34} {value}")
    print(json.dumps(ratios | figures))


if __name__ == "__main__":
    main()
