"""Submissions: writing them, finding what BioASQ would refuse, mending what needs no guess."""

from hybrid_ir.bioasq.submission.faults import Change, Fault, Phase
from hybrid_ir.bioasq.submission.phase_a import faults_of_phase_a, phase_a_of, write_phase_a
from hybrid_ir.bioasq.submission.repair import repair
from hybrid_ir.bioasq.submission.validation import validate

__all__ = [
    "Change",
    "Fault",
    "Phase",
    "faults_of_phase_a",
    "phase_a_of",
    "repair",
    "validate",
    "write_phase_a",
]
