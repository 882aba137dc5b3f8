"""Pyserini's side of ``search.py``: ``search_pyserini.py INDEX QUERIES OUTPUT [TERMS...]``.

Does and prints what ``search_ours.py`` does, with Pyserini's own searcher and run writer, put
together as in Pyserini's ``python -m pyserini.search.lucene``. Two things are not its own: the JVM
is started as this project does it (the options Pyserini starts it with do not suit every JVM), and
the key that its imports ask for holds no key.
"""

import os
import sys
import time
from pathlib import Path

from hybrid_ir.files import read_jsonl
from hybrid_ir.records import Question
from hybrid_ir.retrieval.jvm import start_jvm

os.environ.setdefault("OPENAI_API_KEY", "none")
start_jvm()
from pyserini.search.lucene import LuceneSearcher  # noqa: E402 (after the JVM)

CHUNK = 64  # queries a call to batch_search: all their hits are in memory at once

index, queries, output = map(Path, sys.argv[1:4])


def read(name: str) -> list[Question]:
    """Read one set of queries."""
    return list(read_jsonl(queries / f"{name}.jsonl", Question))


def timed(searcher: LuceneSearcher, name: str) -> float:
    """Search one set of queries, write the run, and give the seconds that took."""
    questions = read(name)
    start = time.perf_counter()
    write_run(searcher, questions, output / name)
    return time.perf_counter() - start


def write_run(searcher: LuceneSearcher, questions: list[Question], path: Path) -> None:
    """Search and write a TREC run."""
    from pyserini.output_writer import OutputFormat, get_output_writer

    with get_output_writer(str(path), OutputFormat.TREC, max_hits=1000, tag="pyserini") as writer:
        for start in range(0, len(questions), CHUNK):
            chunk = questions[start : start + CHUNK]
            texts, ids = [question.body for question in chunk], [question.id for question in chunk]
            results = searcher.batch_search(texts, ids, k=1000, threads=2)
            for question_id in ids:
                writer.write(question_id, results[question_id])


searcher = LuceneSearcher(str(index))
searcher.set_bm25(0.9, 0.4)
(first,) = read("first")
print(len([(hit.docid, hit.score) for hit in searcher.search(first.body, k=1000)]), flush=True)
for terms in sys.argv[4:]:
    timed(searcher, f"warm-up-{terms}")
    print(timed(searcher, f"measured-{terms}"))
