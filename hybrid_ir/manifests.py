"""Manifests: which artefact was made from what, and whether it is still up to date.

Beside an artefact ``NAME`` (a file or a folder) lies ``NAME.manifest.json`` with

- a *key*: the hash of the stage, its code version, its settings and its inputs. Another key means
  the artefact is stale;
- its *files* with size, time stamp and SHA-256. A file whose size changed is foreign or truncated;
  one whose time stamp changed is hashed again; ``verify`` hashes all;
- *info* that decides nothing: counts, seconds, versions.

An input without a manifest is known by its content. A folder that says itself what it holds, in
``corpus.json``, is known by the JSON files in it: a corpus of PubMed is too large to be hashed.
"""

from __future__ import annotations

import hashlib
import logging
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from hybrid_ir.config import plain
from hybrid_ir.errors import InputError
from hybrid_ir.files import alone, writing

log = logging.getLogger(__name__)

STATEMENT = "corpus.json"
"""The file in a folder that says what the folder holds."""


@dataclass(frozen=True, slots=True)
class FileMark:
    """What identifies a file's content: cheap to compare, exact when hashed."""

    size: int
    mtime_ns: int
    sha256: str


@dataclass(frozen=True, slots=True)
class Input:
    """What an input was: the key of the artefact it is, or the hash of its content."""

    identity: str
    files: dict[str, FileMark]


@dataclass(frozen=True, slots=True)
class Manifest:
    """The content of a manifest file."""

    stage: str
    key: str
    settings: dict[str, Any]
    inputs: dict[str, Input]
    files: dict[str, FileMark]
    info: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Stage:
    """One step from inputs to an artefact.

    Attributes:
        name: The verb, as on the command line.
        version: Raised whenever the code would make another artefact from the same inputs.
        settings: The stage's configuration, a dataclass.
        inputs: Role -> file or folder.
    """

    name: str
    version: int
    settings: Any
    inputs: Mapping[str, Path]


def manifest_path(artefact: Path) -> Path:
    """Give the place of an artefact's manifest."""
    whole = artefact.absolute()  # "." has no name of its own
    return whole.with_name(f"{whole.name}.manifest.json")


def read_manifest(artefact: Path) -> Manifest | None:
    """Read an artefact's manifest; None when it is missing or unreadable."""
    try:
        return msgspec.json.decode(manifest_path(artefact).read_bytes(), type=Manifest)
    except (OSError, msgspec.MsgspecError):
        return None


def run_stage(
    stage: Stage,
    artefact: Path,
    work: Callable[[str], dict[str, Any]],
    verify: bool = False,
    silent: bool = False,
) -> Manifest:
    """Make an artefact unless it is up to date.

    Args:
        stage: What is to be done, with which settings, from which inputs.
        artefact: The file or folder to be made.
        work: Makes it, atomically; takes the stage's key, gives the counts to record.
        verify: Hash inputs and artefact instead of trusting sizes and time stamps.
        silent: Say nothing where there is nothing to do.

    Raises:
        InputError: an input is missing, is a pipe, has changed since it was made, or is the
            artefact itself; another process is making the artefact.
    """
    for role, path in stage.inputs.items():
        if path.resolve() == artefact.resolve():
            raise InputError(f"{path}: would be overwritten, it is an input ({role}): name another")
    old = read_manifest(artefact)
    known = old.inputs if old else {}
    inputs = {role: _input(path, known.get(role), verify) for role, path in stage.inputs.items()}
    key = _key(stage, inputs)
    if old and old.key == key and _is_whole(artefact, old, verify):
        if not silent:
            log.info("%s: %s is up to date", stage.name, artefact)
        return old
    with alone(artefact):
        started = time.monotonic()
        info = work(key)
        info["seconds"] = round(time.monotonic() - started, 2)
        known_files = old.files if old else {}  # of what grows, most has not changed
        marks = _marks(artefact, known_files, verify)
        manifest = Manifest(stage.name, key, plain(stage.settings), inputs, marks, info)
        with writing(manifest_path(artefact)) as file:
            file.write(msgspec.json.format(msgspec.json.encode(manifest)).decode() + "\n")
    log.info("%s: wrote %s in %.1f s", stage.name, artefact, info["seconds"])
    return manifest


def _input(path: Path, known: Input | None, verify: bool) -> Input:
    maker = read_manifest(path)
    if maker and path.exists():
        if not _is_whole(path, maker, verify):
            raise InputError(
                f"{path}: has changed since {maker.stage} made it; make it again, or remove"
                f" {manifest_path(path).name} if it is meant to be as it is"
            )
        return Input(maker.key, maker.files)
    paths = sorted(path.glob("*.json")) if (path / STATEMENT).is_file() else None
    marks = _marks(path, known.files if known else {}, verify, paths)
    return Input(_hash(_sums(marks)), marks)


def _key(stage: Stage, inputs: Mapping[str, Input]) -> str:
    content = {
        "stage": stage.name,
        "version": stage.version,
        "settings": plain(stage.settings),
        "inputs": {role: item.identity for role, item in inputs.items()},
    }
    return _hash(content)


def _hash(content: dict[str, Any] | dict[str, str]) -> str:
    return hashlib.sha256(msgspec.json.encode(content, order="sorted")).hexdigest()


def _is_whole(artefact: Path, manifest: Manifest, verify: bool) -> bool:
    return artefact.exists() and next(_changed(artefact, manifest, verify), None) is None


def changed_files(artefact: Path, manifest: Manifest, verify: bool) -> set[str]:
    """Give the files of an artefact, by their names inside, that are not what its manifest says."""
    return set(_changed(artefact, manifest, verify))


def _changed(artefact: Path, manifest: Manifest, verify: bool) -> Iterator[str]:
    """Find changed files, those that need not be hashed first."""
    files = _files(artefact)
    yield from sorted(files.keys() ^ manifest.files.keys())
    both = [(name, files[name], mark) for name, mark in manifest.files.items() if name in files]
    for name, file, mark in both:
        if file.stat().st_size != mark.size:
            yield name
    for name, file, mark in both:
        if _mark(file, None if verify else mark).sha256 != mark.sha256:
            yield name


def _sums(marks: Mapping[str, FileMark]) -> dict[str, str]:
    return {name: mark.sha256 for name, mark in marks.items()}


def _marks(
    path: Path, known: Mapping[str, FileMark], verify: bool, only: Iterable[Path] | None = None
) -> dict[str, FileMark]:
    """Give the marks of an artefact's files, by their names inside; ``known`` saves hashing."""
    if not path.exists():
        raise InputError(f"{path}: expected a file or folder, there is none")
    if not (path.is_file() or path.is_dir()):
        raise InputError(
            f"{path}: expected a file or folder, it is a pipe or a device, whose content is gone"
            " once it was read: save it as a file"
        )
    files = _files(path) if only is None else {file.name: file for file in only}
    return {name: _mark(file, None if verify else known.get(name)) for name, file in files.items()}


def _files(path: Path) -> dict[str, Path]:
    """Give every file of an artefact by its name inside; "" is that of an artefact of one file."""
    if not path.is_dir():
        return {"": path}
    return {
        file.relative_to(path).as_posix(): file
        for file in sorted(path.rglob("*"))
        if file.is_file()
    }


def _mark(file: Path, known: FileMark | None) -> FileMark:
    stat = file.stat()
    if known and (known.size, known.mtime_ns) == (stat.st_size, stat.st_mtime_ns):
        return known
    with file.open("rb") as content:
        digest = hashlib.file_digest(content, "sha256").hexdigest()
    return FileMark(stat.st_size, stat.st_mtime_ns, digest)
