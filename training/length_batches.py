"""Batches of pairs of like length, the same for any number of processes.

A *group* is what a loss judges together: one pair, or a list of passages of one question. A
*batch* is what an optimizer step sees, a random sample of a fixed number of groups. It is sorted by
length and cut into *turns* that go through the model one after another, so that hardly anything is
padded and the gradients are those of any other order. Where a batch is one turn, windows of several
batches can be sorted instead; such batches are less mixed. All batches of all epochs are planned at
the start, from the seed alone, so a training that is resumed knows what it has seen.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import ceil
from typing import TypeAlias

import numpy as np
import torch
from numpy.typing import NDArray
from torch.utils.data import DataLoader, Dataset, Sampler

from training.losses import RELEVANT, Lists
from training.settings import StageConfig
from training.tokens import Pairs, Tokens

Rows: TypeAlias = NDArray[np.int64]
"""Numbers of pairs."""


@dataclass(frozen=True, slots=True)
class Share:
    """What one process does of each batch.

    Attributes:
        rank: Which process, from 0.
        processes: How many there are.
        groups: That it takes through the model at once.
        turns: How often, for one batch.
    """

    rank: int
    processes: int
    groups: int
    turns: int

    @property
    def batch(self) -> int:
        """Groups of a whole batch."""
        return self.processes * self.groups * self.turns

    def of(self, batch: Rows) -> list[Rows]:
        """Give this process's part of a batch that is sorted by length, one array a turn."""
        turns = np.split(batch, self.turns)
        return [turn[self.rank :: self.processes] for turn in turns]


def mixed(pairs: Pairs, config: StageConfig, chance: np.random.Generator) -> Rows:
    """Give the pairs a stage takes, in the data's order, as its mix says."""
    counts = np.ones(len(pairs.labels), np.int64)
    for source, part in config.mix.items():
        there = np.flatnonzero(pairs.sources == source)
        counts[there] = int(part)
        rest = round(part % 1 * len(there))
        counts[chance.permutation(there)[:rest]] += 1
    return np.repeat(np.arange(len(counts)), counts)


def groups_of(
    rows: Rows, pairs: Pairs, config: StageConfig, chance: np.random.Generator
) -> list[Rows]:
    """Give what is judged together: every pair alone, or lists of a question's passages.

    A list has positives and negatives in about the proportion the question has them, at least one
    of each; of the one there is less of, some stand in several lists. Questions without one or the
    other make no list.
    """
    if config.loss == "bce":
        return [rows[number : number + 1] for number in range(len(rows))]
    starts = np.flatnonzero(np.diff(pairs.questions[rows], prepend=-1))
    lists: list[Rows] = []
    for of_question in np.split(rows, starts[1:]):
        positive = pairs.labels[of_question] > RELEVANT
        sides = of_question[positive], of_question[~positive]
        if all(map(len, sides)):
            lists += _lists(*sides, config.list_size, chance)
    return lists


def _lists(positives: Rows, negatives: Rows, size: int, chance: np.random.Generator) -> list[Rows]:
    total = len(positives) + len(negatives)
    of_positives = min(size - 1, max(1, round(size * len(positives) / total)))
    of_negatives = min(size - of_positives, len(negatives))
    of_positives = min(of_positives, len(positives))
    count = max(ceil(len(positives) / of_positives), ceil(len(negatives) / of_negatives))

    def dealt(items: Rows, each: int) -> Rows:
        return np.resize(chance.permutation(items), (count, each))

    return list(np.hstack([dealt(positives, of_positives), dealt(negatives, of_negatives)]))


def plan(
    lengths: NDArray[np.int64],
    batch: int,
    config: StageConfig,
    window: int,
    chance: np.random.Generator,
) -> NDArray[np.int64]:
    """Plan every batch of a stage.

    Args:
        lengths: Tokens of the longest pair of each group.
        batch: Groups of a batch.
        config: Epochs, the most steps, and whether the order is random.
        window: Batches among which lengths are sorted.
        chance: Decides the order.

    Returns:
        The numbers of the groups: shape (steps, batch), each row from short to long.
    """
    groups = len(lengths)
    steps = ceil(round(groups * config.epochs, 6) / batch)
    steps = min(steps, config.max_steps) if config.max_steps else steps
    order: list[NDArray[np.int64]] = []
    for _ in range(ceil(steps * batch / groups)):
        order.append(chance.permutation(groups) if config.shuffle else np.arange(groups))
    batches = np.concatenate(order)[: steps * batch].reshape(steps, batch)
    for start in range(0, steps, window):
        part = batches[start : start + window]
        ordered = np.sort(part, axis=None)  # equal lengths in the same order on any machine
        ordered = ordered[np.argsort(lengths[ordered], kind="stable")]
        batches[start : start + window] = chance.permutation(ordered.reshape(part.shape))
    return batches


