"""Where the texts of documents come from, and which documents there are to draw negatives from.

``snippets``: a document's text is what the admitted golden questions mark in it, title first, so
nothing that another year's experts marked is in it. This is for collections that are made of
snippets, whose documents hold the snippets of all years, the test's included.

``index``: a document's text is what an index folder or a PubMed corpus holds. Whether a collection
is made of test snippets cannot be seen in it: the user has to know.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from hybrid_ir.pubmed.store import DocumentStore
from hybrid_ir.records import Gold, Snippet
from hybrid_ir.retrieval.ids import open_ids
from hybrid_ir.retrieval.index import read_settings


@dataclass(frozen=True, slots=True)
class Passages:
    """The documents to train with.

    Attributes:
        text_of: Gives a document's text; None where there is none.
        count: The number of documents that can have a text.
        id_at: Gives the id of one of them, by its place from 0.
    """

    text_of: Callable[[str], str | None]
    count: int
    id_at: Callable[[int], str]


def snippet_passages(golds: Iterable[Gold]) -> Passages:
    """Build every document's text from the snippets of golden questions.

    Snippets of the title come first, then all others, in the order given and joined by blanks; a
    text that a document has already is not repeated.
    """
    found: dict[str, list[Snippet]] = {}
    for gold in golds:
        for snippet in gold.snippets:
            found.setdefault(snippet.document_id, []).append(snippet)
    texts = {document: _joined(snippets) for document, snippets in found.items()}
    texts = {document: text for document, text in texts.items() if text}
    ids = list(texts)
    return Passages(texts.get, len(ids), ids.__getitem__)


def _joined(snippets: Sequence[Snippet]) -> str:
    in_order = sorted(snippets, key=lambda snippet: snippet.section != "title")  # stable
    texts = dict.fromkeys(" ".join(snippet.text.split()) for snippet in in_order)
    return " ".join(text for text in texts if text)


def stored_passages(index: Path, store: DocumentStore) -> Passages:
    """Give the documents of an index folder with their texts, all read from disk when asked for.

    Args:
        index: The folder.
        store: Its document store, open.
    """
    ids = open_ids(index, read_settings(index))

    def id_at(place: int) -> str:
        value = ids[place]
        return value.decode() if isinstance(value, bytes) else str(value)

    return Passages(partial(text_in, store), len(ids), id_at)


def text_in(store: DocumentStore, document_id: str) -> str | None:
    """Give a stored document's text; None where there is none."""
    document = store.get(document_id)
    return document.text.strip() or None if document else None
