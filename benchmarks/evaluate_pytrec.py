"""Scores a TREC run with pytrec_eval; prints the seconds it took and the values as JSON.

python benchmarks/evaluate_pytrec.py QRELS RUN
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

import pytrec_eval

CUTOFFS = (10, 100, 1000)


def main(judged: Path, path: Path) -> None:
    """Score as pytrec_eval's documentation does."""
    start = time.perf_counter()
    with judged.open() as file:
        qrels = pytrec_eval.parse_qrel(file)
    with path.open() as file:
        run = pytrec_eval.parse_run(file)
    read = time.perf_counter()
    measures = {"map_cut.10", f"recall.{','.join(map(str, CUTOFFS))}"}
    rows = pytrec_eval.RelevanceEvaluator(qrels, measures).evaluate(run)
    values = {
        id_: [row["map_cut_10"], *(row[f"recall_{k}"] for k in CUTOFFS)]
        for id_, row in rows.items()
    }
    end = time.perf_counter()
    print(end - start, end - read)
    print(json.dumps(values))


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
