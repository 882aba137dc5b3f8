"""Work that is done a little ahead, in a thread, while the caller is busy."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


def ahead(items: Iterable[Item], work: Callable[[Item], Result], most: int = 2) -> Iterator[Result]:
    """Give what ``work`` makes of each item, in order.

    The items are pulled in the caller's thread, so they may come from what belongs to one, such as
    an SQLite database; only the work is done in the other. It pays where that lets Python's lock
    go, as tokenizers do.

    Args:
        items: At most ``most`` of them are pulled before they are needed.
        work: Called for one item after another, never for two at once.
        most: How far ahead.
    """
    waiting: deque[Future[Result]] = deque()
    with ThreadPoolExecutor(1, "ahead") as thread:
        try:
            for item in items:
                waiting.append(thread.submit(work, item))
                if len(waiting) > most:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            for future in waiting:
                future.cancel()
