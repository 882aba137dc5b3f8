"""Comparing files: runs, submissions and the values that ``evaluate --per-question`` wrote."""

from __future__ import annotations

import json
from collections.abc import Collection
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal, NamedTuple

from hybrid_ir.bioasq.measures import Edition
from hybrid_ir.bioasq.raw import read_raw
from hybrid_ir.errors import InputError
from hybrid_ir.evaluation.comparison import CompareConfig, Report, compare
from hybrid_ir.evaluation.names import file_stem, tell_apart
from hybrid_ir.evaluation.paired_samples import Values
from hybrid_ir.evaluation.question_values import SystemValues, read_question_values
from hybrid_ir.evaluation.reference import Reference
from hybrid_ir.evaluation.score_files import Request, read_references
from hybrid_ir.evaluation.scores import HEADLINES, Mode
from hybrid_ir.evaluation.scoring import evaluate_run, evaluate_submission
from hybrid_ir.files import read_lines
from hybrid_ir.records import QUESTION_TYPES
from hybrid_ir.trec import read_run


@dataclass(frozen=True, slots=True)
class CompareRequest:
    """What to compare.

    Attributes:
        systems: Runs, submissions and values of each question, told apart by their content.
        gold: A golden file; not needed where all systems are values.
        mode: Whose measures. Official ones leave out questions that a submission lacks, so that
            they are not compared at all; strict ones score them 0.
        edition: The official program's ``-e``.
        cutoffs: The k of recall@k of runs; None for the usual ones.
        within: An index folder; gold documents it does not hold are left out.
        config: How to compare. Without measures, those BioASQ ranks systems by.
    """

    systems: tuple[Path, ...]
    gold: Path | None = None
    mode: Mode = "strict"
    edition: Edition = 9
    cutoffs: tuple[int, ...] | None = None
    within: Path | None = None
    config: CompareConfig = field(default_factory=CompareConfig)


class Compared(NamedTuple):
    """A report, and what its values were scored against and by."""

    report: Report
    gold: str
    mode: Mode
    edition: int


def compare_files(request: CompareRequest) -> Compared:
    """Score what is to be scored and compare every system with every other, or with a baseline.

    Raises:
        InputError: a file cannot be read or scored, there is no gold to score a run or submission
            against, values are of another gold or edition than the others, or what
            :func:`~hybrid_ir.evaluation.comparison.compare` refuses.
    """
    systems = _read_systems(request)
    against = {(system.gold, system.edition) for system in systems}
    if len(against) != 1:
        listed = (f"{s.origin}: {s.gold}, edition {s.edition}" for s in systems)
        raise InputError.of_all("systems must share gold and edition to be compared, got", listed)
    ((gold, edition),) = against
    names = tell_apart([s.name for s in systems], [s.origin for s in systems])
    values: dict[str, Values] = dict(zip(names, (s.values for s in systems), strict=True))
    types = {id_: kind for system in systems for id_, kind in system.types.items()}
    config = request.config
    measures = config.measures or _headlines(values.values())
    report = compare(values, types, replace(config, measures=measures))
    return Compared(report, gold, request.mode, edition)


def _headlines(systems: Collection[Values]) -> tuple[str, ...]:
    """Give the headline measures that any question has a value of; all measures without them."""
    known = {key for values in systems for row in values.values() for key in row}
    return tuple(measure for measure in HEADLINES if measure in known)


def _read_systems(request: CompareRequest) -> list[SystemValues]:
    gold = None
    if request.gold:
        scoring = Request(request.gold, edition=request.edition, within=request.within)
        (gold,) = read_references(scoring)
    return [system for path in request.systems for system in _read(path, gold, request)]


def _read(path: Path, gold: Reference | None, request: CompareRequest) -> list[SystemValues]:
    kind = _kind(path)
    if kind == "values":
        return read_question_values(path, request.mode)
    if gold is None:
        raise InputError(f"{path}: a {kind} is scored against a gold: give one with --gold")
    scores = (
        evaluate_run(gold, read_run(path), request.mode, request.cutoffs)
        if kind == "run"
        else evaluate_submission(gold, read_raw(path), file_stem(path), request.mode)
    )
    values = {id_: dict(row) for id_, row in scores.per_question.items()}
    known = {question.id: question.type for question in gold.questions}
    types = {id_: kind for id_ in values for kind in QUESTION_TYPES if known[id_] == kind}
    return [SystemValues(scores.system, str(path), scores.gold, scores.edition, values, types)]


def _kind(path: Path) -> Literal["run", "submission", "values"]:
    """Tell by its first line what a file holds."""
    first = next((line.removeprefix("\ufeff") for _, line in read_lines(path)), "")
    if not first.lstrip().startswith("{"):
        return "run"
    try:
        return "submission" if "questions" in json.loads(first) else "values"
    except ValueError:  # an object of several lines
        return "submission"
