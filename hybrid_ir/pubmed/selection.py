"""Which citations become documents: the filters of the papers, and why one is left out."""

from __future__ import annotations

import datetime
from dataclasses import dataclass
from functools import cache
from typing import Literal

from hybrid_ir.errors import refuse
from hybrid_ir.pubmed.citation import Citation

MIBI = "mibi"
MIBI_TYPES = (
    "Address",
    "Autobiography",
    "Bibliography",
    "Biography",
    "Clinical Trial, Veterinary",
    "Comment",
    "Congress",
    "Dataset",
    "Dictionary",
    "Directory",
    "Editorial",
    "Festschrift",
    "Interactive Tutorial",
    "Interview",
    "Legal Case",
    "Letter",
    "News",
    "Newspaper Article",
    "Observational Study, Veterinary",
    "Overall",
    "Periodical Index",
    "Personal Narrative",
    "Randomized Controlled Trial, Veterinary",
    "Retracted Publication",
    "Retraction of Publication",
    "Video-Audio Media",
    "Webcast",
)
"""The 27 "non-peer-reviewed" publication types that MiBi left out at BioASQ 12 (2024).

Their paper gives the number only; these are the names in their public code, the repository
webis-de/clef24-mibi-bioasq-, ``mibi/modules/documents/pipelines.py``.
"""


@dataclass(frozen=True, slots=True)
class SelectionConfig:
    """Which citations become documents.

    Attributes:
        abstract: Leave out what has no abstract, as the papers do.
        exclude_types: Publication types as PubMed spells them, in any case, left out; ``mibi``
            stands for the 27 of :data:`MIBI_TYPES`.
        languages: Three-letter codes as PubMed has them (``eng``); one that a citation is in
            suffices. Empty: all.
        first_year: Leave out what was published earlier, or without a year.
        last_year: Leave out what was published later, or without a year.
        as_of: A date, YYYY-MM-DD: leave out what came into PubMed after it, or without saying when.
            A revision that came after it cannot be undone: PubMed hands out the newest text only,
            so a citation may show a later abstract, heading or retraction than it had that day.
        retracted: Whether retracted publications are kept.
    """

    abstract: bool = True
    exclude_types: tuple[str, ...] = ()
    languages: tuple[str, ...] = ()
    first_year: int | None = None
    last_year: int | None = None
    as_of: str | None = None
    retracted: Literal["keep", "leave_out"] = "keep"

    def __post_init__(self) -> None:
        codes = all(len(code) == 3 and code.isascii() and code.islower() for code in self.languages)
        window = f"{self.first_year}-{self.last_year}"
        refuse(
            "the selection",
            ("exclude_types", "names", self.exclude_types, all(map(str.strip, self.exclude_types))),
            ("languages", "codes of three small letters, such as eng", self.languages, codes),
            ("first_year, last_year", "a window of years", window, self._is_window()),
            ("as_of", "a date, YYYY-MM-DD", self.as_of, self.as_of is None or _is_date(self.as_of)),
        )

    def reason(self, citation: Citation) -> str | None:
        """Say why a citation is left out; None where it is kept.

        The first of several reasons counts, in the order of the settings, so that the counts of
        all reasons add up to the number left out.
        """
        if self.abstract and not any(part.text.strip() for part in citation.abstract):
            return "no abstract"
        if self.exclude_types and (found := self._excluded_type(citation)):
            return f"publication type {found}"
        if self.languages and not set(self.languages).intersection(citation.languages):
            return f"language other than {', '.join(self.languages)}"
        if reason := self._outside_window(citation.year):
            return reason
        if self.as_of and (reason := _later(citation.entered, self.as_of)):
            return reason
        if self.retracted == "leave_out" and is_retracted(citation):
            return "retracted"
        return None

    def _excluded_type(self, citation: Citation) -> str | None:
        excluded = _folded(tuple(self.exclude_types))
        return next((t for t in citation.publication_types if _singular(t) in excluded), None)

    def _outside_window(self, year: int | None) -> str | None:
        if self.first_year is None and self.last_year is None:
            return None
        if year is None:
            return "no year"
        if self.first_year is not None and year < self.first_year:
            return f"published before {self.first_year}"
        if self.last_year is not None and year > self.last_year:
            return f"published after {self.last_year}"
        return None

    def _is_window(self) -> bool:
        return (
            self.first_year is None or self.last_year is None or self.first_year <= self.last_year
        )


@cache
def _folded(names: tuple[str, ...]) -> frozenset[str]:
    """Give the types meant, presets unfolded, in the spelling that is compared."""
    groups = (MIBI_TYPES if name.casefold() == MIBI else (name,) for name in names)
    return frozenset(_singular(name) for group in groups for name in group)


def is_retracted(citation: Citation) -> bool:
    """Say whether a publication was taken back, by its type or by a notice that names it."""
    marked = "Retracted Publication" in citation.publication_types
    return marked or any(relation.kind == "RetractionIn" for relation in citation.relations)


def _later(entered: str, as_of: str) -> str | None:
    if not entered:
        return "no date of entry into PubMed"
    return f"entered into PubMed after {as_of}" if entered > as_of else None


def _singular(name: str) -> str:
    """Fold case and number: older baselines have Addresses and Lectures, newer Address, Lecture."""
    name = name.strip().casefold()
    if name.endswith("sses"):
        return name[:-2]
    return name[:-1] if name.endswith("s") and not name.endswith("ss") else name


def _is_date(text: str) -> bool:
    try:
        return datetime.date.fromisoformat(text).isoformat() == text
    except ValueError:
        return False
