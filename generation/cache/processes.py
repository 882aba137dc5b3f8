"""Who made a call: a process, told from a later one of the same number."""

from __future__ import annotations

import functools
import os
import socket
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Process:
    """A process: its machine, its number there, and when it was born (boot and clock ticks)."""

    host: str
    pid: int
    born: str


def this_process() -> Process:
    """Give the process this code runs in."""
    return Process(socket.gethostname(), os.getpid(), _born(os.getpid()) or "")


def is_dead(process: Process) -> bool:
    """Whether a process of this machine is surely gone; of another machine nobody knows."""
    if process.host != socket.gethostname():
        return False
    return _born(process.pid) != process.born


def _born(pid: int) -> str | None:
    """Give boot and start of a running process, or None; '' where the system does not tell."""
    if not Path("/proc/self/stat").exists():
        return "" if _answers(pid) else None
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    return f"{_boot()} {stat.rpartition(')')[2].split()[19]}"  # the name may hold blanks


@functools.cache
def _boot() -> str:
    return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()


def _answers(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
