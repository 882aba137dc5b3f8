"""What a synthetic passage or question must not be: a copy, too short or long, tied to its source.

The limits were set by what experts wrote: of 23,707 pairs of a BioASQ question and a gold snippet
one in 1,000 shares more than 0.83 of the question's three-word runs with the snippet or a run of
more than 11 words; one of 2,642 questions speaks of "the study"; the longest has 30 words.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from generation.texts.copies import longest_run, repeated_share, words
from hybrid_ir.errors import refuse

_SOURCE = re.compile(
    r"\b(?:this|the|these) (?:texts?|passage|abstract|article|stud(?:y|ies)|paper|authors?|trial"
    r"|report|review|findings)\b",
    re.IGNORECASE,
)
_JUDGED = 6
"""Words of a question from which on its three-word runs say something about copying."""


@dataclass(frozen=True, slots=True)
class ChecksConfig:
    """Limits of synthetic texts.

    Attributes:
        passage_words: Least and most words of a passage.
        question_words: Least and most words of a question.
        repeated_question: Share of a question's three-word runs that its passage may repeat.
        copied_words: Words in a row that a question may take over from its passage.
        near_duplicate: Jaccard similarity of three-word runs from which on a text counts as a
            near-duplicate of an earlier one and is left out.
    """

    passage_words: tuple[int, int] = (30, 400)
    question_words: tuple[int, int] = (3, 40)
    repeated_question: float = 0.9
    copied_words: int = 10
    near_duplicate: float = 0.7

    def __post_init__(self) -> None:
        ranges = ("passage_words", self.passage_words), ("question_words", self.question_words)
        shares = (
            ("repeated_question", self.repeated_question),
            ("near_duplicate", self.near_duplicate),
        )
        refuse(
            "the checks",
            *((name, "least and most", span, 1 <= span[0] <= span[1]) for name, span in ranges),
            *((name, "above 0, 1 at most", share, 0 < share <= 1) for name, share in shares),
            ("copied_words", "1 or more", self.copied_words, self.copied_words >= 1),
        )


def passage_fault(question: str, passage: str, config: ChecksConfig) -> str | None:
    """Say why a passage written for a question is of no use, if so: ``KIND: MORE``."""
    if fault := _length_fault(passage, config.passage_words):
        return fault
    share = repeated_share(question, passage)
    if len(words(question)) >= _JUDGED and share > config.repeated_question:
        return f"it repeats the question: {share:.0%} of it"
    return None


def question_fault(passage: str, question: str, config: ChecksConfig) -> str | None:
    """Say why a question written for a passage is of no use, if so: ``KIND: MORE``."""
    if fault := _length_fault(question, config.question_words):
        return fault
    if len(question.splitlines()) > 1:
        return "it is more than one line"
    if source := _SOURCE.search(question):
        return f"it speaks of its source: {source[0]!r}"
    if (run := longest_run(question, passage)) > config.copied_words:
        return f"it copies: {run} words in a row"
    return None


def _length_fault(text: str, span: tuple[int, int]) -> str | None:
    count, (least, most) = len(words(text)), span
    if least <= count <= most:
        return None
    size = "short" if count < least else "long"
    return f"it is too {size}: {count} words, {least} to {most} are wanted"
