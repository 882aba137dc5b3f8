"""What a PubMed corpus consists of, in figures."""

from __future__ import annotations

from collections import Counter
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hybrid_ir.config import plain
from hybrid_ir.pipeline.progress import watched
from hybrid_ir.pubmed.listing import FileName
from hybrid_ir.retrieval.corpus_manifest import Counts, read_corpus
from hybrid_ir.retrieval.index import IDS, LUCENE, STORE, open_store, read_settings

_LIMITS = tuple(f"selection.{name}" for name in ("languages", "first_year", "last_year", "as_of"))
"""Settings that, when they are not set, let anything pass."""


@dataclass(frozen=True, slots=True)
class CorpusStats:
    """Figures of a corpus.

    Attributes:
        baseline: What the files' names have before their number.
        year: The year of that baseline; None where the names tell none.
        files: How many were applied.
        first_file: The first of them.
        last_file: The last of them.
        missing: Numbers between that were passed over.
        documents: Documents.
        with_abstract: Those that have an abstract.
        by_decade: Documents by the first year of their decade; "" for those without a year.
        pmids_sha256: SHA-256 of their PMIDs in ascending order, one a line.
        settings: What decides which citations are documents, and how they are indexed.
        counts: What became of the records of all files.
        bytes: Sizes on disk, by part, and in all.
    """

    baseline: str
    year: int | None
    files: int
    first_file: str
    last_file: str
    missing: tuple[str, ...]
    documents: int
    with_abstract: int
    by_decade: dict[str, int]
    pmids_sha256: str
    settings: dict[str, Any]
    counts: Counts
    bytes: dict[str, int]


def stats(index: Path) -> CorpusStats:
    """Look at a corpus: its manifest, every document, and its size on disk.

    Raises:
        InputError: the folder is no corpus, or it is not finished.
    """
    read_settings(index)  # is it finished?
    corpus = read_corpus(index)
    first = FileName.parse(corpus.files[0].name)
    decades: Counter[str] = Counter()
    with_abstract = 0
    with closing(open_store(index)) as store:
        for document in watched(store.documents(), "stats", "documents", corpus.documents):
            with_abstract += bool(document.abstract)
            decades["" if document.year is None else str(document.year // 10 * 10)] += 1
    return CorpusStats(
        baseline=corpus.baseline,
        year=2000 + first.year if first else None,
        files=len(corpus.files),
        first_file=corpus.files[0].name,
        last_file=corpus.files[-1].name,
        missing=corpus.missing,
        documents=corpus.documents,
        with_abstract=with_abstract,
        by_decade=dict(sorted(decades.items())),
        pmids_sha256=corpus.pmids_sha256,
        settings=plain(corpus.settings),
        counts=corpus.counts,
        bytes=_sizes(index),
    )


def stats_text(found: CorpusStats) -> str:
    """Lay the figures out for people."""
    missing = f", without {', '.join(found.missing)}" if found.missing else ""
    lines = [
        f"baseline         {found.baseline}{f' ({found.year})' if found.year else ''}",
        f"files            {found.files:,}: {found.first_file} to {found.last_file}{missing}",
        f"documents        {found.documents:,}",
        f"with abstract    {found.with_abstract:,}",
        f"PMIDs, SHA-256   {found.pmids_sha256}",
        "documents by decade",
    ]
    for decade, number in found.by_decade.items():
        lines.append(f"  {f'{decade}s' if decade else 'no year':10} {number:12,}")
    lines.append("records of all files")
    for name, number in plain(found.counts).items():
        if name != "left_out":
            lines.append(f"  {name.replace('_', ' '):14} {number:8,}")
    for reason, number in found.counts.left_out.items():
        lines.append(f"  left out, {reason}: {number:,}")
    lines.append("settings")
    lines += [f"  {name}: {_said(name, value)}" for name, value in _flat(found.settings)]
    lines.append("size on disk, MB")
    lines += [f"  {name:16} {size / 2**20:12,.1f}" for name, size in found.bytes.items()]
    return "".join(f"{line}\n" for line in lines)


def _said(name: str, value: Any) -> str:  # noqa: ANN401 (any setting)
    """Say a setting in words: what is not set rules nothing out, or names nothing."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if value is None or value in ([], ()):
        return "any" if name in _LIMITS else "none"
    return ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)


def _flat(settings: dict[str, Any]) -> list[tuple[str, Any]]:
    rows: list[tuple[str, Any]] = []
    for name, value in settings.items():
        if isinstance(value, dict):
            rows += [(f"{name}.{inner}", found) for inner, found in _flat(value)]
        else:
            rows.append((name, value))
    return rows


def _sizes(index: Path) -> dict[str, int]:
    parts = {name: _size(index / name) for name in (LUCENE, STORE, IDS)}
    return {**parts, "all": _size(index)}


def _size(path: Path) -> int:
    files = path.rglob("*") if path.is_dir() else [path]
    return sum(file.stat().st_size for file in files if file.is_file())
