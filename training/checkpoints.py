"""Checkpoints that are whole or not there: what was half-written or damaged is never gone on from.

A checkpoint is a folder ``checkpoint-STEP``. The last file written in it is a seal with the SHA-256
of every other and the name of the best checkpoint so far; without one, or with one that does not
fit, it does not count.
"""

from __future__ import annotations

import hashlib
import logging
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import msgspec
from safetensors import SafetensorError

from hybrid_ir.errors import InputError
from hybrid_ir.files import remove, writing

log = logging.getLogger(__name__)

SEAL = "whole.json"
_NAME = re.compile(r"checkpoint-(\d+)")
_FULL_DISK = ("writer", "write", "No space left", "os error", "enforce fail")


@dataclass(frozen=True, slots=True)
class _Seal:
    """What a checkpoint says of itself: the sums of its files, and which one is the best."""

    files: dict[str, str]
    best: int | None


def place_of(folder: Path, step: int) -> Path:
    """Give the folder of a checkpoint."""
    return folder / f"checkpoint-{step}"


def step_of(checkpoint: Path) -> int:
    """Give the step of a checkpoint."""
    return int(checkpoint.name.rpartition("-")[2])


def seal(checkpoint: Path, best: int | None) -> None:
    """Say that a checkpoint is whole, as the last thing that is written in it.

    Args:
        checkpoint: Its folder.
        best: The step of the best one so far, which is needed in the end; None without judgements.
    """
    sums = {file.relative_to(checkpoint).as_posix(): _sum(file) for file in _files(checkpoint)}
    with writing(checkpoint / SEAL) as file:
        file.write(msgspec.json.encode(_Seal(sums, best)).decode())


def fault_of(checkpoint: Path) -> str:
    """Say why a checkpoint does not count; empty where it does."""
    try:
        sealed = _sealed(checkpoint)
    except OSError:
        return "it was not finished"
    except msgspec.MsgspecError:
        return f"{SEAL} is damaged"
    there = {file.relative_to(checkpoint).as_posix(): file for file in _files(checkpoint)}
    for name, wanted in sealed.files.items():
        if name not in there:
            return f"{name} is missing"
        if _sum(there[name]) != wanted:
            return f"{name} is damaged"
    if sealed.best is None or sealed.best == step_of(checkpoint):
        return ""
    best = place_of(checkpoint.parent, sealed.best)
    fault = fault_of(best)
    return f"of {best.name}, the best one: {fault}" if fault else ""


def processes_of(checkpoint: Path) -> int:
    """Give how many processes have written a checkpoint: each has random numbers of its own."""
    return len(list(checkpoint.glob("rng_state*.pth")))


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


def keep_newest(folder: Path, count: int) -> None:
    """Remove all but the newest checkpoints, and those that were the best for one of them."""
    steps = sorted(_steps(folder))
    best = {_sealed(place_of(folder, step)).best for step in steps[-count:]}
    for step in steps[:-count]:
        if step not in best:
            remove(place_of(folder, step))


def not_written(error: Exception, checkpoint: Path) -> InputError | None:
    """Give the message for a checkpoint that could not be written; None for another fault.

    What is there of it is removed. Torch and safetensors report a full disk as errors of their own.
    """
    text = str(error)
    if not _is_of_the_disk(error):
        return None
    remove(checkpoint)
    steps = sorted(_steps(checkpoint.parent))
    good = f"{place_of(checkpoint.parent, steps[-1])} is whole" if steps else "there is none before"
    return InputError(
        f"{checkpoint}: the checkpoint could not be written: {text.splitlines()[0]}; {good}: make"
        " room on the disk, then run the same command again, which goes on from it"
    )


@contextmanager
def saying_when_full(path: Path) -> Iterator[None]:
    """Raise an InputError that names a path where the block cannot write it."""
    try:
        yield
    except Exception as error:
        if not _is_of_the_disk(error):
            raise
        raise InputError(
            f"{path}: could not be written: {str(error).splitlines()[0]}; make room on the disk,"
            " then run the same command again, which goes on from where it is"
        ) from error


def _is_of_the_disk(error: Exception) -> bool:
    if isinstance(error, RuntimeError | SafetensorError):
        return any(part in str(error) for part in _FULL_DISK)
    return isinstance(error, OSError)


def _sealed(checkpoint: Path) -> _Seal:
    return msgspec.json.decode((checkpoint / SEAL).read_bytes(), type=_Seal)


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
