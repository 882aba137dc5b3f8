"""The official evaluator's two phases and the line it prints.

This is ``EvaluatorTask1b`` of BioASQ's Evaluation-Measures, to the last digit, for ``-e`` 2, 3, 5,
8 and 9. It loops over the gold's questions in their order. A question missing from the submission
is left out in phase A, not scored 0, so a mean says little without the number of questions scored.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from hybrid_ir.bioasq.measures.documents import RetrievalMeans, score_concepts, score_documents
from hybrid_ir.bioasq.measures.exact import (
    Factoid,
    Lists,
    score_factoid,
    score_lists,
)
from hybrid_ir.bioasq.measures.java import double_to_string
from hybrid_ir.bioasq.measures.questions import EDITIONS, Edition, Entry, Raw, by_id, read_questions
from hybrid_ir.bioasq.measures.snippets import score_snippets
from hybrid_ir.bioasq.measures.triples import score_triples
from hybrid_ir.bioasq.measures.yesno import YesNo, score_yesno
from hybrid_ir.errors import InputError

Phase = Literal["A", "B"]


@dataclass(frozen=True, slots=True)
class PhaseA:
    """What was retrieved, scored."""

    concepts: RetrievalMeans
    documents: RetrievalMeans
    snippets: RetrievalMeans
    triples: RetrievalMeans

    @property
    def values(self) -> tuple[float, ...]:
        """The 20 numbers in the order in which the official program prints them."""
        groups = (self.concepts, self.documents, self.snippets, self.triples)
        return tuple(value for group in groups for value in group.values)


@dataclass(frozen=True, slots=True)
class PhaseB:
    """What was answered, scored. The program does not read ideal answers."""

    yesno: YesNo
    factoid: Factoid
    lists: Lists

    @property
    def values(self) -> tuple[float, ...]:
        """The 10 numbers in the order in which the official program prints them."""
        yesno, factoid, lists = self.yesno, self.factoid, self.lists
        return (
            yesno.accuracy,
            factoid.strict, factoid.lenient, factoid.mrr,
            lists.precision, lists.recall, lists.f1,
            yesno.macro_f1, yesno.f1_yes, yesno.f1_no,
        )  # fmt: skip


def read_gold(questions: Sequence[Raw], edition: Edition) -> tuple[Entry, ...]:
    """Read a gold as the official program does.

    Raises:
        InputError: the program would die on it, or a question stands there twice, which it would
            count twice.
    """
    if edition not in EDITIONS:
        raise InputError(f"edition: expected one of {', '.join(map(str, EDITIONS))}, got {edition}")
    entries = read_questions(questions, edition, "gold")
    counts = Counter(entry.id for entry in entries)
    if twice := [question_id for question_id, count in counts.items() if count > 1]:
        raise InputError.of_all("gold: questions stand there twice; remove one of each", twice)
    return entries


def read_responses(questions: Sequence[Raw], edition: Edition) -> dict[str, Entry]:
    """Read a submission as the official program does: question id -> response.

    Raises:
        InputError: the program would die on it.
    """
    return by_id(read_questions(questions, edition, "submission"))


def score_phase_a(
    gold: Sequence[Entry], responses: Mapping[str, Entry], edition: Edition = 9
) -> PhaseA:
    """Score concepts, documents, snippets and triples as the official program does.

    Args:
        gold: The questions to score, as :func:`read_gold` gives them.
        responses: Question id -> response, as :func:`read_responses` gives them.
        edition: The program's ``-e``.
    """
    return PhaseA(
        score_concepts(gold, responses, edition),
        score_documents(gold, responses, edition),
        score_snippets(gold, responses, edition),
        score_triples(gold, responses, edition),
    )


def score_phase_b(
    gold: Sequence[Entry], responses: Mapping[str, Entry], edition: Edition = 9
) -> PhaseB:
    """Score exact answers as the official program does; arguments as in :func:`score_phase_a`.

    Raises:
        InputError: the program would die: before edition 9 on a missing question, always on a list
            for a yes/no question. Also where a gold's yes/no answer is neither.
    """
    pairs = scored_questions(gold, responses, edition)
    return PhaseB(score_yesno(pairs), score_factoid(pairs, edition), score_lists(pairs))


def scored_questions(
    gold: Sequence[Entry], responses: Mapping[str, Entry], edition: Edition
) -> list[tuple[Entry, Entry]]:
    """Pair the gold questions that are scored with their responses.

    Edition 9 leaves out a question that was not answered and one whose gold has no exact answer, or
    an empty one. Before, the program ended with a NullPointerException at a missing question.

    Raises:
        InputError: before edition 9, naming all missing questions.
    """
    if edition >= 9:
        return [
            (entry, responses[entry.id]) for entry in gold if entry.id in responses and entry.exact
        ]
    if missing := [entry.id for entry in gold if entry.id not in responses]:
        raise InputError.of_all(
            f"submission: the official program (edition {edition}) dies on phase B when a question "
            f"of the gold is missing, as {len(missing)} of {len(gold)} are; add them",
            (f"question {question_id}" for question_id in missing),
        )
    return [(entry, responses[entry.id]) for entry in gold]


def official_line(
    gold: Sequence[Raw], submission: Sequence[Raw], phase: Phase, edition: Edition
) -> str:
    """Give the line of 20 (phase A) or 10 (phase B) numbers that the official program prints.

    Args:
        gold: The questions of the gold file, verbatim.
        submission: The questions of the submission, verbatim.
        phase: A for what was retrieved, B for exact answers.
        edition: The program's ``-e``.

    Raises:
        InputError: the program would die on one of the two; all reasons are named.
    """
    entries, responses = read_gold(gold, edition), read_responses(submission, edition)
    scores = (
        score_phase_a(entries, responses, edition)
        if phase == "A"
        else score_phase_b(entries, responses, edition)
    )
    return " ".join(map(double_to_string, scores.values))
