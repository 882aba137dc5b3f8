"""Cutting a PubMed XML file into its records, so that a bad one harms no other.

The file is never held whole, and no document type definition is read, inside the file or outside.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from io import BufferedIOBase
from pathlib import Path
from typing import TypeVar, cast

from hybrid_ir.errors import InputError
from hybrid_ir.files import open_binary
from hybrid_ir.pubmed.medline.window import LONGEST, Fault, Window

T = TypeVar("T")


_RECORDS = {
    b"PubmedArticleSet": rb"PubmedArticle|PubmedBookArticle|DeleteCitation",
    b"MedlineCitationSet": rb"MedlineCitation|DeleteCitation",
}
_ROOTS = " or ".join(f"<{root.decode()}>" for root in _RECORDS)

# A token whose last group is unmatched has no end yet: more must be read.
_COMMENT = rb"<!--(?:.*?(?P<comment>-->))?"
_ASIDE = _COMMENT + rb"|<\?(?:.*?(?P<instruction>\?>))?"
_TYPES = rb"\[(?:<!--.*?-->|\"[^\"]*\"|'[^']*'|[^\]\"'<]|<(?!!--))*+\]\s*"
_OUTSIDE = re.compile(
    rb"(?P<blank>\s+)|" + _ASIDE + rb"|<!DOCTYPE(?:[^<>\[]*(?:" + _TYPES + rb")?(?P<doctype>>))?"
    rb"|<(?P<name>[A-Za-z][\w:.-]*)(?:[^<>]*(?P<tag>>))?",
    re.DOTALL,
)
_EDGES = {
    root: rb"<(?:(?P<record>" + records + rb")(?=[\s/>])|/" + root + rb"\s*(?P<end>>))"
    for root, records in _RECORDS.items()
}
_INSIDE = {root: re.compile(_ASIDE + b"|" + edge, re.DOTALL) for root, edge in _EDGES.items()}
_EDGE = {root: re.compile(edge) for root, edge in _EDGES.items()}
_HIDING = re.compile(_COMMENT + rb"|<!\[CDATA\[(?:.*?(?P<section>\]\]>))?", re.DOTALL)
_PMID = re.compile(rb"<PMID[^>]*>\s*(\d+)")
_LONGEST_START = max(map(len, _RECORDS)) + len("</ ")
_ENCODING = re.compile(rb"<\?xml\s[^>]*?encoding\s*=\s*[\"']([\w.-]+)")
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


class BadRecordError(Exception):
    """A record that cannot be read; ``offset`` is the place in its bytes."""

    def __init__(self, message: str, offset: int = 0) -> None:
        super().__init__(message)
        self.offset = offset


def read_records(
    path: Path,
    report: Callable[[Fault], None],
    parse: Callable[[bytes], Iterable[T]],
    chunk: int,
) -> Iterator[T]:
    """Stream what ``parse`` makes of each record, in the file's order.

    Args:
        path: The file, gzipped or not.
        report: Told of everything that cannot be read.
        parse: Makes records of one element's bytes; a BadRecordError is reported.
        chunk: Bytes to read at once.

    Raises:
        InputError: the file is missing, or is no XML.
    """
    with open_binary(path) as file:
        window = Window(path, cast(BufferedIOBase, file), report, chunk)
        _begin(window, path)
        count = 0
        while root := _open_root(window, count):
            count += 1
            if not window.data.endswith(b"/>", 0, window.at):
                yield from _records_of(window, root, parse)
        if window.damage:
            window.fault(window.at, f"cannot read on: {window.damage}")


def _begin(window: Window, path: Path) -> None:
    """Consume a byte order mark; see that XML follows."""
    while len(window.data) < len(_BYTE_ORDER_MARK) and window.more():
        pass
    if window.data.startswith(_BYTE_ORDER_MARK):
        window.at = len(_BYTE_ORDER_MARK)
    while not (start := window.data[window.at :].lstrip()) and window.more():
        pass
    if start and not start.startswith(b"<"):
        raise InputError(f"{path}: expected PubMed's XML in UTF-8, got {start[:40]!r}")


def _open_root(window: Window, count: int) -> bytes | None:
    """Consume everything up to and with a root's start tag; None where no more can be read.

    Args:
        window: Outside of any root.
        count: How many roots came before.
    """
    while True:
        match = _OUTSIDE.match(window.data, window.at)
        if match is None or match.lastgroup in (None, "name"):
            if not window.more():
                _no_root(window, count)
                return None
        elif match.lastgroup == "tag":
            return _root(window, match, count)
        else:
            encoding = _ENCODING.match(match[0])
            if encoding and encoding[1].lower() not in (b"utf-8", b"us-ascii", b"ascii"):
                got = encoding[1].decode()
                window.fault(window.at, f"expected UTF-8, got encoding {got}: nothing is read")
                return None
            window.at = match.end()


def _no_root(window: Window, count: int) -> None:
    rest = window.data[window.at :]
    if not window.damage and (rest or not count):
        got = repr(rest[:40].decode(errors="replace")) if rest else "the file's end"
        wanted = "nothing after the root element" if count else _ROOTS
        window.fault(window.at, f"expected {wanted}, got {got}")


def _root(window: Window, match: re.Match[bytes], count: int) -> bytes | None:
    name = match["name"]
    if name not in _RECORDS:
        got = name.decode(errors="replace")
        window.fault(window.at, f"expected {_ROOTS}, got <{got}>: nothing of it is read")
        return None
    if count:
        window.fault(window.at, "expected one root element, got another: its records are read too")
    window.at = match.end()
    return name


def _records_of(window: Window, root: bytes, parse: Callable[[bytes], Iterable[T]]) -> Iterator[T]:
    """Consume a root element's content and end tag."""
    clean = True  # nothing unexpected since the last record
    while True:
        match = _INSIDE[root].search(window.data, window.at)
        found = match is not None and match.lastgroup is not None
        until = match.start() if match else max(window.at, len(window.data) - _LONGEST_START)
        clean = _skip(window, until, clean)
        if not match or not found:
            if not window.more():
                _unfinished(window, f"</{root.decode()}>")
                return
        elif match["record"]:
            clean = True
            yield from _record(window, root, match["record"], parse)
        else:
            window.at = match.end()
            if match["end"]:
                return


