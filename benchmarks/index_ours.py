"""Our side of ``index.py``: ``index_ours.py DOCUMENTS INDEX`` prints the number of documents."""

import sys
from pathlib import Path

from hybrid_ir.retrieval.index import IndexConfig
from hybrid_ir.retrieval.indexing import build_index, read_documents

documents, index = map(Path, sys.argv[1:])
settings = build_index(read_documents([documents]), index, IndexConfig(threads=2))
print(settings.documents - settings.without_text)
