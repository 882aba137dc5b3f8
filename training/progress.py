"""The line people watch while a model learns: step, loss, pairs/s, time left, development MAP."""

from __future__ import annotations

import logging
import math
import sys
import time
from shutil import get_terminal_size
from typing import Any

from tqdm import tqdm

log = logging.getLogger(__name__)


class ProgressLine:
    """A bar on stderr where that is a terminal, otherwise a line of the log now and then.

    Args:
        stage: Which stage of the training.
        steps: Of it, all together.
        done: Those that an earlier run has done.
        batch: Pairs of a step, on average.
        shown: Whether this process shows anything: one of several does.

    Attributes:
        map: The development batch's, as judged last.
    """

    def __init__(self, stage: str, steps: int, done: int, batch: float, shown: bool = True) -> None:
        self._stage = stage
        self._steps = steps
        self._batch = batch
        self._shown = shown
        self.map = math.nan
        self._spent, self._counted = 0.0, 0
        self._before = time.perf_counter()
        terminal = shown and sys.stderr.isatty()
        size = get_terminal_size((120, 24))  # of a terminal that says 0, too
        self._bar: tqdm[Any] = tqdm(
            total=steps,
            initial=done,
            desc=stage,
            unit=" steps",
            disable=not terminal,
            ncols=size.columns,
            nrows=size.lines,
        )

    def step(self) -> None:
        """Count a step."""
        now = time.perf_counter()
        self._spent += now - self._before
        self._before = now
        self._counted += 1
        self._bar.update()

    def pause(self) -> None:
        """Leave the time since the last step out: something else than training was done."""
        self._before = time.perf_counter()

    @property
    def pairs_per_second(self) -> float:
        """Of the steps counted so far."""
        return self._counted * self._batch / self._spent if self._spent else math.nan

    def show(self, step: int, loss: float) -> None:
        """Say how things stand."""
        rate = self.pairs_per_second
        parts = [f"loss {loss:.4f}", f"{rate:,.0f} pairs/s"]
        parts += [] if math.isnan(self.map) else [f"MAP@10 {self.map:.4f}"]
        if not self._bar.disable:
            self._bar.set_postfix_str(", ".join(parts))
        elif self._shown:
            left = duration((self._steps - step) * self._batch / rate if rate > 0 else math.nan)
            log.info("%s: step %d of %d, %s, %s left", self._stage, step, self._steps,
                     ", ".join(parts), left)  # fmt: skip

    def judged(self, step: int, value: float, best: bool) -> None:
        """Say what the development batch says."""
        self.map = value
        text = f"{self._stage}: step {step}: development MAP@10 {value:.4f}"
        text += ", the best so far" if best else ""
        if not self._bar.disable:
            self._bar.write(text, file=sys.stderr)
        elif self._shown:
            log.info("%s", text)

    def close(self) -> None:
        """End the bar."""
        self._bar.close()


def duration(seconds: float) -> str:
    """Say a time for people: "45 s", "3 min", "2 h 05 min"; "?" where it is unknown."""
    if math.isnan(seconds):
        return "?"
    minutes = round(seconds / 60)
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{minutes} min" if minutes < 60 else f"{minutes // 60} h {minutes % 60:02} min"
