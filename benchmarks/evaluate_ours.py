"""Scores a TREC run with this project; prints the seconds it took and the values as JSON.

python benchmarks/evaluate_ours.py GOLDEN RUN
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

from hybrid_ir.bioasq.raw import read_raw
from hybrid_ir.evaluation.reference import reference
from hybrid_ir.evaluation.scoring import evaluate_run
from hybrid_ir.trec import read_run

CUTOFFS = (10, 100, 1000)


def main(golden: Path, path: Path) -> None:
    """Score as edition 2, whose average precision divides as trec_eval's does."""
    start = time.perf_counter()
    gold = reference(read_raw(golden), edition=2)
    run = read_run(path)
    read = time.perf_counter()
    rows = evaluate_run(gold, run, cutoffs=CUTOFFS).per_question
    values = {
        id_: [row["documents_map"], *(row[f"recall@{k}"] for k in CUTOFFS)]
        for id_, row in rows.items()
    }
    end = time.perf_counter()
    print(end - start, end - read)
    print(json.dumps(values))


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
