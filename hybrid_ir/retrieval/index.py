"""The index folder: its layout, its settings, and how to open its parts.

An index folder holds

- ``lucene/``: Lucene's own files, written by Anserini's SimpleIndexer (several threads in Java),
- ``documents.sqlite``: every document, for whoever needs its text (:class:`DocumentStore`),
- ``ids.npy``: the document id of every Lucene document, in Lucene's numbering,
- ``index.json``: the settings (analysis, fields) a search must share, and counts.

Lucene stores nothing but the ids: texts stand once, in the store.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import msgspec

from hybrid_ir.errors import InputError, refuse
from hybrid_ir.pubmed.store import DocumentStore
from hybrid_ir.retrieval.jvm import JavaObject, java_class

ExtraField = Literal["title", "abstract", "mesh"]

LUCENE = "lucene"
STORE = "documents.sqlite"
IDS = "ids.npy"
SETTINGS = "index.json"


@dataclass(frozen=True, slots=True)
class IndexConfig:
    """How documents are analysed and which fields the index has.

    Attributes:
        fields: Fields beside ``contents`` (title and abstract together), each with statistics of
            its own, for field weights.
        stemmer: ``porter`` (Anserini's default), ``krovetz`` or ``none``.
        keep_stopwords: Index Lucene's English stop words, too.
        threads: Indexing threads in Java.
        buffer_mb: Memory Lucene fills before it writes a segment, in MB.
    """

    fields: tuple[ExtraField, ...] = ()
    stemmer: Literal["porter", "krovetz", "none"] = "porter"
    keep_stopwords: bool = False
    threads: int = 2
    buffer_mb: int = 512

    def __post_init__(self) -> None:
        refuse(
            "the index",
            ("threads", "1 to 256", self.threads, 1 <= self.threads <= 256),
            ("buffer_mb", "16 to 2,000", self.buffer_mb, 16 <= self.buffer_mb <= 2_000),
            ("fields", "each once", self.fields, len(set(self.fields)) == len(self.fields)),
        )


@dataclass(frozen=True, slots=True)
class IndexSettings:
    """What ``index.json`` records of an index."""

    fields: tuple[str, ...]
    stemmer: Literal["porter", "krovetz", "none"]
    keep_stopwords: bool
    anserini: str
    documents: int
    without_text: int


def analyzer(stemmer: str, keep_stopwords: bool) -> JavaObject:
    """Give Anserini's English analyser, the same for indexing and searching."""
    java = java_class("io.anserini.analysis.DefaultEnglishAnalyzer")
    return java.fromArguments(stemmer, keep_stopwords, None)


def read_settings(index: Path) -> IndexSettings:
    """Read an index folder's settings.

    Raises:
        InputError: the folder is missing or is not an index.
    """
    try:
        return msgspec.json.decode((index / SETTINGS).read_bytes(), type=IndexSettings)
    except (OSError, msgspec.MsgspecError) as error:
        raise InputError(
            f"{index}: expected an index folder with {SETTINGS} ({error}): run hybrid-ir index"
        ) from error


def open_store(index: Path) -> DocumentStore:
    """Open the document store of an index folder."""
    return DocumentStore(index / STORE)


def open_reader(lucene: Path) -> JavaObject:
    """Open Lucene's files for reading; the caller closes the reader.

    Raises:
        InputError: Lucene cannot read them.
    """
    folder = java_class("java.io.File")(str(lucene)).toPath()
    from jnius import JavaException, cast  # the JVM runs by now

    try:
        directory = java_class("org.apache.lucene.store.FSDirectory").open(folder)
        reader = java_class("org.apache.lucene.index.DirectoryReader").open(directory)
    except JavaException as error:
        raise InputError(f"{lucene}: Lucene cannot read it ({error}): index again") from error

    # pyjnius picks among overloads by the declared type: most of Lucene's take an IndexReader
    return cast("org.apache.lucene.index.IndexReader", reader)


def searcher_of(reader: JavaObject) -> JavaObject:
    """Give a Lucene searcher over an open reader."""
    return java_class("org.apache.lucene.search.IndexSearcher")(reader)
