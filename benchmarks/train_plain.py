"""The other side of train.py: the example of sentence-transformers' documentation, timed."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

from datasets import load_from_disk
from sentence_transformers.cross_encoder import (
    CrossEncoder,
    CrossEncoderTrainer,
    CrossEncoderTrainingArguments,
)
from sentence_transformers.cross_encoder.losses import BinaryCrossEntropyLoss
from train_held_out import held_out_loss

folder, name, precision, seed = Path(sys.argv[1]), sys.argv[2], sys.argv[3], int(sys.argv[4])
output = folder / f"plain-{precision}-{seed}"
pairs = load_from_disk(str(folder / "data" / "stage1"))
model = CrossEncoder(name, num_labels=1, max_length=256, device="cpu")
arguments = CrossEncoderTrainingArguments(
    output_dir=str(output),
    num_train_epochs=1,
    per_device_train_batch_size=32,
    learning_rate=5e-5,
    warmup_steps=0.1,
    bf16=precision == "bf16",
    seed=seed,
    use_cpu=True,
    save_strategy="no",
    logging_steps=1,
    report_to=[],
    disable_tqdm=True,
)
trainer = CrossEncoderTrainer(
    model=model,
    args=arguments,
    train_dataset=pairs.select_columns(["question", "text", "label"]),
    loss=BinaryCrossEntropyLoss(model),
)
started = time.perf_counter()
trainer.train()
seconds = time.perf_counter() - started
losses = [entry["loss"] for entry in trainer.state.log_history if "loss" in entry]
model.save_pretrained(str(output), create_model_card=False)
print(
    json.dumps(
        held_out_loss(str(output), folder, losses) | {"pairs_per_second": len(pairs) / seconds}
    )
)
