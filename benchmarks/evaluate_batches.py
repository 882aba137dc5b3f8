"""Scores every submission of every batch in one process, from files, and prints the seconds.

    python benchmarks/evaluate_batches.py FOLDER

FOLDER holds a folder a batch with ``golden.json`` and ``submission-*.json``.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

from hybrid_ir.bioasq.raw import read_raw
from hybrid_ir.evaluation.ideal import score_ideal
from hybrid_ir.evaluation.reference import reference
from hybrid_ir.evaluation.scoring import evaluate_submission


def main(folder: Path) -> None:
    """Score officially and strictly, by type and for each question, ideal answers included."""
    start = time.perf_counter()
    measures = 0
    for batch in sorted(folder.iterdir()):
        gold = reference(read_raw(batch / "golden.json"), batch.name)
        for path in sorted(batch.glob("submission-*.json")):
            submission = read_raw(path)
            ideal = score_ideal(gold.ideal, submission, path.stem)
            official = evaluate_submission(gold, submission, path.stem, "official", ideal=ideal)
            strict = evaluate_submission(gold, submission, path.stem, "strict", ideal=ideal)
            measures += len(official.measures) + len(strict.measures)
    print(time.perf_counter() - start)
    print(measures)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
