"""The thread behind ``calls.ask_all``: what to ask next, and what to do with replies.

One thread decides everything: it reads requests, looks them up, hands calls to the workers, stores
what they bring and hands outcomes out in order. So only queues are shared, a signal never
interrupts a store, and all that arrived together is stored in one transaction.
"""

from __future__ import annotations

import heapq
import logging
import math
import queue
import time
from collections import deque
from collections.abc import Iterable
from dataclasses import replace
from typing import Generic, TypeVar

from generation.asking.limits import Limiter
from generation.asking.outcomes import (
    Failure,
    Outcome,
    Parse,
    Progress,
    Verdict,
    cure_of,
    judge,
    look_up,
    next_attempt,
)
from generation.asking.slots import LONGEST_WAIT, Answered, Slot, judged, no_room, pause, settlement
from generation.asking.workers import Arrival, Workers
from generation.budget import PICO, Budget, at_most, cost_of
from generation.cache.database import open_database
from generation.cache.ledger import Ledger, Reservation, Settlement
from generation.cache.replies import ReplyCache
from generation.llm import LLM, LLMError, ModelConfig, Reply, Request

T = TypeVar("T")

_log = logging.getLogger(__name__)

_WORTH_SAYING = 10.0  # seconds
_LONGEST_QUEUE = 4  # doublings, so 8 s: whoever waits for a turn comes back soon


