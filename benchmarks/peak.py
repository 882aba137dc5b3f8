"""The largest resident memory of this process since it began its program (Linux)."""

from __future__ import annotations

import re
from pathlib import Path


def peak_mb() -> float:
    """Give the peak, in MB of 2**20 bytes.

    Unlike ``ru_maxrss``, which starts from what the parent held when it made this process.
    """
    status = Path("/proc/self/status").read_text()
    match = re.search(r"^VmHWM:\s+(\d+) kB", status, re.MULTILINE)
    assert match, "the kernel tells no peak"
    return int(match[1]) / 1024
