"""The peers' side of ``pubmed.py``: ``pubmed_theirs.py FILES COLLECTION INDEX PROCESSES``.

XML files are parsed with pubmed_parser, several at the same time, into JSONL as Anserini wants it,
a file each; Anserini's IndexCollection then indexes that, with 2 threads. The documents are those
our side makes: citations with an abstract; searched are title and abstract, kept beside them year,
MeSH headings and publication types. Prints the number of documents.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import msgspec
import pubmed_parser


def parse(collection: Path, file: Path) -> None:
    """Turn a file into JSONL."""
    encode = msgspec.json.Encoder().encode
    with (collection / f"{file.name}.jsonl").open("wb") as output:
        for line in lines(file):
            output.write(encode(line) + b"\n")


def lines(file: Path) -> Iterator[dict[str, Any]]:
    """Give the documents of a file as Anserini's JSON."""
    for article in pubmed_parser.parse_medline_xml(str(file)):
        if not article["delete"] and article["abstract"].strip():
            yield {
                "id": article["pmid"],
                "contents": f"{article['title']} {article['abstract']}",
                "year": article["pubdate"],
                "mesh": article["mesh_terms"].split("; "),
                "publication_types": article["publication_types"].split("; "),
            }


def main() -> None:
    """Parse, then index."""
    files, collection, index = map(Path, sys.argv[1:4])
    collection.mkdir()
    with ProcessPoolExecutor(int(sys.argv[4]), get_context("spawn")) as pool:
        for _ in pool.map(partial(parse, collection), sorted(files.glob("*.xml.gz"))):
            pass

    from hybrid_ir.retrieval.index import open_reader
    from hybrid_ir.retrieval.jvm import java_class

    arguments = ["-collection", "JsonCollection", "-input", str(collection), "-index", str(index)]
    arguments += ["-generator", "DefaultLuceneDocumentGenerator", "-threads", "2"]
    arguments += ["-storePositions", "-storeDocvectors", "-storeRaw"]
    java_class("io.anserini.index.IndexCollection").main(arguments)
    print(open_reader(index).maxDoc())


if __name__ == "__main__":
    main()
