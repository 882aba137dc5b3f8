"""Orders of passages that language models write: reading them, and mending what is wrong.

A model names passages twice, leaves some out, or numbers that none has; every reply that names one
passage at least becomes an order of all of them (as in RankGPT, Sun et al. 2023), and what was done
is counted.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from pydantic import BaseModel

from generation.llm import Reply
from generation.structured import NOTHING_ELSE, THINKING, Unusable, parse_reply

Source = Literal["json", "extracted", "repaired", "text"]

_ITEM = r"\[? ?[0-9]+ ?\]?"
_CHAIN = re.compile(rf"(?<![0-9]){_ITEM}(?: ?[>=] ?{_ITEM})+")  # [2] > [1], 2 > 1
_BRACKETS = re.compile(r"\[([0-9, ]+)\]")  # [2], [2, 1]
_BARE = re.compile(r"[0-9, ]+")  # 2, 1
_DIGITS = re.compile("[0-9]+")
_LONGEST = 9  # digits: no window has as many passages


class PassageOrder(BaseModel):
    """The numbers of all passages, the most relevant first."""

    order: list[int]


@dataclass(frozen=True, slots=True)
class Order:
    """What a reply says of a window, mended.

    Attributes:
        places: The passages' places in the window, counted from 0, best first: each one once.
        source: Where it was found: the reply as a whole is ``json``, JSON was ``extracted`` from
            other words or ``repaired``, or numbers were read from ``text``.
        out_of_range: Numbers that no passage has, left out.
        repeated: Numbers that stood there before, left out.
        missing: Passages that were not named, put behind the others in their old order.
    """

    places: tuple[int, ...]
    source: Source = "json"
    out_of_range: int = 0
    repeated: int = 0
    missing: int = 0

    @property
    def was_mended(self) -> bool:
        """Whether the reply was no order of all passages."""
        return bool(self.out_of_range or self.repeated or self.missing)


def order_of(reply: Reply, size: int) -> Order:
    """Read the order of a window of so many passages, mended where it must be.

    Raises:
        Unusable: there is no number of a passage in it.
    """
    try:
        parsed = parse_reply(reply, PassageOrder)
    except (Unusable, ValueError, RecursionError):  # no JSON, or what no JSON reader bears
        return mended(_numbers_in(reply.text), size, "text")
    return mended(parsed.value.order, size, parsed.mending or "json")


def mended(numbers: Sequence[int], size: int, source: Source = "json") -> Order:
    """Make an order of all passages of what a reply says.

    Args:
        numbers: The passages' numbers, counted from 1, as they stand in the reply.
        size: Passages in the window.
        source: Where they were found.

    Raises:
        Unusable: none of them is a passage's.
    """
    known = [number - 1 for number in numbers if 1 <= number <= size]
    named_once = list(dict.fromkeys(known))
    if not named_once:
        raise Unusable(f"it names none of the passages 1 to {size}")
    missing = sorted({*range(size)} - {*named_once})
    return Order(
        (*named_once, *missing),
        source,
        out_of_range=len(numbers) - len(known),
        repeated=len(known) - len(named_once),
        missing=len(missing),
    )


def _numbers_in(text: str) -> list[int]:
    """Read numbers from words: the longest chain ``2 > 1``, else those in square brackets.

    Raises:
        Unusable: there are none, nor is it a list of numbers and nothing else.
    """
    answer = THINKING.sub("", " ".join(text.split()))
    if not answer:
        raise Unusable(NOTHING_ELSE)
    chains = [_DIGITS.findall(chain) for chain in _CHAIN.findall(answer)]
    digits = max(chains, key=len, default=[])
    digits = digits or _DIGITS.findall(" ".join(_BRACKETS.findall(answer)))
    if not digits and _BARE.fullmatch(answer):
        digits = _DIGITS.findall(answer)
    if not digits:
        raise Unusable("it holds no order of passages")
    return [int(one) if len(one) <= _LONGEST else 0 for one in digits]
