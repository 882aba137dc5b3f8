"""The end of a growth: what a search needs beside store and Lucene, and whether it is there."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import msgspec

from hybrid_ir.errors import InputError
from hybrid_ir.files import writing
from hybrid_ir.pubmed.growing_store import GrowingStore
from hybrid_ir.retrieval.corpus_files import baseline_of, missing_numbers
from hybrid_ir.retrieval.corpus_manifest import (
    CORPUS,
    AppliedFile,
    Corpus,
    Counts,
    Settings,
    read_corpus,
    total,
)
from hybrid_ir.retrieval.ids import INTEGERS, open_ids, write_ids
from hybrid_ir.retrieval.index import LUCENE, SETTINGS, IndexConfig, last_sequence, read_settings
from hybrid_ir.retrieval.indexing import write_settings
from hybrid_ir.retrieval.jvm import lock


def applied_files(store: GrowingStore) -> list[AppliedFile]:
    """Give the files in a store, in order."""
    decode = msgspec.json.Decoder(Counts).decode
    return [AppliedFile(row.name, row.md5, decode(row.counts)) for row in store.applied()]


def finished(folder: Path, store: GrowingStore) -> Corpus | None:
    """Give the corpus where all that a search needs is there, and of the store's state."""
    if not store.whole or not (folder / SETTINGS).exists():
        return None
    try:
        corpus, index = read_corpus(folder), read_settings(folder)
        open_ids(folder, index)
    except InputError:
        return None
    with lock:
        reached = last_sequence(folder / LUCENE)
    fits = corpus.documents == index.documents
    return corpus if fits and index.sequence == reached == store.last else None


def finish(
    folder: Path, config: IndexConfig, store: GrowingStore, settings: Settings, indexed: int
) -> Corpus:
    """Write what a search needs beside store and Lucene, ``index.json`` last.

    Raises:
        InputError: no document, or Lucene does not hold what the store does.
    """
    files = applied_files(store)
    counts = total(files)
    documents, pmids = _count_and_hash(store)
    if not documents:
        raise InputError(f"{folder}: none of {counts.citations:,} citations was selected")
    if indexed != documents - counts.without_text:
        raise InputError(
            f"{folder}: Lucene holds {indexed:,} of {documents - counts.without_text:,} documents:"
            f" remove {folder / LUCENE} and run the same command again"
        )
    with lock:
        write_ids(folder, indexed, INTEGERS)
    names = [file.name for file in files]
    corpus = Corpus(
        baseline=baseline_of(names[0]),
        documents=documents,
        pmids_sha256=pmids,
        missing=missing_numbers(names),
        settings=settings,
        counts=counts,
        files=tuple(files),
    )
    _write_json(folder / CORPUS, corpus)
    store.set_whole(True)
    write_settings(folder, config, documents, indexed, store.last)
    return corpus


def _count_and_hash(store: GrowingStore) -> tuple[int, str]:
    """Count the documents and hash their ids in ascending order, one a line."""
    count, pmids = 0, hashlib.sha256()
    for id_ in store.ids_in_order():
        count += 1
        pmids.update(f"{id_}\n".encode())
    return count, pmids.hexdigest()


def _write_json(path: Path, record: Any) -> None:  # noqa: ANN401 (any record)
    with writing(path) as file:
        file.write(msgspec.json.format(msgspec.json.encode(record)).decode() + "\n")
