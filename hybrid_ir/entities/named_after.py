"""Diseases named after people and places that no list has: ``the Bow Hunter's syndrome``."""

from __future__ import annotations

from hybrid_ir.entities.matching import Match, Named

DISEASE: Named = ("DISEASE", None)

_HEADS = ("disease", "syndrome", "syndromes")
_NO_NAMES = frozenset((
    "After", "All", "Also", "And", "Are", "Both", "Can", "Could", "Does", "Each", "For", "From",
    "Has", "Have", "How", "May", "Most", "Not", "Other", "Our", "Since", "Some", "Such", "That",
    "The", "These", "This", "Those", "Was", "What", "When", "Which", "While", "With",
))  # fmt: skip
_DASHES = frozenset("-\u2010\u2011\u2013")
_SENTENCE_ENDS = frozenset(".:;?!")


def find_named_after(text: str, forms: list[str], spans: list[tuple[int, int]]) -> dict[int, Match]:
    """Find ``syndrome`` and ``disease`` behind words with a capital, by the first of these.

    A word that begins a sentence tells nothing by its capital, unless a dash follows it.

    Args:
        text: The text.
        forms: The forms of its tokens.
        spans: Where they stand in it.
    """
    found: dict[int, Match] = {}
    for head in _HEADS:
        position = -1
        for _ in range(forms.count(head) if head in text else 0):
            position = forms.index(head, position + 1)
            first = position
            while first and _is_name(forms[first - 1]):
                begins = first == 1 or forms[first - 2] in _SENTENCE_ENDS
                if begins and text[spans[first - 1][1]] not in _DASHES:
                    break
                first -= 1
            if first < position:
                found[first] = (position + 1, DISEASE)
    return found


def _is_name(form: str) -> bool:
    return len(form) > 2 and form[0].isupper() and form[1:].islower() and form not in _NO_NAMES
