"""SQLite files that hold what was dearly computed or paid for.

WAL mode with ``synchronous = NORMAL``: a commit is in the operating system's hands when it returns,
so what was committed survives kill -9 at any moment; a power cut may take the last moments'
commits, never the file. Several processes of one machine may use it at once (no network drive:
WAL needs shared memory). ``NAME-wal`` and ``NAME-shm`` beside it belong to it while it is open or
after a kill; the next one to open it takes them in.
"""

from __future__ import annotations

import contextlib
import sqlite3
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from hybrid_ir.errors import InputError

_BUSY_SECONDS = 60.0
_WAIT = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)
_CURES = {  # by primary result code
    sqlite3.SQLITE_FULL: "make room and run the same command again: what was stored is safe",
    sqlite3.SQLITE_IOERR: "look after its disk and run the same command again",
    sqlite3.SQLITE_READONLY: "it must be a file, in a folder, that can be written",
    sqlite3.SQLITE_CANTOPEN: "it must be a file, in a folder, that can be written",
    sqlite3.SQLITE_NOTADB: "name another file",
    sqlite3.SQLITE_CORRUPT: "name another file; `sqlite3 FILE .recover` may save what is in it",
    sqlite3.SQLITE_BUSY: "another process keeps it busy: run the same command again",
}


@dataclass(frozen=True, slots=True)
class Schema:
    """What a file holds.

    Attributes:
        name: What messages call it, such as "reply cache".
        application: Four bytes that tell our files of this kind from other databases.
        version: Raised whenever the tables change.
        tables: The statements that make them.
    """

    name: str
    application: int
    version: int
    tables: str


class Database:
    """A connection that threads may share; one transaction at a time."""

    def __init__(self, path: Path | None, schema: Schema) -> None:
        """Open or create a file; None for one in memory.

        Raises:
            InputError: it cannot be opened, is damaged, or is another program's or version's.
        """
        self.path = path
        self.schema = schema
        self._lock = threading.RLock()
        self._depth = 0
        with self._errors():
            self._make_folder()
            self.connection = sqlite3.connect(
                path or ":memory:",
                timeout=_BUSY_SECONDS,
                isolation_level=None,
                check_same_thread=False,
            )
            try:
                self._create()
            except BaseException:
                self.connection.close()
                raise

    def _make_folder(self) -> None:
        try:
            if self.path:
                self.path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InputError(
                f"{self.path}: the {self.schema.name} needs a folder that can be made and written:"
                f" {error.strerror}; name another file"
            ) from error

    def _create(self) -> None:
        """Set the modes and make the tables of a new file; leave another's file as it is."""
        if not self._is_new():
            self._refuse_another()
        deadline = time.monotonic() + _BUSY_SECONDS
        while True:  # changing a new file's mode does not wait for others that change it, too
            try:
                self.connection.execute("PRAGMA journal_mode = WAL")
                break
            except sqlite3.OperationalError as error:
                if error.sqlite_errorcode & 0xFF not in _WAIT or time.monotonic() > deadline:
                    raise
                time.sleep(0.01)
        self.connection.execute("PRAGMA synchronous = NORMAL")
        with self.transaction():
            if self._is_new():
                for statement in self.schema.tables.split(";\n"):
                    self.connection.execute(statement)
                self.connection.execute(f"PRAGMA application_id = {self.schema.application}")
                self.connection.execute(f"PRAGMA user_version = {self.schema.version}")
        self._refuse_another()

    def _is_new(self) -> bool:
        if self._pragma("application_id"):
            return False
        return not self.connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]

    def _refuse_another(self) -> None:
        schema = self.schema
        found = (self._pragma("application_id"), self._pragma("user_version"))
        if found != (schema.application, schema.version):
            other = f"version ({found[1]})" if found[0] == schema.application else "database"
            raise InputError(
                f"{self.path}: expected a {schema.name} of version {schema.version}, it is another"
                f" {other}; name another file"
            )

    def _pragma(self, name: str) -> int:
        return int(self.connection.execute(f"PRAGMA {name}").fetchone()[0])

    @contextlib.contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """Write all or nothing; inside another transaction, as a part of that one."""
        with self._lock, self._errors():
            if self._depth:
                yield self.connection
                return
            self.connection.execute("BEGIN IMMEDIATE")
            self._depth = 1
            try:
                yield self.connection
            except BaseException:
                if self.connection.in_transaction:  # SQLite itself rolls back on a full disk
                    self.connection.execute("ROLLBACK")
                raise
            else:
                self.connection.execute("COMMIT")
            finally:
                self._depth = 0

    @contextlib.contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """Read, one thread at a time."""
        with self._lock, self._errors():
            yield self.connection

    @contextlib.contextmanager
    def _errors(self) -> Iterator[None]:
        where = self.path or "in memory"
        try:
            yield
        except sqlite3.Error as error:
            cure = _CURES.get(getattr(error, "sqlite_errorcode", 0) & 0xFF, "")
            raise InputError(
                f"{where}: the {self.schema.name} fails: {error}" + (f"; {cure}" if cure else "")
            ) from error

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self.connection.close()
