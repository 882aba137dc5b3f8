"""The embedded tagger: names from a lexicon, found by longest match, in plain Python.

It needs no download and no model: diseases, chemicals, genes and other MeSH headings, with their
MeSH ids (``data/ATTRIBUTION.md`` names the sources). Four rules find more than is listed:

- an adjective of place or course before a disease belongs to it (``cholestatic hepatitis``);
- capitals with a number are a chemical in development (``CB 3717``, ``LY274614``);
- a syndrome or disease with a name before it is one (``Bow Hunter's syndrome``);
- a short form that the text introduces means what its long form means, in all of the text: give a
  whole abstract as one text rather than its sentences.
"""

from __future__ import annotations

import hashlib
import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from functools import cache
from operator import itemgetter
from pathlib import Path
from typing import TypeAlias

from hybrid_ir.entities.codes import CHEMICAL, find_codes
from hybrid_ir.entities.lexicon_file import Concept, read_lexicon
from hybrid_ir.entities.matching import Matcher, Named
from hybrid_ir.entities.named_after import DISEASE, find_named_after
from hybrid_ir.entities.short_forms import ShortForm, find_short_forms
from hybrid_ir.entities.tokens import key_of, tokenise
from hybrid_ir.records import Entity

LEXICON = Path(__file__).parent / "data" / "lexicon.tsv.gz"
VERSION = 2
"""Of the rules: counted up with each change of what they find."""

_ADJECTIVE = re.compile(
    r"(?:the|an?|[\w-]+(?:al|ant|ar|ary|ed|ent|ial|ible|ic|ing|ive|oid|ory|ous|type)|\w+-free"
    r"|early|late|mild|severe|rare|onset|[\w-]+-(?:onset|stage|grade|risk))\Z",
    re.IGNORECASE,
)
_ARTICLE = re.compile(
    r"(?:the|an?|human|murine|recombinant|total|free|serum|plasma)\Z", re.IGNORECASE
)
_PREPOSITIONS = frozenset(
    ("after", "against", "as", "at", "by", "due", "during", "for", "from", "in")
)
_PREPOSITIONS |= {"of", "on", "to", "versus", "with", "without"}
_OF_GENES = re.compile(
    r"\b(?:proteins?|receptors?|factors?|genes?|ligand|homolog|homologue|channel|transporter"
    r"|transcript|subunit|antigen|(?!disease|release|increase|decrease|database)\w{4,}ase)\b"
)
_LISTED: Named = ("", None)
"""The meaning of a short form of an unlisted gene: what the lexicon says of the symbol."""

Known: TypeAlias = dict[int, tuple[int, Named | None]]
Meanings: TypeAlias = dict[str, list[tuple[int, Named | None]]]
"""By a short form's key: the first character for which a meaning holds, and the meaning."""


class LexiconTagger:
    """Finds a lexicon's names in texts.

    Attributes:
        identity: Names lexicon and rules in manifests: taggers of equal identity find the same.
        labels: The labels its entities may carry.
    """

    def __init__(self, concepts: Iterable[Concept], identity: str) -> None:
        """Index concepts; where two have a variant, the later one takes it."""
        self.identity = identity
        self._matcher = Matcher(concepts)
        self.labels = self._matcher.labels | {CHEMICAL[0], DISEASE[0]}

    def tag(self, texts: Iterable[str]) -> Iterator[tuple[Entity, ...]]:
        """Find the entities of each text, from left to right; they do not overlap.

        Labels: DISEASE, CHEMICAL, GENE (and gene products) and MESH (any other heading).
        """
        return map(self._tag, texts)

    def _tag(self, text: str) -> tuple[Entity, ...]:
        forms, spans = tokenise(text)
        guessed = find_named_after(text, forms, spans) | find_codes(forms, spans)
        matches = self._matcher.matches(forms, {}, guessed)
        if ("(" in text or "[" in text) and (meanings := _meanings(text, spans, matches)):
            known = _mentions(forms, spans, meanings)
            matches = self._matcher.matches(forms, known, guessed)
        found = []
        for first, after, (label, mesh_id) in matches:
            start, end = spans[first][0], spans[after - 1][1]
            found.append(Entity(text[start:end], label, start, end, mesh_id))
        return tuple(found)


def _meanings(
    text: str, spans: list[tuple[int, int]], matches: list[tuple[int, int, Named]]
) -> Meanings:
    """Give what the short forms of a text mean, by their keys and from where on.

    The first meaning of a short form holds from the text's beginning, another one from where it is
    introduced. None where the long form is no entity: then the short form is none, either, unless
    the words say that it is a gene's symbol.
    """
    ends = {spans[after - 1][1]: (spans[first][0], named) for first, after, named in matches}
    meanings: Meanings = {}
    for short in sorted(find_short_forms(text), key=lambda one: one.place):
        named = _meaning(text, short, *ends.get(short.end, (0, None)))
        if named is None and _OF_GENES.search(text, short.start, short.end):
            named = _LISTED
        key = key_of(short.short)
        if key[-1] == "s" and key[-2:-1].isupper():
            key = key[:-1]
        known = meanings.setdefault(key, [(0, named)])
        if known[-1][1] != named:
            known.append((min(short.place, short.start), named))
    return meanings


def _meaning(text: str, short: ShortForm, start: int, named: Named | None) -> Named | None:
    """Give what a long form means that ends in an entity from ``start`` on.

    With no more than an adjective before it (``acute``), it is that entity; with other words of the
    name before it (``epoxyeicosatrienoic acids``), another one of its kind; behind a preposition
    (``cost of diabetes``) and of the kind of any other heading, none.
    """
    before = text[short.start : start].split()
    if named is None or not before:
        return named
    label, mesh_id = named
    adjectives = _ADJECTIVE if label == "DISEASE" else _ARTICLE
    if all(adjectives.match(word) for word in before):
        return label, mesh_id
    if label == "MESH" or not _PREPOSITIONS.isdisjoint(before):
        return None
    return label, None


def _mentions(forms: list[str], spans: list[tuple[int, int]], meanings: Meanings) -> Known:
    """Find where short forms stand, in the plural, too."""
    longest = 1 + max(key.count(" ") for key in meanings)
    firsts = {key.split(" ")[0] for key in meanings}
    firsts |= {f"{first}s" for first in firsts}
    known: Known = {}
    for position, form in enumerate(forms):
        if form in firsts:
            for after in range(min(position + longest, len(forms)), position, -1):
                key = " ".join(forms[position:after])
                if key not in meanings and key.endswith("s"):
                    key = key[:-1]
                if key in meanings:
                    named = _holding(meanings[key], spans[position][0])
                    if named is not _LISTED:
                        known[position] = (after, named)
                    break
    return known


def _holding(known: list[tuple[int, Named | None]], here: int) -> Named | None:
    """Give the meaning that holds at a character: the last one that began before it."""
    return known[bisect_right(known, here, key=itemgetter(0)) - 1][1]


@cache
def load_lexicon() -> LexiconTagger:
    """Give the tagger with the lexicon of the package: loaded once a process.

    Raises:
        InputError: the lexicon's file is missing or damaged.
    """
    concepts = list(read_lexicon(LEXICON))
    digest = hashlib.sha256(LEXICON.read_bytes()).hexdigest()
    return LexiconTagger(concepts, f"lexicon rules {VERSION} sha256 {digest}")
