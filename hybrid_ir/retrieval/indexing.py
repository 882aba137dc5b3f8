"""Building an index folder: the document store and the Lucene index, in one pass."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from pathlib import Path

import msgspec

from hybrid_ir.errors import InputError
from hybrid_ir.files import read_jsonl_lines, replacing, writing
from hybrid_ir.pubmed.store import StoreWriter
from hybrid_ir.records import Document
from hybrid_ir.retrieval.corpus_manifest import CORPUS
from hybrid_ir.retrieval.fields import has_text
from hybrid_ir.retrieval.ids import Census, write_ids
from hybrid_ir.retrieval.index import LUCENE, SETTINGS, STORE, IndexConfig, IndexSettings
from hybrid_ir.retrieval.index_writer import writing_lucene
from hybrid_ir.retrieval.jvm import anserini_jar, lock

_BATCH = 1_000
_BATCH_CHARACTERS = 8_000_000
MAX_ID_BYTES = 512


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
            write_ids(folder, census.indexed, census.dtype)
        return write_settings(folder, config, census.seen, census.indexed)


def write_settings(
    folder: Path, config: IndexConfig, documents: int, indexed: int, sequence: int = 0
) -> IndexSettings:
    """Write ``index.json``, which makes the folder an index: the last step of each building."""
    settings = IndexSettings(
        fields=("contents", *config.fields),
        stemmer=config.stemmer,
        keep_stopwords=config.keep_stopwords,
        anserini=anserini_jar().name.removeprefix("anserini-").removesuffix("-fatjar.jar"),
        documents=documents,
        without_text=documents - indexed,
        sequence=sequence,
    )
    with writing(folder / SETTINGS) as file:
        file.write(msgspec.json.format(msgspec.json.encode(settings)).decode())
    return settings


def _refuse_to_replace(output: Path) -> None:
    """Only an older index, or an empty folder, makes way for a new one; a corpus never does."""
    if (output / CORPUS).exists():
        raise InputError(f"{output}: holds a PubMed corpus; give another name, or remove it first")
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
    with (
        closing(StoreWriter(folder / STORE)) as store,
        writing_lucene(folder / LUCENE, config) as lucene,
    ):
        for batch in _batches(documents):
            store.add(batch)
            with_text = [document for document in batch if has_text(document)]
            lucene.change(with_text)
            census.count(batch, with_text)
            progress(len(batch))
    return census


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
