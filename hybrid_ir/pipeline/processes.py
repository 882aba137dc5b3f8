"""One or several processes that share a stage's work: on GPUs, or on machines with one disk."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Team:
    """The processes that ``accelerate launch`` or ``torchrun`` started, or this one alone.

    Attributes:
        rank: Of this process, from 0.
        count: Of all.
    """

    rank: int = 0
    count: int = 1

    @property
    def leads(self) -> bool:
        """Whether this is the process that writes."""
        return self.rank == 0

    def share(self, items: Sequence[T]) -> Sequence[T]:
        """Give this process's part of what all share."""
        return items[self.rank :: self.count]

    def gathered(self, items: list[T]) -> list[T]:
        """Give everyone's items to everyone; all processes call it, equally often."""
        if self.count == 1:
            return items
        from accelerate.utils import gather_object

        every: list[T] = gather_object(items)
        return every

    def told(self, value: T) -> T:
        """Give the leading process's value to everyone; all processes call it, equally often."""
        if self.count == 1:
            return value
        from accelerate.utils import broadcast_object_list

        content: list[Any] = [value]
        broadcast_object_list(content)
        told: T = content[0]
        return told


def team() -> Team:
    """Find out which process this is, and meet the others."""
    if int(os.environ.get("WORLD_SIZE", "1")) == 1:
        return Team()
    import torch
    from accelerate import PartialState

    state = PartialState(cpu=not torch.cuda.is_available())
    return Team(state.process_index, state.num_processes)
