"""sentence-transformers' CrossEncoderTrainer with our batches, losses and checkpoints."""

# ruff: noqa: ANN401, ARG002 (the library's interface)

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch
from datasets import Dataset
from safetensors.torch import load_model, save_model
from sentence_transformers import CrossEncoder
from sentence_transformers.base.evaluation import BaseEvaluator
from sentence_transformers.cross_encoder import (
    CrossEncoderTrainer,
    CrossEncoderTrainingArguments,
)
from torch import nn
from torch.utils.data import DataLoader
from transformers import PrinterCallback

from training import checkpoints
from training.development import Development, Score
from training.objective import Objective
from training.settings import StageConfig, TrainConfig
from training.watch import Watch, best_step

WEIGHTS = "model.safetensors"


def score_with(model: CrossEncoder, batch_size: int) -> Score:
    """Give the function that scores pairs with a model."""

    def score(pairs: Any) -> Any:
        return model.predict(
            pairs, batch_size=batch_size, show_progress_bar=False, activation_fn=nn.Identity()
        )

    return score


class DevelopmentEvaluator(BaseEvaluator):
    """Judges the model as the trainer asks for it."""

    def __init__(self, development: Development, batch_size: int) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self._development = development
        self._batch_size = batch_size

    def __call__(self, model: CrossEncoder, *_: Any, **__: Any) -> dict[str, float]:  # type: ignore[override]
        """Give ``map``, the MAP@10."""
        return {"map": self._development.judge(score_with(model, self._batch_size)).map}


class Trainer(CrossEncoderTrainer):
    """Takes batches as they are planned and writes checkpoints that are whole or not there."""

    def __init__(
        self,
        objective: Objective,
        arguments: CrossEncoderTrainingArguments,
        dataset: Dataset,
        batches: DataLoader[Any],
        evaluator: BaseEvaluator | None,
        watch: Watch,
        keep: int,
    ) -> None:
        self._batches = batches
        self._keep = keep
        self._objective = objective
        super().__init__(
            model=objective.model,
            args=arguments,
            train_dataset=dataset,
            loss=objective,
            evaluator=evaluator,
            callbacks=[watch],
        )
        self.remove_callback(PrinterCallback)

    def get_train_dataloader(self) -> DataLoader[Any]:
        """Give the planned batches; each process has its own part of them."""
        return self._batches

    def add_model_card_callback(self, default_args_dict: dict[str, Any]) -> None:
        """Leave the library's model card out: it shows texts of the data."""

    def _save(self, output_dir: str | None = None, state_dict: Any = None) -> None:
        """Write the weights, adapters included, as safetensors and nothing else."""
        folder = Path(output_dir or str(self.args.output_dir))
        folder.mkdir(parents=True, exist_ok=True)
        save_model(self.model, str(folder / WEIGHTS))

    def _load_from_checkpoint(self, checkpoint_path: str, model: Any = None) -> None:
        load_model(self.model, Path(checkpoint_path) / WEIGHTS)

    def _save_checkpoint(self, model: Any, trial: Any) -> None:
        """Write a checkpoint and, when every process has written its part, seal it."""
        folder = Path(str(self.args.output_dir))
        self._objective.refuse_nan(self.state.global_step, folder, parameters=True)
        checkpoint = checkpoints.place_of(folder, self.state.global_step)
        try:
            super()._save_checkpoint(model, trial)
            self.accelerator.wait_for_everyone()
            if self.is_world_process_zero():
                checkpoints.seal(checkpoint, best_step(self.state))
                checkpoints.keep_newest(folder, self._keep)
        except Exception as error:
            if said := checkpoints.not_written(error, checkpoint):
                raise said from error
            raise
        self.accelerator.wait_for_everyone()


def arguments_of(
    config: TrainConfig, stage: StageConfig, folder: Path, steps: int, turns: int, judge_first: bool
) -> CrossEncoderTrainingArguments:
    """Say to the library what it decides itself: optimizer, schedule, precision, when to save.

    Args:
        config: Of the training.
        stage: Of this stage.
        folder: Of its checkpoints.
        steps: Optimizer steps.
        turns: Of the model for each.
        judge_first: Whether what the stage begins with is judged.
    """
    judged = config.development.run is not None
    arguments = CrossEncoderTrainingArguments(
        output_dir=str(folder),
        max_steps=steps,
        num_train_epochs=1,
        gradient_accumulation_steps=turns,
        learning_rate=stage.learning_rate,
        warmup_steps=round(stage.warmup * steps),
        lr_scheduler_type="linear",
        weight_decay=config.weight_decay,
        max_grad_norm=config.max_grad_norm,
        bf16=config.precision == "bf16",
        fp16=config.precision == "fp16",
        seed=config.seed,
        logging_steps=config.log_every,
        logging_nan_inf_filter=False,
        eval_strategy="steps" if judged else "no",
        eval_steps=config.evaluate_every,
        eval_on_start=judged and judge_first,
        save_strategy="steps",
        save_steps=config.evaluate_every,
        use_cpu=config.device == "cpu" or not torch.cuda.is_available(),
        ddp_find_unused_parameters=False,
        disable_tqdm=True,
        report_to=[],
    )
    if arguments.n_gpu > 1:  # one process: several GPUs are used by as many processes
        arguments._n_gpu = 1
    return arguments
