"""How fast documents are indexed: this project against Anserini's own IndexCollection.

    python benchmarks/index.py            # 100,000 documents, three rounds
    python benchmarks/index.py --quick    # 10,000 documents

Ours reads JSONL records and writes Lucene index, document store and id table (``build_index``).
IndexCollection reads the same texts twice over: once with what Pyserini's documentation tells to
store (positions, document vectors, the raw documents), once with nothing stored. Everything is
timed from the start of a process to its end. The last line printed is JSON; README.md says what
its keys mean.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from pathlib import Path

from documents import read_sentences, write_documents
from processes import Finished, median, run, spread

STORED = ("-storePositions", "-storeDocvectors", "-storeRaw")


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="10,000 documents, one round")
    parser.add_argument("--documents", type=int, help="number of documents (default 100,000)")
    parser.add_argument("--rounds", type=int, help="repetitions, the sides by turns (default 3)")
    args = parser.parse_args()
    count = args.documents or (10_000 if args.quick else 100_000)
    rounds = args.rounds or (1 if args.quick else 3)
    with tempfile.TemporaryDirectory(prefix="hybrid-ir-index-") as folder:
        records, collection = write_documents(read_sentences(), count, Path(folder))
        sides: dict[str, tuple[str, Path, tuple[str, ...]]] = {
            "ours": ("index_ours.py", records, ()),
            "anserini": ("index_anserini.py", collection, STORED),
            "anserini_nothing_stored": ("index_anserini.py", collection, ()),
        }
        finished: dict[str, list[Finished]] = {side: [] for side in sides}
        for number in range(rounds):
            for side, (program, source, flags) in sides.items():
                index = Path(folder, f"{side}-{number}")
                finished[side].append(run(program, source, index, *flags))
                if finished[side][-1].lines != [str(count)]:
                    raise RuntimeError(f"{side}: {finished[side][-1].lines} of {count} indexed")
    report(count, finished)


def report(count: int, finished: dict[str, list[Finished]]) -> None:
    """Print speeds and memory, for people and as JSON."""
    speeds = {side: [count / one.seconds for one in all_] for side, all_ in finished.items()}
    peaks = {side: [one.peak_mb for one in all_] for side, all_ in finished.items()}
    print(f"{count:,} documents, 2 threads; median (smallest to largest)")
    for side in finished:
        print(f"{side:24} {spread(speeds[side]):>32} documents/s {spread(peaks[side]):>30} MB")
    ours, theirs, bare = (median(values) for values in speeds.values())
    figures: dict[str, float] = {
        "throughput_vs_anserini": median([ours / theirs]),
        "throughput_vs_anserini_nothing_stored": median([ours / bare]),
        "documents": count,
    }
    for side in finished:
        figures[f"documents_per_second_{side}"] = median(speeds[side])
        figures[f"peak_mb_{side}"] = median(peaks[side])
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
