"""Unpacking gzip, held against the standard library's."""

from __future__ import annotations

import gzip
import io
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hybrid_ir.gunzip import unpacked

contents = st.lists(st.binary(max_size=3000), min_size=1, max_size=4)


def give(packed):
    """Give what can be read before an error, and the error."""
    read = b""
    file = unpacked(io.BytesIO(packed))
    try:
        while piece := file.read1(1000):
            read += piece
    except (EOFError, OSError) as error:
        return read, type(error)
    return read, None


@given(contents, st.integers(0, 600))
def test_members_and_zeros_between_them(members, zeros):
    packed = b"".join(gzip.compress(one) + bytes(zeros) for one in members)
    assert give(packed) == (b"".join(members), None) == (gzip.decompress(packed), None)


@given(st.binary(min_size=1, max_size=3000), st.integers(min_value=1))
def test_a_file_that_ends_early(content, cut):
    packed = gzip.compress(content)
    read, error = give(packed[: -(1 + cut % (len(packed) - 2))])
    assert error is EOFError
    assert content.startswith(read)


def test_all_is_given_before_the_error():
    packed = gzip.compress(b"content")
    assert give(packed[:-8]) == (b"content", EOFError)
    assert give(packed[:-1]) == (b"content", EOFError)
    assert give(packed + b"more") == (b"content", gzip.BadGzipFile)
    for position in (-1, -5):  # of the length, of the check sum
        damaged = bytearray(packed)
        damaged[position] ^= 1
        assert give(damaged) == (b"content", gzip.BadGzipFile)


@pytest.mark.parametrize("flags", range(0, 32, 2))
def test_every_part_of_a_header(flags):
    parts = {4: b"\x03\x00abc", 8: b"a name\0", 16: b"a comment\0", 2: b"\x12\x34"}
    header = b"\x1f\x8b\x08" + bytes([flags]) + bytes(6)
    header += b"".join(part for flag, part in parts.items() if flags & flag)
    deflate = zlib.compressobj(wbits=-15)
    body = deflate.compress(b"content") + deflate.flush()
    trailer = zlib.crc32(b"content").to_bytes(4, "little") + (7).to_bytes(4, "little")
    assert give(header + body + trailer) == (b"content", None)


def test_another_method():
    packed = bytearray(gzip.compress(b"content"))
    packed[2] = 7
    assert give(packed) == (b"", gzip.BadGzipFile)
