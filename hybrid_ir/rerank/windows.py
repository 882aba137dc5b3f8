"""Where the windows of a long document begin and end, and what its score is then."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from hybrid_ir.rerank.settings import WindowConfig


class Cut(NamedTuple):
    """A document in windows.

    Attributes:
        windows: From which token to before which, in the document's order.
        left: Tokens at the document's end that are in none of them.
    """

    windows: list[tuple[int, int]]
    left: int


def windows_of(tokens: int, room: int, config: WindowConfig) -> Cut:
    """Cut a document into overlapping windows.

    Args:
        tokens: Of the document.
        room: Tokens a window can have; fewer than the settings say where a question is long.
        config: The size wanted, the stride, and how many windows at most.
    """
    size = min(config.tokens or room, room)
    stride = min(config.stride or max(1, size // 2), size)
    count = 1 + max(0, -(-(tokens - size) // stride))
    starts = range(0, min(count, config.most) * stride, stride)
    windows = [(start, min(start + size, tokens)) for start in starts]
    return Cut(windows, tokens - windows[-1][1])


def joined(scores: Sequence[float], config: WindowConfig | None) -> float:
    """Give a document's score out of those of its windows; NaN if one of them is NaN."""
    mean = config is not None and config.score == "mean"
    return float(np.mean(scores) if mean else np.max(scores))
