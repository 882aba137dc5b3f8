"""Golds of all years in the one form the official program reads.

A training file is a gold the program dies on: its factoid answers are flat lists of synonyms. A
golden file nests them. Bringing a gold into form is no repair of a submission: the experts' answer
stays the same, only its brackets change.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hybrid_ir.bioasq.measures.questions import FLAT_LIST_EDITION, SNIPPET_KEYS, Edition, Raw


def readable_gold(questions: Sequence[Raw], edition: Edition = 9) -> list[Raw]:
    """Give a gold in the form of a golden test file; a question already in form stays the same.

    A flat factoid answer becomes one entity with synonyms, a flat list answer one entity a text;
    edition 2 wants them flat, so they stay. Keys with ``null`` and unknown keys of snippets are
    left out.
    """
    return [_readable(question, edition) for question in questions]


def _readable(question: Raw, edition: Edition) -> Raw:
    changed: dict[str, Any] = {}
    for key, value in question.items():
        if value is None:
            continue
        if key == "exact_answer" and edition != FLAT_LIST_EDITION:
            changed[key] = _nested(value, question.get("type"))
        elif key == "snippets" and isinstance(value, list):
            changed[key] = [_six_keys(snippet) for snippet in value]
        else:
            changed[key] = value
    return question if changed == question else changed


def _nested(answer: Any, kind: object) -> Any:  # noqa: ANN401 (any JSON value)
    """Nest a flat list of texts as the type of its question asks for."""
    if not isinstance(answer, list) or not answer or any(isinstance(x, list) for x in answer):
        return answer
    return [answer] if kind == "factoid" else [[text] for text in answer]


def _six_keys(snippet: Any) -> Any:  # noqa: ANN401 (any JSON value)
    if not isinstance(snippet, dict) or snippet.keys() <= SNIPPET_KEYS:
        return snippet
    return {key: value for key, value in snippet.items() if key in SNIPPET_KEYS}
