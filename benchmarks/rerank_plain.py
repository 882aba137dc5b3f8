"""The other side of rerank.py: sentence-transformers' predict, with its best batch size or none."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any

import torch
from sentence_transformers import CrossEncoder

folder, precision, way = Path(sys.argv[1]), sys.argv[2], sys.argv[3]
rows = json.loads((folder / "pairs.json").read_text())
pairs = [(body, text) for body, texts in rows for text in texts]
best = way == "best"
model = CrossEncoder(
    str(folder / "model"),
    device="cpu",
    max_length=256 if best else None,
    model_kwargs={"dtype": torch.bfloat16 if precision == "bf16" else torch.float32},
)
settings: dict[str, Any] = {"show_progress_bar": False}
if best:
    settings["activation_fn"] = torch.nn.Identity()


def seconds_of(some: list[tuple[str, str]], **more: int) -> float:
    """Give how long the scoring of some pairs takes."""
    started = time.perf_counter()
    model.predict(some, **settings, **more)
    return time.perf_counter() - started


sample = pairs[:: max(1, len(pairs) // 100)]
model.predict(sample[:16], **settings)
size = 32
if best:
    size = min((4, 8, 16, 32, 64), key=lambda one: seconds_of(sample, batch_size=one))
started = time.perf_counter()
scores = model.predict(pairs, batch_size=size, **settings)
seconds = time.perf_counter() - started
print(
    json.dumps(
        {
            "pairs_per_second": len(pairs) / seconds,
            "batch_size": size,
            "scores": scores.tolist(),
        }
    )
)
