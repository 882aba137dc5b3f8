"""Our side of train.py: train, then print what came of it."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from train_held_out import held_out_loss

from hybrid_ir.config import load_config
from training.cross_encoder import train
from training.settings import TrainConfig

folder, model, precision, seed = Path(sys.argv[1]), sys.argv[2], sys.argv[3], sys.argv[4]
output = folder / f"ours-{seed}"
config = load_config(
    TrainConfig,
    None,
    [
        f"data={folder / 'data'}",
        f"output={output}",
        f"model={model}",
        f"precision={precision}",
        f"seed={seed}",
        "max_length=256",
        "batch_size=32",
        "weight_decay=0",
        "stage1.learning_rate=5e-5",
        "stage1.warmup=0.1",
        "evaluate_every=100000",
        "log_every=1",
    ],
)
manifest = train(config)
assert manifest
facts = manifest.info["stages"]["stage1"]
seconds = facts["tokenizing_seconds"] + facts["pairs"] / facts["pairs_per_second"]
lines = [json.loads(line) for line in (output / "metrics.jsonl").read_text().splitlines()]
losses = [line["stage1/loss"] for line in lines]
print(
    json.dumps(
        held_out_loss(str(output), folder, losses) | {"pairs_per_second": facts["pairs"] / seconds}
    )
)
