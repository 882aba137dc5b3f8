"""The account of calls: a row before each call, settled after it."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal

import msgspec

from generation.budget import PICO, Budget
from generation.cache.processes import Process, is_dead, this_process
from hybrid_ir.database import Database

State = Literal["done", "free", "possible"]


@dataclass(frozen=True, slots=True)
class Reservation:
    """A call about to be made: the reply's key, tokens and picodollars at worst."""

    key: str
    tokens: int
    cost: int


@dataclass(frozen=True, slots=True)
class Settlement:
    """What became of a call.

    Attributes:
        call: Its number, from :meth:`Ledger.begin`.
        state: ``done`` (charged as said here), ``free`` (refused: not charged) or ``possible`` (no
            reply, may be charged).
        tokens: Tokens; at worst where not known.
        cost: Picodollars; at worst where not known.
    """

    call: int
    state: State
    tokens: int
    cost: int


@dataclass(frozen=True, slots=True)
class Account:
    """What a stage's calls came to.

    Attributes:
        stage: Its name.
        calls: Calls made, whatever came of them.
        tokens: Of prompts and replies; at worst where not known.
        usd: Dollars; at worst where not known.
        open_calls: In flight in a process that lives (or on another machine).
        possible_calls: No reply came (time-out, cut connection, killed process), but the provider
            may have charged them.
        possible_usd: What these come to at worst; part of ``usd``.
    """

    stage: str
    calls: int
    tokens: int
    usd: float
    open_calls: int
    possible_calls: int
    possible_usd: float


class Ledger:
    """The calls of all processes that share a database."""

    def __init__(self, database: Database) -> None:
        """Enter this process, and settle what dead ones left open as possibly charged."""
        self.database = database
        me = this_process()
        values = (me.host, me.pid, me.born)
        with database.transaction() as connection:
            connection.execute(
                "INSERT OR IGNORE INTO processes (host, pid, born) VALUES (?, ?, ?)", values
            )
            self._process = connection.execute(
                "SELECT id FROM processes WHERE host = ? AND pid = ? AND born = ?", values
            ).fetchone()[0]
            self._settle_the_dead(connection)

    def begin(
        self, stage: str, calls: Sequence[Reservation], budget: Budget
    ) -> tuple[range, tuple[int, int]]:
        """Write down calls, as many from the first on as the budget has room for.

        Returns:
            The numbers of the calls to make, and (tokens, picodollars) spent or reserved with them.
        """
        with self.database.transaction() as connection:
            tokens, cost = self._spent(connection, stage)
            fitting = []
            for call in calls:
                if not budget.holds(tokens + call.tokens, cost + call.cost):
                    break
                tokens, cost = tokens + call.tokens, cost + call.cost
                fitting.append((call.key, call.tokens, call.cost))
            if not fitting:
                return range(0), (tokens, cost)
            first = connection.execute("SELECT coalesce(max(id), 0) + 1 FROM calls").fetchone()[0]
            connection.execute(
                "INSERT INTO calls (id, stage, key, process, state, tokens, cost, started)"  # noqa: S608
                f" SELECT ? + key, ?, {_item(0)}, ?, 'open', {_item(1)}, {_item(2)}, ?"
                " FROM json_each(?)",
                (first, stage, self._process, _now(), msgspec.json.encode(fitting).decode()),
            )
            connection.execute("REPLACE INTO spent VALUES (?, ?, ?)", (stage, tokens, cost))
        return range(first, first + len(fitting)), (tokens, cost)

    def settle(self, stage: str, settlements: Sequence[Settlement]) -> None:
        """Write down what became of a stage's open calls."""
        rows = [(done.call, done.state, done.tokens, done.cost) for done in settlements]
        with self.database.transaction() as connection:
            tokens, cost = self._spent(connection, stage)
            reserved = connection.execute(
                "SELECT sum(calls.tokens), sum(calls.cost) FROM json_each(?)"  # noqa: S608
                f" JOIN calls ON calls.id = {_item(0)}",
                (encoded := msgspec.json.encode(rows).decode(),),
            ).fetchone()
            connection.execute(
                f"UPDATE calls SET state = {_item(1)}, tokens = {_item(2)}, cost = {_item(3)}"  # noqa: S608
                f" FROM json_each(?) WHERE calls.id = {_item(0)}",
                (encoded,),
            )
            tokens += sum(done.tokens for done in settlements) - reserved[0]
            cost += sum(done.cost for done in settlements) - reserved[1]
            connection.execute("REPLACE INTO spent VALUES (?, ?, ?)", (stage, tokens, cost))

    def accounts(self) -> list[Account]:
        """Give every stage's account, by name."""
        with self.database.transaction() as connection:
            self._settle_the_dead(connection)
            rows = connection.execute(
                "SELECT stage, count(*), sum(tokens), sum(cost), sum(state = 'open'),"
                " sum(state = 'possible'), sum((state = 'possible') * cost)"
                " FROM calls GROUP BY stage ORDER BY stage"
            ).fetchall()
        return [
            Account(stage, calls, tokens, cost / PICO, still_open, possible, worst / PICO)
            for stage, calls, tokens, cost, still_open, possible, worst in rows
        ]

    def _spent(self, connection: sqlite3.Connection, stage: str) -> tuple[int, int]:
        row = connection.execute("SELECT tokens, cost FROM spent WHERE stage = ?", (stage,))
        tokens, cost = row.fetchone() or (0, 0)
        return tokens, cost

    def _settle_the_dead(self, connection: sqlite3.Connection) -> None:
        """Call possibly charged what a process that is gone left open; its worst case stays."""
        rows = connection.execute(
            "SELECT id, host, pid, born FROM processes"
            " WHERE id IN (SELECT process FROM calls WHERE state = 'open')"
        ).fetchall()
        for number, host, pid, born in rows:
            if is_dead(Process(host, pid, born)):
                connection.execute(
                    "UPDATE calls SET state = 'possible' WHERE process = ? AND state = 'open'",
                    (number,),
                )


def _item(place: int) -> str:
    """Give SQL for an item of a row of ``json_each``.

    One statement for many calls: each statement gives up Python's lock, and waiting for it again
    behind busy threads takes longer than the statement.
    """
    return f"json_extract(value, '$[{place}]')"


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")
