"""The loss as the trainer calls it: the model on one turn's pairs, then what they are to teach."""

# ruff: noqa: ARG002 (the library's interface)

from __future__ import annotations

from pathlib import Path

from accelerate.utils import gather_object
from sentence_transformers import CrossEncoder
from torch import Tensor, nn

from hybrid_ir.errors import InputError
from training import checkpoints
from training.length_batches import lists_of
from training.losses import loss_of
from training.settings import Loss


class Objective(nn.Module):
    """The model and its loss, and whether the loss has been a number all along."""

    def __init__(self, model: CrossEncoder, loss: Loss) -> None:
        super().__init__()
        self.model = model
        self.loss = loss
        self._finite: Tensor | None = None

    def forward(
        self,
        inputs: list[dict[str, Tensor]],
        labels: None = None,
        prompt: None = None,
        task: None = None,
    ) -> Tensor:
        """Give the loss of what the collator made of one turn."""
        batch, known = inputs
        lists = lists_of(known)
        logits = self.model(batch)["scores"].view(-1).float()
        table = logits.new_zeros(lists.mask.shape).masked_scatter(lists.mask, logits)
        loss = loss_of(self.loss, table, lists)
        finite = loss.detach().isfinite()
        self._finite = finite if self._finite is None else self._finite & finite
        return loss

    def refuse_nan(self, step: int, folder: Path, parameters: bool = False) -> None:
        """Raise an InputError where the loss is no number any more; asked now and then only.

        Every process calls this. Asking makes a GPU wait for what it has not finished.

        Args:
            step: The last one.
            folder: Of the checkpoints.
            parameters: Look at these, too: the last step may have spoilt them, and no loss says so.
        """
        finite = self._finite is None or bool(self._finite)
        if parameters:
            finite &= all(bool(one.isfinite().all()) for one in self.model.parameters())
        if not all(gather_object([finite])):  # in any process: all of them stop
            good = checkpoints.newest(folder)
            kept = f"{good} is the last good state" if good else "no checkpoint was written before"
            raise InputError(
                f"the loss is no finite number any more, at step {step} or a few before; {kept}."
                " Take a smaller learning_rate, a longer warmup, a smaller max_grad_norm, or bf16"
                " instead of fp16 (with other settings the training begins anew)"
            )
