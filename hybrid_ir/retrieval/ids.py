"""``ids.npy``: the document id of every Lucene document; a search loads no stored fields."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from hybrid_ir.errors import InputError
from hybrid_ir.files import replacing
from hybrid_ir.records import Document
from hybrid_ir.retrieval.index import (
    IDS,
    LUCENE,
    SETTINGS,
    IndexSettings,
    open_reader,
    searcher_of,
)
from hybrid_ir.retrieval.jvm import JavaObject, java_class

_PAGE = 20_000


INTEGERS = np.dtype(np.int64)


@dataclass(slots=True)
class Census:
    """What passed through the indexer, and what its ids look like."""

    seen: int = 0
    indexed: int = 0
    integers: bool = True
    width: int = 1

    def count(self, documents: list[Document], indexed: list[Document]) -> None:
        """Count a batch: all of it, and the part that has text."""
        self.seen += len(documents)
        self.indexed += len(indexed)
        self.integers = self.integers and all(is_integer(document.id) for document in indexed)
        self.width = max(self.width, *(len(document.id.encode()) for document in documents))

    @property
    def dtype(self) -> np.dtype[Any]:
        """How the ids are kept: as integers where every one is, else as fixed-width UTF-8."""
        return INTEGERS if self.integers else np.dtype(f"S{self.width}")


def is_integer(document_id: str) -> bool:
    """Say whether an id can be kept as a number and brought back unchanged."""
    return (
        document_id.isascii()
        and document_id.isdigit()
        and len(document_id) <= 18
        and (document_id[0] != "0" or document_id == "0")
    )


def open_ids(index: Path, settings: IndexSettings) -> NDArray[Any]:
    """Open the array that gives the document id of a Lucene document, without reading it in.

    Raises:
        InputError: it is missing or damaged.
    """
    path = index / IDS
    try:
        ids: NDArray[Any] = np.load(path, mmap_mode="r", allow_pickle=False)
    except (OSError, ValueError, EOFError) as error:
        raise InputError(f"{path}: cannot be read ({error}): index again") from error
    if ids.shape != (settings.documents - settings.without_text,):
        raise InputError(f"{path}: does not fit {SETTINGS}: index again")
    return ids


class _Column(msgspec.Struct, rename={"buffer": "bytes"}):
    """A Lucene BytesRef: the value is a part of the buffer."""

    buffer: bytes
    offset: int
    length: int


class _IdHit(msgspec.Struct):
    doc: int
    fields: tuple[int, _Column]


class _IdPage(msgspec.Struct):
    scoreDocs: list[_IdHit]  # noqa: N815 (Lucene's name)


_decode_ids = msgspec.json.Decoder(_IdPage).decode


def write_ids(folder: Path, indexed: int, dtype: np.dtype[Any]) -> None:
    """Write ``ids.npy``, in one step.

    Args:
        folder: The index folder.
        indexed: Documents that Lucene holds, none of them deleted.
        dtype: :data:`INTEGERS`, or bytes of a fixed width for UTF-8.
    """
    with replacing(folder / IDS) as temporary:
        ids = np.lib.format.open_memmap(temporary, "w+", dtype, (indexed,))
        reader = open_reader(folder / LUCENE)
        if reader.maxDoc() != indexed:
            raise RuntimeError(f"Lucene holds {reader.maxDoc()} of {indexed} documents")
        searcher = searcher_of(reader)
        for start in range(0, indexed, _PAGE):
            page = _ids_from(searcher, start)
            ids[start : start + len(page)] = [int(i) for i in page] if dtype == INTEGERS else page
        reader.close()
        ids.flush()


def _ids_from(searcher: JavaObject, start: int) -> list[bytes]:
    """Give the ids of a page of Lucene's documents, in its numbering, in a few calls to Java.

    Anserini keeps every id as a column (doc values), too. A search for everything, ordered by
    number and id, reports the columns; that takes half the time of loading the stored fields, and
    spares the JVM hundreds of megabytes.
    """
    columns = java_class("org.apache.lucene.search.SortField")
    text = java_class("org.apache.lucene.search.SortField$Type").STRING_VAL
    order = java_class("org.apache.lucene.search.Sort")(columns.FIELD_DOC, columns("id", text))
    # the first document after (start, no id) is the one with this number
    no_id = java_class("org.apache.lucene.util.BytesRef")()
    before = [java_class("java.lang.Integer")(start), no_id]
    after = java_class("org.apache.lucene.search.FieldDoc")(start, 0.0, before)
    everything = java_class("org.apache.lucene.search.MatchAllDocsQuery")()
    page = searcher.searchAfter(after, everything, _PAGE, order)
    mapper = java_class("com.fasterxml.jackson.databind.ObjectMapper")()
    hits = _decode_ids(mapper.writeValueAsString(page)).scoreDocs
    if hits[0].doc != start:
        raise RuntimeError(f"Lucene's document {start} has no id")
    ids = (hit.fields[1] for hit in hits)
    return [value.buffer[value.offset : value.offset + value.length] for value in ids]
