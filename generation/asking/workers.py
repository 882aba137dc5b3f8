"""The threads that wait for a model."""

from __future__ import annotations

import queue
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, Protocol, TypeAlias, TypeVar

from generation.llm import LLM, LLMError, Reply, Request


class Asked(Protocol):
    """Anything that holds a request."""

    request: Request


A = TypeVar("A", bound=Asked)

Answer: TypeAlias = Reply | LLMError


@dataclass(frozen=True, slots=True)
class Arrival(Generic[A]):
    """What a call brought.

    Attributes:
        batch: What was asked.
        answers: One for each, in their order; empty where there is an error.
        error: What the model raised instead.
    """

    batch: list[A]
    answers: Sequence[Answer] = ()
    error: BaseException | None = None


@dataclass(slots=True)
class Workers(Generic[A]):
    """Threads that make calls; all methods but ``wake`` belong to one thread.

    Attributes:
        llm: The model.
        count: How many.
        busy: Calls in flight.
    """

    llm: LLM
    count: int
    busy: int = 0
    _todo: queue.SimpleQueue[list[A] | None] = field(default_factory=queue.SimpleQueue)
    _inbox: queue.SimpleQueue[Arrival[A] | None] = field(default_factory=queue.SimpleQueue)

    def start(self) -> None:
        """Start the threads; they do not keep a program from ending."""
        for _ in range(self.count):
            threading.Thread(target=self._work, daemon=True, name="model call").start()

    def send(self, batch: list[A]) -> None:
        """Have a call made."""
        self.busy += 1
        self._todo.put(batch)

    def receive(self, timeout: float | None) -> list[Arrival[A]]:
        """Wait for calls to end (or ``wake``, or seconds to pass) and give all that did."""
        arrivals = []
        try:
            arrival = self._inbox.get(timeout=timeout)
            while True:
                if arrival:
                    self.busy -= 1
                    arrivals.append(arrival)
                arrival = self._inbox.get_nowait()
        except queue.Empty:
            return arrivals

    def wake(self) -> None:
        """End a ``receive`` that waits."""
        self._inbox.put(None)

    def close(self) -> None:
        """Let the threads end."""
        for _ in range(self.count):
            self._todo.put(None)

    def _work(self) -> None:
        while (batch := self._todo.get()) is not None:
            self._inbox.put(self._call(batch))

    def _call(self, batch: list[A]) -> Arrival[A]:
        try:
            answers: Any = self.llm.complete([asked.request for asked in batch])
            if len(answers) != len(batch):
                raise RuntimeError(f"{len(batch)} requests got {len(answers)} answers")
        except BaseException as error:
            return Arrival(batch, error=error)
        return Arrival(batch, answers)
