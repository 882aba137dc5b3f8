"""Running one side of a benchmark in a process of its own, and what that process took."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Finished:
    """A process that ended well.

    Attributes:
        lines: What it printed, without line ends.
        first_line: Seconds from its start to its first line.
        seconds: Seconds from its start to its end.
        peak_mb: Its largest resident memory, in MB of 2**20 bytes.
    """

    lines: list[str]
    first_line: float
    seconds: float
    peak_mb: float


def run(program: str, *arguments: object) -> Finished:
    """Run a program of this folder with this Python.

    Raises:
        RuntimeError: it failed; with what it wrote to stderr.
    """
    command = [sys.executable, str(Path(__file__).with_name(program)), *map(str, arguments)]
    with tempfile.TemporaryFile("w+") as errors:
        start = time.perf_counter()
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors, text=True)
        assert process.stdout
        lines = [process.stdout.readline()]
        first_line = time.perf_counter() - start
        lines += process.stdout.readlines()
        _, status, usage = os.wait4(process.pid, 0)  # unlike Popen.wait: this very child's memory
        seconds = time.perf_counter() - start
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            errors.seek(0)
            raise RuntimeError(f"{program} failed ({process.returncode}):\n{errors.read()}")
    unit = 1 if sys.platform == "darwin" else 1024  # bytes a unit of ru_maxrss
    peak_mb = usage.ru_maxrss * unit / 2**20
    return Finished([line.rstrip("\n") for line in lines], first_line, seconds, peak_mb)


def median(values: list[float]) -> float:
    """Give the median, rounded to what is worth printing."""
    return float(f"{statistics.median(values):.4g}")


def spread(values: list[float]) -> str:
    """Give median, smallest and largest of the repetitions, for people."""
    return f"{statistics.median(values):,.4g} ({min(values):,.4g} to {max(values):,.4g})"
