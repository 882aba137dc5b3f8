"""Building an index folder: the document store and the Lucene index, in one pass."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, closing
from pathlib import Path

import msgspec

from hybrid_ir.errors import InputError
from hybrid_ir.files import read_jsonl_lines, replacing
from hybrid_ir.pubmed.store import StoreWriter
from hybrid_ir.records import Document
from hybrid_ir.retrieval.ids import Census, write_ids
from hybrid_ir.retrieval.index import (
    LUCENE,
    SETTINGS,
    STORE,
    ExtraField,
    IndexConfig,
    IndexSettings,
)
from hybrid_ir.retrieval.jvm import MEMORY_VARIABLE, JavaObject, anserini_jar, java_class, lock

_BATCH = 1_000
_BATCH_CHARACTERS = 8_000_000
MAX_ID_BYTES = 512
_JAVA_BLANKS = "".join(map(chr, range(33)))  # what Java's trim() takes for blank


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
            write_ids(folder, census)
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


def _fill(
    documents: Iterable[Document],
    folder: Path,
    config: IndexConfig,
    progress: Callable[[int], object],
) -> Census:
    """Write store and Lucene index."""
    census = Census()
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
    census: Census,
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
