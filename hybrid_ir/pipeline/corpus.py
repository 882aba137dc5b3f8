"""From PubMed's server to an index that stays current: sync, build, update."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from hybrid_ir.errors import InputError
from hybrid_ir.manifests import Manifest, changed_files, read_manifest, run_stage
from hybrid_ir.pipeline.corpus_config import CorpusConfig, WorkConfig, config_of, stage_of
from hybrid_ir.pipeline.corpus_plan import files_of, refuse_gaps, with_applied, with_sums
from hybrid_ir.pipeline.progress import progress, versions
from hybrid_ir.pubmed.listing import BASELINE, KINDS
from hybrid_ir.pubmed.medline import Fault
from hybrid_ir.pubmed.rows import Recipe
from hybrid_ir.pubmed.sync import SyncConfig, SyncReport
from hybrid_ir.pubmed.sync import sync as download
from hybrid_ir.retrieval.corpus import apply_files
from hybrid_ir.retrieval.corpus_files import ANEW
from hybrid_ir.retrieval.corpus_manifest import (
    CORPUS,
    Applied,
    Corpus,
    Counts,
    read_corpus,
    total,
)
from hybrid_ir.retrieval.index import SETTINGS, STORE
from hybrid_ir.wording import counted, size_text

log = logging.getLogger(__name__)

_SHOWN = 10
"""Faults of a file that are logged one by one; of more, the number."""


@dataclass(frozen=True, slots=True)
class Grown:
    """What build or update did: the manifest, and the faults of the files applied now."""

    manifest: Manifest
    faults: int


def sync(folder: Path, config: SyncConfig, verify: bool = False) -> SyncReport:
    """Bring a folder of PubMed's files up to date with the server."""
    with progress("sync", "B") as bar:
        bar.unit, bar.unit_scale, bar.unit_divisor = "B", True, 1024

        def expect(files: int, size: int) -> None:
            if files:
                log.info(
                    "sync: %s to get or to check, some %s", counted(files, "file"), size_text(size)
                )
            bar.total = size or None

        report = download(folder, config, verify, expect, bar.update)
    for name in report.unlisted:
        log.warning("%s: the server does not list it any more; it is kept", folder / name)
    for url in report.empty:
        log.warning("%s: the server lists no file there: nothing to get", url)
    log.info("sync: %s came, %d here before", counted(report.downloaded, "file"), report.up_to_date)
    return report


def build(files: Path, output: Path, config: CorpusConfig, verify: bool = False) -> Grown:
    """Make a corpus of the files in a folder, or go on with one that was begun.

    Args:
        files: The folder that :func:`sync` fills.
        output: The index folder.
        config: Settings; a corpus keeps those it was begun with.
        verify: Compute the files' sums again, and hash the result instead of trusting times.

    Raises:
        InputError: no files, files missing in between, or what
            :func:`~hybrid_ir.retrieval.corpus.apply_files` refuses.
    """
    kinds = KINDS if config.updates else (BASELINE,)
    return _grow(files, kinds, output, config, verify)


def update(files: Path, index: Path, work: WorkConfig, verify: bool = False) -> Grown:
    """Apply the files that a corpus does not have yet, with the settings it was begun with."""
    return _grow(files, KINDS, index, config_of(read_corpus(index), work), verify)


def _grow(
    folder: Path, kinds: Iterable[str], output: Path, config: CorpusConfig, verify: bool
) -> Grown:
    corpus = _corpus_of(output)
    anew = _must_be_made_anew(output, verify)
    found = files_of(folder, kinds)
    if config.work.gaps == "refuse":
        refuse_gaps(found, corpus)
    files = with_sums(folder, found, verify)
    stage = stage_of(with_applied(files, corpus), config)
    faults: Counter[str] = Counter()

    def report(fault: Fault) -> None:
        faults[fault.path.name] += 1
        if faults[fault.path.name] <= _SHOWN:
            log.warning("%s", fault)

    def work(_: str) -> dict[str, Any]:
        index = replace(config.index, threads=config.work.threads, buffer_mb=config.work.buffer_mb)
        with progress("pubmed", "citations") as bar:
            applied = apply_files(
                output, files, index, Recipe(config.selection, config.labels),
                config.work.processes, bar.update, report, anew=anew,
            )  # fmt: skip
        if with_applied((), applied.corpus) != with_applied(files, corpus):
            raise InputError(  # an interrupted call with other files was completed just now
                f"{output}: holds files of an interrupted update, too: run the same command again"
            )
        _log_counts(applied)
        return _info(applied.corpus)

    try:
        manifest = run_stage(stage, output, work, verify=anew)  # verified above, otherwise
    except InputError:
        _keep_what_was_reached(output)
        raise
    for name, number in faults.items():
        if number > _SHOWN:
            log.warning(
                "%s: %s could not be read, %d shown", name, counted(number, "record"), _SHOWN
            )
    return Grown(manifest, faults.total())


def _corpus_of(index: Path) -> Corpus | None:
    """Give what was applied as far as it is known; a manifest that is damaged is made again."""
    try:
        return read_corpus(index)
    except InputError:
        return None


def _must_be_made_anew(index: Path, verify: bool) -> bool:
    """Say whether Lucene's files are not those that were made and must be made from the store.

    Raises:
        InputError: the store itself is not what was made.
    """
    manifest = read_manifest(index)
    if manifest is None or not (index / SETTINGS).exists():
        return False  # nothing is known, or it was interrupted
    changed = changed_files(index, manifest, verify)
    if CORPUS in changed:
        return False  # it has grown, and was stopped before its manifest was written
    if STORE in changed:
        raise InputError(
            f"{index / STORE}: has changed since the corpus was made, by something else than"
            f" hybrid-ir pubmed: {ANEW}"
        )
    if changed:
        log.warning("%s: %s changed since it was made: it is made again", index, ", ".join(changed))
    return bool(changed)


def _info(corpus: Corpus) -> dict[str, Any]:
    return {"documents": corpus.documents, "files": len(corpus.files), **versions()}


def _keep_what_was_reached(index: Path) -> None:
    """Write the manifest of a corpus that took some of the files before one could not be read."""
    corpus = _corpus_of(index)
    if corpus and (index / SETTINGS).exists():
        stage = stage_of(with_applied((), corpus), config_of(corpus, WorkConfig()))
        run_stage(stage, index, lambda _: _info(corpus), silent=True)


def _log_counts(applied: Applied) -> None:
    """Say what the files applied now did and, where there were others before, all of them."""
    corpus = applied.corpus
    before = len(corpus.files) - len(applied.new)
    if applied.new:
        _log_files(counted(len(applied.new), "file"), total(applied.new))
    if before:
        log.info("pubmed: %s had been applied before", counted(before, "file"))
        _log_files(f"in all {counted(len(corpus.files), 'file')}", corpus.counts)
    log.info("pubmed: %s now", counted(corpus.documents, "document"))


def _log_files(which: str, counts: Counts) -> None:
    log.info(
        "pubmed: %s: %s read, %s added, %d replaced, %d removed",
        which, counted(counts.citations, "citation"), counted(counts.added, "document"),
        counts.replaced, counts.removed,
    )  # fmt: skip
    for reason, number in counts.left_out.items():
        log.info("  left out, %s: %d", reason, number)
