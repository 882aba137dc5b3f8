"""Reading and writing files: gzip by content, atomic replacement, JSONL of records."""

from __future__ import annotations

import contextlib
import fcntl
import glob
import gzip
import io
import os
import shutil
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import is_dataclass
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, TypeVar, get_args, get_type_hints

import msgspec

from hybrid_ir import gunzip
from hybrid_ir.errors import InputError

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

Record = TypeVar("Record", bound="DataclassInstance")


@contextlib.contextmanager
def open_binary(path: Path) -> Iterator[IO[bytes]]:
    """Open a file for reading, unpacked where it is gzipped, whatever its name; pipes, too.

    Raises:
        InputError: the file is missing, is a folder or cannot be read.
    """
    try:
        raw = path.open("rb")
    except OSError as error:
        raise InputError(f"{path}: expected a readable file: {error.strerror}") from error
    with raw:  # opened once: a pipe cannot be read from its beginning again
        if raw.peek(2)[:2] == gunzip.MAGIC:
            with gunzip.unpacked(raw) as content:
                yield content
        else:
            yield raw


def read_lines(path: Path) -> Iterator[tuple[int, str]]:
    """Yield (line number, line without its end) of a text file, blank lines left out.

    Raises:
        InputError: not UTF-8, or a gzip file that is damaged or ends early.
    """
    number = 0
    with open_binary(path) as file:
        try:
            for number, line in enumerate(file, start=1):
                text = line.decode("utf-8-sig" if number == 1 else "utf-8").rstrip("\r\n")
                if text.strip():
                    yield number, text
        except UnicodeDecodeError as error:
            raise InputError(f"{path}:{number}: expected UTF-8 text: {error.reason}") from error
        except (EOFError, OSError, zlib.error) as error:
            raise InputError(f"{path}:{number + 1}: cannot read on: {error}") from error


def read_text(path: Path) -> str:
    """Read a whole text file, gzipped or not; a byte order mark is left out.

    Raises:
        InputError: missing, not UTF-8, or a gzip file that is damaged or ends early.
    """
    with open_binary(path) as file:
        try:
            return file.read().decode("utf-8-sig").replace("\r\n", "\n")
        except (UnicodeDecodeError, EOFError, OSError, zlib.error) as error:
            raise InputError(f"{path}: expected UTF-8 text: {error}") from error


@contextlib.contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Give a temporary path whose file or folder takes the place of ``path`` on success.

    A file is replaced in one step: readers see the old content or the new one. A folder takes two:
    a kill between them leaves the old one under another name, and the next call brings it back.
    On an exception nothing is replaced and the temporary is removed; after a kill it stays behind
    under a name nobody reads (``.NAME.PID.tmp``) and the next call removes it.
    """
    path = path.resolve()  # a link stays a link
    path.parent.mkdir(parents=True, exist_ok=True)
    _clean_up(path)
    temporary = path.parent / f".{path.name}.{os.getpid()}.tmp"
    try:
        yield temporary
        if path.is_dir():  # a folder cannot be replaced in one step: move the old one aside first
            aside = path.parent / f".{path.name}.{os.getpid()}.old.tmp"
            path.rename(aside)
            temporary.rename(path)
            remove(aside)
        else:
            temporary.replace(path)
    finally:
        remove(temporary)


def _clean_up(path: Path) -> None:
    """Undo what killed writers of a path left behind."""
    for stale in path.parent.glob(f".{glob.escape(path.name)}.*.tmp"):
        if not _is_running(stale):
            if stale.name.endswith(".old.tmp") and not path.exists():
                stale.rename(path)
            else:
                remove(stale)


def _is_running(temporary: Path) -> bool:
    pid = temporary.name.removesuffix(".tmp").removesuffix(".old").rpartition(".")[2]
    return pid.isdigit() and int(pid) != os.getpid() and Path(f"/proc/{pid}").exists()


def beside(output: Path, word: str) -> Path:
    """Give the place of a file that goes with an output: ``x.jsonl.gz`` -> ``x.WORD.jsonl.gz``."""
    packed = ".gz" if output.suffix == ".gz" else ""
    name = output.name.removesuffix(packed).removesuffix(".jsonl")
    return output.with_name(f"{name}.{word}.jsonl{packed}")


@contextlib.contextmanager
def alone(path: Path) -> Iterator[None]:
    """Be the only process that makes a path; a hidden file beside it says so while it lasts.

    Raises:
        InputError: another process is making it, or its folder cannot be written.
    """
    lock = path.absolute().with_name(f".{path.absolute().name}.lock")
    try:
        lock.parent.mkdir(parents=True, exist_ok=True)
        lock.touch()
    except OSError as error:
        raise InputError(
            f"{path}: expected a folder that can be written, {lock.parent} is none:"
            f" {error.strerror}"
        ) from error
    while True:
        with locked(lock, path) as file:
            # whoever held the lock before may have removed its file in the meantime
            if lock.exists() and os.path.samestat(os.fstat(file.fileno()), lock.stat()):
                try:
                    yield
                finally:
                    remove(lock)
                return


@contextlib.contextmanager
def locked(lock: Path, path: Path) -> Iterator[io.TextIOWrapper]:
    """Open a file for appending and lock it for this process; ``path`` is what is being made.

    Raises:
        InputError: another process holds it.
    """
    with lock.open("a", encoding="utf-8") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise InputError(f"{path}: another process is writing it: wait for it") from error
        yield file


def refuse_to_write(path: Path) -> None:
    """Raise an InputError where a file is to be written and something else stands."""
    if path.exists() and not path.is_file():
        kind = "a folder" if path.is_dir() else "no ordinary file"
        raise InputError(f"{path}: expected the name of a file to write, it is {kind}")


def remove(path: Path) -> None:
    """Remove a file or a whole folder; nothing happens when it is not there."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


