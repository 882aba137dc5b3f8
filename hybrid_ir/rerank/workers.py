"""Threads that take batches through a model."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import torch

_MOST = 8
"""With more of them, Python's lock, which only one holds at a time, would keep them waiting."""


@contextmanager
def workers(device: torch.device) -> Iterator[tuple[ThreadPoolExecutor, int]]:
    """Give threads to compute in, and how many they are.

    On a CPU each core computes a batch of its own, as far as there are threads (what
    ``torch.set_num_threads`` says): several cores on one small batch wait for each other after
    every operation. An accelerator is served by one thread.
    """
    threads = torch.get_num_threads() if device.type == "cpu" else 1
    count = min(threads, _MOST)
    each = threads // count
    try:
        with ThreadPoolExecutor(count, "score", torch.set_num_threads, (each,)) as pool:
            yield pool, count
    finally:
        torch.set_num_threads(threads)  # threads begun later take the number that was set last
