"""Unpacking gzip several times as fast as the standard library does, by isal's decompressor.

The file object that isal brings keeps back what it had unpacked before it met damage. This one
gives all of it, and says what is wrong with the errors of the standard library.
"""

from __future__ import annotations

import io
from gzip import BadGzipFile
from typing import TYPE_CHECKING, cast

from isal import igzip_lib, isal_zlib

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

_IsalError = cast(type[Exception], igzip_lib.IsalError)  # its stub takes it for an instance
MAGIC = b"\x1f\x8b"
_PIECE = 1 << 14  # packed bytes; damage costs what else the same piece holds
_BUFFER = 1 << 16
_DEFLATE = 8
_FIXED, _EXTRA, _NAME, _COMMENT, _CHECK_SUM = 8, 4, 8, 16, 2  # RFC 1952: a length, four flags


def unpacked(packed: io.BufferedIOBase) -> io.BufferedReader:
    """Give the content of one or several gzip members, zeros between and behind them left out.

    Reading raises EOFError where the file ends early and BadGzipFile where it is damaged or goes
    on with anything else, either after everything that could be unpacked was given.
    """
    return io.BufferedReader(_Members(packed), _BUFFER)


class _Members(io.RawIOBase):
    def __init__(self, packed: io.BufferedIOBase) -> None:
        self._packed = packed
        self._ahead = b""  # packed bytes that are read and not used yet
        self._member: igzip_lib.IgzipDecompressor | None = None
        self._sum = self._length = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: WriteableBuffer) -> int:
        into = memoryview(buffer).cast("B")
        while True:
            if self._member is None:
                if not self._skip_zeros():
                    return 0
                self._member = self._begin()
            elif self._member.eof:  # found out here, after all its content was given
                self._end(self._member)
                self._member = None
            elif piece := self._inflate(self._member, len(into)):
                into[: len(piece)] = piece
                return len(piece)

    def _inflate(self, member: igzip_lib.IgzipDecompressor, size: int) -> bytes:
        packed = b""
        if member.needs_input:
            packed = self._take_some()
        try:
            piece = member.decompress(packed, size)
        except _IsalError as error:
            raise BadGzipFile(f"damaged gzip data: {error}") from error
        self._sum = isal_zlib.crc32(piece, self._sum)
        self._length += len(piece)
        return piece

    def _take_some(self) -> bytes:
        packed, self._ahead = self._ahead or self._packed.read1(_PIECE), b""
        if not packed:
            raise EOFError("the gzip data ends too early")
        return packed

    def _take(self, count: int) -> bytes:
        taken = b""
        while len(taken) < count:
            taken += self._take_some()
        self._ahead = taken[count:]
        return taken[:count]

    def _skip_zeros(self) -> bool:
        """Say whether anything but padding follows."""
        while not (rest := self._ahead.lstrip(b"\0")):
            self._ahead = self._packed.read1(_PIECE)
            if not self._ahead:
                return False
        self._ahead = rest
        return True

    def _begin(self) -> igzip_lib.IgzipDecompressor:
        """Consume a member's header."""
        magic = self._take(2)
        if magic != MAGIC:
            raise BadGzipFile(f"expected gzip data, got {magic!r}")
        method, flags, *_ = self._take(_FIXED)
        if method != _DEFLATE:
            raise BadGzipFile(f"expected gzip data packed by method {_DEFLATE}, got {method}")
        if flags & _EXTRA:
            self._take(int.from_bytes(self._take(2), "little"))
        for flag in (_NAME, _COMMENT):
            while flags & flag and self._take(1) != b"\0":
                pass
        if flags & _CHECK_SUM:
            self._take(2)
        self._sum = self._length = 0
        return igzip_lib.IgzipDecompressor(igzip_lib.DECOMP_DEFLATE)

    def _end(self, member: igzip_lib.IgzipDecompressor) -> None:
        """Consume a member's trailer."""
        self._ahead = member.unused_data + self._ahead
        trailer = self._take(8)
        stated = int.from_bytes(trailer[:4], "little"), int.from_bytes(trailer[4:], "little")
        if stated != (self._sum, self._length % 2**32):
            raise BadGzipFile("damaged gzip data: its check sum or length is wrong")
