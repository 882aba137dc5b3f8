"""What asking would take: calls, tokens and money, before any is spent."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeVar

from generation.asking.outcomes import ATTEMPTS, Outcome, Parse, look_up
from generation.budget import PICO, at_most, cost_of, usd_text
from generation.cache.replies import ReplyCache
from generation.llm import Identity, ModelConfig, Request
from hybrid_ir.wording import counted

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Estimate:
    """What asking would take, without retries and changed requests.

    Attributes:
        calls: Calls to make.
        cached: Requests the cache answers.
        unusable: Requests whose every attempt is cached and of no use.
        prompt_tokens: At most; see :mod:`generation.budget`.
        completion_tokens: At most.
        usd: At most, as far as prices are known.
        priced: Whether they are.
    """

    calls: int
    cached: int
    unusable: int
    prompt_tokens: int
    completion_tokens: int
    usd: float
    priced: bool

    def __str__(self) -> str:
        """Say it in a line."""
        others = [f"{self.cached:,} more are cached"] if self.cached else []
        others += [f"{self.unusable:,} have no usable reply"] if self.unusable else []
        said = counted(self.calls, "call") + (f" ({', '.join(others)})" if others else "")
        if not self.prompt_tokens:  # nothing to call, or replies that are read from a file
            return said
        return (
            f"{said}, at most {self.prompt_tokens:,} prompt tokens and"
            f" {self.completion_tokens:,} completion tokens, {usd_text(self.usd, self.priced)};"
            " retries come on top"
        )


def dry_run(
    identity: Identity,
    requests: Iterable[Request],
    config: ModelConfig,
    cache: ReplyCache | None,
    parse: Parse[T],
    attempts: int = ATTEMPTS,
) -> Estimate:
    """Say what ``calls.ask_all`` would do with the same arguments, and call nothing."""
    calls = cached = unusable = prompt = completion = cost = 0
    for request in requests:
        if cache and identity.provider != "recorded":
            found = look_up(cache, identity, request, parse, attempts)
            if isinstance(found, Outcome):
                cached += found.failure is None
                unusable += found.failure is not None
                continue
            request = found.request
        worst = at_most(request, config)
        calls += 1
        prompt, completion = prompt + worst.prompt, completion + worst.completion
        cost += cost_of(worst, config.prices)
    return Estimate(calls, cached, unusable, prompt, completion, cost / PICO, config.priced)
