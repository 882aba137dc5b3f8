"""What a language model says beside what it was asked for: refusals, and wrappings to be cut off.

A refusal is no use and is asked again. A wrapping (what was thought first, ``Sure! Here is ...:``,
code fences, headings, a closing remark) is cut off and counted; words that may be content are never
cut: of ``# A title`` and ``Title: A title`` only the mark goes, of ``**BRCA1**`` only the stars.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from generation.llm import Reply
from generation.structured import NOTHING_ELSE, THINKING, Unusable
from generation.texts.copies import words

Cut = Literal["thinking", "fence", "opening", "label", "heading", "emphasis", "quotes", "closing"]

_UNABLE = (
    r"(?:sorry|afraid|unable|apologi[sz]e|regret|just an AI|an AI\b|can(?:['’]t|not| not)"
    r"|not (?:able|allowed|permitted|qualified|going to)|could(?:n['’]t| not)|won['’]t|will not"
    r"|decline|(?:don['’]t|do not|not) (?:have|know|possess|feel comfortable))"
)
_REFUSAL = re.compile(
    r"(?:(?:unfortunately|sorry|regrettably|apologies|however|but|well)\b[,.!]? *)*"
    rf"(?:I(?:['’]m| am| must| have to)? (?:very |really |so |only )?{_UNABLE}"
    r"|(?:my|please accept my) apologies"
    r"|as an? (?:AI(?:,| (?:language |model|assistant))|artificial intelligence,"
    r"|(?:large )?language model)"
    r"|(?:as of|up to|until) my (?:last |latest )?(?:knowledge|training|update)"
    r"|(?:this|your|the) (?:request|prompt) (?:violates|cannot be|can['’]t be))",
    re.IGNORECASE,
)
_SURE = r"(?:sure(?: thing)?|certainly|of course|absolutely|ok(?:ay)?|understood|no problem)"
_THINGS = (
    r"(?:passage|abstract|text|document|answer|paragraph|summary|response|reply|question|example"
    r"|draft|version|snippet|excerpt)s?\b"
)
_LABELS = r"(?:title|abstract|passage|answer|text|response|paragraph|document|question|output)"
_REMARK = (
    r"(?:[(*]*(?:please )?note(?:\**:|:\**| that this)[^\n]{0,200}?"
    r"(?:fiction|hypothetical|generated|illustrat|imagin|not based on|professional|verif)"
    r"|disclaimer:|(?:I )?hope this (?:helps|passage|abstract|meets|is)"
    r"|(?:please )?let me know (?:if|whether)|(?:please )?feel free to|would you like me)"
)
_PATTERNS: tuple[tuple[Cut, str, str], ...] = (
    ("fence", r"\A(?:```|~~~)[\w-]*[ \t]*\n([\s\S]*?)\n?(?:```|~~~)\s*\Z", r"\1"),
    ("opening", rf"\A{_SURE}\b(?:,[^.:!\n]{{0,40}}[!.:]|[!.,])\s+", ""),
    (
        "opening",
        rf"\A(?:here(?:['’]s| is| are)|below (?:is|are)|the following is)\b[^:\n.]{{0,80}}?"
        rf"\b{_THINGS}[^:\n]{{0,200}}(?::\s*|\n+)",
        "",
    ),
    (
        "opening",
        rf"\A(?:the|a|an|my)\s+(?:article|{_THINGS})[^:\n.]{{0,120}}?"
        r"\b(?:is|reads|follows|(?:would|could|might) (?:be|read))(?: as follows)?:\s*",
        "",
    ),
    ("heading", r"\A(?:#{1,6}[ \t]+|(?:-{3,}|\*{3,}|_{3,})[ \t]*\n+)", ""),
    ("label", rf"\A(?:\*\*|__)?{_LABELS}(?:\*\*|__)?[ \t]*(?:\n|:(?:\*\*|__)?)\s*", ""),
    ("quotes", r"\A([\"“])([^\"“”\n]+)[\"”]\Z", r"\2"),
    ("closing", rf"(?:(?<=[.!?)])\s+|\n\s*){_REMARK}[^\n]{{0,300}}\s*\Z", ""),
    ("closing", r"\n\s*(?:-{3,}|\*{3,}|_{3,})\s*\Z", ""),
)
_WRAPPINGS: tuple[tuple[Cut, re.Pattern[str], str], ...] = (
    ("thinking", THINKING, ""),
    *((cut, re.compile(pattern, re.IGNORECASE), kept) for cut, pattern, kept in _PATTERNS),
)
_EMPHASIS = re.compile(r"(?<![\w*])\*\*(?=\S)([^*\n]+?)(?<=\S)\*\*(?![\w*])")


@dataclass(frozen=True, slots=True)
class Cleaned:
    """A reply without its wrappings, and the kinds of those in the order they were cut."""

    text: str
    cut: tuple[Cut, ...]


def cleaned(text: str) -> Cleaned:
    """Cut off what is wrapped around the text that was asked for."""
    text, cut = text.strip(), list[Cut]()
    while step := _first_cut(text):
        kind, text = step
        cut.append(kind)
    plain = _EMPHASIS.sub(r"\1", text)
    return Cleaned(plain, (*cut, "emphasis") if plain != text else tuple(cut))


def is_refusal(text: str) -> bool:
    """Say whether a text, without its wrappings, begins as models begin that will not answer."""
    return bool(_REFUSAL.match(text))


def usable(reply: Reply, min_words: int = 1) -> Cleaned:
    """Give a reply's text without its wrappings.

    Raises:
        Unusable: it refuses, holds nothing but thinking, or is too short once they are cut off.
    """
    result = cleaned(reply.text)
    if not result.text and "thinking" in result.cut:
        raise Unusable(NOTHING_ELSE)
    if is_refusal(result.text):
        raise Unusable(f"it refuses: {result.text[:60]!r}")
    if (count := len(words(result.text))) < min_words:
        raise Unusable(f"it is too short: {count} words, {min_words} or more are wanted")
    return result


def _first_cut(text: str) -> tuple[Cut, str] | None:
    for kind, pattern, kept in _WRAPPINGS:
        shorter = pattern.sub(kept, text, count=1).strip()
        if len(shorter) < len(text):
            return kind, shorter
    return None
