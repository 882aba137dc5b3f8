"""Long forms of abbreviations: where a text explains an abbreviation, both name the entity.

The lexicon tagger has short forms of its own (``short_forms.py``), which give a mention the long
form's label; this is scispaCy's detector, for its models, as the papers used it.

Source of the method: Schwartz and Hearst 2003, "A simple algorithm for identifying abbreviation
definitions in biomedical text", as scispaCy implements it.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from importlib.metadata import version
from importlib.util import find_spec
from itertools import tee
from typing import TYPE_CHECKING, TypeAlias

from hybrid_ir.entities.pieces import pieces, plain_text
from hybrid_ir.entities.tagging import Identity, Tagger, merged
from hybrid_ir.errors import InputError
from hybrid_ir.records import Entity

if TYPE_CHECKING:
    from spacy.tokens import Doc

LongForms: TypeAlias = Mapping[str, tuple[int, int]]
"""Abbreviation -> the characters of its long form, start and end (exclusive)."""

_LONGEST = 1_000
"""Characters searched at once: the detector's time grows with the square of the brackets."""


def open_expanded(tagger: Tagger) -> Expanded:
    """Let a tagger find the long forms of abbreviations, too.

    Raises:
        InputError: scispaCy is not installed.
    """
    if find_spec("scispacy") is None:
        raise InputError(
            "abbreviations=true needs scispaCy, which is not installed:"
            " pip install 'hybrid-ir[scispacy]'"
        )
    return Expanded(tagger)


class Expanded:
    """What a tagger finds, and the long form of each entity that is an abbreviation.

    A long form has the label of its abbreviation. It has no MeSH id unless the tagger finds it
    itself: the abbreviation's own may be that of something else with the same letters.
    """

    def __init__(self, tagger: Tagger) -> None:
        self._tagger = tagger

    def tag(self, texts: Iterable[str]) -> Iterator[tuple[Entity, ...]]:
        """See :meth:`hybrid_ir.entities.tagging.Tagger.tag`."""
        read, tagged = tee(texts)
        for text, entities in zip(read, self._tagger.tag(tagged), strict=True):
            yield merged([*entities, *_expansions(text, entities)])

    @property
    def labels(self) -> frozenset[str]:
        """The tagger's."""
        return self._tagger.labels

    @property
    def identity(self) -> Identity:
        """The tagger's, and the version of scispaCy."""
        return {"abbreviations": version("scispacy"), "of": self._tagger.identity}


def long_forms(text: str) -> LongForms:
    """Find the abbreviations that a text explains; of several explanations the first counts."""
    detect = _detector()
    found: dict[str, tuple[int, int]] = {}
    for start, piece in pieces(text, _LONGEST):
        for short in sorted(detect(plain_text(piece))._.abbreviations):
            long = short._.long_form
            found.setdefault(short.text, (start + long.start_char, start + long.end_char))
    return found


def _expansions(text: str, entities: Iterable[Entity]) -> Iterator[Entity]:
    known = long_forms(text) if "(" in text else {}
    for entity in entities:
        if entity.text in known:
            start, end = known[entity.text]
            yield Entity(text[start:end], entity.label, start, end)


@cache
def _detector() -> Callable[[str], Doc]:
    import spacy
    from scispacy.abbreviation import AbbreviationDetector

    english = spacy.blank("en")
    detector = AbbreviationDetector(english)

    def detect(text: str) -> Doc:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", r"\[W036\]")  # it looks for what it has not found
            document: Doc = detector(english.make_doc(text))
        return document

    return detect
