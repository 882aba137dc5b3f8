"""Downloading PubMed: the baseline and the daily update files, kept as they are on the server.

    FOLDER/baseline/pubmed25n0001.xml.gz ...
    FOLDER/updatefiles/pubmed25n1275.xml.gz ...
    FOLDER/sums.json      the sums of the files, as compared with the server's

A file stands under its name only when it is whole and its MD5 sum is the server's. What is there
already is not asked for again as long as the server lists it with the same date and size.
"""

from __future__ import annotations

import fcntl
import logging
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit

from hybrid_ir.errors import InputError, refuse
from hybrid_ir.pubmed.download import download, fetch_sum
from hybrid_ir.pubmed.listing import (
    BASELINE,
    KINDS,
    UPDATES,
    Listed,
    files_in,
    files_listed,
    is_listing,
)
from hybrid_ir.pubmed.polite import FetchError, HttpConfig, PoliteClient
from hybrid_ir.pubmed.sums import Sums, md5_of

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class SyncConfig:
    """What is downloaded, and from where.

    Attributes:
        base_url: The folder that has ``baseline/`` and ``updatefiles/``.
        only: One of the two, or both.
        first: Only so many files of each, the first ones: to try things out.
        http: How the server is asked.
    """

    base_url: str = "https://ftp.ncbi.nlm.nih.gov/pubmed/"
    only: Literal["both", "baseline", "updates"] = "both"
    first: int | None = None
    http: HttpConfig = field(default_factory=HttpConfig)

    def __post_init__(self) -> None:
        address = urlsplit(self.base_url)
        usable = address.scheme in ("http", "https") and bool(address.hostname)
        refuse(
            "the download",
            ("base_url", "an address with http or https", self.base_url, usable),
            ("first", "1 or more", self.first, self.first is None or self.first >= 1),
        )

    def url(self, *parts: str) -> str:
        """Give the address of something below the base."""
        return "/".join((self.base_url.rstrip("/"), *parts))

    def kinds(self) -> tuple[str, ...]:
        """Give the folders wanted."""
        return {"both": KINDS, "baseline": (BASELINE,), "updates": (UPDATES,)}[self.only]


@dataclass(frozen=True, slots=True)
class SyncReport:
    """What a call did.

    Attributes:
        downloaded: Files that came.
        up_to_date: Files that were here.
        unlisted: Files here that the server does not list; they are kept.
        empty: Addresses of folders that have no file on the server.
        faults: What the server did not give, one a file; the same call tries again.
    """

    downloaded: int
    up_to_date: int
    unlisted: tuple[str, ...]
    empty: tuple[str, ...]
    faults: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Wanted:
    url: str
    path: Path
    listed: Listed


Progress = Callable[[int], object]


def sync(
    folder: Path,
    config: SyncConfig,
    verify: bool = False,
    expect: Callable[[int, int], object] = lambda _files, _bytes: None,
    progress: Progress = lambda _: None,
) -> SyncReport:
    """Bring a folder up to date with the server; interrupted, the same call goes on.

    Args:
        folder: Gets ``baseline/`` and ``updatefiles/``.
        config: Settings.
        verify: Compute the sums of all files and compare them with the server's again.
        expect: Called once with the files that may have to come and their bytes, as listed.
        progress: Called with the bytes that came.

    Raises:
        InputError: the server lists nothing usable, another process works on the folder, or
            files of two baselines would come together.
    """
    with _locked(folder), PoliteClient(config.http, config.base_url) as client:
        listings = {kind: _listing(client, config.url(kind, "")) for kind in config.kinds()}
        _refuse_mixed(folder, listings)
        wanted = [
            _Wanted(config.url(kind, one.file.name), folder / kind / one.file.name, one)
            for kind, listed in listings.items()
            for one in listed[: config.first]
        ]
        sums = Sums(folder)
        todo = [one for one in wanted if verify or not _is_known(one, sums)]
        expect(len(todo), sum(one.listed.size for one in todo))
        downloaded, faults = _bring_all(client, todo, sums, verify, progress)
    up_to_date = len(wanted) - downloaded - len(faults)
    empty = tuple(config.url(kind, "") for kind, listed in listings.items() if not listed)
    return SyncReport(downloaded, up_to_date, _unlisted(folder, listings), empty, tuple(faults))


def _bring_all(
    client: PoliteClient, todo: list[_Wanted], sums: Sums, verify: bool, progress: Progress
) -> tuple[int, list[str]]:
    """Give the number of files that came, and what did not."""
    downloaded = 0
    faults: dict[str, str] = {}
    with ThreadPoolExecutor(client.config.connections) as threads:
        futures: dict[Future[bool], _Wanted] = {
            threads.submit(_bring, client, one, sums, verify, progress): one for one in todo
        }
        try:
            for future in as_completed(futures):
                try:
                    downloaded += future.result()
                except FetchError as error:
                    faults[futures[future].listed.file.name] = str(error)
                    log.warning("%s", error)
        except BaseException:
            client.stop()
            threads.shutdown(cancel_futures=True)
            raise
    return downloaded, [faults[name] for name in sorted(faults)]


def _bring(
    client: PoliteClient, wanted: _Wanted, sums: Sums, verify: bool, progress: Progress
) -> bool:
    """Make sure that a file is here and right; say whether it had to come."""
    path, detail = wanted.path, wanted.listed.detail
    expected = fetch_sum(client, wanted.url)
    if path.is_file() and (md5_of(path) if verify else sums.md5(path)) == expected:
        sums.remember(path, expected, detail)
        return False
    path.parent.mkdir(exist_ok=True)
    sums.remember(path, download(client, wanted.url, path, expected, progress), detail)
    return True


def _is_known(wanted: _Wanted, sums: Sums) -> bool:
    known = sums.find(wanted.path)
    return known is not None and bool(known.listed) and known.listed == wanted.listed.detail


def _listing(client: PoliteClient, url: str) -> list[Listed]:
    """Give what the page of a folder lists, nothing where the folder is empty."""
    cure = "; only=baseline does without it" if url.endswith(f"/{UPDATES}/") else ""
    try:
        page = client.get_text(url)
    except FetchError as error:
        raise InputError(f"{error}: expected a page that lists PubMed's files{cure}") from error
    listed = files_listed(page)
    if not listed and not is_listing(page):
        raise InputError(
            f"{url}: expected a page with links to files such as pubmed25n0001.xml.gz, got another"
            f" page{cure}"
        )
    return listed


def _refuse_mixed(folder: Path, listings: dict[str, list[Listed]]) -> None:
    """Refuse files of two baselines: numbers start again each year, and revisions are of one."""
    here = {file.year for kind in KINDS for file in files_in(folder / kind)}
    there = {one.file.year for listed in listings.values() for one in listed}
    if len(there) > 1:
        raise InputError(
            f"the server lists files of several baselines ({_named(there)}): it changes from one"
            " to the next (December); try again in some days, or take only=baseline"
        )
    if here and there and here != there:
        raise InputError(
            f"{folder}: holds the baseline {_named(here)}, the server has {_named(there)}:"
            " a new baseline needs a new folder"
        )


def _named(years: set[int]) -> str:
    return ", ".join(f"pubmed{year:02}n" for year in sorted(years))


def _unlisted(folder: Path, listings: dict[str, list[Listed]]) -> tuple[str, ...]:
    return tuple(
        f"{kind}/{file.name}"
        for kind, listed in listings.items()
        for file in files_in(folder / kind)
        if file not in {one.file for one in listed}
    )


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Keep other processes from the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / ".lock").open("a") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise InputError(f"{folder}: another process downloads into it: wait for it") from error
        yield
