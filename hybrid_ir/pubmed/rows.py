"""PubMed files as rows of a store: read here, or by other processes ahead of the one that stores.

Each process turns a whole file into rows in a file of their own on disk, so memory does not grow
with the files, and the rows come in the files' order whoever is faster.
"""

from __future__ import annotations

import os
import re
import signal
import threading
import zlib
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass, field
from multiprocessing import get_context, parent_process
from pathlib import Path
from typing import Protocol

import msgspec

from hybrid_ir.errors import InputError
from hybrid_ir.files import open_binary, to_json
from hybrid_ir.pubmed.citation import Citation, Deletion, document_of
from hybrid_ir.pubmed.growing_file import Row
from hybrid_ir.pubmed.medline import Fault, read_citations
from hybrid_ir.pubmed.sums import md5_of

_BATCH = 1_000
_BATCH_BYTES = 8_000_000
_LENGTH = 8  # bytes of the number before each batch on disk
_AHEAD = 2  # files a process may be ahead of the one that stores

_PIECE = 1 << 20
_END = re.compile(rb"(</PubmedArticleSet|</MedlineCitationSet|/)\s*>(\s|<!--.*?-->)*\Z", re.DOTALL)

_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(list[Row]).decode


class Selects(Protocol):
    """Says which citations become documents; a dataclass that can be pickled."""

    def reason(self, citation: Citation) -> str | None:
        """Say why a citation is left out; None where it is kept."""
        ...


@dataclass(frozen=True, slots=True)
class Recipe:
    """What becomes of a citation: whether it is kept, and with which text."""

    selection: Selects
    labels: bool


@dataclass(frozen=True, slots=True)
class ParsedFile:
    """A file's rows in batches, to be drawn once; its faults are complete when they are.

    Attributes:
        path: The file.
        md5: Its sum.
        batches: Its rows.
        faults: What could not be read.
    """

    path: Path
    md5: str
    batches: Iterable[list[Row]]
    faults: list[Fault] = field(default_factory=list)

    def damage(self) -> str:
        """Say why the file is not whole; empty where single records at most are bad.

        Looks at files with faults only, to their end.
        """
        return _damage(self.path) if self.faults else ""


def parse_files(
    paths: Sequence[Path], recipe: Recipe, processes: int, folder: Path
) -> Generator[ParsedFile, None, None]:
    """Read files in order. Close the iterator to end the processes.

    Args:
        paths: The files.
        recipe: What becomes of a citation.
        processes: How many read at the same time; 1: this one, as the rows are drawn.
        folder: Where the others put their rows.

    Raises:
        InputError: a file that cannot be read, or a process that was killed.
    """
    if min(processes, len(paths)) <= 1:
        for path in paths:
            faults: list[Fault] = []
            yield ParsedFile(path, md5_of(path), _batches(path, recipe, faults.append), faults)
        return
    # a child forked off a process with a JVM hangs: spawn
    pool = ProcessPoolExecutor(
        min(processes, len(paths)), get_context("spawn"), initializer=_begin_process
    )
    try:
        yield from _from_pool(pool, paths, recipe, folder, _AHEAD * processes)
    except BrokenProcessPool as error:
        raise InputError(
            "a process that reads PubMed files was killed (did memory run out?): run the same"
            " command again, with fewer processes"
        ) from error
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _from_pool(
    pool: ProcessPoolExecutor, paths: Sequence[Path], recipe: Recipe, folder: Path, ahead: int
) -> Iterator[ParsedFile]:
    started: deque[tuple[Path, Path, Future[tuple[str, list[Fault]]]]] = deque()
    waiting = deque(enumerate(paths))
    while started or waiting:
        while waiting and len(started) < ahead:
            number, path = waiting.popleft()
            rows = folder / f"{number}.rows"
            with _interrupts_later():
                started.append((path, rows, pool.submit(_parse_to_disk, path, recipe, rows)))
        path, rows, future = started.popleft()
        md5, faults = future.result()
        yield ParsedFile(path, md5, _from_disk(rows), faults)
        rows.unlink()


@contextmanager
def _interrupts_later() -> Iterator[None]:
    """Hold Ctrl-C back while processes start: they inherit that, until they can end quietly."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _begin_process() -> None:
    """Let a process end at Ctrl-C without a word, and not outlive a parent that was killed."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGINT])
    parent = parent_process()

    def watch() -> None:
        if parent:
            parent.join()
            os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def _parse_to_disk(path: Path, recipe: Recipe, rows: Path) -> tuple[str, list[Fault]]:
    faults: list[Fault] = []
    with rows.open("wb") as file:
        for batch in _batches(path, recipe, faults.append):
            encoded = _encode(batch)
            file.write(len(encoded).to_bytes(_LENGTH, "little"))
            file.write(encoded)
    return md5_of(path), faults


def _damage(path: Path) -> str:
    end = b""
    try:
        with open_binary(path) as file:
            while piece := file.read(_PIECE):
                end = (end + piece)[-_PIECE:]
    except (EOFError, OSError, zlib.error) as error:
        return f"cannot be read to its end ({error})"
    return "" if _END.search(end) else f"ends in {end[-40:]!r}, not in </PubmedArticleSet>"


def _from_disk(rows: Path) -> Iterator[list[Row]]:
    with rows.open("rb") as file:
        while length := file.read(_LENGTH):
            yield _decode(file.read(int.from_bytes(length, "little")))


def _batches(path: Path, recipe: Recipe, report: Callable[[Fault], None]) -> Iterator[list[Row]]:
    """Read a file into batches, limited in number and in size."""
    batch: list[Row] = []
    size = 0
    for item in read_citations(path, report):
        row = _row(item, recipe)
        batch.append(row)
        size += len(row.record or b"")
        if len(batch) >= _BATCH or size >= _BATCH_BYTES:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def _row(item: Citation | Deletion, recipe: Recipe) -> Row:
    if isinstance(item, Deletion):
        return Row(item.pmid, item.version)
    if reason := recipe.selection.reason(item):
        return Row(item.pmid, item.version, reason=reason)
    document = document_of(item, recipe.labels)
    return Row(item.pmid, item.version, to_json(document).encode())
