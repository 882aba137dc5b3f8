"""What PubMed takes: reading its XML, building a corpus of it, keeping it current, searching it.

    python benchmarks/pubmed.py             # parse, end to end, growth: twenty minutes
    python benchmarks/pubmed.py --quick     # the same with few citations: does it run?
    python benchmarks/pubmed.py --million   # 1,000,000 citations, built, updated and searched

Real files are too few to show growth: but for parsing, the input is generated (``citations.py``).
Times are of whole processes from start to end, the JVM's and Python's start included; memory is the
largest sum over all processes of a side (``process_tree.py``). Everything runs with 2 processes
that read XML and 2 threads that index. The last line printed is JSON:

- what ``pubmed_parse.py`` gives, under its own keys;
- ``end_to_end_vs_pubmed_parser_anserini``: seconds of pubmed_parser to JSONL and IndexCollection
  with positions, document vectors and documents stored, over ours, medians of three rounds by
  turns; ``end_to_end_seconds_ours``, ``_theirs``, ``end_to_end_peak_mb_ours``, ``_theirs``;
- ``build_seconds_1x``, ``_4x``, ``_16x``, ``build_peak_mb_1x`` ...: builds of so many times the
  input; ``time_16x`` and ``peak_16x``: how many times the 1x figure that of 16x is;
- with ``--million``: for build, update and search seconds and peak memory, sizes on disk, and an
  extrapolation to 38 million citations, straight on from the last two sizes measured.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from pathlib import Path

from citations import A_FILE, plan_baseline, write_all
from million import measure_million
from process_tree import run_tree
from processes import Finished, median, run, spread

BUILD = ("work.processes=2", "work.threads=2", "updates=false")


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="few citations, one round")
    parser.add_argument(
        "--million", action="store_true", help="1,000,000 citations (or --citations)"
    )
    parser.add_argument("--citations", type=int, default=1_000_000, help="for --million")
    parser.add_argument("--folder", type=Path, help="where to work (default: a temporary folder)")
    args = parser.parse_args()
    if args.citations < 4 * A_FILE:
        parser.error(
            f"expected at least {4 * A_FILE:,} --citations: growth is measured by quarters"
        )
    with tempfile.TemporaryDirectory(prefix="hybrid-ir-pubmed-", dir=args.folder) as name:
        if args.million:
            figures = measure_million(Path(name), args.citations)
        else:
            figures = {
                **parse(args.quick),
                **end_to_end(
                    Path(name, "ends"), *((2, 2_500, 1) if args.quick else (2, 30_000, 3))
                ),
                **growth(Path(name, "growth"), 500 if args.quick else 15_000),
            }
    print(json.dumps(figures))


def parse(quick: bool) -> dict[str, float]:
    """Compare reading XML with pubmed_parser's, on real files."""
    finished = run("pubmed_parse.py", *(["--quick"] if quick else []))
    print("\n".join(finished.lines[:-1]))
    figures: dict[str, float] = json.loads(finished.lines[-1])
    return figures


def end_to_end(folder: Path, files: int, a_file: int, rounds: int) -> dict[str, float]:
    """Compare the way from XML to an index that can be searched."""
    write_all(plan_baseline(folder, files * a_file, a_file))
    finished: dict[str, list[Finished]] = {"ours": [], "theirs": []}
    for number in range(rounds):
        ours, collection, theirs = (
            folder / f"{name}-{number}" for name in ("ours", "collection", "theirs")
        )
        finished["ours"].append(_build(folder, ours))
        finished["theirs"].append(
            run_tree("pubmed_theirs.py", folder / "baseline", collection, theirs, 2)
        )
        indexed = str(json.loads((ours / "corpus.json").read_text())["documents"])
        if finished["theirs"][-1].lines[-1] != indexed:
            raise RuntimeError(f"ours {indexed}, theirs {finished['theirs'][-1].lines} documents")
    figures: dict[str, float] = {}
    print(f"XML to index: {files} files of {a_file:,} citations")
    for side, all_ in finished.items():
        seconds, peaks = [one.seconds for one in all_], [one.peak_mb for one in all_]
        print(f"  {side:8} {spread(seconds):>28} s {spread(peaks):>32} MB")
        figures[f"end_to_end_seconds_{side}"] = median(seconds)
        figures[f"end_to_end_peak_mb_{side}"] = median(peaks)
    ratio = figures["end_to_end_seconds_theirs"] / figures["end_to_end_seconds_ours"]
    return {"end_to_end_vs_pubmed_parser_anserini": median([ratio]), **figures}


def _build(files: Path, index: Path) -> Finished:
    command = ("pubmed", "build", "--files", files, "--output", index)
    return run_tree("pubmed_cli.py", *command, *BUILD)


def growth(folder: Path, citations: int) -> dict[str, float]:
    """Build from 1, 4 and 16 files of equal size, no citation twice."""
    figures: dict[str, float] = {}
    for times in (1, 4, 16):
        files, index = folder / f"{times}x", folder / f"index-{times}x"
        write_all(plan_baseline(files, times * citations, citations))
        built = _build(files, index)
        figures[f"build_seconds_{times}x"] = median([built.seconds])
        figures[f"build_peak_mb_{times}x"] = median([built.peak_mb])
        print(
            f"build {times * citations:9,} citations {built.seconds:8.1f} s {built.peak_mb:8.0f} MB"
        )
    time_16x = figures["build_seconds_16x"] / figures["build_seconds_1x"]
    peak_16x = figures["build_peak_mb_16x"] / figures["build_peak_mb_1x"]
    return {"time_16x": median([time_16x]), "peak_16x": median([peak_16x]), **figures}


if __name__ == "__main__":
    main()
