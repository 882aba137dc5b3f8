"""Running one side of a benchmark that starts processes of its own: what they all took together."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path

from processes import Finished

_PAGE_MB = os.sysconf("SC_PAGE_SIZE") / 2**20
_INTERVAL = 0.2  # seconds


def run_tree(program: str, *arguments: object) -> Finished:
    """Run a program of this folder with this Python, Linux only.

    ``peak_mb`` is the largest sum of the resident memory of the program and of all processes it
    started, looked at every 0.2 s. What they share (Python's code) counts for each: the true sum is
    smaller.

    Raises:
        RuntimeError: it failed; with what it wrote to stderr.
    """
    command = [sys.executable, str(Path(__file__).with_name(program)), *map(str, arguments)]
    with tempfile.TemporaryFile("w+") as errors:
        start = time.perf_counter()
        process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=errors, text=True, start_new_session=True
        )
        assert process.stdout
        sampler = _Sampler(process.pid)
        sampler.start()
        lines = [process.stdout.readline()]
        first_line = time.perf_counter() - start
        lines += process.stdout.readlines()
        process.wait()
        seconds = time.perf_counter() - start
        peak_mb = sampler.stop()
        if process.returncode:
            errors.seek(0)
            raise RuntimeError(f"{program} failed ({process.returncode}):\n{errors.read()}")
    return Finished([line.rstrip("\n") for line in lines], first_line, seconds, peak_mb)


class _Sampler(threading.Thread):
    """Looks at the memory of a session's processes until it is stopped."""

    def __init__(self, session: int) -> None:
        super().__init__(daemon=True)
        self._session = session
        self._ended = threading.Event()
        self._peak = 0.0

    def run(self) -> None:
        while not self._ended.wait(_INTERVAL):
            self._peak = max(self._peak, sum(_resident_mb(self._session)))

    def stop(self) -> float:
        """End it and give the peak, in MB."""
        self._ended.set()
        self.join()
        return self._peak


def _resident_mb(session: int) -> Iterator[float]:
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            fields = (folder / "stat").read_text().rpartition(")")[2].split()
        except OSError:  # it ended just now
            continue
        if int(fields[3]) == session:
            yield int(fields[21]) * _PAGE_MB
