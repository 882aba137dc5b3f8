"""The one SQLite file behind the reply cache and the account of calls.

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
from pathlib import Path

from hybrid_ir.errors import InputError

_APPLICATION = 0x48495243  # "HIRC": tells our files from other people's databases
_VERSION = 1
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

_SCHEMA = """
CREATE TABLE replies (
    key TEXT PRIMARY KEY,        -- replies.key_of
    rejected TEXT,               -- NULL for a good reply, else why it is of no use
    text TEXT NOT NULL, finish TEXT NOT NULL,
    prompt INTEGER NOT NULL, completion INTEGER NOT NULL, estimated INTEGER NOT NULL,
    model TEXT NOT NULL, raw TEXT NOT NULL,
    identity TEXT NOT NULL, request TEXT NOT NULL,      -- JSON
    created TEXT NOT NULL);
CREATE TABLE exported (          -- requests written for an offline batch, until it is answered
    key TEXT PRIMARY KEY, identity TEXT NOT NULL, request TEXT NOT NULL);
CREATE TABLE processes (
    id INTEGER PRIMARY KEY, host TEXT NOT NULL, pid INTEGER NOT NULL, born TEXT NOT NULL,
    UNIQUE (host, pid, born));
CREATE TABLE calls (             -- the ledger; one row a call, written before it is made
    id INTEGER PRIMARY KEY, stage TEXT NOT NULL, key TEXT NOT NULL,
    process INTEGER NOT NULL REFERENCES processes,
    state TEXT NOT NULL,         -- open, done, free, possible
    tokens INTEGER NOT NULL, cost INTEGER NOT NULL,     -- at worst until done; cost in USD / 10**12
    started TEXT NOT NULL);
CREATE INDEX open_calls ON calls (process) WHERE state = 'open';
CREATE TABLE spent (             -- the sums of calls.tokens and calls.cost
    stage TEXT PRIMARY KEY, tokens INTEGER NOT NULL, cost INTEGER NOT NULL);
"""


class Database:
    """A connection that threads may share; one transaction at a time."""

    def __init__(self, path: Path | None) -> None:
        """Open or create a file; None for one in memory.

        Raises:
            InputError: it cannot be opened or is another program's or a newer version's.
        """
        self.path = path
        self._lock = threading.RLock()
        self._depth = 0
        with self._errors():
            if path:
                path.parent.mkdir(parents=True, exist_ok=True)
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

    def _create(self) -> None:
        """Set the modes and make the tables of a new file."""
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
            if not self._pragma("application_id") and not self._tables():
                for statement in _SCHEMA.split(";\n"):
                    self.connection.execute(statement)
                self.connection.execute(f"PRAGMA application_id = {_APPLICATION}")
                self.connection.execute(f"PRAGMA user_version = {_VERSION}")
        found = (self._pragma("application_id"), self._pragma("user_version"))
        if found != (_APPLICATION, _VERSION):
            raise InputError(
                f"{self.path}: expected a reply cache of version {_VERSION}, it is another "
                f"{'database' if found[0] != _APPLICATION else f'version ({found[1]})'}; "
                "name another file"
            )

    def _pragma(self, name: str) -> int:
        return int(self.connection.execute(f"PRAGMA {name}").fetchone()[0])

    def _tables(self) -> int:
        return int(self.connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0])

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
        try:
            yield
        except sqlite3.Error as error:
            cure = _CURES.get(getattr(error, "sqlite_errorcode", 0) & 0xFF, "")
            where = self.path or "the account"
            raise InputError(
                f"{where}: the cache fails: {error}" + (f"; {cure}" if cure else "")
            ) from error

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self.connection.close()
