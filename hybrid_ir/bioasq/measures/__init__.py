"""BioASQ's measures: the official evaluator to the last digit, and strict ones beside it.

The official program is ``EvaluatorTask1b`` of https://github.com/BioASQ/Evaluation-Measures,
reproduced from its observed behaviour. Each of its quirks is a small function or constant here,
named for what it does: ``skips_empty_documents``, ``average_precision_divisor``, ``merge``,
``left_by_first_pass``, ``label_in``, ``first_only``, ``compare_lists``...
"""

from hybrid_ir.bioasq.measures.gold import readable_gold
from hybrid_ir.bioasq.measures.official import (
    Phase,
    PhaseA,
    PhaseB,
    official_line,
    read_gold,
    read_responses,
    score_phase_a,
    score_phase_b,
)
from hybrid_ir.bioasq.measures.questions import EDITIONS, Edition, Entry, Raw
from hybrid_ir.bioasq.measures.strict import Strict, score_strict

__all__ = [
    "EDITIONS",
    "Edition",
    "Entry",
    "Phase",
    "PhaseA",
    "PhaseB",
    "Raw",
    "Strict",
    "official_line",
    "read_gold",
    "read_responses",
    "readable_gold",
    "score_phase_a",
    "score_phase_b",
    "score_strict",
]
