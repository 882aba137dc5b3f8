"""Scoring files: every run and submission against every gold in every mode, a column each."""

from __future__ import annotations

from contextlib import ExitStack, closing
from dataclasses import dataclass
from pathlib import Path

from hybrid_ir.bioasq.measures import Edition
from hybrid_ir.bioasq.raw import read_raw
from hybrid_ir.errors import InputError
from hybrid_ir.evaluation.leaderboard import read_leaderboard
from hybrid_ir.evaluation.reference import Reference, reference
from hybrid_ir.evaluation.scores import Mode, Scores
from hybrid_ir.evaluation.scoring import evaluate_run, evaluate_submission
from hybrid_ir.trec import read_run


@dataclass(frozen=True, slots=True)
class Request:
    """What to score against what.

    Attributes:
        golds: Golden files, such as the preliminary and the enriched gold of a batch.
        runs: TREC runs.
        submissions: Submissions of any phase.
        modes: Official, strict or both.
        edition: The official program's ``-e``.
        cutoffs: The k of recall@k; None for the usual ones.
        within: An index folder; gold documents it does not hold are left out.
        leaderboard: A table of published scores, to be set beside.
    """

    golds: tuple[Path, ...]
    runs: tuple[Path, ...] = ()
    submissions: tuple[Path, ...] = ()
    modes: tuple[Mode, ...] = ("official", "strict")
    edition: Edition = 9
    cutoffs: tuple[int, ...] | None = None
    within: Path | None = None
    leaderboard: Path | None = None


def score_files(request: Request) -> list[Scores]:
    """Give a column for every system, gold and mode, in this order of nesting."""
    golds = _golds(request)
    columns = []
    for path in request.runs:
        run = read_run(path)
        columns += [
            evaluate_run(gold, run, mode, request.cutoffs)
            for gold in golds
            for mode in request.modes
        ]
    for path in request.submissions:
        submission = read_raw(path)
        columns += [
            evaluate_submission(gold, submission, _name(path), mode)
            for gold in golds
            for mode in request.modes
        ]
    if request.leaderboard:
        columns += read_leaderboard(request.leaderboard)
    return columns


def _name(path: Path) -> str:
    return path.name.removesuffix(".gz").removesuffix(".json")


def _golds(request: Request) -> list[Reference]:
    names = [_name(path) for path in request.golds]
    if len(set(names)) < len(names):
        raise InputError(f"two golds must differ in name, to be told apart: got {names[0]} twice")
    with ExitStack() as stack:
        within = None
        if request.within:
            from hybrid_ir.retrieval.index import open_store

            within = stack.enter_context(closing(open_store(request.within)))
        return [
            reference(read_raw(path), name, request.edition, within)
            for path, name in zip(request.golds, names, strict=True)
        ]
