"""The part of a large file that is in memory, and where in the file it lies."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from io import BufferedIOBase
from pathlib import Path

LONGEST = 1 << 26
"""Bytes kept of what has no end yet; the longest citations have some 5 million."""


@dataclass(frozen=True, slots=True)
class Fault:
    """What could not be read.

    Attributes:
        path: The file.
        position: Where in its unpacked bytes, from 0.
        message: What was expected and what came.
    """

    path: Path
    position: int
    message: str

    def __str__(self) -> str:
        return f"{self.path}: byte {self.position}: {self.message}"


class Window:
    """What is in memory of a file: ``data``, consumed up to ``at``.

    Attributes:
        data: The bytes in memory.
        at: How many of them are consumed.
        damage: Why the file could not be read to its end; empty as long as it could.
    """

    def __init__(
        self, path: Path, file: BufferedIOBase, report: Callable[[Fault], None], chunk: int
    ) -> None:
        self.data = b""
        self.at = 0
        self.damage = ""
        self._path, self._file, self._report, self._chunk = path, file, report, chunk
        self._position = 0
        self._ended = False

    def more(self) -> bool:
        """Read on, forgetting what is consumed; say whether anything came.

        What is kept is at least doubled, so that a long record is searched only a few times.
        """
        rest = self.data[self.at :]
        if self._ended or len(rest) > LONGEST:
            return False
        self._position += self.at
        pieces, wanted = [rest], max(self._chunk, len(rest))
        while wanted > 0 and (piece := self._read(wanted)):
            pieces.append(piece)
            wanted -= len(piece)
        self.data, self.at = b"".join(pieces), 0
        return len(pieces) > 1

    def _read(self, size: int) -> bytes:
        piece = b""
        try:
            piece = self._file.read1(size)  # not read: it loses what it unpacked before damage
        except (EOFError, OSError) as error:
            self.damage = str(error)
        self._ended = not piece
        return piece

    def fault(self, at: int, message: str) -> None:
        """Report what is wrong at a place in ``data``."""
        self._report(Fault(self._path, self._position + at, message))
