"""A document store that grows in place, one PubMed file in one transaction.

Beside the documents it holds which files were applied, which documents changed since the search
index last followed (``changes``), and the version of citations that are known but not selected, so
that an older version never takes their place (``hidden``). It has a rollback journal while it
grows and is one plain file between transactions.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from hybrid_ir.errors import InputError
from hybrid_ir.pubmed.growing_file import GrowingFile
from hybrid_ir.pubmed.store import DOCUMENTS, is_whole

_SCHEMA = (
    DOCUMENTS,
    "CREATE TABLE hidden (id TEXT PRIMARY KEY, version INTEGER NOT NULL) WITHOUT ROWID",
    "CREATE TABLE changes (sequence INTEGER NOT NULL, id TEXT NOT NULL)",
    "CREATE TABLE applied (sequence INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE,"
    " md5 TEXT NOT NULL, counts TEXT NOT NULL)",
    "CREATE TABLE state (whole INTEGER NOT NULL, followed INTEGER NOT NULL,"
    " settings TEXT NOT NULL)",
)


@dataclass(frozen=True, slots=True)
class AppliedRow:
    """An applied file; ``counts`` is JSON."""

    sequence: int
    name: str
    md5: str
    counts: str


class GrowingStore:
    """The one writer of a store. Whoever opens it holds its lock."""

    def __init__(self, path: Path, settings: str) -> None:
        self._connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
        try:
            self._begin(settings)
        except BaseException as error:
            self._connection.close()
            if isinstance(error, sqlite3.DatabaseError):
                raise InputError(f"{path}: cannot be used as a store: {error}") from error
            raise

    def _begin(self, settings: str) -> None:
        execute = self._connection.execute
        execute("PRAGMA cache_size = -65536")
        execute("PRAGMA journal_mode = DELETE")
        if not execute("SELECT 1 FROM sqlite_schema WHERE name = 'state'").fetchone():
            with self._transaction():
                for statement in _SCHEMA:
                    execute(statement)
                execute("INSERT INTO state VALUES (0, 0, ?)", (settings,))

    @property
    def settings(self) -> str:
        """What the store was begun with."""
        settings: str = self._connection.execute("SELECT settings FROM state").fetchone()[0]
        return settings

    def set_settings(self, settings: str) -> None:
        """Begin with other settings; only as long as no file was applied."""
        self._connection.execute("UPDATE state SET settings = ?", (settings,))

    @property
    def whole(self) -> bool:
        """Whether the index was brought to the store's state, and readers may come."""
        return is_whole(self._connection)

    def set_whole(self, whole: bool) -> None:
        """Let readers in or keep them out."""
        self._connection.execute("UPDATE state SET whole = ?", (int(whole),))

    @property
    def followed(self) -> int:
        """The last file whose changes are no longer kept, since the index has them."""
        followed: int = self._connection.execute("SELECT followed FROM state").fetchone()[0]
        return followed

    def set_followed(self, sequence: int) -> None:
        """Forget the changes of files that the index has for good."""
        with self._transaction():
            self._connection.execute("DELETE FROM changes WHERE sequence <= ?", (sequence,))
            self._connection.execute("UPDATE state SET followed = ?", (sequence,))

    def applied(self) -> list[AppliedRow]:
        """Give the applied files in order."""
        rows = self._connection.execute(
            "SELECT sequence, name, md5, counts FROM applied ORDER BY sequence"
        )
        return [AppliedRow(*row) for row in rows]

    @property
    def last(self) -> int:
        """The number of applied files, and of the last one."""
        last: int | None = self._connection.execute("SELECT max(sequence) FROM applied").fetchone()[
            0
        ]
        return last or 0

    @contextmanager
    def file(self) -> Iterator[GrowingFile]:
        """Apply one file: all of it when the block ends, nothing when it raises."""
        with self._transaction():
            yield GrowingFile(self._connection, self.last + 1)

    def changed_since(self, sequence: int) -> Iterator[tuple[str, bytes | None]]:
        """Give (id, document or None) of everything that later files changed."""
        return self._connection.execute(
            "SELECT DISTINCT c.id, d.record FROM changes c LEFT JOIN documents d ON d.id = c.id"
            " WHERE c.sequence > ?",
            (sequence,),
        )

    def records(self) -> Iterator[bytes]:
        """Give every document."""
        rows = self._connection.execute("SELECT record FROM documents ORDER BY rowid")
        return (row[0] for row in rows)

    def ids_in_order(self) -> Iterator[str]:
        """Give every id in the order of the numbers they are."""
        rows = self._connection.execute("SELECT id FROM documents ORDER BY length(id), id")
        return (row[0] for row in rows)

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        self._connection.execute("BEGIN IMMEDIATE")
        try:
            yield
            self._connection.execute("COMMIT")
        except BaseException:
            if self._connection.in_transaction:  # a full disk has ended it already
                self._connection.execute("ROLLBACK")
            raise
