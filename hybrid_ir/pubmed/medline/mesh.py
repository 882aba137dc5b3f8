"""MeSH headings and publication types: what recurs from citation to citation is read once.

So they are told apart by their bytes before anything is parsed.
"""

from __future__ import annotations

import re
from functools import lru_cache

from pugixml import pugi

from hybrid_ir.pubmed.citation import MeshHeading, MeshQualifier
from hybrid_ir.pubmed.medline.records import BadRecordError
from hybrid_ir.pubmed.medline.xml import ask, children, load, query

_NAMED = re.compile(rb'<\w+ (\w+)="([^"&<\s]*)" (\w+)="([^"&<\s]*)">([^<&\r]*[^<&\s][^<&\r]*)</')
_KEPT = 1 << 14


def mesh_headings(headings: pugi.XMLNode, data: bytes) -> tuple[MeshHeading, ...]:
    """Read a MeshHeadingList.

    Args:
        headings: The element, which may be missing.
        data: What it was parsed from.

    Raises:
        BadRecordError: a heading without descriptor.
    """
    source = _source(headings, data, b"</MeshHeadingList")
    return tuple(map(_heading, source.split(b"</MeshHeading")[:-1]))


def publication_types(types: pugi.XMLNode, data: bytes) -> tuple[str, ...]:
    """Read a PublicationTypeList, which may be missing, parsed from ``data``."""
    return _publication_types(_source(types, data, b"</PublicationTypeList"))


def _source(node: pugi.XMLNode, data: bytes, end_tag: bytes) -> bytes:
    """Give the bytes an element's content was parsed from; none where there is no element."""
    if not node:
        return b""
    start = data.index(b">", node.offset_debug()) + 1
    end = data.find(end_tag, start)
    return data[start:end] if end >= 0 else b""  # <MeshHeadingList/> has no end tag


@lru_cache(_KEPT)
def _heading(source: bytes) -> MeshHeading:
    """Read a MeSH heading without its end tag."""
    descriptor, *qualifiers = source.split(b"<QualifierName")
    at = descriptor.find(b"<DescriptorName")
    if at < 0:
        raise BadRecordError("a MeSH heading without descriptor")
    return MeshHeading(*_descriptor(descriptor[at:]), tuple(map(_qualifier, qualifiers)))


@lru_cache(_KEPT)
def _qualifier(source: bytes) -> MeshQualifier:
    """Read a qualifier without the beginning of its start tag; there are some 150."""
    return MeshQualifier(*_named(b"<QualifierName" + source))


@lru_cache(_KEPT)
def _descriptor(source: bytes) -> tuple[str, str, bool]:
    return _named(source)


def _named(source: bytes) -> tuple[str, str, bool]:
    """Read an element's text, its identifier and whether it is a main topic."""
    if match := _NAMED.match(source):  # as nearly all are; a tenth of the library's time
        first, one, second, other, name = match.groups()
        values = {first: one, second: other}
        if values.keys() == {b"UI", b"MajorTopicYN"}:
            return name.decode(), values[b"UI"].decode(), values[b"MajorTopicYN"] == b"Y"
    document = load(source)
    name_, identifier, major = ask(document, query("*", "*/@UI", "*/@MajorTopicYN"))
    return name_, identifier, major == "Y"


@lru_cache(_KEPT)
def _publication_types(source: bytes) -> tuple[str, ...]:
    """Read the content of a list of publication types; there are few different lists."""
    document = load(source)
    return tuple(ask(one, query("."))[0] for one in children(document, "PublicationType"))
