"""One PubMed file being applied to a store: what each of its records makes of what is known."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from hybrid_ir.pubmed.store import select_many


class Row(NamedTuple):
    """What a file says of one PMID.

    ``record`` is the document as JSON. Without one the citation was deleted, or left out for
    ``reason``.
    """

    id: str
    version: int
    record: bytes | None = None
    reason: str | None = None


class _Known(NamedTuple):
    """What the store has of a PMID: a document, or only the version of one that is not selected."""

    version: int
    record: bytes | None


class Change(NamedTuple):
    """A document before and after; None where there is none."""

    id: str
    before: bytes | None
    after: bytes | None


class GrowingFile:
    """A file being applied."""

    def __init__(self, connection: sqlite3.Connection, sequence: int) -> None:
        self._connection = connection
        self.sequence = sequence
        self.tally: Counter[str] = Counter()
        self.left_out: Counter[str] = Counter()

    def apply(self, rows: Sequence[Row]) -> list[Change]:
        """Apply a part of the file and give what it changed, each document once."""
        before = self._known(list({row.id for row in rows}))
        after: dict[str, _Known | None] = dict(before)
        for row in rows:
            after[row.id] = self._successor(after.get(row.id), row)
        self._write(before, after)
        changes = [
            Change(id_, _record(before.get(id_)), _record(known)) for id_, known in after.items()
        ]
        changed = [change for change in changes if change.before != change.after]
        self._connection.executemany(
            "INSERT INTO changes VALUES (?, ?)", [(self.sequence, change.id) for change in changed]
        )
        return changed

    def finish(self, name: str, md5: str, counts: str) -> None:
        """Note the file as applied."""
        self._connection.execute(
            "INSERT INTO applied VALUES (?, ?, ?, ?)", (self.sequence, name, md5, counts)
        )

    def _known(self, ids: list[str]) -> dict[str, _Known]:
        known: dict[str, _Known] = {}
        for id_, version in select_many(self._connection, "id, version", "hidden", ids):
            known[id_] = _Known(version, None)
        for id_, version, record in select_many(
            self._connection, "id, version, record", "documents", ids
        ):
            known[id_] = _Known(version, record)
        return known

    def _successor(self, known: _Known | None, row: Row) -> _Known | None:
        """Say what a row makes of what is known, and count it."""
        held = known is not None and known.record is not None
        self.tally["deletions" if _is_deletion(row) else "citations"] += 1
        if known and row.version < known.version:
            self.tally["outdated"] += not _is_deletion(row)
            return known
        if row.record is None:
            self.tally["removed"] += held
            if row.reason is None:
                return None
            self.left_out[row.reason] += 1
            return _Known(row.version, None)
        if not held:
            self.tally["added"] += 1
        else:
            self.tally["unchanged" if _record(known) == row.record else "replaced"] += 1
        return _Known(row.version, row.record)

    def _write(self, before: dict[str, _Known], after: dict[str, _Known | None]) -> None:
        """Bring the tables from one state to the other."""
        new: list[tuple[int, bytes, str]] = []
        revised: list[tuple[int, bytes, str]] = []
        hidden: list[tuple[str, int]] = []
        for id_, known in after.items():
            if known is None or known == before.get(id_):
                continue
            if known.record is not None:
                row = (known.version, known.record, id_)
                (new if _record(before.get(id_)) is None else revised).append(row)
            elif known.version > 1:  # a first version has no older one to keep out
                hidden.append((id_, known.version))
        changed = [(id_, past) for id_, past in before.items() if past != after[id_]]
        gone = [(id_,) for id_, past in changed if _record(past) and not _record(after[id_])]
        shown = [(id_,) for id_, past in changed if past.record is None]
        many = self._connection.executemany
        many("DELETE FROM hidden WHERE id = ?", shown)
        many("INSERT INTO hidden VALUES (?, ?)", hidden)
        many("DELETE FROM documents WHERE id = ?", gone)
        many("UPDATE documents SET version = ?, record = ? WHERE id = ?", revised)
        many("INSERT INTO documents (version, record, id) VALUES (?, ?, ?)", new)


def _record(known: _Known | None) -> bytes | None:
    return known.record if known else None


def _is_deletion(row: Row) -> bool:
    return row.record is None and row.reason is None
