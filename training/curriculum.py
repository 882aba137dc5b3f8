"""From easy to hard: how negatives get harder from the first question to the last.

The rows of a question stand together, so the order of the questions is the curriculum (Y. Bengio
et al.: Curriculum learning, 2009). With ``progress`` running from 0 at the first question to 1 at
the last,

- the number of mined negatives grows from 0 to what is asked for, random ones stand in for the
  rest;
- those that are mined come from the far end of the window of ranks at first, from its near end at
  last.

Every question has as many negatives as without a curriculum, but their sum is easier.
"""

from __future__ import annotations

import math
from random import Random


def mined_count(count: int, progress: float) -> int:
    """Give how many of ``count`` negatives are mined: 0 to ``count`` in steps of equal length."""
    return min(count, math.floor(progress * (count + 1)))


def in_order(window: range, progress: float | None, chance: Random) -> list[int]:
    """Give a window's ranks in the order in which they are tried.

    Args:
        window: Ranks from near to far.
        progress: Ranks nearest to this place of the window come first: 0 is its far end, 1 its
            near end; None for a random order.
        chance: Makes the random order.
    """
    ranks = list(window)
    if progress is None:
        chance.shuffle(ranks)
        return ranks
    wanted = progress * window.start + (1 - progress) * (window.stop - 1)
    return sorted(ranks, key=lambda rank: (abs(rank - wanted), -rank))