class Batches(Sampler[list[Rows]]):
    """This process's part of every batch, one turn after another."""

    def __init__(self, batches: NDArray[np.int64], groups: list[Rows], share: Share) -> None:
        super().__init__()
        self._batches = batches
        self._groups = groups
        self._share = share

    def __iter__(self) -> Iterator[list[Rows]]:
        for batch in self._batches:
            for turn in self._share.of(batch):
                yield [self._groups[number] for number in turn]

    def __len__(self) -> int:
        return len(self._batches) * self._share.turns


class Groups(Dataset[list[Rows]]):
    """Hands groups on: what is in them is looked up when they are put together."""

    def __init__(self, count: int) -> None:
        self._count = count

    def __getitem__(self, index: Rows) -> list[Rows]:
        return [index]

    def __len__(self) -> int:
        return self._count


@dataclass(frozen=True, slots=True)
class Collator:
    """Makes tensors of the groups of one turn, padded to the longest pair in it.

    Attributes:
        tokens: Of every pair.
        pairs: What is known of every pair.
        padding: The padding's token id.
        multiple: Padded lengths are a multiple of it.
    """

    tokens: Tokens
    pairs: Pairs
    padding: int
    multiple: int

    def __call__(self, turn: list[list[Rows]]) -> dict[str, dict[str, torch.Tensor]]:
        """Give the model's input, of shape (pairs, tokens), and what is to be learnt of it."""
        groups = [rows for group in turn for rows in group]
        return {"batch": self._inputs(np.concatenate(groups)), "lists": self._lists(groups)}

    def _inputs(self, rows: Rows) -> dict[str, torch.Tensor]:
        lengths = self.tokens.starts[rows + 1] - self.tokens.starts[rows]
        width = ceil(lengths.max() / self.multiple) * self.multiple
        mask = np.arange(width) < lengths[:, None]
        ids = np.full(mask.shape, self.padding, np.int64)
        places = np.concatenate([np.arange(*self.tokens.starts[row : row + 2]) for row in rows])
        ids[mask] = self.tokens.ids[places]
        inputs = {"input_ids": ids, "attention_mask": mask.astype(np.int64)}
        if self.tokens.types is not None:
            inputs["token_type_ids"] = np.zeros(mask.shape, np.int64)
            inputs["token_type_ids"][mask] = self.tokens.types[places]
        return {name: torch.from_numpy(array) for name, array in inputs.items()}

    def _lists(self, groups: list[Rows]) -> dict[str, torch.Tensor]:
        sizes = np.array([len(rows) for rows in groups])
        mask = np.arange(sizes.max()) < sizes[:, None]
        rows = np.concatenate(groups)
        known = {"labels": self.pairs.labels, "weights": self.pairs.weights}
        made = {"mask": torch.from_numpy(mask)}
        for name, values in {**known, "teacher": np.nan_to_num(self.pairs.teacher)}.items():
            filled = np.zeros(mask.shape, np.float32)
            filled[mask] = values[rows]
            made[name] = torch.from_numpy(filled)
        return made


def lists_of(tensors: dict[str, torch.Tensor]) -> Lists:
    """Give what the collator knows of a turn's passages as a record."""
    return Lists(tensors["labels"], tensors["weights"], tensors["teacher"], tensors["mask"])


def loader(
    batches: Batches, groups: int, collator: Collator, workers: int = 0
) -> DataLoader[list[Rows]]:
    """Give the loader of a stage; it draws nothing from the global random numbers."""
    return DataLoader(
        Groups(groups),
        batch_sampler=batches,
        collate_fn=collator,
        num_workers=workers,
        generator=torch.Generator(),
    )
