"""The words of lexicon_words.tsv: what is added to the sources and what is left out."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Literal, get_args

from hybrid_ir.errors import InputError
from hybrid_ir.files import read_lines

Kind = Literal[
    "DISEASE",
    "CHEMICAL",
    "GENE",
    "PLACE",
    "HARM",
    "MESH",
    "LEFT_OUT",
    "WORD",
    "NO_GENE",
    "NO_CAPITAL",
]
FILE = Path(__file__).with_name("lexicon_words.tsv")


class Words:
    """Words by kind: under their MeSH heading, or (``""``) without one."""

    def __init__(self, by_kind: dict[str, dict[str, tuple[str, ...]]]) -> None:
        self._by_kind = by_kind
        self._all = {
            kind: frozenset(word for words in by_heading.values() for word in words)
            for kind, by_heading in by_kind.items()
        }

    def under_headings(self, kind: Kind) -> dict[str, tuple[str, ...]]:
        """Give heading -> words."""
        return self._by_kind[kind]

    def all(self, kind: Kind) -> frozenset[str]:
        """Give the words of a kind."""
        return self._all[kind]


@cache
def read_words() -> Words:
    """Read the file.

    Raises:
        InputError: a line is not kind, heading and words.
    """
    by_kind: dict[str, dict[str, tuple[str, ...]]] = {kind: {} for kind in get_args(Kind)}
    for number, line in read_lines(FILE):
        if line.startswith("#"):
            continue
        fields = line.split("\t")
        if len(fields) != 3 or fields[0] not in by_kind:
            raise InputError(f"{FILE}:{number}: expected one of {get_args(Kind)}, heading, words")
        kind, heading, names = fields
        by_kind[kind][heading] = (*by_kind[kind].get(heading, ()), *names.split("|"))
    return Words(by_kind)
