"""Batches of like length over several questions, so that hardly anything is padded."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import nan

import numpy as np
from numpy.typing import NDArray


@dataclass(slots=True, eq=False)
class Input:
    """One sequence of tokens that goes through a model.

    Attributes:
        question: The number of the question it is of, rising in the order in which they came.
        ids: Token ids, of shape (tokens,).
        types: Which of the two texts a token is of, same shape; None where the model has no such.
        score: What the model gives it, once ``done``.
        done: Whether it went through the model.
    """

    question: int
    ids: NDArray[np.int32]
    types: NDArray[np.int8] | None
    score: float = nan
    done: bool = False

    @property
    def tokens(self) -> int:
        """How many tokens it has."""
        return len(self.ids)


@dataclass(frozen=True, slots=True)
class Padded:
    """A batch as a model takes it.

    Attributes:
        ids: Token ids, of shape (inputs, tokens of the longest).
        mask: 1 where there is a token, 0 where there is padding, same shape.
        types: As in :class:`Input`, same shape.
    """

    ids: NDArray[np.int64]
    mask: NDArray[np.int64]
    types: NDArray[np.int64] | None


def add(waiting: list[Input], inputs: Sequence[Input]) -> None:
    """Add inputs to those that wait, which are sorted by length, the shortest first."""
    waiting += inputs
    waiting.sort(key=_length)


def take(waiting: list[Input], tokens: int) -> list[Input]:
    """Take a batch out of what waits: the longest input of the oldest question, and its likes.

    Oldest questions first, so that their scores can be handed on; what fills the batch up are the
    next shorter inputs of any question.

    Args:
        waiting: Sorted by length, one or more.
        tokens: Of a batch, padding included; an input that has more makes a batch of its own.

    Returns:
        The batch, the shortest input first.
    """
    oldest = min(one.question for one in waiting)
    last = max(place for place, one in enumerate(waiting) if one.question == oldest)
    count = max(1, tokens // max(1, waiting[last].tokens))
    first = max(0, last + 1 - count)
    batch = waiting[first : last + 1]
    del waiting[first : last + 1]
    return batch


def padded(batch: Sequence[Input], padding: int) -> Padded:
    """Put a batch into arrays, padded on the right to its longest input.

    Args:
        batch: One input or more; all have types or none has.
        padding: The padding's token id.
    """
    lengths = np.array([one.tokens for one in batch])
    there = np.arange(lengths.max()) < lengths[:, None]
    ids = np.full(there.shape, padding, np.int64)
    ids[there] = np.concatenate([one.ids for one in batch])
    types = None
    if batch[0].types is not None:
        types = np.zeros(there.shape, np.int64)
        types[there] = np.concatenate([one.types for one in batch if one.types is not None])
    return Padded(ids, there.astype(np.int64), types)


def _length(one: Input) -> int:
    return one.tokens
