"""Files that grow record by record and survive a kill: what is done is not done again."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from io import TextIOWrapper
from pathlib import Path

from hybrid_ir.files import locked, refuse_to_write, remove, writing
from hybrid_ir.trec import completed


@contextmanager
def growing_run(path: Path, key: str) -> Iterator[tuple[TextIOWrapper, set[str]]]:
    """Open a run that grows question by question under another name and appears when it is whole.

    Gives the file and the questions it holds already from an interrupted call with the same key.

    Raises:
        InputError: another process is writing it, or a folder or a device has that name.
    """
    refuse_to_write(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    partial, made_for = (path.with_name(f".{path.name}.{part}") for part in ("partial", "key"))
    with _locked(partial, path) as file:
        if not made_for.exists() or made_for.read_text() != key:
            file.truncate(0)
            made_for.write_text(key)
        try:
            yield file, completed(partial)
            file.flush()
            os.fsync(file.fileno())
            _finish(partial, path)
        finally:
            if not partial.exists() or not partial.stat().st_size:  # done, or nothing to go on from
                remove(made_for)
                remove(partial)


@contextmanager
def _locked(partial: Path, path: Path) -> Iterator[TextIOWrapper]:
    """Open a file for appending, for this process alone."""
    while True:
        with locked(partial, path) as file:
            # whoever held the lock before may have moved the file to its place in the meantime
            if partial.exists() and os.path.samestat(os.fstat(file.fileno()), partial.stat()):
                yield file
                return


def _finish(partial: Path, path: Path) -> None:
    if path.suffix == ".gz":
        with writing(path) as packed, partial.open(encoding="utf-8") as file:
            shutil.copyfileobj(file, packed)
        remove(partial)
    else:
        partial.replace(path.resolve())
