"""What both sides of train.py are judged by after the training."""

from __future__ import annotations

import json
from pathlib import Path

import torch
from sentence_transformers import CrossEncoder
from torch import nn


def held_out_loss(model: str, folder: Path, losses: list[float]) -> dict[str, float]:
    """Give the mean cross-entropy on the pairs held out, and the ends of the loss curve."""
    rows = json.loads((folder / "held_out.json").read_text())
    scorer = CrossEncoder(model, max_length=256, device="cpu")
    logits = scorer.predict(
        [(row["question"], row["text"]) for row in rows],
        activation_fn=nn.Identity(),
        convert_to_tensor=True,
        show_progress_bar=False,
    )
    labels = torch.tensor([row["label"] for row in rows])
    fifth = max(1, len(losses) // 5)
    return {
        "held_out_loss": nn.functional.binary_cross_entropy_with_logits(logits, labels).item(),
        "loss_first": sum(losses[:fifth]) / fifth,
        "loss_last": sum(losses[-fifth:]) / fifth,
    }
