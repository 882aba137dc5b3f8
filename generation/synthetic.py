"""Synthetic training pairs: passages for questions, and questions for passages."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from generation.budget import Budget, refuse_unpriced
from generation.llm import ModelConfig, Reply, Request, named
from generation.prompts import SAMPLES, fingerprint, question_for, relevant_passage
from generation.structured import Unusable
from generation.texts.checks import ChecksConfig, passage_fault, question_fault
from generation.texts.copies import NearDuplicates
from generation.texts.refusals import Cleaned, usable
from hybrid_ir.errors import refuse
from hybrid_ir.records import (
    QUESTION_TYPES,
    Document,
    Question,
    QuestionType,
    SyntheticPair,
    Written,
)


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A pair left out because it nearly repeats an earlier one's synthetic text."""

    pair: SyntheticPair
    repeats: str


@dataclass(frozen=True, slots=True)
class SyntheticConfig:
    """How synthetic pairs are written; a file in ``configs/`` fills it.

    Attributes:
        generators: The models by their names, in the order of the output.
        samples: Texts a question or passage and generator.
        attempts: How often something is asked, told why, until a reply is of use and passes the
            checks.
        checks: Limits of what is written.
        budget: What may be spent on one output, earlier runs included (its name is the account's).
        cache: The file that keeps replies, or None to keep none.
    """

    generators: dict[str, ModelConfig]
    samples: int = 1
    attempts: int = 3
    checks: ChecksConfig = field(default_factory=ChecksConfig)
    budget: Budget = field(default_factory=Budget)
    cache: Path | None = Path("work/replies.sqlite")

    def __post_init__(self) -> None:
        refuse(
            "the synthetic pairs",
            ("generators", "one model or more", 0, bool(self.generators)),
            ("samples", "1 or more", self.samples, self.samples >= 1),
            ("attempts", "1 or more", self.attempts, self.attempts >= 1),
        )
        object.__setattr__(self, "generators", named(self.generators))
        refuse_unpriced(self.budget, self.generators.values())


@dataclass(frozen=True, slots=True)
class Task:
    """A pair whose other half is to be written.

    Attributes:
        given: The half that is there: the question, or the document.
        kind: The type of the question that is there or wanted.
    """

    given: Question | Document
    kind: QuestionType


def tasks_for_questions(questions: Iterable[Question]) -> Iterator[Task]:
    """Yield a task a question: write a relevant passage."""
    return (Task(question, question.type) for question in questions)


def tasks_for_documents(documents: Iterable[Document]) -> Iterator[Task]:
    """Yield a task a document: write a question, of the four types in turn."""
    for place, document in enumerate(documents):
        yield Task(document, QUESTION_TYPES[place % len(QUESTION_TYPES)])


def request_of(task: Task, generator: ModelConfig, sample: int) -> Request:
    """Ask for the other half."""
    if isinstance(task.given, Question):
        messages = relevant_passage(task.given)
    else:
        messages = question_for(task.given, task.kind)
    return Request(task.given.id, messages, generator.sampling, sample=sample)


def read_half(task: Task, reply: Reply, checks: ChecksConfig) -> Cleaned:
    """Give the other half that a reply holds, without its wrappings.

    Raises:
        Unusable: it refuses, or fails a check.
    """
    half = usable(reply)
    if isinstance(task.given, Question):
        fault = passage_fault(task.given.body, half.text, checks)
    else:
        fault = question_fault(task.given.text, half.text, checks)
    if fault:
        raise Unusable(fault)
    return half


def pair_of(task: Task, text: str, generator: str, sample: int) -> SyntheticPair:
    """Join the two halves; the synthetic one's id says of what, by whom and which it is."""
    made = f"{task.given.id}.{generator}.{sample}"
    if isinstance(task.given, Question):
        question, document = (task.given.id, task.given.body), (made, text)
    else:
        question, document = (made, text), (task.given.id, task.given.text)
    written: Written = "passage" if isinstance(task.given, Question) else "question"
    return SyntheticPair(*question, task.kind, *document, 1, written, generator)


def without_repeats(
    pairs: Iterable[SyntheticPair], threshold: float, left_out: list[LeftOut]
) -> Iterator[SyntheticPair]:
    """Pass pairs on, but for near-duplicates of earlier ones: these are put into ``left_out``."""
    seen = NearDuplicates(threshold)
    for pair in pairs:
        written = pair.text if pair.source == "passage" else pair.question
        name = pair.document_id if pair.source == "passage" else pair.question_id
        earlier = seen.add(name, written)
        if earlier is None:
            yield pair
        else:
            left_out.append(LeftOut(pair, earlier))


def fingerprints() -> tuple[str, ...]:
    """Hash the text of both prompts."""
    document = Document("0", "A title.", "A text.")
    return (
        fingerprint(map(relevant_passage, SAMPLES)),
        fingerprint(question_for(document, kind) for kind in QUESTION_TYPES),
    )
