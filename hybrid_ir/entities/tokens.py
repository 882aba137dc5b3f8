"""Cutting text into the words by which a lexicon's variants and texts are compared.

A token is a run of letters and digits, or any other single character but blanks. Two things are no
tokens, so that spellings agree: dashes count as blanks (``L-dopa`` is ``L dopa``), and a possessive
``'s`` is passed over (``Parkinson's disease`` is ``Parkinson disease``). What is compared is a
token's *form*: ASCII where letters allow it (``Sjögren`` is ``Sjogren``, ``α`` is ``alpha``), with
American spelling (``anaemia`` is ``anemia``). Forms keep their case.
"""

from __future__ import annotations

import re
import unicodedata

_ASCII_TOKEN = re.compile(r"[a-zA-Z0-9]+|[^\s\-]")
_TOKEN = re.compile(
    r"(?:[^\W_]|[\u0300-\u036f])+|[^\s\-\u00ad\u2010-\u2015\u2212]"  # with loose accents
)
_POSSESSIVE = re.compile(r"['’]s\b")
_BRITISH = re.compile(r"[aoAO]e|(?<=[a-z]{2})our(?=s?\b)|[Ss]ulph")
_AMERICAN = {"ae": "e", "oe": "e", "Ae": "E", "Oe": "E", "our": "or"}
_AMERICAN |= {"sulph": "sulf", "Sulph": "Sulf"}
_GREEK = {
    code: unicodedata.name(chr(code)).split()[-1].lower()
    for code in (*range(0x391, 0x3AA), *range(0x3B1, 0x3CA))
    if code != 0x3A2  # not assigned
}
_GREEK |= {ord("ς"): "sigma", ord("µ"): "mu", ord("’"): "'", ord("′"): "'"}


def tokenise(text: str) -> tuple[list[str], list[tuple[int, int]]]:
    """Give the forms of a text's tokens and where they stand: (start, end) characters of it."""
    pattern = _ASCII_TOKEN if text.isascii() else _TOKEN
    spans = [match.span() for match in pattern.finditer(text)]
    if "'s" in text or "’s" in text:
        spans = _without_possessives(text, spans)
    forms = [text[start:end] for start, end in spans]
    if pattern is _TOKEN:
        forms = [form if form.isascii() else _to_ascii(form) for form in forms]
    if (
        "ae" in text
        or "oe" in text
        or "Ae" in text
        or "Oe" in text
        or "our" in text
        or "ulph" in text
    ):
        forms = [_BRITISH.sub(_american, form) if len(form) > 4 else form for form in forms]
    return forms, spans


def _without_possessives(text: str, spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    inside = {match.start() for match in _POSSESSIVE.finditer(text)}
    inside |= {start + 1 for start in inside}
    return [span for span in spans if span[0] not in inside]


def key_of(text: str) -> str:
    """Give the forms of a text joined by blanks: what a lexicon looks up."""
    return " ".join(tokenise(text)[0])


def _to_ascii(form: str) -> str:
    """Spell Greek letters out and take accents off; what is not Latin stays as it is."""
    apart = unicodedata.normalize("NFKD", form.translate(_GREEK))
    return "".join(letter for letter in apart if not unicodedata.combining(letter)) or form


def _american(match: re.Match[str]) -> str:
    return _AMERICAN[match[0]]
