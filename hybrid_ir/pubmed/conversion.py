"""PubMed's XML, such as E-utilities' efetch sends, as JSONL."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias

from hybrid_ir.files import write_jsonl
from hybrid_ir.pubmed.citation import Citation, Deletion, document_of
from hybrid_ir.pubmed.medline import Fault, read_citations
from hybrid_ir.pubmed.selection import SelectionConfig
from hybrid_ir.records import Document

Items: TypeAlias = Iterator[tuple[Path, Citation | Deletion]]


@dataclass(frozen=True, slots=True)
class ConvertConfig:
    """What becomes of a citation.

    Attributes:
        labels: Keep the labels of structured abstracts in a document's text.
        selection: Which citations; all, unless told.
    """

    labels: bool = True
    selection: SelectionConfig = field(default_factory=lambda: SelectionConfig(abstract=False))


@dataclass(slots=True)
class Converted:
    """What a conversion did.

    Attributes:
        written: Lines written.
        deletions: Deletions that the files hold; they are not written.
        repeated: Citations that make the same document as one before; they are not written.
        left_out: Citations not selected: reason -> number.
    """

    written: int = 0
    deletions: int = 0
    repeated: int = 0
    left_out: Counter[str] = field(default_factory=Counter)


def convert(
    files: Iterable[Path],
    output: Path,
    config: ConvertConfig,
    citations: bool = False,
    report: Callable[[object], None] = lambda _: None,
) -> Converted:
    """Write the citations of XML files as JSONL, in their order.

    Args:
        files: XML, gzipped or not.
        output: The JSONL file; a name that ends in ``.gz`` is compressed.
        config: Settings.
        citations: Write all that is read of a citation instead of the document made of it.
        report: Told of each record that could not be read, and of a PMID that comes again with
            another document, which is not written.

    Raises:
        InputError: a file that is missing or no XML.
    """
    done = Converted()
    chosen = _selected(_items(files, report), config.selection, done)
    if citations:
        done.written = write_jsonl(output, (citation for _, citation in chosen))
    else:
        done.written = write_jsonl(output, _documents(chosen, config.labels, done, report))
    return done


def _items(files: Iterable[Path], report: Callable[[Fault], None]) -> Items:
    for path in files:
        for item in read_citations(path, report):
            yield path, item


def _selected(
    items: Items, selection: SelectionConfig, done: Converted
) -> Iterator[tuple[Path, Citation]]:
    for path, item in items:
        if isinstance(item, Deletion):
            done.deletions += 1
        elif reason := selection.reason(item):
            done.left_out[reason] += 1
        else:
            yield path, item


def _documents(
    chosen: Iterable[tuple[Path, Citation]],
    labels: bool,
    done: Converted,
    report: Callable[[str], None],
) -> Iterator[Document]:
    """Give each PMID's first document: an index takes none twice."""
    seen: dict[str, int] = {}
    for path, citation in chosen:
        document = document_of(citation, labels)
        if document.id not in seen:
            seen[document.id] = hash(document)
            yield document
        elif seen[document.id] == hash(document):
            done.repeated += 1
        else:
            report(f"{path}: citation {document.id} comes again, with other text: left out")
