"""A provider's limits, held over every stretch of time, not only over the clock's minutes.

A sliding window a limit: what was sent in the last second, minute or hour is remembered. Windows
are a little longer than the limits say, as calls sent at equal distances do not arrive so. Limits
hold in one process; where several share a provider's account, give each its part. A process that is
started again knows nothing of the calls before: the provider may refuse some, which then wait.

Of libraries, pyrate-limiter was looked at: it keeps one list entry for every unit of weight, so
for every token, takes none back when a reply was shorter than it might have been, and starts a
thread.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import accumulate

from generation.llm import Limits


@dataclass(slots=True)
class Sent:
    """A call as the windows remember it: when (s), how many tokens."""

    time: float
    tokens: int


@dataclass(slots=True)
class _Window:
    """At most ``limit`` calls, or tokens, in any ``seconds``; ``used`` of them are taken."""

    limit: int
    seconds: float
    counts_tokens: bool
    used: int = 0
    sent: deque[Sent] = field(default_factory=deque)

    def weight(self, tokens: int) -> int:
        """Give what a call counts; one larger than the limit goes alone."""
        return min(tokens, self.limit) if self.counts_tokens else 1

    def forget(self, now: float) -> None:
        while self.sent and self.sent[0].time + self.seconds <= now:
            self.used -= self.weight(self.sent.popleft().tokens)

    def fitting(self, tokens: Sequence[int]) -> int:
        """Say how many of these calls fit now."""
        used = accumulate((self.weight(each) for each in tokens), initial=self.used)
        return max(0, sum(total <= self.limit for total in used) - 1)

    def free_at(self, added: int, now: float) -> float:
        """Give when ``added`` more fit, if nothing else is sent."""
        excess = self.used + added - self.limit
        for sent in self.sent:
            if excess <= 0:
                break
            excess -= self.weight(sent.tokens)
            now = sent.time + self.seconds
        return now


class Limiter:
    """The windows of one model; used by one thread."""

    def __init__(self, limits: Limits) -> None:
        """Make a window for every limit that is set.

        A fraction of a request a second is one in its inverse; above one it is rounded down.
        """
        per_second = limits.requests_per_second
        several = max(1, math.floor(per_second))
        second = 1.0 if per_second >= 1 or not per_second else 1.0 / per_second
        settings = (
            (several if per_second else 0, second, False),
            (limits.requests_per_minute, 60.0, False),
            (limits.requests_per_hour, 3600.0, False),
            (limits.tokens_per_minute, 60.0, True),
        )
        self._windows = [
            _Window(limit, seconds + min(0.05 * seconds, 0.25), counts_tokens)
            for limit, seconds, counts_tokens in settings
            if limit
        ]

    def admit(self, tokens: Sequence[int], now: float) -> tuple[int, float]:
        """Say how many calls may be sent now.

        Args:
            tokens: What each call takes at most, in their order.
            now: The time in seconds, never less than before.

        Returns:
            How many of them, from the first on; and if none, from when on the first one may.
        """
        for window in self._windows:
            window.forget(now)
        count = min((window.fitting(tokens) for window in self._windows), default=len(tokens))
        if count or not tokens:
            return count, now
        return 0, max(window.free_at(window.weight(tokens[0]), now) for window in self._windows)

    def send(self, tokens: int, now: float) -> Sent:
        """Remember a call."""
        sent = Sent(now, tokens)
        for window in self._windows:
            window.sent.append(sent)
            window.used += window.weight(tokens)
        return sent

    def settle(self, sent: Sent, tokens: int) -> None:
        """Count what a call took instead of what it might have."""
        for window in self._windows:
            if window.sent and window.sent[0].time <= sent.time:  # not yet forgotten
                window.used += window.weight(tokens) - window.weight(sent.tokens)
        sent.tokens = tokens
