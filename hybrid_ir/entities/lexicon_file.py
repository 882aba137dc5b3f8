"""The file a lexicon is kept in: gzipped text, one concept a line.

    hybrid_ir lexicon 1
    DISEASE<TAB>D010300<TAB>parkinson disease|paralysis agitans|PARK

The label, the MeSH id (empty where there is none) and the variants, as
:func:`hybrid_ir.entities.tokens.key_of` writes them. A variant in lower case is found in any case,
one with a capital only as it is written. No variant stands twice.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from hybrid_ir.errors import InputError
from hybrid_ir.files import read_text, writing

HEADER = "hybrid_ir lexicon 1"
_CURE = "write it anew with scripts/build_lexicon.py, or install the package again"


@dataclass(frozen=True, slots=True)
class Concept:
    """What all its variants name."""

    label: str
    mesh_id: str | None
    variants: tuple[str, ...]


def read_lexicon(path: Path) -> Iterator[Concept]:
    """Read the concepts of a file.

    Raises:
        InputError: the file is missing, damaged or no lexicon.
    """
    header, _, body = read_text(path).partition("\n")
    if header != HEADER or not body.endswith("\n"):
        raise InputError(f"{path}: expected a whole file that begins {HEADER!r}: {_CURE}")
    for number, line in enumerate(body[:-1].split("\n"), start=2):
        parts = line.split("\t")
        if len(parts) != 3 or not parts[0] or not parts[2]:
            raise InputError(f"{path}:{number}: expected label, MeSH id and variants: {_CURE}")
        yield Concept(parts[0], parts[1] or None, tuple(parts[2].split("|")))


def write_lexicon(path: Path, concepts: Iterable[Concept]) -> None:
    """Write concepts, sorted: the same concepts always make the same bytes."""
    lines = sorted(
        f"{one.label}\t{one.mesh_id or ''}\t{'|'.join(sorted(one.variants))}\n" for one in concepts
    )
    with writing(path) as file:
        file.write(f"{HEADER}\n")
        file.writelines(lines)
