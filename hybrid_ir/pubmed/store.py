"""Documents on disk, looked up by id: one SQLite file, nothing held in memory."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import Any

import msgspec

from hybrid_ir.errors import InputError
from hybrid_ir.files import to_json
from hybrid_ir.pubmed.store_lock import reading
from hybrid_ir.records import Document

DOCUMENTS = (
    "CREATE TABLE documents (id TEXT NOT NULL UNIQUE, version INTEGER NOT NULL DEFAULT 1,"
    " record BLOB NOT NULL)"
)
INTERRUPTED = "its build or update was interrupted: run the same hybrid-ir pubmed command again"
_IDS_A_QUERY = 500
_decode = msgspec.json.Decoder(Document).decode


@contextmanager
def sqlite_faults(path: Path) -> Iterator[None]:
    """Say in one line what SQLite cannot do: a full disk, a damaged file.

    Raises:
        InputError: SQLite failed in the block.
    """
    try:
        yield
    except sqlite3.ProgrammingError:  # closed already, say: the caller's fault
        raise
    except sqlite3.DatabaseError as error:
        raise InputError(f"{path}: {error}") from error


class DuplicateError(InputError):
    """A document id that occurs twice."""

    def __init__(self, document_id: str) -> None:
        super().__init__(f"document {document_id} occurs twice")
        self.document_id = document_id


class StoreWriter:
    """Fills a new store; nothing is visible to readers before :meth:`close`.

    The file is written without a journal: an unfinished store is thrown away, never repaired.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
        self._connection.execute("PRAGMA journal_mode = OFF")
        self._connection.execute("PRAGMA synchronous = OFF")
        self._connection.execute("PRAGMA cache_size = -65536")
        self._connection.execute(DOCUMENTS)
        self._connection.execute("BEGIN")

    def add(self, documents: Iterable[Document]) -> None:
        """Add documents in order.

        Raises:
            DuplicateError: an id that is in the store already.
        """
        for document in documents:
            with sqlite_faults(self._path):
                try:
                    self._connection.execute(
                        "INSERT INTO documents (id, record) VALUES (?, ?)",
                        (document.id, to_json(document)),
                    )
                except sqlite3.IntegrityError as error:
                    raise DuplicateError(document.id) from error

    def close(self) -> None:
        """Make everything added so far durable."""
        with sqlite_faults(self._path), closing(self._connection):
            if self._connection.in_transaction:  # a full disk has ended it already
                self._connection.execute("COMMIT")
        with self._path.open("rb") as file:
            os.fsync(file.fileno())


class DocumentStore(Mapping[str, Document]):
    """A read-only mapping from document id to :class:`Document`, on disk.

    Iteration is in the order of insertion and holds one document at a time. Safe to share between
    threads; another process opens the same path. While it is open, no update can begin.

    Raises:
        InputError: no store, or one that is being updated or whose update was interrupted.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        if not path.is_file():
            raise InputError(f"{path}: expected a document store: run hybrid-ir index")
        self._lock = ExitStack()
        self._lock.enter_context(reading(path))
        try:
            self._connection = _open_whole(path)
        except BaseException:
            self._lock.close()
            raise

    def __getitem__(self, document_id: str) -> Document:
        with sqlite_faults(self.path):
            row = self._connection.execute(
                "SELECT record FROM documents WHERE id = ?", (document_id,)
            ).fetchone()
        if row is None:
            raise KeyError(document_id)
        return _decode(row[0])

    def __iter__(self) -> Iterator[str]:
        with sqlite_faults(self.path):
            for row in self._connection.execute("SELECT id FROM documents ORDER BY rowid"):
                yield row[0]

    def __len__(self) -> int:
        with sqlite_faults(self.path):
            count: int = self._connection.execute("SELECT count(*) FROM documents").fetchone()[0]
        return count

    def documents(self) -> Iterator[Document]:
        """Stream every document in the order of insertion."""
        with sqlite_faults(self.path):
            for row in self._connection.execute("SELECT record FROM documents ORDER BY rowid"):
                yield _decode(row[0])

    def find(self, document_ids: Iterable[str]) -> dict[str, Document]:
        """Look up many ids at once; an id that is not there is left out of the result."""
        wanted = list(dict.fromkeys(document_ids))
        found: dict[str, Document] = {}
        with sqlite_faults(self.path):
            rows = select_many(self._connection, "id, record", "documents", wanted)
            found.update((document_id, _decode(record)) for document_id, record in rows)
        return {document_id: found[document_id] for document_id in wanted if document_id in found}

    def close(self) -> None:
        """Close the file; the store cannot be used afterwards."""
        self._connection.close()
        self._lock.close()


def select_many(
    connection: sqlite3.Connection, columns: str, table: str, ids: Sequence[str]
) -> Iterator[tuple[Any, ...]]:
    """Give the rows with one of many ids, in any order."""
    for start in range(0, len(ids), _IDS_A_QUERY):
        part = ids[start : start + _IDS_A_QUERY]
        marks = ",".join("?" * len(part))
        query = f"SELECT {columns} FROM {table} WHERE id IN ({marks})"  # noqa: S608 (own words)
        yield from connection.execute(query, part)


def _open_whole(path: Path) -> sqlite3.Connection:
    """Open a store for reading only, without locks or a journal of SQLite's own."""
    if path.with_name(f"{path.name}-journal").exists():
        raise InputError(f"{path}: {INTERRUPTED}")
    connection = sqlite3.connect(
        f"{path.absolute().as_uri()}?mode=ro&immutable=1", uri=True, check_same_thread=False
    )
    try:
        connection.execute("SELECT id, record FROM documents LIMIT 1").fetchall()
        if not is_whole(connection):
            raise InputError(f"{path}: {INTERRUPTED}")
    except BaseException as error:
        connection.close()
        if isinstance(error, sqlite3.DatabaseError):
            raise InputError(f"{path}: not a document store ({error}): index again") from error
        raise
    return connection


def is_whole(connection: sqlite3.Connection) -> bool:
    """Say whether a store is one that never grows, or one that is not growing just now."""
    grows = connection.execute("SELECT 1 FROM sqlite_schema WHERE name = 'state'").fetchone()
    return not grows or connection.execute("SELECT whole FROM state").fetchone() == (1,)
