"""Documents on disk, looked up by id: one SQLite file, nothing held in memory."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import msgspec

from hybrid_ir.errors import InputError
from hybrid_ir.files import to_json
from hybrid_ir.records import Document

_SCHEMA = "CREATE TABLE documents (id TEXT NOT NULL UNIQUE, record BLOB NOT NULL)"
_IDS_A_QUERY = 500
_decode = msgspec.json.Decoder(Document).decode


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
        self._connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
        self._connection.execute("PRAGMA journal_mode = OFF")
        self._connection.execute("PRAGMA synchronous = OFF")
        self._connection.execute("PRAGMA cache_size = -65536")
        self._connection.execute(_SCHEMA)
        self._connection.execute("BEGIN")

    def add(self, documents: Iterable[Document]) -> None:
        """Add documents in order.

        Raises:
            DuplicateError: an id that is in the store already.
        """
        for document in documents:
            try:
                self._connection.execute(
                    "INSERT INTO documents VALUES (?, ?)", (document.id, to_json(document))
                )
            except sqlite3.IntegrityError as error:
                raise DuplicateError(document.id) from error

    def close(self) -> None:
        """Make everything added so far durable."""
        self._connection.execute("COMMIT")
        self._connection.execute("PRAGMA synchronous = FULL")
        self._connection.close()


class DocumentStore(Mapping[str, Document]):
    """A read-only mapping from document id to :class:`Document`, on disk.

    Iteration is in the order of insertion and holds one document at a time. Safe to share between
    threads; another process opens the same path.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        if not path.is_file():
            raise InputError(f"{path}: expected a document store: run hybrid-ir index")
        self._connection = sqlite3.connect(
            f"{path.absolute().as_uri()}?mode=ro&immutable=1", uri=True, check_same_thread=False
        )
        try:
            self._connection.execute("SELECT id, record FROM documents LIMIT 1").fetchall()
        except sqlite3.DatabaseError as error:
            raise InputError(f"{path}: not a document store ({error}): index again") from error

    def __getitem__(self, document_id: str) -> Document:
        row = self._connection.execute(
            "SELECT record FROM documents WHERE id = ?", (document_id,)
        ).fetchone()
        if row is None:
            raise KeyError(document_id)
        return _decode(row[0])

    def __iter__(self) -> Iterator[str]:
        return (
            row[0] for row in self._connection.execute("SELECT id FROM documents ORDER BY rowid")
        )

    def __len__(self) -> int:
        count: int = self._connection.execute("SELECT count(*) FROM documents").fetchone()[0]
        return count

    def documents(self) -> Iterator[Document]:
        """Stream every document in the order of insertion."""
        rows = self._connection.execute("SELECT record FROM documents ORDER BY rowid")
        return (_decode(record) for (record,) in rows)

    def find(self, document_ids: Iterable[str]) -> dict[str, Document]:
        """Look up many ids at once; an id that is not there is left out of the result."""
        wanted = list(dict.fromkeys(document_ids))
        found: dict[str, Document] = {}
        for start in range(0, len(wanted), _IDS_A_QUERY):
            part = wanted[start : start + _IDS_A_QUERY]
            marks = ",".join("?" * len(part))
            rows = self._connection.execute(
                f"SELECT id, record FROM documents WHERE id IN ({marks})",  # noqa: S608 (only marks)
                part,
            )
            found.update((row[0], _decode(row[1])) for row in rows)
        return {document_id: found[document_id] for document_id in wanted if document_id in found}

    def close(self) -> None:
        """Close the file; the store cannot be used afterwards."""
        self._connection.close()
