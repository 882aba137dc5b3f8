"""Readers and the one writer of a store that grows in place keep out of each other's way.

The lock is an empty file beside the store that the first writer makes; a store without one never
changes in place. The system lets go of a lock when its process ends, however it ends.
"""

from __future__ import annotations

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from hybrid_ir.errors import InputError


def lock_file(store: Path) -> Path:
    """Give the place of a store's lock; it is there as soon as the store is one that grows."""
    return store.with_name(f"{store.name}.lock")


@contextmanager
def reading(store: Path) -> Iterator[None]:
    """Share a store with other readers; no writer can begin before the block ends.

    Raises:
        InputError: a writer is at work.
    """
    path = lock_file(store)
    if not path.exists():
        yield
        return
    with path.open("rb") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except OSError as error:
            raise InputError(f"{store}: another process is updating it: wait for it") from error
        yield


@contextmanager
def writing_alone(store: Path) -> Iterator[None]:
    """Have a store to oneself.

    Raises:
        InputError: another process reads or writes it.
    """
    with lock_file(store).open("ab") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise InputError(
                f"{store}: another process is searching or updating it: wait for it or end it"
            ) from error
        yield
