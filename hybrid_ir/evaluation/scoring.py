"""Scoring runs and submissions against a BioASQ gold: over all questions, by type, for each.

Official scores follow BioASQ's own program, strict ones are free of its quirks; both come from
:mod:`hybrid_ir.bioasq.measures`. recall@k is ours: the share of a question's gold documents among
the first k, by PMID, 0 for a question that was not answered, over all that have gold documents.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple, Protocol

from hybrid_ir.bioasq.limits import MAX_DOCUMENTS
from hybrid_ir.bioasq.measures import (
    Entry,
    Raw,
    read_responses,
    score_phase_a,
    score_phase_b,
)
from hybrid_ir.bioasq.measures.documents import mean_or_zero
from hybrid_ir.bioasq.measures.questions import FLAT_LIST_EDITION
from hybrid_ir.bioasq.measures.strict_exact import strict_factoid, strict_lists, strict_yesno
from hybrid_ir.bioasq.measures.strict_retrieval import (
    STRICT_EDITION,
    document_ids,
    strict_documents,
    strict_snippets,
)
from hybrid_ir.bioasq.raw import address_of, document_id_of
from hybrid_ir.errors import InputError
from hybrid_ir.evaluation.ideal import IdealScores, ideal_means, score_ideal
from hybrid_ir.evaluation.reference import Reference
from hybrid_ir.evaluation.scores import EXACT, MEASURES, Count, Mode, Scores
from hybrid_ir.records import QUESTION_TYPES, Run

log = logging.getLogger(__name__)

RUN_CUTOFFS = (10, 100, 1000)


def evaluate_run(
    gold: Reference, run: Run, mode: Mode = "official", cutoffs: Sequence[int] | None = None
) -> Scores:
    """Score a run as the submission it would become: the first 10 documents of each question.

    A question of the gold without a ranking counts as submitted with no documents.

    Args:
        gold: What to score against.
        run: Rankings of PMIDs.
        mode: Whose measures.
        cutoffs: The k of recall@k, in the whole ranking; without, those of 10, 100 and 1000 that
            the run is deep enough for.

    Raises:
        InputError: the run has none of the gold's questions, or a cutoff is below 1.
    """
    lists = {
        question_id: list(dict.fromkeys(document_id_of(document) for document, _ in ranking))
        for question_id, ranking in run.rankings.items()
    }
    _check_ids(gold, lists, run.name)
    deepest = max(map(len, lists.values()), default=0)
    if cutoffs is None:
        cutoffs = [k for k in RUN_CUTOFFS if k <= max(deepest, MAX_DOCUMENTS)]
    elif any(k > deepest for k in cutoffs):
        log.warning("%s: recall@%d of at most %d documents", run.name, max(cutoffs), deepest)
    responses = {
        question.id: Entry(
            question.id,
            None,
            tuple(dict.fromkeys(map(address_of, lists.get(question.id, [])[:MAX_DOCUMENTS]))),
            (), (), (), None,
        )
        for question in gold.questions
    }  # fmt: skip
    return _evaluate(_Job(gold, run.name, mode, responses, lists, cutoffs, {"documents"}))


def evaluate_submission(
    gold: Reference,
    submission: Sequence[Raw],
    name: str = "submission",
    mode: Mode = "official",
    cutoffs: Sequence[int] = (MAX_DOCUMENTS,),
    ideal: IdealScores | None = None,
) -> Scores:
    """Score a submission of any phase: all measures that its contents allow.

    Args:
        gold: What to score against.
        submission: The questions of the submission, verbatim.
        name: What to call the system.
        mode: Whose measures.
        cutoffs: The k of recall@k, up to 10, where the submission has documents.
        ideal: What its ideal answers scored, as :func:`~hybrid_ir.evaluation.ideal.score_ideal`
            says; without, they are scored here, without BERTScore.

    Raises:
        InputError: the official program would die on the submission, it has none of the gold's
            questions, nothing to score, or a cutoff is not from 1 to 10.
    """
    if max(cutoffs, default=0) > MAX_DOCUMENTS:
        raise InputError(
            f"recall@{max(cutoffs)}: a submission holds {MAX_DOCUMENTS} documents a question; "
            "score the run it was made from"
        )
    responses = read_responses(submission, gold.edition)
    _check_ids(gold, responses, name)
    lists = {question_id: document_ids(response) for question_id, response in responses.items()}
    keys = {key for question in submission for key in question}
    groups = keys & {"documents", "snippets", "concepts", "triples"}
    if "exact_answer" in keys:
        groups |= {"yesno", "factoid", "list"}
    ideal = ideal or score_ideal(gold.ideal, submission, name)
    return _evaluate(_Job(gold, name, mode, responses, lists, cutoffs, groups, ideal))


def _check_ids(gold: Reference, answered: Mapping[str, object], name: str) -> None:
    ids = {question.id for question in gold.questions}
    if not ids & answered.keys():
        raise InputError(
            f"{name}: has none of the {len(ids)} questions of {gold.name}: is it the same batch?"
        )
    if missing := ids - answered.keys():
        log.warning("%s: %d of %d questions are missing", name, len(missing), len(ids))
    if others := answered.keys() - ids:
        log.warning("%s: %d questions are not in %s: left aside", name, len(others), gold.name)


class _Job(NamedTuple):
    """One system to score: responses for BioASQ's measures, whole document lists for recall@k."""

    gold: Reference
    system: str
    mode: Mode
    responses: Mapping[str, Entry]
    lists: Mapping[str, Sequence[str]]
    cutoffs: Sequence[int]
    groups: set[str]
    ideal: IdealScores | None = None


