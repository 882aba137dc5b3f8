"""How fast queries are answered: this project against Pyserini's ``LuceneSearcher.batch_search``.

    python benchmarks/search.py            # 100,000 documents, three rounds
    python benchmarks/search.py --quick    # 10,000 documents, one round

Both search the same documents with the same analysis, BM25 (k1 0.9, b 0.4), 1,000 hits a query, 2
threads, and write a TREC run; ours on our index, Pyserini on an index built as its documentation
says. The runs are then compared: the benchmark fails when any score differs. The last line printed
is JSON; README.md says what is timed and what its keys mean.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Sequence
from pathlib import Path

from agreement import compare
from documents import make_queries, read_sentences, write_documents
from index import STORED
from processes import Finished, median, run, spread

from hybrid_ir.files import write_jsonl

TERMS = (10, 60)
PROGRAMS = {"ours": "search_ours.py", "pyserini": "search_pyserini.py"}


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="fewer documents, queries and rounds")
    parser.add_argument("--documents", type=int, help="number of documents (default 100,000)")
    parser.add_argument("--queries", type=int, help="queries of each length (default 300)")
    parser.add_argument("--rounds", type=int, help="repetitions, the sides by turns (default 3)")
    args = parser.parse_args()
    defaults = (10_000, 50, 1) if args.quick else (100_000, 300, 3)
    given = (args.documents, args.queries, args.rounds)
    documents, queries, rounds = (one or other for one, other in zip(given, defaults, strict=True))
    with tempfile.TemporaryDirectory(prefix="hybrid-ir-search-") as folder:
        prepare(Path(folder), documents, queries)
        starts = [_by_turns(Path(folder), ()) for _ in range(2 * rounds - 2)]
        finished = [_by_turns(Path(folder), TERMS) for _ in range(rounds)]
        compared = {
            terms: compare(*(Path(folder, f"run-{side}", f"measured-{terms}") for side in PROGRAMS))
            for terms in TERMS
        }
    print(f"{documents:,} documents, {queries} queries of each length, 1,000 hits, 2 threads")
    report(queries, starts + finished, finished, compared)


def prepare(folder: Path, documents: int, queries: int) -> None:
    """Make documents, both indexes and the queries."""
    sentences = read_sentences()
    records, collection = write_documents(sentences, documents, folder)
    run("index_ours.py", records, folder / "index-ours")
    run("index_anserini.py", collection, folder / "index-pyserini", *STORED)
    write_jsonl(folder / "queries" / "first.jsonl", make_queries(sentences, 1, 10, seed=0))
    for terms in TERMS:
        for seed, name in enumerate(("warm-up", "measured"), start=1):
            made = make_queries(sentences, queries, terms, seed)
            write_jsonl(folder / "queries" / f"{name}-{terms}.jsonl", made)
    for side in PROGRAMS:
        (folder / f"run-{side}").mkdir()


def _by_turns(folder: Path, terms: Sequence[int]) -> dict[str, Finished]:
    """Run both sides once, each in its own process."""
    return {
        side: run(
            program, folder / f"index-{side}", folder / "queries", folder / f"run-{side}", *terms
        )
        for side, program in PROGRAMS.items()
    }


def report(
    queries: int,
    starts: list[dict[str, Finished]],
    finished: list[dict[str, Finished]],
    compared: dict[int, int],
) -> None:
    """Print speeds, start-up and memory, for people and as JSON."""
    speeds: dict[str, list[float]] = {}
    for side in PROGRAMS:
        for position, terms in enumerate(TERMS, start=1):
            seconds = [float(one[side].lines[position]) for one in finished]
            speeds[f"queries_per_second_{terms}_terms_{side}"] = [queries / s for s in seconds]
        speeds[f"startup_seconds_{side}"] = [one[side].first_line for one in starts]
        speeds[f"peak_mb_{side}"] = [one[side].peak_mb for one in finished]
    for name, values in speeds.items():
        print(f"{name:40} {spread(values)}")
    figures = {name: median(values) for name, values in speeds.items()}
    ratios: dict[str, float] = {}
    for terms in TERMS:
        print(f"equal scores of {compared[terms]:,} hits of queries of {terms} terms")
        ours, theirs = (figures[f"queries_per_second_{terms}_terms_{side}"] for side in PROGRAMS)
        ratios[f"throughput_{terms}_terms"] = median([ours / theirs])
    ours, theirs = (figures[f"startup_seconds_{side}"] for side in PROGRAMS)
    ratios["startup"] = median([theirs / ours])
    counts = {"scores_compared": sum(compared.values()), "queries": queries}
    print(json.dumps(ratios | figures | counts))


if __name__ == "__main__":
    main()
