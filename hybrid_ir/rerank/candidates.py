"""What every scorer takes and gives: a question's documents in, a score for each out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Scores: TypeAlias = NDArray[np.float64]
"""One score a document, in the candidates' order; higher is better, of any scale."""


@dataclass(frozen=True, slots=True)
class Candidates:
    """The documents of one question that are to be scored.

    Attributes:
        question_id: Whose they are; for messages.
        query: The question's body.
        documents: Document ids, best first as the stage before ranked them.
        texts: The text of each document.
        written: Texts that language models wrote for the question, each with its weight.
    """

    question_id: str
    query: str
    documents: tuple[str, ...]
    texts: tuple[str, ...]
    written: tuple[tuple[str, float], ...] = ()


Scorer: TypeAlias = Callable[[Iterable[Candidates]], Iterator[Scores]]
"""Scores the candidates of question after question, in order.

Candidates are pulled as they are needed, in the thread that takes the scores: a scorer may look
some questions ahead to fill its batches or to tokenize while the model computes, but holds no more
than these in memory.
"""
