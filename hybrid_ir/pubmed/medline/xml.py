"""One record's XML: whether it is sound, and what stands at a path in it.

The XML library is pugixml: it reads no document type definition and opens nothing. It lets pass
what XML forbids in names and attributes, by which nothing is lost; what it would hand on wrong
(bytes that are not UTF-8, NUL, entities it does not know) is refused here.

A call of it costs a microsecond, whatever is asked, and a path in an XPath a third of one: so many
paths are asked for at once, and their texts come joined by a character that XML cannot hold.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from html import escape

from pugixml import pugi

from hybrid_ir.pubmed.medline.records import BadRecordError

_PARSING = pugi.PARSE_DEFAULT | pugi.PARSE_WS_PCDATA | pugi.PARSE_FRAGMENT
_BETWEEN = "\x1f"
_HIDING = re.compile(rb"<!--.*?-->|<!\[CDATA\[(.*?)\]\]>", re.DOTALL)
_FOREIGN_ENTITY = re.compile(
    rb"&(?!(?:amp|lt|gt|quot|apos|(?!#0*31;|#x0*1[Ff];)#(?:0*[1-9]\d*|x0*[1-9A-Fa-f][\dA-Fa-f]*));)"
    rb"[^\s<&;]{0,40};?"
)


def without_hidden(data: bytes) -> bytes:
    """Give a record without comments, and with the text of CDATA sections as any other text.

    Raises:
        BadRecordError: no UTF-8, or an entity that XML itself does not know.
    """
    try:
        data.isascii() or data.decode()
    except UnicodeDecodeError as error:
        raise BadRecordError(f"expected UTF-8: {error.reason}", error.start) from error
    if (at := data.find(_BETWEEN.encode())) >= 0:
        raise BadRecordError("a character that XML forbids, U+001F", at)
    if b"!" in data and b"<!" in data:  # one byte is found ten times as fast as two
        data = _HIDING.sub(lambda match: escape((match[1] or b"").decode()).encode(), data)
    if b"&" in data and (match := _FOREIGN_ENTITY.search(data)):
        raise BadRecordError(f"unknown entity {match[0].decode(errors='replace')}")
    return data


def load(data: bytes) -> pugi.XMLDocument:
    """Parse what :func:`without_hidden` gave. The nodes live as long as the document is held.

    Args:
        data: One element, or several.

    Raises:
        BadRecordError: not well-formed.
    """
    document = pugi.XMLDocument()
    result = document.load_buffer(data, len(data), _PARSING, pugi.ENCODING_UTF8)
    if result:
        return document
    if (at := data.find(b"\0")) >= 0:  # to the library, the end
        raise BadRecordError("a NUL byte", at)
    raise BadRecordError(f"not well-formed: {result.description()}", result.offset)


@cache
def query(*paths: str) -> pugi.XPathQuery:
    """Prepare a question for :func:`ask`: XPaths, or counts and the like."""
    return pugi.XPathQuery("concat(" + f",'{_BETWEEN}',".join(paths) + ",'')")


def ask(node: pugi.XMLNode, question: pugi.XPathQuery) -> list[str]:
    """Give the text of the first element or attribute at each path; empty where there is none."""
    values: list[str] = question.evaluate_string(node).split(_BETWEEN)
    return values


def found(node: pugi.XMLNode, path: pugi.XPathQuery) -> Iterator[pugi.XPathNode]:
    """Give all elements at a path."""
    nodes = path.evaluate_node_set(node)
    return map(nodes.__getitem__, range(len(nodes)))  # the library's iterator ends by exception


def children(parent: pugi.XMLNode, name: str) -> Iterator[pugi.XMLNode]:
    """Walk by hand: the library's iterators take several times as long."""
    node = parent.child(name)
    while node:
        yield node
        node = node.next_sibling(name)
