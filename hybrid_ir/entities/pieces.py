"""Texts as libraries of language processing take them: in pieces, and without odd characters."""

from __future__ import annotations

import re
from collections.abc import Iterator

_SENTENCE_END = re.compile(r"[.!?]\s+|\n+")
_BLANK = re.compile(r"\s+")
_UNREADABLE = re.compile("[\ud800-\udfff]")


def pieces(text: str, longest: int) -> Iterator[tuple[int, str]]:
    """Cut a text that is too long, each piece with the character it starts at.

    Cuts are made behind the last end of a sentence in the latter half of a piece, else behind its
    last blank, and within a run of letters only where there is no blank at all. The pieces joined
    are the text; an empty text has none.

    Args:
        text: Any text.
        longest: Characters of a piece, 1 or more.
    """
    start = 0
    while start < len(text):
        end = _cut(text, start, longest)
        yield start, text[start:end]
        start = end


def plain_text(text: str) -> str:
    """Put other characters for those that spaCy fails on, as many: offsets keep their meaning.

    Halves of surrogate pairs, which no encoding takes, become U+FFFD. NULs become blanks: they
    would glue words together.
    """
    return _UNREADABLE.sub("\ufffd", text).replace("\0", " ")


def _cut(text: str, start: int, longest: int) -> int:
    end = start + longest
    if end >= len(text):
        return len(text)
    for pattern in (_SENTENCE_END, _BLANK):
        cuts = [match.end() for match in pattern.finditer(text, start + longest // 2, end)]
        if cuts:
            return cuts[-1]
    return end
