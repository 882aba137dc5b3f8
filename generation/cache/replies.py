"""The reply cache: what was asked of which model, and what it said.

A reply is found by everything that decides it (:func:`key_of`), and only a reply of use is given
as good: not a truncated, refused, filtered or empty one, nor one that the parser of its stage
rejected. Rejected replies are kept: the parser sees them again at the next look-up, so a better
parser takes them without a new call. Errors are not replies and are not kept.

Two processes that miss the same key at the same time both ask. The first good reply stays and both
go on with it.
"""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec

from generation.cache.database import open_database
from generation.cache.ledger import Ledger
from generation.llm import Identity, Reply, Request, Sampling, Usage

_COLUMNS = (
    "key, rejected, text, finish, prompt, completion, estimated, model, raw, identity, request,"
    " created"
)
_STORE = (
    f"INSERT INTO replies ({_COLUMNS}) VALUES ({'?, ' * 11}?) ON CONFLICT (key) DO UPDATE SET "  # noqa: S608
    + ", ".join(f"{column} = excluded.{column}" for column in _COLUMNS.replace(" ", "").split(","))
    + " WHERE replies.rejected NOT NULL"
)


@dataclass(frozen=True, slots=True)
class CachedReply:
    """A reply as it is kept.

    Attributes:
        key: See :func:`key_of`.
        rejected: Why it is of no use, or None for a good one.
        created: When it came (UTC, ISO 8601).
        identity: The model that was asked.
        request: What it was asked.
        reply: What it said.
    """

    key: str
    rejected: str | None
    created: str
    identity: Identity
    request: Request
    reply: Reply


@dataclass(frozen=True, slots=True)
class Count:
    """How many replies of one model are kept, and the tokens they took."""

    identity: Identity
    good: int
    rejected: int
    prompt_tokens: int
    completion_tokens: int


def key_of(identity: Identity, request: Request) -> str:
    """Give the SHA-256 of all that decides a reply, in hexadecimal.

    The model with its settings, messages, schema, every sampling parameter that is set, sample and
    attempt; not whose question it is. 1 and 1.0 are the same.
    """
    parts = [
        [identity.provider, identity.model, identity.revision, identity.settings],
        [[message.role, message.content] for message in request.messages],
        _plain(request.sampling),
        [request.schema.name, request.schema.schema] if request.schema else None,
        request.sample,
        request.attempt,
    ]
    return hashlib.sha256(msgspec.json.encode(parts, order="sorted")).hexdigest()


@functools.lru_cache(maxsize=256)
def _plain(sampling: Sampling) -> dict[str, Any]:
    """Give the parameters that are set: one added later leaves the old keys as they are."""
    values = {field.name: getattr(sampling, field.name) for field in dataclasses.fields(sampling)}
    return {
        name: int(value) if isinstance(value, float) and value.is_integer() else value
        for name, value in values.items()
        if value is not None and value != ()
    }


