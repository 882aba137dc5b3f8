"""Building the Lucene index and the document store that goes with it, in one pass.

An index folder holds

- ``lucene/``: Lucene's own files, written by Anserini's SimpleIndexer (several threads in Java),
- ``documents.sqlite``: every document, for whoever needs its text (:class:`DocumentStore`),
- ``ids.npy``: the document id of every Lucene document, in Lucene's numbering,
- ``index.json``: the settings (analysis, fields) a search must share, and counts.

Lucene stores nothing but the ids: texts stand once, in the store.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import msgspec
import numpy as np
from numpy.typing import NDArray

from hybrid_ir.errors import InputError, refuse
from hybrid_ir.files import read_jsonl_lines, replacing
from hybrid_ir.pubmed.store import DocumentStore, StoreWriter
from hybrid_ir.records import Document
from hybrid_ir.retrieval.jvm import MEMORY_VARIABLE, JavaObject, anserini_jar, java_class, lock

ExtraField = Literal["title", "abstract", "mesh"]

LUCENE = "lucene"
STORE = "documents.sqlite"
IDS = "ids.npy"
SETTINGS = "index.json"

_BATCH = 1_000
_BATCH_CHARACTERS = 8_000_000
_ID_PAGE = 20_000
MAX_ID_BYTES = 512
_JAVA_BLANKS = "".join(map(chr, range(33)))  # what Java's trim() takes for blank


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


def read_documents(paths: Iterable[Path]) -> Iterator[Document]:
    """Stream documents from JSONL files.

    Raises:
        InputError: a line that is no document, or an id that is empty or holds white space.
    """
    for path in paths:
        for number, document in read_jsonl_lines(path, Document):
            if not _is_usable(document.id):
                raise InputError(
                    f"{path}:{number}: expected an id without white space or control characters,"
                    f" of at most {MAX_ID_BYTES} bytes, got {document.id!r:.80}"
                )
            yield document


def _is_usable(document_id: str) -> bool:
    one_word = document_id.split() == [document_id] and document_id.isprintable()
    return one_word and len(document_id.encode()) <= MAX_ID_BYTES


def places_of(document_id: str, paths: Iterable[Path]) -> list[str]:
    """Give file and line of every document with an id."""
    return [
        f"{path}:{number}"
        for path in paths
        for number, document in read_jsonl_lines(path, Document)
        if document.id == document_id
    ]


def build_index(
    documents: Iterable[Document],
    output: Path,
    config: IndexConfig,
    progress: Callable[[int], object] = lambda _: None,
) -> IndexSettings:
    """Index documents into a new folder, which replaces ``output`` only when it is whole.

    A document whose title and abstract are blank cannot be found by its words: the store has it,
    the index has not, and ``without_text`` counts it.

    Args:
        documents: Streamed; a few batches at a time are in memory.
        output: The index folder.
        config: Analysis, fields, threads.
        progress: Called with the number of documents of each batch.

    Raises:
        InputError: two documents with one id, no document at all, or something else than an index
            stands at ``output``.
    """
    _refuse_to_replace(output)
    with replacing(output) as folder:
        folder.mkdir()
        census = _fill(documents, folder, config, progress)
        if not census.seen:
            raise InputError(f"no documents to index into {output}")
        with lock:
            _write_ids(folder, census)
        settings = IndexSettings(
            fields=("contents", *config.fields),
            stemmer=config.stemmer,
            keep_stopwords=config.keep_stopwords,
            anserini=anserini_jar().name.removeprefix("anserini-").removesuffix("-fatjar.jar"),
            documents=census.seen,
            without_text=census.seen - census.indexed,
        )
        (folder / SETTINGS).write_bytes(msgspec.json.format(msgspec.json.encode(settings)))
    return settings


def _refuse_to_replace(output: Path) -> None:
    """Only an older index, or an empty folder, makes way for a new one."""
    ours = not output.exists() or (output / SETTINGS).is_file()
    if not ours and not (output.is_dir() and not any(output.iterdir())):
        raise InputError(
            f"{output}: expected a new folder or an index to replace, and it is neither;"
            " give another name"
        )


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


@dataclass(slots=True)
class _Census:
    """What passed through the indexer, and what its ids look like."""

    seen: int = 0
    indexed: int = 0
    integers: bool = True
    width: int = 1

    def count(self, documents: list[Document], indexed: list[Document]) -> None:
        self.seen += len(documents)
        self.indexed += len(indexed)
        self.integers = self.integers and all(_is_integer(document.id) for document in indexed)
        self.width = max(self.width, *(len(document.id.encode()) for document in documents))


def _is_integer(document_id: str) -> bool:
    """Say whether an id can be kept as a number and brought back unchanged."""
    return (
        document_id.isascii()
        and document_id.isdigit()
        and len(document_id) <= 18
        and (document_id[0] != "0" or document_id == "0")
    )


def _fill(
    documents: Iterable[Document],
    folder: Path,
    config: IndexConfig,
    progress: Callable[[int], object],
) -> _Census:
    """Write store and Lucene index."""
    census = _Census()
    with ExitStack() as stack:
        store = stack.enter_context(closing(StoreWriter(folder / STORE)))
        with lock:
            indexer = _indexer(folder / LUCENE, config)
        try:
            _feed(documents, store, indexer, config, census, progress)
        except BaseException:
            with lock:
                indexer.writer.rollback()  # lets go of Lucene's files; they are thrown away
            raise
        with lock:
            indexer.close()
    return census


def _feed(
    documents: Iterable[Document],
    store: StoreWriter,
    indexer: JavaObject,
    config: IndexConfig,
    census: _Census,
    progress: Callable[[int], object],
) -> None:
    # Java indexes one batch (without the interpreter lock) while the next is read and stored here
    with ThreadPoolExecutor(1) as java:
        pending: Future[None] | None = None
        for batch in _batches(documents):
            store.add(batch)
            with_text = [document for document in batch if document.text.strip(_JAVA_BLANKS)]
            lines = [_lucene_json(document, config.fields) for document in with_text]
            if pending:
                pending.result()
            pending = java.submit(_add, indexer, lines)
            census.count(batch, with_text)
            progress(len(batch))
        if pending:
            pending.result()


def _batches(documents: Iterable[Document]) -> Iterator[list[Document]]:
    """Cut a stream into batches, limited in number and in size."""
    batch: list[Document] = []
    characters = 0
    for document in documents:
        batch.append(document)
        characters += len(document.title) + len(document.abstract)
        if len(batch) >= _BATCH or characters >= _BATCH_CHARACTERS:
            yield batch
            batch, characters = [], 0
    if batch:
        yield batch


def _indexer(folder: Path, config: IndexConfig) -> JavaObject:
    arguments = ["-collection", "JsonCollection", "-input", "", "-index", str(folder)]
    arguments += ["-threads", str(config.threads), "-stemmer", config.stemmer]
    arguments += ["-keepStopwords"] if config.keep_stopwords else []
    arguments += ["-fields", *config.fields] if config.fields else []
    indexer = java_class("io.anserini.index.SimpleIndexer")(arguments)
    # SimpleIndexer asks for 2 GB whatever the heap is; Lucene takes a smaller buffer at any time
    indexer.writer.getConfig().setRAMBufferSizeMB(float(config.buffer_mb))
    return indexer


def _add(indexer: JavaObject, lines: list[str]) -> None:
    with lock:
        count: int = indexer.addRawDocuments(lines) if lines else 0
    if count != len(lines):
        raise InputError(
            f"Lucene took {count:,} of {len(lines):,} documents; its errors stand above. Where"
            f" memory ran out, give Java more: {MEMORY_VARIABLE}=4g"
        )


def _lucene_json(document: Document, fields: tuple[ExtraField, ...]) -> str:
    values = {"id": document.id, "contents": document.text}
    if "title" in fields:
        values["title"] = document.title
    if "abstract" in fields:
        values["abstract"] = document.abstract
    if "mesh" in fields:
        values["mesh"] = " ".join(document.mesh)
    return msgspec.json.encode(values).decode()


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


def _write_ids(folder: Path, census: _Census) -> None:
    """Write ``ids.npy``: integers where every id is one, fixed-width UTF-8 otherwise."""
    dtype = np.dtype(np.int64) if census.integers else np.dtype(f"S{census.width}")
    ids = np.lib.format.open_memmap(folder / IDS, "w+", dtype, (census.indexed,))
    reader = open_reader(folder / LUCENE)
    if reader.maxDoc() != census.indexed:
        raise RuntimeError(f"Lucene holds {reader.maxDoc()} of {census.indexed} documents")
    searcher = searcher_of(reader)
    for start in range(0, census.indexed, _ID_PAGE):
        page = _ids_from(searcher, start)
        ids[start : start + len(page)] = [int(i) for i in page] if census.integers else page
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
    page = searcher.searchAfter(after, everything, _ID_PAGE, order)
    mapper = java_class("com.fasterxml.jackson.databind.ObjectMapper")()
    hits = _decode_ids(mapper.writeValueAsString(page)).scoreDocs
    if hits[0].doc != start:
        raise RuntimeError(f"Lucene's document {start} has no id")
    ids = (hit.fields[1] for hit in hits)
    return [value.buffer[value.offset : value.offset + value.length] for value in ids]
