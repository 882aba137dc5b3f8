"""Scoring files: every run and submission against every gold in every mode, a column each."""

from __future__ import annotations

from contextlib import ExitStack, closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from hybrid_ir.bioasq.limits import MAX_DOCUMENTS
from hybrid_ir.bioasq.measures import Edition
from hybrid_ir.bioasq.raw import read_raw
from hybrid_ir.evaluation.ideal import score_ideal
from hybrid_ir.evaluation.names import file_stem, tell_apart
from hybrid_ir.evaluation.reference import Reference, reference
from hybrid_ir.evaluation.scores import Mode, Scores
from hybrid_ir.evaluation.scoring import evaluate_run, evaluate_submission
from hybrid_ir.trec import read_run

if TYPE_CHECKING:
    from hybrid_ir.bioasq.bertscore_model import Encoder


@dataclass(frozen=True, slots=True)
class BertModel:
    """The model of BERTScore: a hub id or a folder, and its layer where that is not known."""

    name: str
    layer: int | None = None


@dataclass(frozen=True, slots=True)
class Request:
    """What to score against what.

    Attributes:
        gold: A golden file.
        preliminary: A second gold, set beside the first, which is called enriched then.
        runs: TREC runs.
        submissions: Submissions of any phase.
        modes: Official, strict or both.
        edition: The official program's ``-e``.
        cutoffs: The k of recall@k of runs; None for the usual ones.
        within: An index folder; gold documents it does not hold are left out.
        leaderboard: A table of published scores, to be set beside.
        bertscore: Adds BERTScore of ideal answers by a model.
    """

    gold: Path
    preliminary: Path | None = None
    runs: tuple[Path, ...] = ()
    submissions: tuple[Path, ...] = ()
    modes: tuple[Mode, ...] = ("official", "strict")
    edition: Edition = 9
    cutoffs: tuple[int, ...] | None = None
    within: Path | None = None
    leaderboard: Path | None = None
    bertscore: BertModel | None = None


def score_files(request: Request) -> list[Scores]:
    """Give a column for every system, gold and mode, in this order of nesting.

    A run goes by the name in its last column, a submission by that of its file; those that would
    have one name go by their paths.

    Raises:
        InputError: a file cannot be read or scored, or is given twice.
    """
    golds = read_references(request)
    encoder = _load(request.bertscore) if request.bertscore else None
    scored = {path: _score_run(path, golds, request) for path in request.runs}
    scored |= {
        path: _score_submission(path, golds, request, encoder) for path in request.submissions
    }
    paths = (*request.runs, *request.submissions)
    names = tell_apart([scored[path][0].system for path in paths], paths)
    columns = [
        _renamed(column, name)
        for name, path in zip(names, paths, strict=True)
        for column in scored[path]
    ]
    return columns + (_published(request.leaderboard) if request.leaderboard else [])


def read_references(request: Request) -> list[Reference]:
    """Read the golds: the preliminary one, where there is one, first."""
    golds = {file_stem(request.gold): request.gold}
    if request.preliminary:
        golds = {
            f"preliminary {file_stem(request.preliminary)}": request.preliminary,
            f"enriched {file_stem(request.gold)}": request.gold,
        }
    with ExitStack() as stack:
        within = None
        if request.within:
            from hybrid_ir.retrieval.index import open_store

            within = stack.enter_context(closing(open_store(request.within)))
        return [
            reference(read_raw(path), name, request.edition, within) for name, path in golds.items()
        ]


def _load(model: BertModel) -> Encoder:
    from hybrid_ir.bioasq.bertscore_model import load_encoder

    return load_encoder(model.name, model.layer)


def _published(path: Path) -> list[Scores]:
    from hybrid_ir.evaluation.leaderboard import read_leaderboard

    return read_leaderboard(path)


def _score_run(path: Path, golds: list[Reference], request: Request) -> list[Scores]:
    run = read_run(path)
    return [
        evaluate_run(gold, run, mode, request.cutoffs) for gold in golds for mode in request.modes
    ]


def _score_submission(
    path: Path, golds: list[Reference], request: Request, encoder: Encoder | None
) -> list[Scores]:
    submission, name = read_raw(path), file_stem(path)
    columns = []
    for gold in golds:
        ideal = score_ideal(gold.ideal, submission, name, encoder)
        columns += [
            evaluate_submission(gold, submission, name, mode, _cutoffs(request), ideal=ideal)
            for mode in request.modes
        ]
    return columns


def _cutoffs(request: Request) -> tuple[int, ...]:
    """Give the cutoffs for submissions; beside runs, those too deep are left to the runs."""
    if not request.cutoffs:
        return (MAX_DOCUMENTS,)
    fitting = tuple(k for k in request.cutoffs if k <= MAX_DOCUMENTS)
    return fitting if request.runs and fitting else request.cutoffs


def _renamed(scores: Scores, name: str) -> Scores:
    parts = {kind: replace(part, system=name) for kind, part in scores.by_type.items()}
    return replace(scores, system=name, by_type=parts)
