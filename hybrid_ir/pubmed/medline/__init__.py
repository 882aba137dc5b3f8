"""Citations from PubMed's XML: baseline and update files, and what E-utilities send.

Read are ``PubmedArticleSet`` and its elder ``MedlineCitationSet``, described at
https://dtd.nlm.nih.gov/ncbi/pubmed/. Text is taken over as it stands, markup flattened: so it
agrees with the character offsets of BioASQ's gold snippets (``benchmarks/offsets.py``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from hybrid_ir.pubmed.citation import Citation, Deletion
from hybrid_ir.pubmed.medline.citations import parse_record
from hybrid_ir.pubmed.medline.records import read_records
from hybrid_ir.pubmed.medline.window import Fault

__all__ = ["Fault", "read_citations"]

CHUNK = 1 << 16  # what malloc need not ask of the system each time


def read_citations(
    path: Path, report: Callable[[Fault], None], chunk: int = CHUNK
) -> Iterator[Citation | Deletion]:
    """Stream the citations and deletions of a file, in its order.

    One pass, in memory that does not depend on the file's size. Whatever the file's state, every
    record that is whole is given, and everything else reported.

    Args:
        path: XML, gzipped or not.
        report: Told of each bad record, and of a file that is damaged, unfinished, another kind
            of XML, or more than one document.
        chunk: Bytes to read at once.

    Raises:
        InputError: the file is missing, or no XML at all.
    """
    yield from read_records(path, report, parse_record, chunk)