class Scheduler(Generic[T]):
    """The state of one ``ask_all``; all methods but ``took`` and ``stop`` are its thread's own."""

    def __init__(
        self,
        llm: LLM,
        requests: Iterable[Request],
        config: ModelConfig,
        stage: str,
        cache: ReplyCache | None,
        budget: Budget,
        parse: Parse[T],
        attempts: int,
        progress: Progress,
        limiter: Limiter,
    ) -> None:
        self.config, self.stage, self.budget = config, stage, budget
        self.identity, self.batch_size = llm.identity, llm.batch_size
        recorded = self.identity.provider == "recorded"  # it says the same whatever is asked
        self.cache, self.attempts = (None, 1) if recorded else (cache, attempts)
        self.ledger = self.cache.ledger if self.cache else Ledger(open_database(None))
        self.cure = cure_of(self.identity, attempts, self.cache)
        self.parse, self.progress = parse, progress
        self.requests = iter(requests)
        self.limiter = limiter
        local = llm.batch_size > 1 or config.provider == "transformers"
        self.workers: Workers[Slot] = Workers(llm, 1 if local else config.concurrency)
        self.window = 256 + 8 * self.workers.count * llm.batch_size
        self.done: queue.SimpleQueue[list[Outcome[T]] | BaseException | None] = queue.SimpleQueue()
        self.ready: deque[Slot] = deque()
        self.later: list[tuple[float, int, Slot]] = []
        self.outcomes: dict[int, Outcome[T]] = {}
        self.read = self.given = self.taken = self.replies = 0
        self.exhausted = self.stopping = self.starved = self.limited = False
        self.refusal: Failure | None = None
        self.not_before = -math.inf

    def took(self, count: int) -> None:
        """Say that outcomes were taken, so that more requests may be read (the caller's thread)."""
        self.taken += count
        if self.starved:
            self.workers.wake()

    def stop(self) -> None:
        """Make no further call; what is in flight is still stored (the caller's thread)."""
        self.stopping = True
        self.workers.wake()

    def run(self) -> None:
        """Do it all; ``done`` ends with None, or with what went wrong."""
        self.workers.start()
        problem: BaseException | None = None
        try:
            while not self.stopping and not self._step():
                self._settle(self.workers.receive(self._patience()))
        except BaseException as error:
            problem = error
        while self.workers.busy:
            try:
                self._settle(self.workers.receive(None))
            except BaseException as error:
                problem = problem or error
        self.workers.close()
        if not self.cache:
            self.ledger.database.close()
        self.done.put(problem)

    def _step(self) -> bool:
        """Read, send and hand out what can be, and say whether all is done."""
        self._read_requests()
        self._send(time.monotonic())
        self._hand_out()
        return self.exhausted and self.given == self.read

    def _patience(self) -> float | None:
        """Give the seconds until there is something to send, or None where only replies help."""
        times = [self.later[0][0]] if self.later else []
        if self.limited:
            times.append(self.not_before)
        soonest = max(min(times), self.not_before) if times else None
        return None if soonest is None else max(0.0, soonest - time.monotonic())

    def _read_requests(self) -> None:
        """Read as many requests as the window holds."""
        while not self.exhausted:
            self.starved = True  # before looking, so that no word of the caller's is missed
            if self.read - self.taken >= self.window:
                return
            self.starved = False
            request = next(self.requests, None)
            if request is None:
                self.exhausted = True
            else:
                self.read += 1
                self._place(Slot(self.read - 1, request))

    def _place(self, slot: Slot) -> None:
        """Answer a request from the cache, or queue it."""
        if self.cache:
            found = look_up(
                self.cache, self.identity, slot.request, self.parse, self.attempts, slot.rejected
            )
            if isinstance(found, Outcome):
                self.outcomes[slot.index] = replace(found, cached=not slot.called)
                return
            slot.request, slot.key, slot.rejected = found.request, found.key, found.rejected
        if self.refusal:
            self._fail(slot, self.refusal)
            return
        worst = at_most(slot.request, self.config)
        slot.tokens = worst.prompt + worst.completion
        slot.cost = cost_of(worst, self.config.prices)
        slot.tries = slot.waits = 0
        self.ready.append(slot)

    def _send(self, now: float) -> None:
        """Hand calls to free workers, as far as the limits and the budget allow."""
        while self.later and self.later[0][0] <= now:
            self.ready.appendleft(heapq.heappop(self.later)[2])
        free = (self.workers.count - self.workers.busy) * self.batch_size
        self.limited = bool(free and self.ready and now < self.not_before)
        if not free or not self.ready or self.limited:
            return
        slots = [self.ready[place] for place in range(min(free, len(self.ready)))]
        count, self.not_before = self.limiter.admit([slot.tokens for slot in slots], now)
        self.limited = count < len(slots)
        calls = [Reservation(slot.key, slot.tokens, slot.cost) for slot in slots[:count]]
        numbers, spent = self.ledger.begin(self.stage, calls, self.budget)
        for slot, number in zip(slots, numbers, strict=False):
            slot.call, slot.called = number, True
            slot.sent = self.limiter.send(slot.tokens, now)
            self.ready.popleft()
        self.progress.calls += len(numbers)
        for start in range(0, len(numbers), self.batch_size):
            self.workers.send(slots[start : min(start + self.batch_size, len(numbers))])
        if len(numbers) < count and not self.workers.busy:
            self._refuse(no_room(slots[len(numbers)], self.stage, spent))

    def _settle(self, arrivals: list[Arrival[Slot]]) -> None:
        """Store what calls brought, then see to each request; raise what went wrong at the end."""
        answered = self._store([one for a in arrivals for one in judged(a, self.parse)])
        problems = list[BaseException]()
        for arrival in arrivals:
            if isinstance(arrival.error, LLMError):
                self._refuse(Failure("stopped", f"not asked: {arrival.error}"))
            elif arrival.error:
                problems.append(arrival.error)
        for slot, answer, verdict in answered:
            if isinstance(answer, LLMError):
                self._failed(slot, answer)
            elif verdict.fault:
                problems.append(verdict.fault)
            else:
                self._replied(slot, answer, verdict)
        if problems:
            raise problems[0]

    def _store(self, answered: list[Answered[T]]) -> list[Answered[T]]:
        """Write replies and costs down; where another process was first, its reply counts."""
        if not answered:
            return []
        settled = [settlement(slot, answer, self.config.prices) for slot, answer, _ in answered]
        with self.ledger.database.transaction():
            self.ledger.settle(self.stage, settled)
            counting = [self._kept(one) for one in answered]
        for (slot, *_), done in zip(answered, settled, strict=True):
            self.limiter.settle(slot.sent, done.tokens)
            self._count(done)
        return counting

    def _kept(self, answered: Answered[T]) -> Answered[T]:
        """Keep a reply, and give the one that counts."""
        slot, answer, verdict = answered
        if not self.cache or isinstance(answer, LLMError):
            return answered
        kept = self.cache.store(slot.key, self.identity, slot.request, answer, verdict.rejected)
        if kept is answer:
            return answered
        return Answered(slot, kept, judge(slot.request, kept, self.parse))

    def _count(self, done: Settlement) -> None:
        self.progress.tokens += done.tokens
        self.progress.usd += done.cost / PICO
        if done.state == "possible":
            self.progress.possible_calls += 1
            self.progress.possible_usd += done.cost / PICO

    def _replied(self, slot: Slot, reply: Reply, verdict: Verdict[T]) -> None:
        self.replies += 1
        if verdict.rejected is None:
            done = Outcome(slot.request, verdict.value, reply, rejected=slot.rejected)
            self.outcomes[slot.index] = done
            return
        slot.rejected = (*slot.rejected, verdict.rejected)
        step: Request | Outcome[T]
        step = next_attempt(slot.request, reply, slot.rejected, self.attempts, self.cure)
        if isinstance(step, Outcome):
            self.outcomes[slot.index] = step
        else:
            self.progress.changed += 1
            slot.request = step
            self._place(slot)

    def _failed(self, slot: Slot, error: LLMError) -> None:
        """Try again later, or give the request up."""
        wait = pause(slot.tries + min(slot.waits, _LONGEST_QUEUE), error.retry_after)
        if error.kind == "key":
            self._refuse(Failure("stopped", f"not asked: {error}"))
        crowded = error.kind == "rate" and self.replies > slot.seen  # others got through
        slot.seen = self.replies
        more = crowded or slot.tries < self.config.retries
        if not error.retryable or not more or wait > LONGEST_WAIT or self.refusal:
            tries = slot.tries + slot.waits + 1
            self._fail(slot, Failure(error.kind, f"{error} ({tries} tries)"))
            return
        now = time.monotonic()
        slot.tries += not crowded
        slot.waits += crowded
        self.progress.retried += 1
        heapq.heappush(self.later, (now + wait, slot.index, slot))
        if error.kind == "rate" and error.retry_after:  # it means all calls, not only this one
            if error.retry_after >= _WORTH_SAYING and now + wait > self.not_before + 1:
                _log.warning("%s; all calls wait %.0f s", error, error.retry_after)
            self.not_before = max(self.not_before, now + error.retry_after)

    def _refuse(self, refusal: Failure) -> None:
        """Ask nothing more; what the cache knows is still handed out."""
        self.refusal = self.refusal or refusal
        for slot in [*self.ready, *(slot for _, _, slot in self.later)]:
            self._fail(slot, self.refusal)
        self.ready.clear()
        self.later.clear()

    def _fail(self, slot: Slot, failure: Failure) -> None:
        self.outcomes[slot.index] = Outcome(slot.request, None, None, failure, slot.rejected)

    def _hand_out(self) -> None:
        """Give the outcomes that are next in order."""
        batch = []
        while self.given in self.outcomes:
            batch.append(self.outcomes.pop(self.given))
            self.given += 1
        if batch:
            self.done.put(batch)
