"""The order of BioASQ's batches: which golden files are older than a test batch."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from hybrid_ir.errors import InputError

_SPELLINGS = (
    re.compile(r"(?<!\d)(\d{1,2})b(\d{1,2})(?!\d)", re.IGNORECASE),  # 6B1_golden.json
    re.compile(r"task(\d{1,2})b\D*?(?:testset|batch)\D?(\d{1,2})(?!\d)", re.IGNORECASE),
    re.compile(r"train[a-z]*(\d{1,2})b()(?![a-z\d])", re.IGNORECASE),  # training12b.json
)


class Batch(NamedTuple):
    """Batch ``number`` of BioASQ's year ``year``, ordered by time.

    A year's training set holds the years before and has the number 0: it comes before the year's
    batches.
    """

    year: int
    number: int

    def __str__(self) -> str:
        return f"{self.year}B{self.number}"


def batch_named(name: str) -> Batch | None:
    """Read a batch out of a name such as ``12B1`` or a file's name; None where it names none."""
    for spelling in _SPELLINGS:
        if found := spelling.search(name):
            year, number = found.groups()
            return Batch(int(year), int(number or 0))
    return None


def parse_batch(name: str) -> Batch:
    """Read a batch as it is given in settings.

    Raises:
        InputError: it is none.
    """
    found = batch_named(name)
    if found is None or str(found) != name.strip().upper():
        raise InputError(f"expected a batch such as 12B1, got {name!r}")
    return found


def batches_of(paths: Sequence[Path], given: Mapping[str, str]) -> dict[Path, Batch | None]:
    """Give the batch of each file, by its name where ``given`` does not say (file name -> batch).

    Raises:
        InputError: ``given`` names no batch, or a file that is not among them.
    """
    names = {path.name for path in paths}
    faults = [
        f"{name}: there is no such file among the inputs" for name in given if name not in names
    ]
    for name, batch in given.items():
        try:
            parse_batch(batch)
        except InputError as error:
            faults.append(f"{name}: {error}")
    if faults:
        raise InputError.of_all("batches: these cannot be used (file name -> batch):", faults)
    return {
        path: parse_batch(given[path.name]) if path.name in given else batch_named(path.name)
        for path in paths
    }


def refuse_unknown(batches: Mapping[Path, Batch | None]) -> dict[Path, Batch]:
    """Give the batches where all are known.

    Raises:
        InputError: some are not; all of them are named.
    """
    known = {path: batch for path, batch in batches.items() if batch is not None}
    if unknown := [str(path) for path in batches if path not in known]:
        raise InputError.of_all(
            "cannot tell how old these golden files are: say so in the settings, as in"
            f" batches={{{Path(unknown[0]).name}: 10B3}}:",
            unknown,
        )
    return known


def names_of(batches: Iterable[Batch]) -> list[str]:
    """Give names in the order of time, each once."""
    return [str(batch) for batch in sorted(set(batches))]
