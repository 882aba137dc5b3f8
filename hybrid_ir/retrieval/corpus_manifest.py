"""What a PubMed corpus consists of: ``corpus.json`` in its index folder."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec

from hybrid_ir.errors import InputError
from hybrid_ir.manifests import STATEMENT
from hybrid_ir.retrieval.fields import ExtraField

CORPUS = STATEMENT


@dataclass(frozen=True, slots=True)
class CorpusFile:
    """A PubMed file to apply.

    Attributes:
        path: Where it lies.
        name: What it is called at NLM (``pubmed25n0001.xml.gz``).
        md5: Its MD5 in hexadecimal; empty: computed when it is read.
    """

    path: Path
    name: str
    md5: str = ""


@dataclass(frozen=True, slots=True)
class Counts:
    """What became of the records of one file, or of several.

    Attributes:
        citations: Citations read.
        deletions: Deletions read.
        added: Documents that were not in the corpus.
        replaced: Documents whose text or headings changed.
        unchanged: Revised citations that make the same document.
        outdated: Citations of a lower version than the one known.
        left_out: Citations not selected: reason -> number. With the four above they make up the
            citations.
        removed: Documents that left, deleted or no longer selected.
        without_text: Documents that cannot be found by words: those that came less those that left.
        faults: Records that could not be read.
    """

    citations: int = 0
    deletions: int = 0
    added: int = 0
    replaced: int = 0
    unchanged: int = 0
    outdated: int = 0
    left_out: dict[str, int] = field(default_factory=dict)
    removed: int = 0
    without_text: int = 0
    faults: int = 0


@dataclass(frozen=True, slots=True)
class AppliedFile:
    """A file that is in the corpus, with what its records did when they came."""

    name: str
    md5: str
    counts: Counts


@dataclass(frozen=True, slots=True)
class Settings:
    """What a corpus is begun with and cannot be changed later.

    Attributes:
        labels: Whether abstracts keep their labels.
        selection: Settings of the selection.
        fields: Fields of the index beside ``contents``.
        stemmer: The index's stemmer.
        keep_stopwords: Whether stop words are indexed.
    """

    labels: bool
    selection: dict[str, Any]
    fields: tuple[ExtraField, ...]
    stemmer: str
    keep_stopwords: bool


@dataclass(frozen=True, slots=True)
class Corpus:
    """The content of ``corpus.json``: anyone with the same files and settings gets the same corpus.

    Attributes:
        baseline: What the files' names have before their number (``pubmed25n``).
        documents: Documents in the store.
        pmids_sha256: SHA-256 of the documents' PMIDs in ascending order, one a line: what
            ``sort -n | sha256sum`` gives.
        missing: Numbers of files that were passed over: "3", "7-9".
        settings: What decides which citations are documents, and how they are indexed.
        counts: The files' counts, added up.
        files: What was applied, in order.
    """

    baseline: str
    documents: int
    pmids_sha256: str
    missing: tuple[str, ...]
    settings: Settings
    counts: Counts
    files: tuple[AppliedFile, ...]


@dataclass(frozen=True, slots=True)
class Applied:
    """What a call did: the corpus as it is now, and the files that this call applied."""

    corpus: Corpus
    new: tuple[AppliedFile, ...]


def read_corpus(index: Path) -> Corpus:
    """Read the manifest of a corpus.

    Raises:
        InputError: the folder is no corpus.
    """
    path = index / CORPUS
    try:
        return msgspec.json.decode(path.read_bytes(), type=Corpus)
    except (OSError, msgspec.MsgspecError) as error:
        raise InputError(
            f"{path}: expected the manifest of a corpus ({error}): run hybrid-ir pubmed build"
        ) from error


def total(files: Iterable[AppliedFile]) -> Counts:
    """Add up the counts of files."""
    numbers: Counter[str] = Counter()
    reasons: Counter[str] = Counter()
    for file in files:
        for name in Counts.__dataclass_fields__:
            if name != "left_out":
                numbers[name] += getattr(file.counts, name)
        reasons.update(file.counts.left_out)
    return Counts(**numbers, left_out=dict(reasons.most_common()))
