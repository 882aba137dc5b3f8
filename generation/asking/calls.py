"""Asking a model many things: the cache first, then calls, retried, limited and paid for."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterable, Iterator, Sized
from typing import TypeVar

from generation.asking.limits import Limiter
from generation.asking.outcomes import ATTEMPTS, Outcome, Parse, Progress
from generation.asking.scheduler import Scheduler
from generation.budget import Budget, usd_text
from generation.cache.replies import ReplyCache
from generation.llm import LLM, ModelConfig, Request
from hybrid_ir.wording import counted

T = TypeVar("T")

_log = logging.getLogger(__name__)


def ask_all(
    llm: LLM,
    requests: Iterable[Request],
    config: ModelConfig,
    stage: str,
    cache: ReplyCache | None,
    budget: Budget,
    parse: Parse[T],
    attempts: int = ATTEMPTS,
    progress: Progress | None = None,
    limiter: Limiter | None = None,
) -> Iterator[Outcome[T]]:
    """Ask all requests and give one outcome each, in their order, as soon as it is known.

    Replies in the cache are not asked for again, and every other one is stored before its outcome
    is handed out. What fails has a ``failure`` and keeps nothing else from being asked; the same
    call made again asks only for that. Requests are read some hundreds ahead, never all at once,
    and, as ``parse``, in another thread than the caller's (one of them, always the same). Leaving
    the loop early, or Ctrl-C, waits for the calls in flight and stores their replies.

    When the next call does not fit the budget, or after the model refused a key, no more calls are
    made: those in flight end, cached replies are still handed out, and all others fail with the
    kind ``budget`` or ``stopped``.

    Args:
        llm: The model. Replies of a ``recorded`` one are neither cached nor charged.
        requests: What to ask; each one's ``attempt`` is 0.
        config: How it is called: concurrency, retries, limits, prices.
        stage: Whose account is charged (``pseudo``, ``synthetic``).
        cache: Where replies are kept, or None to ask everything anew and keep nothing.
        budget: What the stage may spend; with a cache, earlier runs included.
        parse: Makes the value of a reply to a request; raises ``structured.Unusable`` for one that
            is no use. It does not see truncated, refused, filtered or empty replies: these never
            are of use.
        attempts: How often a request is asked until a reply is of use: changed each time by
            ``structured.changed``, which tells the model why. A ``recorded`` model is asked once.
        progress: Counts to fill while outcomes are handed out, for a caller that reports them.
        limiter: What holds the model's limits, for a caller that asks it several times.

    Raises:
        InputError: what no request can be answered with, or the cache's file fails.
    """
    progress = progress or Progress()
    limiter = limiter or Limiter(config.limits)
    scheduler = Scheduler(
        llm, requests, config, stage, cache, budget, parse, attempts, progress, limiter
    )
    thread = threading.Thread(target=scheduler.run, daemon=True, name="ask_all")
    total = len(requests) if isinstance(requests, Sized) else None
    what = f"{stage} with {config.name}"
    from tqdm import tqdm

    with tqdm(total=total, desc=what, unit=" replies", disable=None) as bar:
        thread.start()
        try:
            while isinstance(batch := scheduler.done.get(), list):
                scheduler.took(len(batch))
                for outcome in batch:
                    _count(progress, outcome)
                    bar.set_postfix_str(usd_text(progress.usd, config.priced), refresh=False)
                    bar.update()
                    yield outcome
            if batch is not None:
                raise batch
        finally:
            _end(scheduler, thread)


def _count(progress: Progress, outcome: Outcome[T]) -> None:
    progress.requests += 1
    progress.cached += outcome.cached
    if outcome.failure:
        progress.failed += 1
        progress.not_asked += outcome.failure.kind in ("budget", "stopped")


def _end(scheduler: Scheduler[T], thread: threading.Thread) -> None:
    """Wait for the calls in flight; only another Ctrl-C leaves them."""
    scheduler.stop()
    if busy := scheduler.workers.busy:
        _log.warning("waiting for %s in flight to keep what comes back", counted(busy, "call"))
    thread.join()
