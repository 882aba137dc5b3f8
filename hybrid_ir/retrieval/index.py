"""The index folder: its layout, its settings, and how to open its parts.

An index folder holds

- ``lucene/``: Lucene's own files, written by Anserini's SimpleIndexer (several threads in Java),
- ``documents.sqlite``: every document, for whoever needs its text (:class:`DocumentStore`),
- ``ids.npy``: the document id of every Lucene document, in Lucene's numbering,
- ``index.json``: the settings (analysis, fields) a search must share, and counts,
- ``corpus.json``, in a PubMed corpus: what it is made of (:mod:`~hybrid_ir.retrieval.corpus`).

Lucene stores nothing but the ids: texts stand once, in the store. A folder without ``index.json``
is not finished: it is written last, and taken away while a corpus is updated.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import msgspec

from hybrid_ir.errors import InputError, refuse
from hybrid_ir.pubmed.store import INTERRUPTED, DocumentStore
from hybrid_ir.pubmed.store_lock import lock_file, reading
from hybrid_ir.retrieval.fields import ExtraField
from hybrid_ir.retrieval.jvm import JavaObject, java_class, java_faults

LUCENE = "lucene"
STORE = "documents.sqlite"
IDS = "ids.npy"
SETTINGS = "index.json"
SEQUENCE = "sequence"  # the key of the number in a Lucene commit


@dataclass(frozen=True, slots=True)
class IndexConfig:
    """How documents are analysed and which fields the index has.

    Attributes:
        fields: Fields beside ``contents`` (title and abstract together). ``title``, ``abstract``
            and ``mesh`` hold words, each with statistics of its own, for field weights;
            ``publication_type`` and ``year`` hold exact values, for clauses that ask for them or
            rule them out (:class:`~hybrid_ir.records.Clause`).
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
    """What ``index.json`` records of an index.

    ``sequence`` is the number of PubMed files in it, 0 where it was built from documents.
    """

    fields: tuple[str, ...]
    stemmer: Literal["porter", "krovetz", "none"]
    keep_stopwords: bool
    anserini: str
    documents: int
    without_text: int
    sequence: int = 0


def analyzer(stemmer: str, keep_stopwords: bool) -> JavaObject:
    """Give Anserini's English analyser, the same for indexing and searching."""
    java = java_class("io.anserini.analysis.DefaultEnglishAnalyzer")
    return java.fromArguments(stemmer, keep_stopwords, None)


def read_settings(index: Path) -> IndexSettings:
    """Read an index folder's settings.

    Raises:
        InputError: the folder is missing or is not an index.
    """
    if not (index / SETTINGS).exists() and lock_file(index / STORE).exists():
        with reading(index / STORE):  # says so where an update is under way
            raise InputError(f"{index}: {INTERRUPTED}")
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
    folder = java_class("java.io.File")(str(lucene.absolute())).toPath()
    from jnius import cast  # the JVM runs by now

    try:
        with java_faults(lucene):
            directory = java_class("org.apache.lucene.store.FSDirectory").open(folder)
            reader = java_class("org.apache.lucene.index.DirectoryReader").open(directory)
    except InputError as error:
        raise InputError(f"{error}: Lucene cannot read it: index again") from error

    # pyjnius picks among overloads by the declared type: most of Lucene's take an IndexReader
    return cast("org.apache.lucene.index.IndexReader", reader)


def sequence_of(reader: JavaObject) -> int:
    """Give the number of PubMed files that an open Lucene index reflects."""
    from jnius import cast

    commit = cast("org.apache.lucene.index.DirectoryReader", reader).getIndexCommit()
    return int(commit.getUserData().get(SEQUENCE) or 0)


def last_sequence(lucene: Path) -> int | None:
    """Give the number of PubMed files that Lucene's files reflect, 0 where there are none yet.

    None where Lucene cannot read them.
    """
    if not any(lucene.glob("segments_*")):
        return 0
    try:
        reader = open_reader(lucene)
    except InputError:
        return None
    try:
        return sequence_of(reader)
    finally:
        reader.close()


def check_sequence(index: Path, reader: JavaObject, settings: IndexSettings) -> None:
    """Raise an InputError where Lucene and ``index.json`` are not of the same state."""
    if sequence_of(reader) != settings.sequence:
        raise InputError(f"{index}: {LUCENE} does not fit {SETTINGS}: {INTERRUPTED}")


def searcher_of(reader: JavaObject) -> JavaObject:
    """Give a Lucene searcher over an open reader."""
    return java_class("org.apache.lucene.search.IndexSearcher")(reader)
