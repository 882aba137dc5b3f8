"""Where the metrics of a long computation go: a file of JSON lines, or W&B beside it.

Only numbers are written, and the settings they belong to: no key of a server, and no question or
passage unless it is asked for. What was logged is on disk before the next step begins.
"""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Protocol

from hybrid_ir.errors import InputError, refuse
from hybrid_ir.files import writing

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class TrackingConfig:
    """Where metrics go.

    Attributes:
        wandb: Send metrics and settings to Weights & Biases, too. WANDB_MODE=offline keeps them in
            a folder, to be sent with ``wandb sync``.
        project: W&B's project.
        entity: W&B's user or team, empty for that of the login.
        name: The run's name, empty for one that W&B makes up.
        texts: Send texts to W&B, too: the questions of the development batch, with what each of
            them scored. Without it nothing but numbers and settings leaves this machine.
    """

    wandb: bool = False
    project: str = "hybrid-ir"
    entity: str = ""
    name: str = ""
    texts: bool = False

    def __post_init__(self) -> None:
        refuse(
            "the tracking",
            ("project", "a name", self.project, bool(self.project)),
            ("texts", "false without wandb", self.texts, self.wandb or not self.texts),
        )


class Tracker(Protocol):
    """Takes metrics, and texts where they are asked for."""

    @property
    def texts(self) -> bool:
        """Whether :meth:`table` keeps anything."""

    def log(self, metrics: Mapping[str, float], step: int) -> None:
        """Keep the metrics of one step; steps do not fall."""

    def table(
        self, name: str, columns: Sequence[str], rows: Sequence[Sequence[str | float]], step: int
    ) -> None:
        """Keep a table with texts in it, only where texts were asked for."""

    def close(self) -> None:
        """Finish."""


def open_tracker(
    config: TrackingConfig,
    path: Path,
    folder: Path,
    settings: Mapping[str, Any],
    run_id: str,
    step: int = 0,
) -> Tracker:
    """Open where metrics go.

    Args:
        config: Where.
        path: The file of JSON lines: ``{"step": 10, "loss": 0.5}``.
        folder: Where W&B keeps files of its own, unless WANDB_DIR says so.
        settings: What is computed, for W&B's table of runs.
        run_id: The same for a run that is resumed.
        step: The one the computation goes on from: what the file holds of later ones is cut off,
            they will come again.

    Raises:
        InputError: W&B is asked for and not installed, or cannot be reached.
    """
    lines = _Lines(path, step)
    if not config.wandb:
        return lines
    return _Both(lines, _wandb_run(config, folder, settings, run_id), config.texts)


class _Lines:
    """A file of JSON lines."""

    texts = False

    def __init__(self, path: Path, step: int) -> None:
        kept = [line for line in _whole_lines(path) if json.loads(line)["step"] <= step]
        with writing(path) as file:
            file.writelines(line + "\n" for line in kept)
        self._file = path.open("a", encoding="utf-8")

    def log(self, metrics: Mapping[str, float], step: int) -> None:
        self._file.write(json.dumps({"step": step, **metrics}) + "\n")
        self._file.flush()

    def table(
        self, name: str, columns: Sequence[str], rows: Sequence[Sequence[str | float]], step: int
    ) -> None:
        """The file is of numbers."""

    def close(self) -> None:
        self._file.close()


class _Both:
    """The file, and W&B."""

    def __init__(
        self,
        lines: _Lines,
        run: Any,  # noqa: ANN401 (wandb's own type)
        texts: bool,
    ) -> None:
        self._lines = lines
        self._run = run
        self.texts = texts

    def log(self, metrics: Mapping[str, float], step: int) -> None:
        self._lines.log(metrics, step)
        self._run.log(dict(metrics), step=step)

    def table(
        self, name: str, columns: Sequence[str], rows: Sequence[Sequence[str | float]], step: int
    ) -> None:
        if self.texts:
            import wandb

            content = [list(row) for row in rows]
            self._run.log({name: wandb.Table(columns=list(columns), data=content)}, step=step)

    def close(self) -> None:
        import wandb

        self._lines.close()
        self._run.finish()
        wandb.teardown()  # offline, the last lines are still on their way to the disk until here


def _whole_lines(path: Path) -> list[str]:
    """Give the lines of a file that a kill may have cut off."""
    if not path.exists():
        return []
    text = path.read_text(encoding="utf-8")
    return text[: text.rfind("\n") + 1].splitlines()


def _wandb_run(
    config: TrackingConfig, folder: Path, settings: Mapping[str, Any], run_id: str
) -> Any:  # noqa: ANN401
    """Start a run of W&B that sends what is logged and how busy the machine is, nothing else."""
    if find_spec("wandb") is None:
        raise InputError(
            "tracking.wandb=true needs the extra [wandb], not installed: pip install 'wandb>=0.19'"
        )
    import wandb

    quiet = wandb.Settings(
        console="off",
        save_code=False,
        disable_git=True,
        silent=True,
        x_disable_meta=True,
        x_save_requirements=False,
        host="hidden",  # W&B would take the machine's name
    )
    try:
        return wandb.init(
            project=config.project,
            entity=config.entity or None,
            name=config.name or None,
            dir=os.environ.get("WANDB_DIR") or str(folder),
            config=dict(settings),
            id=run_id,
            resume="allow" if os.environ.get("WANDB_MODE") != "offline" else None,
            settings=quiet,
        )
    except wandb.Error as error:
        raise InputError(
            f"W&B cannot be used: {str(error).splitlines()[0]}; log in (wandb login), set"
            " WANDB_MODE=offline, or leave tracking.wandb out"
        ) from error
