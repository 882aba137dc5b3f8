"""Our side of ``search.py``: ``search_ours.py INDEX QUERIES OUTPUT [TERMS...]``.

Prints a line as soon as the first query is answered; then, for each number of terms, the seconds
from the first search to the finished TREC file.
"""

import sys
import time
from pathlib import Path

from hybrid_ir.files import read_jsonl
from hybrid_ir.records import Question
from hybrid_ir.retrieval.bm25 import SearchConfig, Searcher, plain_queries
from hybrid_ir.trec import write_run

index, queries, output = map(Path, sys.argv[1:4])


def read(name: str) -> list[Question]:
    """Read one set of queries."""
    return list(read_jsonl(queries / f"{name}.jsonl", Question))


def timed(searcher: Searcher, name: str) -> float:
    """Search one set of queries, write the run, and give the seconds that took."""
    questions = read(name)
    start = time.perf_counter()
    write_run(output / name, searcher.search_all(plain_queries(questions, {})), "ours")
    return time.perf_counter() - start


with Searcher(index, SearchConfig(hits=1000, k1=0.9, b=0.4, threads=2)) as searcher:
    (first,) = plain_queries(read("first"), {})
    print(len(searcher.search(first)), flush=True)
    for terms in sys.argv[4:]:
        timed(searcher, f"warm-up-{terms}")
        print(timed(searcher, f"measured-{terms}"))
