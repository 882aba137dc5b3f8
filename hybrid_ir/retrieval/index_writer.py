"""Writing a Lucene index: Java indexes one batch while Python prepares the next."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path

from hybrid_ir.errors import InputError
from hybrid_ir.records import Document
from hybrid_ir.retrieval.fields import lucene_json
from hybrid_ir.retrieval.index import SEQUENCE, IndexConfig
from hybrid_ir.retrieval.jvm import MEMORY_VARIABLE, JavaObject, java_class, java_faults, lock


class LuceneWriter:
    """An index being written. Nothing is durable, or seen by readers, before a commit."""

    def __init__(self, folder: Path, config: IndexConfig) -> None:
        self._folder = folder
        self._fields = config.fields
        with lock, java_faults(folder):
            self._indexer = _indexer(folder, config)
        self._java = ThreadPoolExecutor(1)
        self._pending: Future[None] | None = None

    def change(self, documents: Sequence[Document], gone: Sequence[str] = ()) -> None:
        """Delete documents by id, then add others; Java does it while the caller goes on.

        Raises:
            InputError: Lucene refused documents of this call or the one before.
        """
        lines = [lucene_json(document, self._fields) for document in documents]
        self._wait()
        self._pending = self._java.submit(self._change, lines, gone)

    def commit(self, sequence: int) -> None:
        """Make everything durable, marked with the last file it reflects."""
        self._wait()
        with lock, java_faults(self._folder):
            mark = java_class("java.util.HashMap")()
            mark.put(SEQUENCE, str(sequence))
            self._indexer.writer.setLiveCommitData(mark.entrySet())
            self._indexer.writer.commit()

    def expunge(self) -> None:
        """Rewrite every segment that holds deleted documents: they would count in statistics."""
        self._wait()
        from jnius import cast

        with lock, java_faults(self._folder):
            policy = self._indexer.writer.getConfig().getMergePolicy()
            policy = cast("org.apache.lucene.index.TieredMergePolicy", policy)
            policy.setForceMergeDeletesPctAllowed(0.0)
            self._indexer.writer.forceMergeDeletes()

    def documents(self) -> int:
        """Give the number of documents, deleted ones left out."""
        self._wait()
        with lock:
            count: int = self._indexer.writer.getDocStats().numDocs
            return count

    def close(self) -> None:
        """Commit what is left and close."""
        self._wait()
        with lock, java_faults(self._folder):
            self._indexer.writer.commit()  # raises where the indexer's own would only log
            self._indexer.close()
        self._java.shutdown()

    def abandon(self) -> None:
        """Throw away what was not committed and let go of the files."""
        self._java.shutdown()
        with lock, java_faults(self._folder):
            self._indexer.writer.rollback()

    def _wait(self) -> None:
        if self._pending:
            self._pending.result()

    def _change(self, lines: list[str], gone: Sequence[str]) -> None:
        with lock, java_faults(self._folder):
            if gone:
                self._indexer.writer.deleteDocuments(_with_ids(gone))
            count: int = self._indexer.addRawDocuments(lines) if lines else 0
        if count != len(lines):
            raise InputError(
                f"{self._folder}: Lucene took {count:,} of {len(lines):,} documents; its errors"
                " stand above: is the disk full? Where memory ran out, give Java more:"
                f" {MEMORY_VARIABLE}=4g"
            )


@contextmanager
def writing_lucene(folder: Path, config: IndexConfig) -> Iterator[LuceneWriter]:
    """Write to an index, a new one where there is none; on an exception the last commit stays."""
    writer = LuceneWriter(folder, config)
    try:
        yield writer
        writer.close()
    except BaseException:
        with suppress(InputError):  # a disk that is full stays full
            writer.abandon()
        raise


def _indexer(folder: Path, config: IndexConfig) -> JavaObject:
    arguments = ["-collection", "JsonCollection", "-input", "", "-index", str(folder)]
    arguments += ["-threads", str(config.threads), "-stemmer", config.stemmer]
    arguments += ["-append"] if any(folder.glob("segments_*")) else []
    arguments += ["-keepStopwords"] if config.keep_stopwords else []
    arguments += ["-fields", *config.fields] if config.fields else []
    indexer = java_class("io.anserini.index.SimpleIndexer")(arguments)
    # SimpleIndexer asks for 2 GB whatever the heap is; Lucene takes a smaller buffer at any time
    indexer.writer.getConfig().setRAMBufferSizeMB(float(config.buffer_mb))
    return indexer


def _with_ids(ids: Iterable[str]) -> JavaObject:
    """Ask for documents by id: one query for many, since each crossing to Java costs."""
    reference = java_class("org.apache.lucene.util.BytesRef")
    wanted = java_class("java.util.ArrayList")()
    for id_ in ids:
        wanted.add(reference(id_.encode()))
    from jnius import cast

    query = java_class("org.apache.lucene.search.TermInSetQuery")("id", wanted)
    return cast("org.apache.lucene.search.Query", query)
