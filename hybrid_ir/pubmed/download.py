"""Bringing one file over: resumed where it broke off, and under its name only when it is whole.

What has come lies in ``.NAME.partial``; ``.NAME.partial.json`` beside it says which version of the
file that is (the server's ETag or Last-Modified). The rest is asked for only if the server still
has that version (If-Range); otherwise it starts again.
"""

from __future__ import annotations

import logging
import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path

import msgspec
import urllib3

from hybrid_ir.files import writing
from hybrid_ir.pubmed.listing import sum_in
from hybrid_ir.pubmed.polite import AgainError, FetchError, NotThereError, PoliteClient
from hybrid_ir.pubmed.sums import md5_of

log = logging.getLogger(__name__)

_CHUNK = 2**18
_DOWNLOADS = 3
_RANGE = re.compile(r"bytes ([0-9]+)-[0-9]+/(?:[0-9]+|\*)")


@dataclass(frozen=True, slots=True)
class _Partial:
    """The part of a file that has come, and the note of its version."""

    path: Path
    note: Path

    @classmethod
    def of(cls, path: Path) -> _Partial:
        partial = path.with_name(f".{path.name}.partial")
        return cls(partial, partial.with_name(f"{partial.name}.json"))

    def size(self) -> int:
        return self.path.stat().st_size if self.path.is_file() else 0

    def version(self) -> str:
        """Give the version, empty where it is unknown: such a part cannot be gone on with."""
        try:
            return msgspec.json.decode(self.note.read_bytes(), type=str)
        except (OSError, msgspec.MsgspecError):
            return ""

    def begin(self, version: str) -> None:
        """Forget what has come; from here on this version comes."""
        self.path.unlink(missing_ok=True)  # first: the old part must not be taken for the new one
        with writing(self.note) as file:
            file.write(msgspec.json.encode(version).decode())

    def remove(self) -> None:
        self.path.unlink(missing_ok=True)
        self.note.unlink(missing_ok=True)


def fetch_sum(client: PoliteClient, url: str) -> str:
    """Give the MD5 sum, in hex, that the server states for a file in ``URL.md5``.

    Raises:
        FetchError: the server does not give it, or it is of another file.
    """
    name = url.rpartition("/")[2]
    try:
        text = client.get_text(f"{url}.md5")
    except NotThereError as error:
        raise FetchError(f"{error}: without its sum {name} cannot be checked") from error
    if found := sum_in(text, name):
        return found
    raise FetchError(f"{url}.md5: expected the MD5 sum of {name}, got {text[:80]!r}")


def download(
    client: PoliteClient, url: str, path: Path, md5: str, progress: Callable[[int], object]
) -> str:
    """Bring a file over and put it in its place.

    Args:
        client: Asks the server.
        url: The file; its sum is at ``URL.md5``.
        path: Where it goes.
        md5: Its sum, as the server said.
        progress: Called with the number of bytes that came.

    Returns:
        Its sum; another one than ``md5`` if the server has a new version meanwhile.

    Raises:
        FetchError: the server does not give it, or gives it with a wrong sum several times.
    """
    partial = _Partial.of(path)
    found = ""
    for attempt in range(_DOWNLOADS):
        if attempt:
            md5 = fetch_sum(client, url)  # the file may have changed meanwhile, and its sum with it
        _fill(client, url, partial, md5, progress)
        found = md5_of(partial.path)
        if found == md5:
            _put(partial, path)
            return md5
        log.debug("%s: expected MD5 %s, got %s", url, md5, found)
        partial.remove()
    raise FetchError(f"{url}: expected MD5 {md5}, got {found} in {_DOWNLOADS} downloads")


def _fill(
    client: PoliteClient, url: str, partial: _Partial, md5: str, progress: Callable[[int], object]
) -> None:
    """Get what is missing of the file."""
    if partial.size() and md5_of(partial.path) == md5:
        return  # killed when it was all there

    def headers() -> dict[str, str]:
        start, version = partial.size(), partial.version()
        return {"Range": f"bytes={start}-", "If-Range": version} if start and version else {}

    def receive(response: urllib3.BaseHTTPResponse) -> None:
        with partial.path.open(_mode(response, partial)) as file:
            for chunk in response.stream(_CHUNK, decode_content=False):
                file.write(chunk)
                progress(len(chunk))
                client.refuse_if_stopped()

    client.fetch(url, headers, receive, partial.size)


def _mode(response: urllib3.BaseHTTPResponse, partial: _Partial) -> str:
    """Say whether an answer is the rest of the part at hand (append) or a new beginning.

    Raises:
        AgainError: it is neither; the part was thrown away.
    """
    version = _version(response)
    if response.status == HTTPStatus.OK:
        partial.begin(version)
        return "wb"
    found = _RANGE.fullmatch(response.headers.get("Content-Range", ""))
    fits = found is not None and int(found[1]) == partial.size()
    same = version in ("", partial.version())  # the rest may come without naming its version
    if response.status == HTTPStatus.PARTIAL_CONTENT and fits and same:
        return "ab"
    partial.remove()
    raise AgainError(f"HTTP status {response.status} does not go on from what is here")


def _version(response: urllib3.BaseHTTPResponse) -> str:
    """Give what names this version of the file, for If-Range; a weak ETag may not be used there."""
    etag = response.headers.get("ETag", "")
    if etag and not etag.startswith("W/"):
        return etag
    return response.headers.get("Last-Modified", "")


def _put(partial: _Partial, path: Path) -> None:
    """Give a checked file its name; it survives a loss of power from here on."""
    with partial.path.open("rb") as file:
        os.fsync(file.fileno())
    partial.note.unlink(missing_ok=True)
    partial.path.replace(path)
