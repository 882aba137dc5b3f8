"""Short forms that a text introduces itself: ``respiratory distress syndrome (RDS)``.

After the letter matching of Schwartz and Hearst, "A simple algorithm for identifying abbreviation
definitions in biomedical text" (PSB 2003), with the short form in or before the parentheses.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

_SHORT = r"[^\W_](?:[^\s()\[\];,]| (?=[^\s()\[\];,]+\))){0,9}"
_IN_BRACKETS = re.compile(rf"(?<=[\w\])’'+])\s*[(\[]({_SHORT})\s*(?=[)\];,])")
_BEFORE_BRACKETS = re.compile(r"(?<![\w-])([^\W_][\w+-]{1,9}) [(\[]([^()\[\]]{3,100})[)\]]")
_WORD = re.compile(r"\S+")
_REACH = 120
"""How many characters before the brackets the long form may begin."""


class ShortForm(NamedTuple):
    """A short form, where its long form stands (characters, end exclusive), and where itself."""

    short: str
    start: int
    end: int
    place: int


def find_short_forms(text: str) -> Iterator[ShortForm]:
    """Give the short forms a text introduces: first those in brackets, then those before."""
    for match in _IN_BRACKETS.finditer(text):
        short, end = match[1], match.start()
        if _is_short(short):
            begin = max(0, end - _REACH)
            words = [one.start() + begin for one in _WORD.finditer(text[begin:end])]
            reach = min(len(short) + 5, 2 * len(short))
            start = _long_form_start(short, text, words[-reach:][0], end)
            if start is not None:
                yield ShortForm(short, start, end, match.start(1))
    for match in _BEFORE_BRACKETS.finditer(text):
        short, (begin, end) = match[1], match.span(2)
        if _is_short(short) and _long_form_start(short, text, begin, end) == begin:
            yield ShortForm(short, begin, end, match.start(1))


def _is_short(short: str) -> bool:
    """Tell short forms from remarks: not all digits, and not a plain word in lower case."""
    return len(short) > 1 and any(letter.isupper() for letter in short)


def _long_form_start(short: str, text: str, begin: int, end: int) -> int | None:
    """Match the letters of the short form from the right; the first must begin a word.

    Returns:
        Where the shortest long form in ``text[begin:end]`` begins, None where there is none.
    """
    position = end
    letters = [letter.lower() for letter in short if letter.isalnum()]
    for index in range(len(letters) - 1, -1, -1):
        position -= 1
        while position >= begin and (
            text[position].lower() != letters[index]
            or (index == 0 and position > begin and text[position - 1].isalnum())
        ):
            position -= 1
        if position < begin:
            return None
    longer = end - position > len(short)
    return position if longer and short.lower() not in text[position:end].lower().split() else None
