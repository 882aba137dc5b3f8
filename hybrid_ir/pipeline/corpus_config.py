"""The settings of a PubMed corpus, and the stage that they and its files make."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Literal

import msgspec

from hybrid_ir.errors import refuse
from hybrid_ir.manifests import Stage
from hybrid_ir.pubmed.selection import SelectionConfig
from hybrid_ir.retrieval.corpus_manifest import Corpus
from hybrid_ir.retrieval.index import IndexConfig


@dataclass(frozen=True, slots=True)
class WorkConfig:
    """How files are applied; it changes nothing in the result.

    Attributes:
        processes: Processes that read XML.
        threads: Indexing threads in Java.
        buffer_mb: Memory Lucene fills before it writes a segment, in MB.
        gaps: Whether files are applied although some before or between them are missing. What is
            missing cannot be applied later, since later files win over earlier ones.
    """

    processes: int = 2
    threads: int = 2
    buffer_mb: int = 512
    gaps: Literal["refuse", "accept"] = "refuse"

    def __post_init__(self) -> None:
        fine = 1 <= self.processes <= 256
        refuse("the work", ("processes", "1 to 256", self.processes, fine))
        IndexConfig(threads=self.threads, buffer_mb=self.buffer_mb)  # refuses what it cannot use


@dataclass(frozen=True, slots=True)
class UpdateConfig:
    """How a corpus is updated; which citations it takes was said when it was begun.

    Attributes:
        work: How it is done.
    """

    work: WorkConfig = field(default_factory=WorkConfig)


@dataclass(frozen=True, slots=True)
class CorpusConfig:
    """Which citations become documents, with which text, and how they are indexed.

    Attributes:
        selection: Which citations.
        labels: Keep the labels of structured abstracts in the text.
        updates: Apply the update files that are there, too, after the baseline.
        index: Analysis and fields; its threads and buffer are those of ``work``.
        work: How it is done.
    """

    selection: SelectionConfig = field(default_factory=SelectionConfig)
    labels: bool = True
    updates: bool = True
    index: IndexConfig = field(default_factory=IndexConfig)
    work: WorkConfig = field(default_factory=WorkConfig)

    def __post_init__(self) -> None:
        usual = IndexConfig()
        for name in ("threads", "buffer_mb"):
            value = getattr(self.index, name)
            fine = value == getattr(usual, name)
            refuse("the corpus", (f"index.{name}", f"work.{name} instead", value, fine))


@dataclass(frozen=True, slots=True)
class _Plan:
    """What decides the result, for the manifest: files with their sums, in order, and settings."""

    files: tuple[tuple[str, str], ...]
    selection: SelectionConfig
    labels: bool
    index: IndexConfig


def config_of(corpus: Corpus, work: WorkConfig) -> CorpusConfig:
    """Give the settings that a corpus was begun with."""
    settings = corpus.settings
    return CorpusConfig(
        selection=msgspec.convert(settings.selection, SelectionConfig),
        labels=settings.labels,
        index=msgspec.convert(
            {
                "fields": settings.fields,
                "stemmer": settings.stemmer,
                "keep_stopwords": settings.keep_stopwords,
            },
            IndexConfig,
        ),
        work=work,
    )


def stage_of(files: tuple[tuple[str, str], ...], config: CorpusConfig) -> Stage:
    """Give the stage that makes a corpus of files (name, MD5), applied or to be applied."""
    index = replace(config.index, threads=1, buffer_mb=16)  # how it is made, not what is made
    return Stage("pubmed", 1, _Plan(files, config.selection, config.labels, index), {})
