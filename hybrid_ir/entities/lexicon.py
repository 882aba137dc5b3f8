"""The embedded tagger: names from a lexicon, found by longest match, in plain Python.

It needs no download and no model: diseases, chemicals, genes and other MeSH headings, with their
MeSH ids (``data/ATTRIBUTION.md`` names the sources). Three rules find more than is listed:

- an adjective of place or course before a disease belongs to it (``cholestatic hepatitis``);
- capitals with a number are a chemical in development (``CB 3717``, ``LY274614``);
- a short form that the text introduces means what its long form means, in all of the text: give a
  whole abstract as one text rather than its sentences.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import TypeAlias

from hybrid_ir.entities.lexicon_file import Concept, read_lexicon
from hybrid_ir.entities.matching import Match, Matcher, Named
from hybrid_ir.entities.short_forms import find_short_forms
from hybrid_ir.entities.tokens import key_of, tokenise
from hybrid_ir.records import Entity

LEXICON = Path(__file__).parent / "data" / "lexicon.tsv.gz"
VERSION = 1
"""Of the rules: counted up with each change of what they find."""

_NO_CODES = "AT|IN|MG|OF|ON|TO|CALGB|ECOG|EORTC|NCT|NSABP|PMID|RTOG|SWOG"
"""Words before numbers, and groups and registers that number trials."""
_LETTERS = re.compile(rf"(?!(?:{_NO_CODES})\Z)[A-Z]{{2,5}}\Z")
_NUMBER = re.compile(r"(?!(?:19|20)\d\d\Z)[0-9]{3,7}\Z")
_LETTERS_AND_NUMBER = re.compile(rf"(?!(?:{_NO_CODES})[0-9])[A-Z]{{2,5}}[0-9]{{3,7}}\Z")
_CHEMICAL: Named = ("CHEMICAL", None)

Known: TypeAlias = dict[int, tuple[int, Named | None]]


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
        self.labels = self._matcher.labels | {_CHEMICAL[0]}

    def tag(self, texts: Iterable[str]) -> Iterator[tuple[Entity, ...]]:
        """Find the entities of each text, from left to right; they do not overlap.

        Labels: DISEASE, CHEMICAL, GENE (and gene products) and MESH (any other heading).
        """
        return map(self._tag, texts)

    def _tag(self, text: str) -> tuple[Entity, ...]:
        forms, spans = tokenise(text)
        codes = _codes(forms, spans)
        matches = self._matcher.matches(forms, {}, codes)
        if "(" in text or "[" in text:
            ends = {spans[after - 1][1]: named for _, after, named in matches}
            if meanings := _meanings(text, ends):
                matches = self._matcher.matches(forms, _mentions(forms, meanings), codes)
        found = []
        for first, after, (label, mesh_id) in matches:
            start, end = spans[first][0], spans[after - 1][1]
            found.append(Entity(text[start:end], label, start, end, mesh_id))
        return tuple(found)


def _codes(forms: list[str], spans: list[tuple[int, int]]) -> dict[int, Match]:
    """Find the codes of chemicals in development; a year is no part of one."""
    codes: dict[int, Match] = {}
    for position, form in enumerate(forms):
        if form.isupper():
            following = position + 1
            if _LETTERS_AND_NUMBER.match(form):
                codes[position] = (following, _CHEMICAL)
            elif (
                _LETTERS.match(form)
                and following < len(forms)
                and _NUMBER.match(forms[following])
                and spans[following][0] - spans[position][1] == 1
            ):
                codes[position] = (following + 1, _CHEMICAL)
    return codes


def _meanings(text: str, ends: dict[int, Named]) -> dict[str, Named | None]:
    """Give what the short forms of a text mean, by their keys: what their long forms end in.

    None where the long form is no entity: then the short form is none, either.

    Args:
        text: The text.
        ends: Where entities end, and what they are.
    """
    meanings: dict[str, Named | None] = {}
    for short in find_short_forms(text):
        key = key_of(short.short)
        meanings[key] = meanings.get(key) or ends.get(short.end)
    return meanings


def _mentions(forms: list[str], meanings: dict[str, Named | None]) -> Known:
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
                    known[position] = (after, meanings[key])
                    break
    return known


@cache
def load_lexicon() -> LexiconTagger:
    """Give the tagger with the lexicon of the package: loaded once a process.

    Raises:
        InputError: the lexicon's file is missing or damaged.
    """
    concepts = list(read_lexicon(LEXICON))
    digest = hashlib.sha256(LEXICON.read_bytes()).hexdigest()
    return LexiconTagger(concepts, f"lexicon rules {VERSION} sha256 {digest}")
