"""Score a run against gold."""

from __future__ import annotations

import json
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from hybrid_ir.bioasq.limits import MAX_DOCUMENTS
from hybrid_ir.bioasq.raw import read_raw
from hybrid_ir.errors import refuse
from hybrid_ir.evaluation.reference import reference
from hybrid_ir.evaluation.scores import Scores, scores_to_json
from hybrid_ir.evaluation.scoring import evaluate_run
from hybrid_ir.files import writing
from hybrid_ir.retrieval.index import open_store
from hybrid_ir.trec import read_run


@dataclass(frozen=True, slots=True)
class EvaluateConfig:
    """How the run is scored.

    Attributes:
        edition: The official program's edition; 9 for BioASQ 9 and later.
        cutoffs: The k of recall@k.
        within_collection: Leave gold documents that the index does not hold out of the gold; the
            table says how many are left. For a collection that is a part of PubMed.
    """

    edition: Literal[2, 3, 5, 8, 9] = 9
    cutoffs: tuple[int, ...] = (10, 100, 800, 1000)
    within_collection: bool = False

    def __post_init__(self) -> None:
        fine = bool(self.cutoffs) and min(self.cutoffs) >= 1
        refuse("the evaluation", ("cutoffs", "numbers of 1 or more", self.cutoffs, fine))


def evaluate(run: Path, gold: Path, index: Path, output: Path, config: EvaluateConfig) -> Scores:
    """Score a run against gold and write the scores as JSON; quick enough to be done each time."""
    with closing(open_store(index)) as store:
        within = store if config.within_collection else None
        batch = reference(read_raw(gold), batch_name(gold), config.edition, within)
    deepest = max(MAX_DOCUMENTS, *config.cutoffs)
    scores = evaluate_run(batch, read_run(run, deepest), cutoffs=config.cutoffs)
    with writing(output) as file:
        json.dump(scores_to_json(scores), file, indent=1)
        file.write("\n")
    return scores


def batch_name(path: Path) -> str:
    """Give the name of a batch from that of its file: ``12B1.golden.json.gz`` -> ``12B1``."""
    return path.name.partition(".")[0].removesuffix("_golden")
