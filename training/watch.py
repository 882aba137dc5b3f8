"""What is done beside the steps: reports, early stopping, judging and saving the last state."""

# ruff: noqa: ANN401, ARG002 (the library's interface)

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from transformers import TrainerCallback, TrainerControl, TrainerState
from transformers.trainer import TRAINER_STATE_NAME

from hybrid_ir.tracking import Tracker
from training.objective import Objective
from training.progress import ProgressLine
from training.settings import TrainConfig

MAP = "eval_map"
LOGGED = ("loss", "grad_norm", "learning_rate")


@dataclass(frozen=True, slots=True)
class Reports:
    """Where a stage reports.

    Attributes:
        line: For people.
        tracker: For programs; None in all processes but the first.
        prefix: Of the metrics' names.
        offset: Added to a stage's steps.
    """

    line: ProgressLine
    tracker: Tracker | None
    prefix: str
    offset: int

    def track(self, metrics: dict[str, float], step: int) -> None:
        """Keep metrics."""
        if self.tracker:
            named = {f"{self.prefix}/{name}": value for name, value in metrics.items()}
            self.tracker.log(named, self.offset + step)


class Watch(TrainerCallback):
    """Reports, stops early, and has the last step judged and saved, too."""

    def __init__(
        self, objective: Objective, reports: Reports, config: TrainConfig, folder: Path
    ) -> None:
        self._objective = objective
        self._reports = reports
        self._config = config
        self._folder = folder

    def on_train_begin(
        self, args: Any, state: TrainerState, control: TrainerControl, **_: Any
    ) -> None:
        """Show the MAP that an earlier run has found last."""
        if values := judgements(state):
            self._reports.line.map = values[max(values)]

    def on_step_end(
        self,
        args: Any,
        state: TrainerState,
        control: TrainerControl,
        **_: Any,
    ) -> None:
        """Count the step."""
        self._reports.line.step()
        if state.global_step % self._config.evaluate_every == 0:
            control.should_log = True  # the mean since the last log is in no checkpoint
        if state.global_step == state.max_steps:
            control.should_log = control.should_save = True
            control.should_evaluate = self._config.development.run is not None

    def on_log(
        self,
        args: Any,
        state: TrainerState,
        control: TrainerControl,
        logs: Any = None,
        **_: Any,
    ) -> None:
        """Report the loss."""
        if not logs or "loss" not in logs:
            return
        self._objective.refuse_nan(state.global_step, self._folder)
        line = self._reports.line
        line.show(state.global_step, logs["loss"])
        metrics = {name: logs[name] for name in LOGGED if name in logs}
        speed = {"pairs_per_second": line.pairs_per_second}
        self._reports.track(metrics | speed, state.global_step)

    def on_evaluate(
        self,
        args: Any,
        state: TrainerState,
        control: TrainerControl,
        metrics: Any = None,
        **_: Any,
    ) -> None:
        """Report the MAP, and stop where it has not grown for long."""
        best = best_step(state) == state.global_step
        self._reports.line.judged(state.global_step, metrics[MAP], best)
        self._reports.track({"development_map": metrics[MAP]}, state.global_step)
        if _has_stalled(state, self._config.patience):
            control.should_training_stop = True
            control.should_save = True
        self._reports.line.pause()

    def on_save(self, args: Any, state: TrainerState, control: TrainerControl, **_: Any) -> None:
        """Leave the time that saving takes out of the speed."""
        self._reports.line.pause()


def judgements(state: TrainerState) -> dict[int, float]:
    """Give the MAP of every step that was judged; step 0 is what the stage began with."""
    return {int(entry["step"]): entry[MAP] for entry in state.log_history if MAP in entry}


def best_step(state: TrainerState) -> int | None:
    """Give the first step with the highest MAP; None where no step was judged yet."""
    values = {step: value for step, value in judgements(state).items() if step}
    return max(values, key=lambda step: (values[step], -step)) if values else None


def state_of(checkpoint: Path) -> TrainerState:
    """Read what the trainer knew when it wrote a checkpoint."""
    state: TrainerState = TrainerState.load_from_json(str(checkpoint / TRAINER_STATE_NAME))
    return state


def is_over(state: TrainerState, patience: int) -> bool:
    """Whether a stage has come to its end: by its steps, or because the MAP has stalled."""
    return state.global_step >= state.max_steps or _has_stalled(state, patience)


def _has_stalled(state: TrainerState, patience: int) -> bool:
    best = best_step(state)
    if not patience or best is None:
        return False
    return sum(step > best for step in judgements(state)) >= patience
