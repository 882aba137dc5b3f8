"""How fast, and in how much memory, a model in this process writes pseudo-documents.

    python benchmarks/local_llm.py FOLDER                        # a folder or hub name, in 4-bit
    python benchmarks/local_llm.py FOLDER --full --batch-size 1  # as its weights are
    python benchmarks/local_llm.py FOLDER --gguf NAME.gguf       # a file in FOLDER, unpacked first

Answers questions of batch 12B1 with one sampled passage each. ``tokens_per_second`` are tokens of
the replies, the prompts' reading included; ``weights_mb`` is the model's memory, ``peak_mb`` that
of the whole process, libraries included (on a GPU also ``gpu_peak_mb``). The last line is JSON.
"""

from __future__ import annotations

import argparse
import json
import resource
import sys
import tempfile
import time
from pathlib import Path

import torch

from generation.clients.transformers import open_transformers
from generation.clients.transformers_loading import unpack_gguf
from generation.llm import Message, ModelConfig, Reply, Request, Sampling
from hybrid_ir.bioasq.questions import read_questions

QUESTIONS = Path(__file__).resolve().parents[1] / "examples/bioasq-mini/test/12B1.questions.json"
ASK = "Write a passage of a scientific abstract that answers this question:"


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("model", help="a folder or a hub name")
    parser.add_argument("--gguf", default="", help="a GGUF file in the folder")
    parser.add_argument("--full", action="store_true", help="not in 4-bit")
    parser.add_argument("--questions", type=int, default=5)
    parser.add_argument("--max-tokens", type=int, default=100)
    parser.add_argument("--batch-size", type=int, default=5)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="hybrid-ir-llm-") as folder:
        if args.gguf:
            unpack_gguf(Path(args.model), args.gguf, Path(folder) / "model")
        model = str(Path(folder) / "model") if args.gguf else args.model
        config = ModelConfig(
            "local", "transformers", model, four_bit=not args.full, batch_size=args.batch_size
        )
        measure(config, args.questions, args.max_tokens)


def measure(config: ModelConfig, questions: int, max_tokens: int) -> None:
    """Load, answer, and print what it took."""
    start = time.perf_counter()
    llm = open_transformers(config)
    model = llm.loaded.model
    loading = time.perf_counter() - start
    sampling = Sampling(max_tokens=max_tokens, temperature=0.7, top_p=0.95, seed=1)
    requests = [
        Request(question.id, (Message("user", f"{ASK}\n{question.body}"),), sampling)
        for question in read_questions(QUESTIONS)[:questions]
    ]
    start = time.perf_counter()
    answers = llm.complete(requests)
    seconds = time.perf_counter() - start
    replies = [answer for answer in answers if isinstance(answer, Reply)]
    for reply in replies:
        print(f"- {' '.join(reply.text.split())}")
    unit = 1 if sys.platform == "darwin" else 1024  # bytes a unit of ru_maxrss
    figures = {
        "four_bit": config.four_bit,
        "batch_size": config.batch_size,
        "device": str(model.device),
        "replies": len(replies),
        "tokens": (tokens := sum(reply.usage.completion for reply in replies)),
        "tokens_per_second": round(tokens / seconds, 2),
        "loading_seconds": round(loading, 2),
        "weights_mb": round(model.get_memory_footprint() / 2**20, 1),
        "peak_mb": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 2**20),
    }
    if torch.cuda.is_available():
        figures["gpu_peak_mb"] = round(torch.cuda.max_memory_allocated() / 2**20)
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