class _Means(Protocol):
    """What all results of the measures have in common."""

    @property
    def values(self) -> tuple[float, ...]: ...

    @property
    def per_question(self) -> Mapping[str, tuple[float, ...]]: ...


def _evaluate(job: _Job) -> Scores:
    if job.mode == "strict" and job.gold.edition == FLAT_LIST_EDITION:
        raise InputError(
            "strict measures need a gold read for edition 3 or later: add --mode official, or"
            " leave --edition out"
        )
    if any(k < 1 for k in job.cutoffs):
        raise InputError(f"recall@{min(job.cutoffs)}: expected a cutoff of at least 1")
    questions = job.gold.questions
    scores = _score(job, questions)
    if not scores.measures:
        raise InputError(
            f"{job.system}: nothing to score against {job.gold.name}: no documents, snippets or "
            "answers to its questions that it has a gold for"
        )
    kinds = [kind for kind in QUESTION_TYPES if any(q.type == kind for q in questions)]
    by_type: dict[str, Scores] = {
        kind: _score(job, [q for q in questions if q.type == kind]) for kind in kinds
    }
    bertscore = job.ideal.setting if job.ideal else ""
    return replace(scores, by_type=by_type, documents=job.gold.documents, bertscore=bertscore)


def _score(job: _Job, questions: Sequence[Entry]) -> Scores:
    measures: dict[str, float] = {}
    scored: dict[str, Count] = {}
    per_question: dict[str, dict[str, float]] = {}
    for group, names, values, each in _results(job, questions):
        if each:
            measures |= zip(names, values, strict=True)
            asked = [q for q in questions if group not in EXACT or q.type == group]
            scored[group] = Count(len(each), len(asked))
        for question_id, row in each.items():
            per_question.setdefault(question_id, {}).update(zip(names, row, strict=False))
    edition = job.gold.edition if job.mode == "official" else STRICT_EDITION
    return Scores(
        job.system, job.gold.name, job.mode, edition, len(questions), measures, scored, per_question
    )


_Result = tuple[str, list[str], tuple[float, ...], Mapping[str, tuple[float, ...]]]
"""Group, names of its measures, their values, and the values of each question."""


def _results(job: _Job, questions: Sequence[Entry]) -> Iterator[_Result]:
    for group, means in _means(job, questions).items():
        names = [f"{group}_{name}" for name in MEASURES[group]]
        yield group, names, means.values, means.per_question
    if "documents" in job.groups and job.cutoffs:
        recalls = _recalls(job, questions)
        names = [f"recall@{k}" for k in job.cutoffs]
        yield (
            "recall",
            names,
            tuple(map(mean_or_zero, zip(*recalls.values(), strict=True))),
            recalls,
        )


def _means(job: _Job, questions: Sequence[Entry]) -> dict[str, _Means]:
    """Score all groups that the job asks for, in the order of the tables."""
    edition, responses = job.gold.edition, job.responses
    means: dict[str, _Means] = {}
    if job.mode == "strict":
        means["documents"] = strict_documents(questions, responses)
        means["snippets"] = strict_snippets(questions, responses)
        if job.groups & EXACT:
            means["yesno"] = strict_yesno(questions, responses)
            means["factoid"] = strict_factoid(questions, responses)
            means["list"] = strict_lists(questions, responses)
    else:
        a = score_phase_a(questions, responses, edition)
        means |= {"documents": a.documents, "snippets": a.snippets}
        means |= {"concepts": a.concepts, "triples": a.triples}
        if job.groups & EXACT:
            b = score_phase_b(questions, responses, edition)
            means |= {"yesno": b.yesno, "factoid": b.factoid, "list": b.lists}
    shown = {group: values for group, values in means.items() if group in job.groups}
    if job.ideal:
        shown |= ideal_means(job.ideal, {question.id for question in questions})
    return shown


def _recalls(job: _Job, questions: Sequence[Entry]) -> dict[str, tuple[float, ...]]:
    recalls: dict[str, tuple[float, ...]] = {}
    for question in questions:
        if relevant := set(document_ids(question)):
            found = job.lists.get(question.id, ())
            recalls[question.id] = tuple(
                len(relevant.intersection(found[:k])) / len(relevant) for k in job.cutoffs
            )
    return recalls
