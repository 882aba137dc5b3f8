"""The two moves a corpus grows by: a PubMed file is applied, Lucene catches up with the store."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path

import msgspec

from hybrid_ir.errors import InputError
from hybrid_ir.files import remove
from hybrid_ir.pubmed.growing_file import Change, GrowingFile
from hybrid_ir.pubmed.growing_store import GrowingStore
from hybrid_ir.pubmed.rows import ParsedFile
from hybrid_ir.records import Document
from hybrid_ir.retrieval.corpus_manifest import AppliedFile, CorpusFile, Counts
from hybrid_ir.retrieval.fields import has_text
from hybrid_ir.retrieval.index import IndexConfig, last_sequence
from hybrid_ir.retrieval.index_writer import LuceneWriter, writing_lucene
from hybrid_ir.retrieval.jvm import lock

log = logging.getLogger(__name__)

_BATCH = 1_000
_decode = msgspec.json.Decoder(Document).decode


def apply_file(
    file: CorpusFile,
    parsed: ParsedFile,
    store: GrowingStore,
    lucene: LuceneWriter,
    progress: Callable[[int], object],
) -> AppliedFile:
    """Store a file in one transaction, and give Lucene what it changes.

    Raises:
        InputError: its content is not what its MD5 says, or it is not whole: what is missing could
            never be applied later. Nothing of it is in the store then, and Lucene must not commit.
    """
    if file.md5 not in ("", parsed.md5):
        raise InputError(
            f"{file.path}: expected MD5 {file.md5}, it has {parsed.md5}: download it again"
        )
    with store.file() as growing:
        without_text = 0
        for rows in parsed.batches:
            without_text += _follow(growing.apply(rows), lucene)
            progress(len(rows))
        if damage := parsed.damage():
            raise InputError(
                f"{file.path}: {damage}: get it again; nothing of it is applied, and nothing of"
                " later files"
            )
        counts = _counts(growing, without_text, len(parsed.faults))
        growing.finish(file.name, parsed.md5, msgspec.json.encode(counts).decode())
    return AppliedFile(file.name, parsed.md5, counts)


def _follow(changes: list[Change], lucene: LuceneWriter) -> int:
    """Change Lucene as the store was changed; give how many more documents have no text."""
    gone, documents, without_text = [], [], 0
    for change in changes:
        if change.before is not None:
            if has_text(_decode(change.before)):
                gone.append(change.id)
            else:
                without_text -= 1
        if change.after is not None:
            document = _decode(change.after)
            if has_text(document):
                documents.append(document)
            else:
                without_text += 1
    lucene.change(documents, gone)
    return without_text


def _counts(file: GrowingFile, without_text: int, faults: int) -> Counts:
    return Counts(
        **file.tally,
        left_out=dict(file.left_out.most_common()),
        without_text=without_text,
        faults=faults,
    )


@contextmanager
def resumed_lucene(
    folder: Path, config: IndexConfig, store: GrowingStore
) -> Iterator[LuceneWriter]:
    """Open the Lucene index that follows a store, and let it catch up.

    What a kill took from it is replayed; one that is damaged, or of another state than the store
    can replay from, is made anew from the store.
    """
    with lock:
        reached = last_sequence(folder)
    lost = reached is None or not store.followed <= reached <= store.last
    if lost:
        log.warning("%s does not fit the store: all documents are indexed again", folder)
        remove(folder)
    with writing_lucene(folder, config) as lucene:
        if lost:
            _replay(((_decode(record).id, record) for record in store.records()), lucene)
        else:
            _replay(store.changed_since(reached or 0), lucene)
        commit(lucene, store)
        yield lucene


def _replay(changes: Iterator[tuple[str, bytes | None]], lucene: LuceneWriter) -> None:
    while batch := list(islice(changes, _BATCH)):
        documents = [_decode(record) for _, record in batch if record is not None]
        lucene.change(list(filter(has_text, documents)), [id_ for id_, _ in batch])


def commit(lucene: LuceneWriter, store: GrowingStore) -> None:
    """Make Lucene's state durable; the store need not keep what led to it."""
    lucene.commit(store.last)
    store.set_followed(store.last)
