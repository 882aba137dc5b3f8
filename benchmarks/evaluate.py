"""How long scoring takes: a batch through the command line, many batches, and against pytrec_eval.

    python benchmarks/evaluate.py            # some 2 minutes
    python benchmarks/evaluate.py --quick    # under half a minute

* A batch: 12B1, 85 questions, a submission with 10 documents and snippets, exact and ideal answers;
  ``hybrid-ir evaluate`` from the start of Python to its end, with ``--official-line`` and as the
  default table (official and strict, by type, ROUGE with its bootstrap).
* 13 batches of the example collection with 20 submissions each, read and scored in one process.
* A run of 1,000 documents a question, read and scored by us and by pytrec_eval (the C program
  trec_eval for Python; ``pip install pytrec_eval-terrier``), each in its own process, by turns:
  average precision at 10 and recall at 10, 100 and 1,000. It fails where a value differs.

The last line printed is JSON; seconds are medians, ratios pytrec_eval's seconds by ours.
"""

from __future__ import annotations

import argparse
import json
import math
import resource
import sys
import tempfile
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

from processes import Finished, median, run, spread
from submissions import GOLDENS, MINI, make_run, make_submission, read_batch

from hybrid_ir.bioasq.converters import golden_to_qrels
from hybrid_ir.bioasq.raw import write_raw
from hybrid_ir.trec import write_run

GOLDEN = MINI / "test/12B1.golden.json.gz"
COMMANDS = {
    "official_line_phase_a": ("--official-line", "--phase", "A"),
    "official_line_phase_b": ("--official-line", "--phase", "B"),
    "table": (),
}
DEPTH = 1000


class Timed(NamedTuple):
    """A finished process and the processor seconds it took."""

    finished: Finished
    user: float


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="fewer rounds and submissions")
    quick = parser.parse_args().quick
    if find_spec("pytrec_eval") is None:
        sys.exit("this benchmark compares with pytrec_eval: pip install pytrec_eval-terrier")
    rounds, submissions = (3, 2) if quick else (11, 20)
    with tempfile.TemporaryDirectory(prefix="hybrid-ir-evaluate-") as folder:
        figures = one_batch(Path(folder), rounds)
        figures |= many_batches(Path(folder), submissions, rounds=1 if quick else 2)
        figures |= against_pytrec(Path(folder), rounds)
    print(json.dumps(figures))


def one_batch(folder: Path, rounds: int) -> dict[str, float]:
    """Time the command line on one batch, the commands by turns."""
    submission = folder / "submission.json"
    write_raw(submission, make_submission(read_batch(GOLDEN), seed=0))
    files = ("evaluate", "--gold", GOLDEN, "--submission", submission)
    times: dict[str, list[Timed]] = {name: [] for name in COMMANDS}
    for _ in range(rounds):
        for name, how in COMMANDS.items():
            times[name].append(_timed("evaluate_cli.py", *files, *how))
    for name, timed in times.items():
        seconds, user = [t.finished.seconds for t in timed], [t.user for t in timed]
        print(f"{name:24} {spread(seconds)} s, of a processor {spread(user)} s")
    seconds = {name: [t.finished.seconds for t in timed] for name, timed in times.items()}
    return {"seconds_per_batch": median(seconds["table"])} | {
        f"seconds_{name}": median(values) for name, values in seconds.items() if name != "table"
    }


def many_batches(folder: Path, submissions: int, rounds: int) -> dict[str, float]:
    """Time all batches with several submissions in one process."""
    batches = folder / "batches"
    for golden in GOLDENS:
        batch, place = read_batch(golden), batches / golden.name.partition(".")[0]
        write_raw(place / "golden.json", batch.raw)
        for seed in range(submissions):
            write_raw(place / f"submission-{seed:02}.json", make_submission(batch, seed))
    finished = [run("evaluate_batches.py", batches) for _ in range(rounds)]
    seconds = [float(one.lines[0]) for one in finished]
    count = len(GOLDENS) * submissions
    print(f"{len(GOLDENS)} batches x {submissions} submissions: {spread(seconds)} s")
    return {
        "submissions": count,
        "seconds_all_batches": median(seconds),
        "seconds_per_submission": median([s / count for s in seconds]),
    }


def against_pytrec(folder: Path, rounds: int) -> dict[str, float]:
    """Time both sides on one run, by turns, and compare every value."""
    path, qrels = folder / "run.trec", folder / "qrels"
    write_run(path, make_run(read_batch(GOLDEN), DEPTH, seed=0).items(), "noise")
    golden_to_qrels(GOLDEN, qrels)
    sides = {"ours": ("evaluate_ours.py", GOLDEN), "pytrec_eval": ("evaluate_pytrec.py", qrels)}
    finished: dict[str, list[Finished]] = {side: [] for side in sides}
    for _ in range(rounds):
        for side, (program, gold) in sides.items():
            finished[side].append(run(program, gold, path))
    compared = _agree(*(json.loads(one[-1].lines[1]) for one in finished.values()))
    print(f"equal values: {compared}")
    figures: dict[str, float] = {"values_compared": compared}
    for name, seconds in _seconds(finished).items():
        for side, values in seconds.items():
            print(f"{name:24} {side:12} {spread(values)} s")
            figures[f"seconds_{name}_{side}"] = median(values)
        figures[f"ratio_{name}"] = median([_middle(seconds, "pytrec_eval", "ours")])
    return figures


def _seconds(finished: dict[str, list[Finished]]) -> dict[str, dict[str, list[float]]]:
    """Give the seconds of the whole process, of reading and scoring, and of scoring alone."""

    def printed(one: Finished, place: int) -> float:
        return float(one.lines[0].split()[place])

    return {
        "process": {side: [one.seconds for one in all_] for side, all_ in finished.items()},
        "read_and_score": {
            side: [printed(one, 0) for one in all_] for side, all_ in finished.items()
        },
        "score": {side: [printed(one, 1) for one in all_] for side, all_ in finished.items()},
    }


def _middle(seconds: dict[str, list[float]], dividend: str, divisor: str) -> float:
    return median(seconds[dividend]) / median(seconds[divisor])


def _agree(ours: dict[str, Sequence[float]], theirs: dict[str, Sequence[float]]) -> int:
    """Count the values compared.

    Raises:
        ValueError: the sides scored different questions, or a value differs.
    """
    if ours.keys() != theirs.keys():
        raise ValueError(f"different questions: {ours.keys() ^ theirs.keys()}")
    for id_, row in ours.items():
        for one, other in zip(row, theirs[id_], strict=True):
            if not math.isclose(one, other, rel_tol=1e-9, abs_tol=1e-12):
                raise ValueError(f"question {id_}: {row} is not {theirs[id_]}")
    return sum(map(len, ours.values()))


def _timed(program: str, *arguments: object) -> Timed:
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    finished = run(program, *arguments)
    return Timed(finished, resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before)


if __name__ == "__main__":
    main()
