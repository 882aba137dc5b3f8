"""A PubMed corpus: an index folder that grows in place, file by file, and can be resumed.

The store is the truth and takes one PubMed file in one transaction, wholly or not at all; Lucene
follows it and commits now and then, with the number of the last file it has in the commit; what a
kill takes from Lucene is replayed from the store. While the folder grows it has no ``index.json``
and cannot be searched. Beside the parts of every index folder it holds ``corpus.json``
(:class:`~hybrid_ir.retrieval.corpus_manifest.Corpus`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import asdict
from pathlib import Path

import msgspec

from hybrid_ir.config import plain
from hybrid_ir.errors import InputError
from hybrid_ir.files import remove
from hybrid_ir.pubmed.growing_store import GrowingStore
from hybrid_ir.pubmed.medline import Fault
from hybrid_ir.pubmed.rows import Recipe, parse_files
from hybrid_ir.pubmed.store import sqlite_faults
from hybrid_ir.pubmed.store_lock import lock_file, writing_alone
from hybrid_ir.retrieval.corpus_end import applied_files, finish, finished
from hybrid_ir.retrieval.corpus_files import ANEW, files_to_apply
from hybrid_ir.retrieval.corpus_growth import apply_file, commit, resumed_lucene
from hybrid_ir.retrieval.corpus_manifest import (
    Applied,
    AppliedFile,
    CorpusFile,
    Counts,
    Settings,
)
from hybrid_ir.retrieval.index import (
    LUCENE,
    SETTINGS,
    STORE,
    IndexConfig,
)
from hybrid_ir.retrieval.index_writer import LuceneWriter

CHECKPOINT = 200_000
_PARSED = ".parsed"


def apply_files(
    folder: Path,
    files: Sequence[CorpusFile],
    config: IndexConfig,
    recipe: Recipe,
    processes: int = 1,
    progress: Callable[[int], object] = lambda _: None,
    report: Callable[[Fault], object] = lambda _: None,
    checkpoint: int = CHECKPOINT,
    anew: bool = False,
) -> Applied:
    """Bring a corpus up to date with a list of PubMed files; build it where there is none.

    Files that were applied before are passed over, so the same call resumes what was killed and
    changes nothing where nothing is new. Later files win over earlier ones, but a record of a lower
    PMID version never replaces a higher one; a citation whose revision is no longer selected leaves
    the corpus. At the end no deleted document is left in Lucene, so scores equal those of an index
    built from the final state in one go.

    Args:
        folder: The index folder; made where it is missing.
        files: Files of the corpus, applied ones or not, in ascending order of their numbers
            (``pubmed25n0001.xml.gz``): the baseline, then the updates.
        config: The index's analysis and fields; threads and buffer may change between calls.
        recipe: Which citations become documents, and with which text.
        processes: Processes that parse; 1 parses in this one. A program that asks for more keeps
            its own start under ``if __name__ == "__main__"``, since they are spawned.
        progress: Called with the number of records stored, or left out, since the last call.
        report: Called with each record that could not be read, once its file is applied; the
            file's other records are in.
        checkpoint: Changed documents after which Lucene commits: what a kill loses, at most.
        anew: Make Lucene's files again from the store, as is done by itself where they are missing
            or of another state.

    Raises:
        InputError: a file that is missing, changed since it was applied (MD5), out of order, or
            whose content is not what its MD5 says; settings other than those the corpus was begun
            with; a folder that is something else; another process at work on it; a full disk. Files
            before the faulty one stay applied and, unless the disk is full, can be searched; the
            same call goes on from there.
    """
    settings = _settings(config, recipe)
    _refuse_other_folder(folder)
    if not folder.exists():
        files_to_apply(files, ())  # what can be refused at once leaves no folder
    folder.mkdir(parents=True, exist_ok=True)
    with (
        sqlite_faults(folder / STORE),
        writing_alone(folder / STORE),
        closing(GrowingStore(folder / STORE, msgspec.json.encode(settings).decode())) as store,
    ):
        _refuse_other_settings(folder, store, settings)
        todo = files_to_apply(files, applied_files(store))
        if not todo and not anew and (corpus := finished(folder, store)):
            return Applied(corpus, ())
        store.set_whole(False)
        remove(folder / SETTINGS)
        if anew:
            remove(folder / LUCENE)
        new: list[AppliedFile] = []

        def grow(todo: Sequence[CorpusFile]) -> int:
            """Apply files and give the number of documents in Lucene."""
            with (
                resumed_lucene(folder / LUCENE, config, store) as lucene,
                _emptied(folder / _PARSED) as rows,
                closing(parse_files([f.path for f in todo], recipe, processes, rows)) as files,
            ):
                changed = 0
                for file, parsed in zip(todo, files, strict=True):
                    new.append(apply_file(file, parsed, store, lucene, progress))
                    changed += _changed(new[-1].counts)
                    if changed >= checkpoint:
                        commit(lucene, store)
                        changed = 0
                    for fault in parsed.faults:
                        report(fault)
                commit(lucene, store)
                return _expunged(lucene)

        try:
            indexed = grow(todo)
        except InputError:
            with suppress(InputError):  # what was applied before it can be searched, if possible
                finish(folder, config, store, settings, grow([]))
            raise
        return Applied(finish(folder, config, store, settings, indexed), tuple(new))


def _settings(config: IndexConfig, recipe: Recipe) -> Settings:
    return Settings(
        labels=recipe.labels,
        selection=plain(recipe.selection),
        fields=config.fields,
        stemmer=config.stemmer,
        keep_stopwords=config.keep_stopwords,
    )


def _refuse_other_folder(folder: Path) -> None:
    """Only a corpus grows; a new one begins in a folder of its own."""
    if not folder.exists() or lock_file(folder / STORE).exists():
        return
    if not folder.is_dir() or any(folder.iterdir()):
        raise InputError(
            f"{folder}: expected a new folder or a PubMed corpus, and it is neither; give another"
            " name"
        )


def _refuse_other_settings(folder: Path, store: GrowingStore, settings: Settings) -> None:
    """A corpus keeps the settings it was begun with: its documents were made by them."""
    if not store.last:
        store.set_settings(msgspec.json.encode(settings).decode())
        return
    begun = asdict(msgspec.json.decode(store.settings, type=Settings))
    faults = [
        f"{name}: it was begun with {begun[name]}, now asked for is {value}"
        for name, value in asdict(msgspec.convert(plain(settings), Settings)).items()
        if begun[name] != value
    ]
    if faults:
        raise InputError.of_all(
            f"{folder}: a corpus keeps its settings; {ANEW}:",
            faults,
        )


@contextmanager
def _emptied(folder: Path) -> Iterator[Path]:
    """Give an empty folder for the time of the block, whatever a killed call left there."""
    remove(folder)
    folder.mkdir()
    try:
        yield folder
    finally:
        remove(folder)


def _changed(counts: Counts) -> int:
    return counts.added + counts.replaced + counts.removed


def _expunged(lucene: LuceneWriter) -> int:
    """Free Lucene of deleted documents and give the number of the others."""
    lucene.expunge()
    return lucene.documents()
