"""Checkpoints that are whole or not there: what was half-written or damaged is never gone on from.

A checkpoint is a folder ``checkpoint-STEP``. The last file written in it is a seal with the SHA-256
of every other; without one, or with one that does not fit, it does not count.
"""

from __future__ import annotations

import hashlib
import logging
import re
from collections.abc import Iterator
from pathlib import Path

import msgspec

from hybrid_ir.errors import InputError
from hybrid_ir.files import remove, writing

log = logging.getLogger(__name__)

SEAL = "whole.json"
_NAME = re.compile(r"checkpoint-(\d+)")
_FULL_DISK = ("writer", "write", "No space left", "os error", "enforce fail")


def place_of(folder: Path, step: int) -> Path:
    """Give the folder of a checkpoint."""
    return folder / f"checkpoint-{step}"


def step_of(checkpoint: Path) -> int:
    """Give the step of a checkpoint."""
    return int(checkpoint.name.rpartition("-")[2])


def seal(checkpoint: Path) -> None:
    """Say that a checkpoint is whole, as the last thing that is written in it."""
    sums = {file.relative_to(checkpoint).as_posix(): _sum(file) for file in _files(checkpoint)}
    with writing(checkpoint / SEAL) as file:
        file.write(msgspec.json.encode(sums).decode())


def fault_of(checkpoint: Path) -> str:
    """Say why a checkpoint does not count; empty where it does."""
    try:
        sums = msgspec.json.decode((checkpoint / SEAL).read_bytes(), type=dict[str, str])
    except OSError:
        return "it was not finished"
    except msgspec.MsgspecError:
        return f"{SEAL} is damaged"
    there = {file.relative_to(checkpoint).as_posix(): file for file in _files(checkpoint)}
    for name, wanted in sums.items():
        if name not in there:
            return f"{name} is missing"
        if _sum(there[name]) != wanted:
            return f"{name} is damaged"
    return ""


def newest(folder: Path) -> Path | None:
    """Give the last checkpoint that is whole; later ones are named and removed."""
    for step in sorted(_steps(folder), reverse=True):
        checkpoint = place_of(folder, step)
        fault = fault_of(checkpoint)
        if not fault:
            return checkpoint
        log.warning("%s: cannot go on from here (%s): trying the one before", checkpoint, fault)
        remove(checkpoint)
    return None


def keep_newest(folder: Path, count: int, best: int | None) -> None:
    """Remove all but the newest checkpoints and the best one."""
    for step in sorted(_steps(folder))[:-count]:
        if step != best:
            remove(place_of(folder, step))


def not_written(error: Exception, checkpoint: Path) -> InputError | None:
    """Give the message for a checkpoint that could not be written; None for another fault.

    What is there of it is removed. Torch and safetensors report a full disk as errors of their own.
    """
    text = str(error)
    if not isinstance(error, OSError) and not any(part in text for part in _FULL_DISK):
        return None
    remove(checkpoint)
    steps = sorted(_steps(checkpoint.parent))
    good = f"{place_of(checkpoint.parent, steps[-1])} is whole" if steps else "there is none before"
    return InputError(
        f"{checkpoint}: the checkpoint could not be written: {text.splitlines()[0]}; {good}: make"
        " room on the disk, then run the same command again, which goes on from it"
    )


def _steps(folder: Path) -> Iterator[int]:
    for path in folder.glob("checkpoint-*"):
        if found := _NAME.fullmatch(path.name):
            yield int(found[1])


def _files(checkpoint: Path) -> list[Path]:
    return sorted(
        path
        for path in checkpoint.rglob("*")
        if path.is_file() and path.name != SEAL and not path.name.endswith(".tmp")
    )


def _sum(file: Path) -> str:
    with file.open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()
