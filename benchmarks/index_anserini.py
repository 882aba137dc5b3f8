"""Anserini's side: ``index_anserini.py COLLECTION INDEX [FLAG...]`` prints the number of documents.

This is what ``python -m pyserini.index.lucene`` runs, with the JVM started as this project does it
(the options Pyserini starts it with do not suit every JVM) and without the time that Pyserini's
own imports take.
"""

import sys
from pathlib import Path

from hybrid_ir.retrieval.index import open_reader
from hybrid_ir.retrieval.jvm import java_class

collection, index, *flags = sys.argv[1:]
arguments = ["-collection", "JsonCollection", "-input", collection, "-index", index]
arguments += ["-generator", "DefaultLuceneDocumentGenerator", "-threads", "2", *flags]
java_class("io.anserini.index.IndexCollection").main(arguments)
print(open_reader(Path(index)).maxDoc())
