"""PubMed's files: their names, the pages that list them, and the sums beside them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

BASELINE = "baseline"
UPDATES = "updatefiles"
KINDS = (BASELINE, UPDATES)

_NAME = re.compile(r"pubmed([0-9]{2})n([0-9]{4,6})\.xml\.gz")
_SIZE = re.compile(r"([0-9]+(?:\.[0-9]+)?)([KMG]?)B?", re.IGNORECASE)
_UNITS = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30}
_LISTING = re.compile(r"<title>\s*(index of|directory listing)", re.IGNORECASE)
_OPENSSL_SUM = re.compile(r"MD5 ?\((.+)\) ?= ?([0-9a-fA-F]{32})")
_COREUTILS_SUM = re.compile(r"([0-9a-fA-F]{32}) [ *](.+)")


@dataclass(frozen=True, slots=True, order=True)
class FileName:
    """A name such as ``pubmed24n0001.xml.gz``, taken apart; files are applied in this order."""

    year: int
    number: int
    name: str

    @classmethod
    def parse(cls, name: str) -> FileName | None:
        """Take a name apart; None where it is none of PubMed's, so never a path."""
        found = _NAME.fullmatch(name)
        return cls(int(found[1]), int(found[2]), name) if found else None


@dataclass(frozen=True, slots=True)
class Listed:
    """A file as a server lists it.

    Attributes:
        file: Its name.
        detail: What stands beside it, date and size: another detail means another file.
    """

    file: FileName
    detail: str

    @property
    def size(self) -> int:
        """Bytes, as far as the page tells: often rounded (``19M``), 0 where it does not."""
        found = _SIZE.fullmatch(self.detail.rpartition(" ")[2])
        return int(float(found[1]) * _UNITS[found[2].upper()]) if found else 0


def files_listed(page: str) -> list[Listed]:
    """Give the files that an HTML page of Apache, nginx or the like links to, in order.

    Only the last part of a link counts, and only if it is a name of PubMed's: whatever a page
    holds, nothing is ever asked for or written outside the folder.
    """
    parser = _Links()
    parser.feed(page)
    parser.close()
    found: dict[FileName, str] = {}
    for link, text in parser.links:
        if file := FileName.parse(_last_part(link)):
            found.setdefault(file, " ".join(text.split()))
    return [Listed(file, found[file]) for file in sorted(found)]


def is_listing(page: str) -> bool:
    """Whether a page is what Apache, nginx or the like show of a folder, of an empty one, too."""
    return _LISTING.search(page) is not None


def files_in(folder: Path) -> list[FileName]:
    """Give the files of PubMed in a folder, in order; none where there is no such folder."""
    if not folder.is_dir():
        return []
    names = (FileName.parse(path.name) for path in folder.iterdir() if path.is_file())
    return sorted(file for file in names if file)


def sum_in(text: str, name: str) -> str | None:
    """Give a file's MD5 sum, in hex, from a file of sums; None where it has none.

    Both usual forms are read: ``MD5 (NAME) = HEX`` and ``HEX  NAME``.
    """
    for line in text.splitlines():
        if found := _OPENSSL_SUM.fullmatch(line.strip()):
            file, digest = found[1], found[2]
        elif found := _COREUTILS_SUM.fullmatch(line.strip()):
            digest, file = found[1], found[2]
        else:
            continue
        if file.strip().rpartition("/")[2] == name:
            return digest.lower()
    return None


def _last_part(link: str) -> str:
    try:
        return unquote(urlsplit(link).path).rpartition("/")[2]
    except ValueError:  # no address at all
        return ""


class _Links(HTMLParser):
    """Collects (link, text after it) of every link of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.links: list[tuple[str, str]] = []
        self._inside = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "a":
            self.links.append((dict(attrs).get("href") or "", ""))
            self._inside = True

    def handle_endtag(self, tag: str) -> None:
        self._inside = self._inside and tag != "a"

    def handle_data(self, data: str) -> None:
        if self.links and not self._inside:
            link, text = self.links[-1]
            self.links[-1] = (link, f"{text} {data}")
