"""What the one file behind the reply cache and the account of calls holds."""

from __future__ import annotations

from pathlib import Path

from hybrid_ir.database import Database, Schema

_SCHEMA = Schema(
    name="reply cache",
    application=0x48495243,  # "HIRC"
    version=1,
    tables="""
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
""",
)


def open_database(path: Path | None) -> Database:
    """Open or create the file; None for an account in memory.

    Raises:
        InputError: it cannot be opened or is another program's or a newer version's.
    """
    return Database(path, _SCHEMA)
