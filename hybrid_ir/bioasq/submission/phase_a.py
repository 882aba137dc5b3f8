"""Writing a submission that BioASQ takes."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from hybrid_ir.bioasq.limits import MAX_DOCUMENTS
from hybrid_ir.bioasq.raw import address_of, write_raw
from hybrid_ir.bioasq.submission.faults import Fault, Place, error
from hybrid_ir.bioasq.submission.validation import validate
from hybrid_ir.errors import InputError
from hybrid_ir.records import Question, Run

log = logging.getLogger(__name__)


def write_phase_a(
    path: Path, questions: Sequence[Question], run: Run, documents: int = MAX_DOCUMENTS
) -> None:
    """Write a run as a Phase A submission: every question of the batch, its best documents first.

    A question without hits gets an empty list; a warning says how many there are. The body is
    that of the record, white space normalised: BioASQ goes by the id.

    Args:
        path: The file; it appears whole or not at all.
        questions: The batch.
        run: The ranking of every question, document ids being PMIDs.
        documents: How many documents of each ranking to submit, 1 to 10.

    Raises:
        InputError: BioASQ would refuse the file; all faults are named and nothing is written.
    """
    if not 1 <= documents <= MAX_DOCUMENTS:
        raise InputError(
            f"documents: BioASQ takes 1 to {MAX_DOCUMENTS} documents a question, got {documents}"
        )
    if faults := faults_of_phase_a(questions, run, documents):
        raise InputError.of_all(
            f"{path}: not written, BioASQ would refuse run {run.name!r}",
            [fault.text for fault in faults],
        )
    submission = phase_a_of(questions, run, documents)
    if empty := [question["id"] for question in submission if not question["documents"]]:
        log.warning(
            "%s: %d of %d questions have no document (first: %s)",
            path, len(empty), len(submission), empty[0],
        )  # fmt: skip
    write_raw(path, submission)


def phase_a_of(
    questions: Sequence[Question], run: Run, documents: int = MAX_DOCUMENTS
) -> list[dict[str, Any]]:
    """Give the questions of a Phase A submission as its JSON has them; nothing is checked.

    A document id that is no PMID stands there as it is.
    """
    return [
        {
            "id": question.id,
            "type": question.type,
            "body": question.body,
            "documents": [
                address_of(document)
                for document, _ in run.rankings.get(question.id, ())[:documents]
            ],
            "snippets": [],
        }
        for question in questions
    ]


def faults_of_phase_a(
    questions: Sequence[Question], run: Run, documents: int = MAX_DOCUMENTS
) -> tuple[Fault, ...]:
    """Find what BioASQ would refuse of a run, or what would cost it documents unnoticed.

    Beside the errors that :func:`~hybrid_ir.bioasq.submission.validation.validate` knows these are
    a batch without questions or with one twice, a question that is not in the batch, and a document
    twice in a ranking.
    """
    submission = phase_a_of(questions, run, documents)
    faults = validate(submission, questions, "A")
    return (
        *_batch_faults(questions, run),
        *(fault for fault in faults if fault.severity == "error" or _is_repeated(fault)),
    )


def _batch_faults(questions: Sequence[Question], run: Run) -> list[Fault]:
    if not questions:
        return [error(Place(), "the batch has no questions", "give the batch's question file")]
    ids = Counter(question.id for question in questions)
    strangers = sorted(run.rankings.keys() - ids.keys())
    if not strangers:
        return []
    shown = ", ".join(map(repr, strangers[:5])) + ", ..." * (len(strangers) > 5)
    problem = (
        f"{len(strangers)} of {len(run.rankings)} ranked questions are not in the batch: {shown}"
    )
    return [error(Place(strangers[0]), problem, "give the batch that the run is of")]


def _is_repeated(fault: Fault) -> bool:
    return ".documents[" in fault.path
