"""Faults of a question's documents and snippets."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from hybrid_ir.bioasq.limits import MAX_DOCUMENTS, MAX_SNIPPETS
from hybrid_ir.bioasq.raw import DOCUMENT_URL, is_offset, is_text, pmid_of, url_of
from hybrid_ir.bioasq.submission.faults import (
    DIES,
    SNIPPET_KEYS,
    Fault,
    Place,
    error,
    misspelled,
    shown,
    warning,
)
from hybrid_ir.records import Document

DocumentOf = Callable[[str], Document | None]
"""Gives the citation with a PMID, or None where it is not at hand."""

_SIX_KEYS = f"a snippet has exactly the keys {', '.join(SNIPPET_KEYS)}"


def unreadable_list(question: Mapping[str, Any], key: str, place: Place) -> Iterator[Fault]:
    """Find a member that is there but no list, or items of it that cannot be read."""
    if key in question and not isinstance(question[key], list):
        problem = f"expected a list, got {shown(question[key])}; {DIES}"
        yield error(place.key(key), problem, "write [...], or leave the key out")
    for position, item in enumerate(items(question, key)):
        yield from unreadable_item(key, item, place.key(key).item(position))


def unreadable_item(key: str, item: object, place: Place) -> Iterator[Fault]:
    """Find what stops the official evaluator, in any phase, from reading an item of a list.

    Args:
        key: The list: documents, snippets, concepts or triples.
        item: The item.
        place: Where it stands.
    """
    if key == "snippets":
        yield from unreadable_snippet(item, place)
    elif key == "triples":
        if not isinstance(item, dict) or not all(is_text(item.get(part)) for part in "spo"):
            yield error(place, f"expected s, p and o, got {shown(item)}; {DIES}", "leave it out")
    elif not is_text(item):
        problem = f"expected an address as text, got {shown(item)}; {DIES}"
        yield error(place, problem, "write its address")


def unreadable_snippet(snippet: object, place: Place) -> Iterator[Fault]:
    """Find keys that are missing or too many, and values of a wrong kind."""
    if not isinstance(snippet, dict):
        yield error(place, f"expected an object, got {shown(snippet)}; {DIES}", _SIX_KEYS)
        return
    meant = misspelled(snippet, SNIPPET_KEYS)
    for key in sorted(snippet.keys() - set(SNIPPET_KEYS)):
        cure = f"write {meant[key]!r}" if key in meant else _SIX_KEYS
        yield error(place.key(key), f"unknown key {key!r}; {DIES}", cure)
    for key in SNIPPET_KEYS:
        if key in meant.values():
            continue
        if key not in snippet:
            yield error(place, f"the key {key!r} is missing", _SIX_KEYS)
        elif key.startswith("offset"):
            if not is_offset(snippet[key]):
                problem = f"expected a whole number, got {shown(snippet[key])}; {DIES}"
                yield error(place.key(key), problem, "count characters from 0, end exclusive")
        elif not is_text(snippet[key]):
            problem = f"expected text, got {shown(snippet[key])}; {DIES}"
            yield error(place.key(key), problem, "write a string")
        elif key == "document" and snippet[key] and not str(snippet[key]).strip("/"):
            problem = f"expected an address, got {shown(snippet[key])}; {DIES}"
            yield error(place.key(key), problem, "write its address")


def phase_a_faults(question: Mapping[str, Any], place: Place) -> Iterator[Fault]:
    """Find what breaks the limits of Phase A or can earn nothing there."""
    documents = items(question, "documents")
    place_of_documents = place.key("documents")
    if not documents:
        yield warning(place_of_documents, "no document: recall is 0", "name up to 10 documents")
    yield from _too_many(documents, MAX_DOCUMENTS, place_of_documents)
    for position, document in enumerate(documents):
        yield from _reference_faults(document, place_of_documents.item(position))
    yield from _duplicates([_identity(document) for document in documents], place_of_documents)
    snippets = items(question, "snippets")
    place_of_snippets = place.key("snippets")
    yield from _too_many(snippets, MAX_SNIPPETS, place_of_snippets)
    for spot, snippet in _readable_snippets(question, place):
        yield from _snippet_faults(snippet, spot)
    yield from _duplicates(list(map(shape_of_snippet, snippets)), place_of_snippets)


def text_faults(
    question: Mapping[str, Any], place: Place, document_of: DocumentOf
) -> Iterator[Fault]:
    """Compare every snippet with the text its offsets point at; unknown documents are passed by."""
    for spot, snippet in _readable_snippets(question, place):
        if document := _document(snippet, document_of):
            yield from _misplaced_text(snippet, document, spot)


def unknown_documents(question: Mapping[str, Any], document_of: DocumentOf) -> Iterator[str]:
    """Yield, snippet by snippet, the documents whose text cannot be compared."""
    for _, snippet in _readable_snippets(question, Place()):
        if not _document(snippet, document_of):
            yield str(_identity(snippet["document"]))


def items(question: Mapping[str, Any], key: str) -> list[Any]:
    """Give the list that stands under a key; nothing where there is none."""
    value = question.get(key)
    return value if isinstance(value, list) else []


def shape_of_snippet(snippet: object) -> object:
    """Give what makes two snippets the same passage; None for what is no snippet."""
    if not isinstance(snippet, dict) or any(unreadable_snippet(snippet, Place())):
        return None
    keys = ("beginSection", "endSection", "offsetInBeginSection", "offsetInEndSection")
    return (_identity(snippet["document"]), *(str(snippet[key]) for key in keys))


def _readable_snippets(
    question: Mapping[str, Any], place: Place
) -> Iterator[tuple[Place, Mapping[str, Any]]]:
    for position, snippet in enumerate(items(question, "snippets")):
        spot = place.key("snippets").item(position)
        if not any(unreadable_snippet(snippet, spot)):
            yield spot, snippet


def _document(snippet: Mapping[str, Any], document_of: DocumentOf) -> Document | None:
    try:
        pmid = pmid_of(snippet["document"])
    except ValueError:
        return None
    return document_of(pmid)


def _identity(reference: object) -> object:
    """Two references to one document are equal, however they are spelled."""
    try:
        return pmid_of(reference)
    except ValueError:
        return str(reference) if is_text(reference) else None


def _too_many(values: list[Any], limit: int, place: Place) -> Iterator[Fault]:
    if len(values) > limit:
        problem = f"expected at most {limit}, got {len(values)}"
        yield error(place, problem, f"keep the best {limit}, best first")


def _duplicates(identities: list[object], place: Place) -> Iterator[Fault]:
    for position, identity in enumerate(identities):
        if identity is not None and (first := identities.index(identity)) < position:
            yield warning(place.item(position), f"the same as [{first}]", "leave it out")


def _reference_faults(reference: object, place: Place) -> Iterator[Fault]:
    try:
        url = url_of(reference)
    except ValueError:
        if is_text(reference):
            problem = f"expected a PubMed address, got {shown(reference)}"
            yield error(place, problem, f"write {DOCUMENT_URL} and the PMID")
        return
    if reference != url:
        problem = f"{shown(reference)} can never match: addresses are compared as strings"
        yield error(place, problem, f"write {url}")


def _snippet_faults(snippet: Mapping[str, Any], place: Place) -> Iterator[Fault]:
    yield from _reference_faults(snippet["document"], place.key("document"))
    yield from _section_faults(snippet, place)
    begin, end = int(snippet["offsetInBeginSection"]), int(snippet["offsetInEndSection"])
    text = str(snippet["text"])
    if not text.strip():
        yield error(place.key("text"), "the text is empty", "write the text of the passage")
    if begin < 0:
        problem = f"expected an offset from 0, got {begin}"
        yield error(place.key("offsetInBeginSection"), problem, "count from 0")
    if end <= begin:
        problem = f"expected an end after the begin {begin}, got {end}"
        yield error(place.key("offsetInEndSection"), problem, "the end is exclusive")
    elif end - begin != len(text):
        problem = f"offsets span {end - begin} characters, the text has {len(text)}"
        yield warning(place, problem, "set the end to the begin and the length of the text")
    for key in ("offsetInBeginSection", "offsetInEndSection"):
        if isinstance(snippet[key], str):
            yield warning(place.key(key), "a number written as text", f"write {snippet[key]}")


def _section_faults(snippet: Mapping[str, Any], place: Place) -> Iterator[Fault]:
    sections = [str(snippet[key]) for key in ("beginSection", "endSection")]
    if sections[0] != sections[1]:
        problem = f"expected one section, got {sections[0]!r} to {sections[1]!r}"
        yield error(place.key("endSection"), problem, "a snippet lies in the title or the abstract")
    elif re.fullmatch(r"sections\.[0-9]+", sections[0]):
        problem = f"{sections[0]!r} is a name of the first editions"
        yield warning(place.key("beginSection"), problem, "write title or abstract")
    elif sections[0] not in ("title", "abstract"):
        problem = f"expected title or abstract, got {sections[0]!r}"
        yield error(place.key("beginSection"), problem, "write title or abstract")


def _misplaced_text(
    snippet: Mapping[str, Any], document: Document, place: Place
) -> Iterator[Fault]:
    text, section = str(snippet["text"]), str(snippet["beginSection"])
    begin, end = int(snippet["offsetInBeginSection"]), int(snippet["offsetInEndSection"])
    whole = {"title": document.title, "abstract": document.abstract}.get(section, "")
    if begin >= 0 and whole[begin:end] == text:
        return
    found = whole.find(text)
    if found >= 0:
        right = f"{found} to {found + len(text)}"
        problem = f"the text stands at {right}, not at {begin} to {end}"
        yield warning(place, problem, f"set the offsets to {right}")
    else:
        problem = f"the text is not in the {section} of {document.id} as it is at hand"
        yield warning(place, problem, "take the text and its offsets from the document")
