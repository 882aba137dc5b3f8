"""The index's fields: what a document puts into each, and what a clause asks of the exact ones.

``contents``, ``title``, ``abstract`` and ``mesh`` hold words, ``publication_type`` and ``year``
exact values. Anserini analyses every field as English text, so a value is spelled as one word that
the analysis leaves alone.
"""

from __future__ import annotations

import re
from typing import Literal, TypeAlias

import msgspec

from hybrid_ir.records import Document

ExtraField: TypeAlias = Literal["title", "abstract", "mesh", "publication_type", "year"]

CONTENTS = "contents"
MESH: ExtraField = "mesh"
EXACT_FIELDS = ("publication_type", "year")

_JAVA_BLANKS = "".join(map(chr, range(33)))  # what Java's trim() takes for blank
_LONGEST = 250  # Lucene cuts words at 255 characters
_GLUED_LABEL = re.compile(r"(?<=[.?!:;,)\]}%\"'’”])(?=[A-Z][A-Z /&,()-]{2,60}: )")
_YEARS = re.compile("([0-9]{1,4})?(-)?([0-9]{1,4})?", re.ASCII)


def has_text(document: Document) -> bool:
    """Say whether a document can be found by its words."""
    return bool(document.text.strip(_JAVA_BLANKS))


def lucene_json(document: Document, fields: tuple[ExtraField, ...]) -> str:
    """Give the document as Anserini's JsonCollection takes it."""
    values = {"id": document.id, CONTENTS: words_of(document.text)}
    for field in fields:
        values[field] = _value(document, field)
    return msgspec.json.encode(values).decode()


def words_of(text: str) -> str:
    """Part section labels from the sentence before them: ``effects.METHODS: We`` is two words.

    BioASQ's offsets count sections of a structured abstract with nothing between them, and so does
    the document's text; Lucene would take sentence end and label for one word.
    """
    return _GLUED_LABEL.sub(" ", text)


def _value(document: Document, field: ExtraField) -> str:
    match field:
        case "title":
            return document.title
        case "abstract":
            return words_of(document.abstract)
        case "mesh":
            return " ".join(document.mesh)
        case "publication_type":
            return " ".join(map(exact_word, document.publication_types))
        case "year":
            return "" if document.year is None else f"{document.year:04}"


def exact_word(value: str) -> str:
    """Spell a value as one word that no analyser splits, stems or drops; case is folded.

    Letters a-z and digits 1-9 stand for themselves, anything else as its number between ``0`` and
    ``z``; no stemmer touches a word that ends in a digit.
    """
    kept = re.sub(
        "[^a-z1-9]", lambda match: f"0{ord(match[0]):x}z", " ".join(value.lower().split())
    )
    return f"{kept[:_LONGEST]}0"


def values_of(text: str) -> list[str]:
    """Take a clause's text on an exact field apart: ``Review; Letter`` -> Review, Letter."""
    return [value for part in text.split(";") if (value := part.strip())]


def year_window(value: str) -> tuple[str, str] | None:
    """Give the first and the last year, in four digits, that a clause's value means.

    ``2019`` is a year, ``2010-2020`` a window, ``2010-`` and ``-2020`` are open at one end. None
    where it is none of these.
    """
    match = _YEARS.fullmatch("".join(value.split()))
    if match is None or not (match[1] or match[3]):
        return None
    first, last = match[1] or "0", match[3] or ("9999" if match[2] else match[1])
    if int(first) > int(last) or (not match[2] and match[1] and match[3]):
        return None
    return f"{int(first):04}", f"{int(last):04}"


def fault_of_values(field: str, text: str) -> str | None:
    """Say why a clause's text means nothing to an exact field; None where it means something."""
    values = values_of(text)
    if not values:
        return f"field {field}: expected values separated by ';', got {text!r}"
    if field == "year" and (wrong := [value for value in values if not year_window(value)]):
        return f"field year: expected 2019, 2010-2020, 2010- or -2020, got {wrong}"
    return None
