"""MD5 sums of files on disk: computed once, remembered by size and time stamp."""

from __future__ import annotations

import hashlib
import threading
from dataclasses import dataclass
from pathlib import Path

import msgspec

from hybrid_ir.files import writing

SUMS = "sums.json"


@dataclass(frozen=True, slots=True)
class Remembered:
    """What a file was when its sum was computed.

    Attributes:
        size: Bytes.
        mtime_ns: Time stamp.
        md5: The sum, in hex.
        listed: How the server listed the file when it was compared with the server's sum; empty
            where it was not compared.
    """

    size: int
    mtime_ns: int
    md5: str
    listed: str = ""


class Sums:
    """The sums of the files below a folder, kept in its ``sums.json``; threads may share it."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._lock = threading.Lock()
        try:
            content = (folder / SUMS).read_bytes()
            self._known = msgspec.json.decode(content, type=dict[str, Remembered])
        except (OSError, msgspec.MsgspecError):  # none yet, or not ours: all is computed again
            self._known = {}

    def find(self, file: Path) -> Remembered | None:
        """Give what is remembered of a file; None where it is not there or has changed since."""
        known = self._known.get(self._name(file))
        if known is None or not file.is_file():
            return None
        stat = file.stat()
        same = (known.size, known.mtime_ns) == (stat.st_size, stat.st_mtime_ns)
        return known if same else None

    def stated(self, file: Path) -> str:
        """Give the server's sum of a file, whatever became of it since; empty where unknown."""
        known = self._known.get(self._name(file))
        return known.md5 if known and known.listed else ""

    def md5(self, file: Path) -> str:
        """Give a file's sum, from memory if it has not changed; a new one is not saved."""
        if known := self.find(file):
            return known.md5
        return md5_of(file)

    def remember(self, file: Path, md5: str, listed: str) -> None:
        """Save the sum of a file as it lies there."""
        stat = file.stat()
        with self._lock:
            remembered = Remembered(stat.st_size, stat.st_mtime_ns, md5, listed)
            self._known[self._name(file)] = remembered
            with writing(self._folder / SUMS) as output:
                output.write(msgspec.json.encode(self._known, order="sorted").decode())

    def _name(self, file: Path) -> str:
        return file.relative_to(self._folder).as_posix()


def md5_of(file: Path) -> str:
    """Compute a file's MD5 sum, in hex."""
    with file.open("rb") as content:
        return hashlib.file_digest(content, "md5").hexdigest()
