"""One request on its way to an answer: its calls' pauses and charges, and what they brought."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Generic, NamedTuple, TypeVar

from generation.asking.limits import Sent
from generation.asking.outcomes import Failure, Parse, Verdict, judge
from generation.asking.workers import Answer, Arrival
from generation.budget import PICO, cost_of
from generation.cache.ledger import Settlement
from generation.llm import ErrorKind, LLMError, Prices, Reply, Request
from hybrid_ir.errors import InputError

T = TypeVar("T")

LONGEST_WAIT = 3_600.0
"""Seconds. A provider that says to come back later than that has refused."""

# No provider charges what it refuses or fails at; what broke off on its way may have been answered.
_UNCHARGED: frozenset[ErrorKind] = frozenset(("rate", "server", "request", "key", "missing"))


@dataclass(slots=True)
class Slot:
    """A request on its way, with what it takes at worst and what is known of its call.

    Attributes:
        tries: Calls that failed.
        waits: Calls that were refused as one too many, while others were answered.
        seen: How many replies had come when its last call failed.
    """

    index: int
    request: Request
    key: str = ""
    rejected: tuple[str, ...] = ()
    tokens: int = 0
    cost: int = 0
    tries: int = 0
    waits: int = 0
    seen: int = 0
    called: bool = False
    call: int = 0
    sent: Sent = field(default_factory=lambda: Sent(0.0, 0))


class Answered(NamedTuple, Generic[T]):
    """A request's answer, and what a reply is worth."""

    slot: Slot
    answer: Answer
    verdict: Verdict[T]


def pause(tries: int, retry_after: float | None) -> float:
    """Give the seconds to wait before another try: doubled each time, up to a minute, jittered."""
    jitter = random.random()  # noqa: S311 (no secret)
    if retry_after is not None:
        return retry_after + 0.25 * jitter
    return float(min(60.0, 0.5 * 2**tries) * (0.5 + 0.5 * jitter))


def settlement(slot: Slot, answer: Answer, prices: Prices | None) -> Settlement:
    """Say what a call is charged: a reply's tokens, nothing if refused, else perhaps the worst.

    A reply whose provider does not count its tokens is charged the worst.
    """
    if isinstance(answer, LLMError):
        if answer.kind in _UNCHARGED:
            return Settlement(slot.call, "free", 0, 0)
        return Settlement(slot.call, "possible", slot.tokens, slot.cost)
    usage = answer.usage
    if usage.estimated:  # it was charged, nobody says how much
        return Settlement(slot.call, "done", slot.tokens, slot.cost)
    return Settlement(slot.call, "done", usage.prompt + usage.completion, cost_of(usage, prices))


def judged(arrival: Arrival[Slot], parse: Parse[T]) -> Iterator[Answered[T]]:
    """Yield what a call brought each of its requests: a reply, or what the model raised."""
    answers = arrival.answers
    if error := arrival.error:
        if not isinstance(error, LLMError):
            kind: ErrorKind = "request" if isinstance(error, InputError) else "connection"
            error = LLMError(kind, f"{type(error).__name__}: {error}")
        answers = [error] * len(arrival.batch)
    for slot, answer in zip(arrival.batch, answers, strict=True):
        verdict: Verdict[T] = Verdict()
        if isinstance(answer, Reply):
            verdict = judge(slot.request, answer, parse)
        yield Answered(slot, answer, verdict)


def no_room(slot: Slot, stage: str, spent: tuple[int, int]) -> Failure:
    """Say why a call does not fit a stage's budget, after these tokens and picodollars."""
    return Failure(
        "budget",
        f"not asked: the budget of {stage} has no room for a call of at most {slot.tokens:,}"
        f" tokens, {slot.cost / PICO:.6f} USD: {spent[0]:,} tokens and {spent[1] / PICO:.6f} USD"
        " are spent; raise it and run the same command again",
    )