class ReplyCache:
    """Replies and the account of calls in one file; threads and processes may share it."""

    def __init__(self, path: Path) -> None:
        """Open or create the file.

        Raises:
            InputError: it cannot be opened, or is something else.
        """
        self.path = path
        self.database = open_database(path)
        self.ledger = Ledger(self.database)

    def __enter__(self) -> ReplyCache:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file."""
        self.database.close()

    def find(self, key: str) -> tuple[Reply, str | None] | None:
        """Give a kept reply and why it was rejected (None for a good one), or None."""
        with self.database.reading() as connection:
            row = connection.execute(
                "SELECT text, finish, prompt, completion, estimated, model, raw, rejected"
                " FROM replies WHERE key = ?",
                (key,),
            ).fetchone()
        return (_reply(row), row[7]) if row else None

    def date_of(self, key: str) -> str | None:
        """Give the day (UTC, ISO 8601) a kept reply came, or None."""
        with self.database.reading() as connection:
            row = connection.execute("SELECT created FROM replies WHERE key = ?", (key,)).fetchone()
        return str(row[0])[:10] if row else None

    def store(
        self, key: str, identity: Identity, request: Request, reply: Reply, rejected: str | None
    ) -> Reply:
        """Keep a reply, and give the one that counts: a good one that is there already stays."""
        row = (
            key,
            rejected,
            reply.text.encode(errors="replace").decode(),
            reply.finish,
            reply.usage.prompt,
            reply.usage.completion,
            reply.usage.estimated,
            reply.model,
            reply.raw.encode(errors="backslashreplace").decode(),
            msgspec.json.encode(identity).decode(),
            msgspec.json.encode(request).decode(),
            datetime.now(UTC).isoformat(timespec="milliseconds"),
        )
        with self.database.transaction() as connection:
            done = connection.execute(_STORE, row)
        kept = None if done.rowcount else self.find(key)
        return kept[0] if kept else reply

    def judge(self, key: str, rejected: str | None) -> None:
        """Write down another verdict on a kept reply: why it is of no use, or None for good."""
        with self.database.transaction() as connection:
            connection.execute("UPDATE replies SET rejected = ? WHERE key = ?", (rejected, key))

    def export(self, key: str, identity: Identity, request: Request) -> None:
        """Remember a request that is written for an offline batch."""
        row = (key, msgspec.json.encode(identity).decode(), msgspec.json.encode(request).decode())
        with self.database.transaction() as connection:
            connection.execute("REPLACE INTO exported VALUES (?, ?, ?)", row)

    def exported(self, key: str) -> tuple[Identity, Request] | None:
        """Give what was written for an offline batch under a key, or None."""
        with self.database.reading() as connection:
            row = connection.execute(
                "SELECT identity, request FROM exported WHERE key = ?", (key,)
            ).fetchone()
        if row is None:
            return None
        identity, request = row
        return (
            msgspec.json.decode(identity, type=Identity),
            msgspec.json.decode(request, type=Request),
        )

    def forget_exported(self, key: str) -> None:
        """Forget a request that was answered."""
        with self.database.transaction() as connection:
            connection.execute("DELETE FROM exported WHERE key = ?", (key,))

    def waiting(self) -> int:
        """Count the requests written for an offline batch and not answered by one."""
        with self.database.reading() as connection:
            return int(connection.execute("SELECT count(*) FROM exported").fetchone()[0])

    def forget_rejected(self) -> int:
        """Remove the replies of no use, so that they are asked for again, and say how many."""
        with self.database.transaction() as connection:
            return connection.execute("DELETE FROM replies WHERE rejected NOT NULL").rowcount

    def counts(self) -> list[Count]:
        """Count the replies of every model."""
        with self.database.reading() as connection:
            rows = connection.execute(
                "SELECT identity, count(*) - count(rejected), count(rejected), sum(prompt),"
                " sum(completion) FROM replies GROUP BY identity ORDER BY identity"
            ).fetchall()
        return [Count(msgspec.json.decode(row[0], type=Identity), *row[1:]) for row in rows]

    def replies(self) -> Iterator[CachedReply]:
        """Yield every reply, in the order of their keys."""
        with self.database.reading() as connection:
            rows = connection.execute(f"SELECT {_COLUMNS} FROM replies ORDER BY key")  # noqa: S608
            for row in rows:
                yield _cached_reply(row)


def _cached_reply(row: sqlite3.Row) -> CachedReply:
    key, rejected, *reply, identity, request, created = row
    return CachedReply(
        key,
        rejected,
        created,
        msgspec.json.decode(identity, type=Identity),
        msgspec.json.decode(request, type=Request),
        _reply(reply),
    )


def _reply(row: Any) -> Reply:  # noqa: ANN401 (columns of any type)
    text, finish, prompt, completion, estimated, model, raw = row[:7]
    return Reply(text, finish, Usage(prompt, completion, bool(estimated)), model, raw)
