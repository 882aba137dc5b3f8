"""Examples for prompts: answered questions of earlier batches, never of the batch at hand."""

from __future__ import annotations

import random
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from generation.prompts import Example
from hybrid_ir.errors import InputError, refuse
from hybrid_ir.records import Gold, Question, QuestionType

Source = Literal["ideal", "snippet"]


@dataclass(frozen=True, slots=True)
class ExamplesConfig:
    """Where examples come from.

    Attributes:
        golds: Golden or training files of earlier batches.
        number: Examples in a prompt.
        source: What answers an example's question: its first ideal answer, or its longest gold
            snippet (closer to the passages that are searched).
        seed: Decides, with the question's id, which examples it gets.
    """

    golds: tuple[Path, ...] = ()
    number: int = 2
    source: Source = "snippet"
    seed: int = 0

    def __post_init__(self) -> None:
        refuse("the examples", ("number", "1 or more", self.number, self.number >= 1))


Pool = Mapping[QuestionType, Sequence[Example]]
"""Examples by the type of their question, none of the batch among them."""


def pool_of(
    answered: Iterable[tuple[Question, Gold]], batch: Sequence[Question], source: Source
) -> Pool:
    """Collect examples, leaving out what would leak.

    Left out is a question whose id or body (in any case and punctuation: bodies recur from year to
    year under other ids) is one of the batch, a body that is in the pool already, and a question
    without the text that is wanted.

    Args:
        answered: Questions with their gold.
        batch: The questions that prompts are to be written for.
        source: Which text answers an example.
    """
    ids = {question.id for question in batch}
    bodies = {_normalised(question.body) for question in batch}
    pool: dict[QuestionType, list[Example]] = {}
    for question, gold in answered:
        body, text = _normalised(question.body), _text(gold, source)
        if text and question.id not in ids and body not in bodies:
            bodies.add(body)
            pool.setdefault(question.type, []).append(Example(question, text))
    return pool


def refuse_small(pool: Pool, batch: Iterable[Question], config: ExamplesConfig) -> None:
    """Raise an InputError where a type of the batch has fewer examples than a prompt takes."""
    kinds = sorted({question.type for question in batch})
    faults = [
        f"{kind}: {len(pool.get(kind, ()))}"
        for kind in kinds
        if len(pool.get(kind, ())) < config.number
    ]
    if faults:
        files = ", ".join(map(str, config.golds)) or "none given (examples.golds)"
        raise InputError.of_all(
            f"a prompt takes {config.number} examples of the question's type; too few without the"
            f" batch's own questions in the golden files ({files}):",
            faults,
        )


def drawn(question: Question, pool: Pool, config: ExamplesConfig) -> tuple[Example, ...]:
    """Draw a question's examples: the same ones whatever else is in the batch."""
    chance = random.Random(f"{config.seed}:{question.id}")  # noqa: S311 (no secret)
    return tuple(chance.sample(pool[question.type], config.number))


def _normalised(body: str) -> str:
    return " ".join(re.findall(r"\w+", body.casefold()))


def _text(gold: Gold, source: Source) -> str:
    texts = gold.ideal[:1] if source == "ideal" else [snippet.text for snippet in gold.snippets]
    return " ".join(max(texts, key=len, default="").split())