def _skip(window: Window, until: int, clean: bool) -> bool:
    """Consume what is between two records; report what is not blank, once."""
    gap = window.data[window.at : until]
    if clean and (strange := gap.strip()):
        at = window.at + gap.index(strange)
        got = strange[:40].decode(errors="replace")
        window.fault(at, f"expected a record, got {got!r}: it is left out")
        clean = False
    window.at = until
    return clean


def _record(
    window: Window, root: bytes, kind: bytes, parse: Callable[[bytes], Iterable[T]]
) -> tuple[T, ...]:
    """Consume a record, or a bad one up to where the next begins."""
    end = None
    try:
        while (end := _end(window.data, window.at, kind)) is None:
            if not window.more():
                raise BadRecordError(f"expected </{kind.decode()}>, got {_limit(window)}")
        records = tuple(parse(window.data[window.at : end]))
    except BadRecordError as error:
        _report(window, kind, error, end)
        edge = _EDGE[root].search(window.data, window.at + 1, end or len(window.data))
        window.at = edge.start() if edge else end or len(window.data)
        return ()
    window.at = end
    return records


def _end(data: bytes, start: int, kind: bytes) -> int | None:
    """Find where a record ends, looking past comments; None if it is not in memory."""
    tag, at = b"</" + kind, start
    while (end := data.find(tag, at)) >= 0:
        if data.find(b"!", at, end) < 0 or (hidden := data.find(b"<!", at, end)) < 0:
            break  # one byte is found ten times as fast as two
        match = _HIDING.match(data, hidden)
        if match and match.lastgroup is None:
            return None
        at = match.end() if match else hidden + 1
    close = data.find(b">", end)
    if end < 0 or close < 0:
        return None
    if data[end + len(tag) : close].strip():
        got = data[end : close + 1].decode(errors="replace")
        raise BadRecordError(f"expected {tag.decode()}>, got {got}")
    return close + 1


def _report(window: Window, kind: bytes, error: BadRecordError, end: int | None) -> None:
    pmid = _PMID.search(window.data, window.at, end or len(window.data))
    which = f"with PMID {pmid[1].decode()}" if pmid else "without PMID"
    at = window.at + error.offset
    window.fault(at, f"left out a {kind.decode()} {which}: {error}")


def _unfinished(window: Window, wanted: str) -> None:
    if not window.damage:
        window.fault(window.at, f"expected {wanted}, got {_limit(window)}")
    window.at = len(window.data)


def _limit(window: Window) -> str:
    if len(window.data) - window.at > LONGEST:
        return f"none in {LONGEST:,} bytes"
    return "the file's end" if not window.damage else f"no more: {window.damage}"
