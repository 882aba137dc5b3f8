"""Small PubMed files made by the tests."""

from __future__ import annotations

import gzip
import hashlib
from xml.sax.saxutils import escape

import pytest

from hybrid_ir.retrieval.corpus_manifest import CorpusFile


class PubmedFiles:
    """A folder of PubMed files, numbered from 1 on."""

    def __init__(self, folder):
        self.folder = folder
        self.files = []

    def write(self, *files):
        """Write files of records and give all there are, with their names and sums."""
        for records in files:
            path = self.folder / f"pubmed25n{len(self.files) + 1:04}.xml.gz"
            head = '<?xml version="1.0" encoding="utf-8"?>\n<PubmedArticleSet>\n'
            content = f"{head}{''.join(records)}</PubmedArticleSet>\n".encode()
            path.write_bytes(gzip.compress(content, 1, mtime=0))
            md5 = hashlib.md5(path.read_bytes()).hexdigest()
            self.files.append(CorpusFile(path, path.name, md5))
        return list(self.files)

    @staticmethod
    def citation(id_, title="", abstract="", version=1, types=(), year=None):
        """Give a citation as PubMed writes it."""
        date = f"<PubDate><Year>{year}</Year></PubDate>" if year else ""
        text = f"<Abstract><AbstractText>{escape(abstract)}</AbstractText></Abstract>"
        kinds = "".join(f"<PublicationType>{escape(kind)}</PublicationType>" for kind in types)
        return (
            f'<PubmedArticle><MedlineCitation><PMID Version="{version}">{id_}</PMID><Article>'
            f"<Journal><JournalIssue>{date}</JournalIssue></Journal>"
            f"<ArticleTitle>{escape(title)}</ArticleTitle>{text if abstract else ''}"
            f"<PublicationTypeList>{kinds}</PublicationTypeList></Article></MedlineCitation>"
            "</PubmedArticle>\n"
        )

    @staticmethod
    def deletion(id_, version=1):
        """Give a deletion as PubMed writes it."""
        return f'<DeleteCitation><PMID Version="{version}">{id_}</PMID></DeleteCitation>\n'


@pytest.fixture
def pubmed(tmp_path):
    """Make PubMed files."""
    folder = tmp_path / "pubmed"
    folder.mkdir()
    return PubmedFiles(folder)