@contextlib.contextmanager
def writing(path: Path) -> Iterator[io.TextIOBase]:
    """Open a text file that appears under ``path`` only when the block ends without an exception.

    A name ending in ``.gz`` is compressed, with no time stamp, so equal content gives equal bytes.

    Raises:
        InputError: a folder or a device has that name.
    """
    refuse_to_write(path)
    with replacing(path) as temporary, contextlib.ExitStack() as stack:
        raw = stack.enter_context(temporary.open("wb"))
        binary = (
            stack.enter_context(gzip.GzipFile("", "wb", 9, raw, mtime=0))
            if path.suffix == ".gz"
            else raw
        )
        text = stack.enter_context(io.TextIOWrapper(binary, encoding="utf-8", newline="\n"))
        yield text
        text.flush()
        raw.flush()
        os.fsync(raw.fileno())


def read_jsonl(path: Path, kind: type[Record]) -> Iterator[Record]:
    """Stream the records of a JSONL file, one object a line.

    Args:
        path: The file, gzipped or not.
        kind: The record type; each line must hold its fields and no others.

    Raises:
        InputError: a line is not JSON, lacks a field, has an unknown one or one of a wrong type;
            the message names file, line and field.
    """
    return (record for _, record in read_jsonl_lines(path, kind))


def read_jsonl_lines(path: Path, kind: type[Record]) -> Iterator[tuple[int, Record]]:
    """Stream (line number, record), as :func:`read_jsonl` does."""
    decode = msgspec.json.Decoder(dict[str, Any]).decode
    for number, line in read_lines(path):
        try:
            values = decode(line)
            _refuse_unknown(values, kind)
            yield number, msgspec.convert(values, kind)
        except (msgspec.MsgspecError, InputError, RecursionError) as error:
            raise InputError(f"{path}:{number}: not a {kind.__name__}: {error}") from error


def _refuse_unknown(values: Any, kind: type) -> None:  # noqa: ANN401 (any JSON)
    """Look for unknown keys, in nested records too."""
    if not isinstance(values, dict):
        return  # of a wrong type: the conversion says so
    known = _nested_kinds(kind)
    if unknown := values.keys() - known.keys():
        raise InputError(unknown_keys(unknown, known))
    for name, nested in known.items():
        if nested and isinstance(items := values.get(name), list):
            for item in items:
                _refuse_unknown(item, nested)


@cache
def _nested_kinds(kind: type) -> dict[str, type | None]:
    """Give the fields of a record, with the record type of those that are tuples of records."""
    nested = {}
    for name, hint in get_type_hints(kind).items():
        first = next(iter(get_args(hint)), None)
        nested[name] = first if isinstance(first, type) and is_dataclass(first) else None
    return nested


def unknown_keys(unknown: Iterable[str], known: Iterable[str]) -> str:
    """Say which keys are unknown, what was probably meant, and which exist."""
    known = sorted(known)
    parts = []
    for key in sorted(unknown):
        near = get_close_matches(key, known, n=1)
        parts.append(f"unknown key {key!r}" + (f" (did you mean {near[0]!r}?)" if near else ""))
    return f"{', '.join(parts)}; known: {', '.join(known)}"


def to_json(record: DataclassInstance) -> str:
    """Give a record as one line of JSON, fields in their declared order."""
    return msgspec.json.encode(record).decode()


def write_jsonl(path: Path, records: Iterable[DataclassInstance]) -> int:
    """Write records as JSONL, atomically, and say how many there were."""
    count = 0
    with writing(path) as file:
        for record in records:
            file.write(to_json(record) + "\n")
            count += 1
    return count
