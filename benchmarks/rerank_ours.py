"""Our side of rerank.py: score the pairs, then print how long it took and the scores."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

from hybrid_ir.rerank.candidates import Candidates
from hybrid_ir.rerank.cross_encoder import open_cross_encoder
from hybrid_ir.rerank.settings import ScorerConfig

folder, precision = Path(sys.argv[1]), sys.argv[2]
rows = json.loads((folder / "pairs.json").read_text())
questions = [
    Candidates(str(number), body, tuple(map(str, range(len(texts)))), tuple(texts))
    for number, (body, texts) in enumerate(rows)
]
config = ScorerConfig(
    model=str(folder / "model"),
    max_length=256,
    precision="bf16" if precision == "bf16" else "float32",
    device="cpu",
)
scorer = open_cross_encoder(config)
list(scorer(questions[:1]))
started = time.perf_counter()
scores = [score for of_question in scorer(questions) for score in of_question.tolist()]
seconds = time.perf_counter() - started
print(json.dumps({"pairs_per_second": len(scores) / seconds, "scores": scores}))
