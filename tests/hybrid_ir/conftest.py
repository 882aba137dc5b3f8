"""What several packages are tested with: small PubMed files, a tiny real cross-encoder."""

from __future__ import annotations

import gzip
import hashlib
from importlib.util import find_spec
from pathlib import Path
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


@pytest.fixture(scope="session")
def backbone():
    """BERT of 2 layers x 128 with bert-base-uncased's vocabulary: a plain encoder, no scorer."""
    (folder,) = find_spec("cognition").submodule_search_locations
    return Path(folder) / "model"


@pytest.fixture(scope="session")
def cross_encoder(backbone, tmp_path_factory):
    """The folder of a cross-encoder as the training program saves it; its head is random."""
    import torch
    from sentence_transformers import CrossEncoder

    folder = tmp_path_factory.mktemp("models") / "cross-encoder"
    torch.manual_seed(0)
    model = CrossEncoder(str(backbone), num_labels=1, max_length=128, device="cpu")
    head = model.transformers_model.classifier.weight
    torch.nn.init.normal_(head, std=1.0)  # scores that are far apart
    model.save_pretrained(str(folder), create_model_card=False)
    return folder
