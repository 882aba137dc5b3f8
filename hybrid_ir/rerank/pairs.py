"""A question and its passages as token ids: each pair cut at its end, or in windows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from hybrid_ir.rerank.batches import Input
from hybrid_ir.rerank.classifier import Classifier
from hybrid_ir.rerank.settings import WindowConfig
from hybrid_ir.rerank.windows import windows_of

_SMALLEST_ROOM = 16
"""Tokens of a passage beside a question that windows need; else the pair is cut."""


@dataclass(frozen=True, slots=True)
class Passage:
    """A passage as a model is to see it.

    Attributes:
        inputs: One, or its windows, in order.
        cut: Whether the model takes less than that and something at the end is left out.
        behind: Whether something lies behind the last window.
    """

    inputs: list[Input]
    cut: bool = False
    behind: bool = False


def passages_of(
    question: int,
    query: str,
    texts: Sequence[str],
    classifier: Classifier,
    windows: WindowConfig | None,
) -> list[Passage]:
    """Tokenize a question with each of its passages, as the training does.

    Args:
        question: Its number.
        query: Its text.
        texts: The passages.
        classifier: Whose tokenizer and length; the tokenizer must not be in use elsewhere.
        windows: How what is too long is cut into windows; None to cut it at its end.
    """
    if windows is None:
        return [_cut(question, one, classifier) for one in _encodings(query, texts, classifier)]
    whole = _encodings(query, texts, classifier, whole=True)
    long = [place for place, one in enumerate(whole) if len(one.ids) > classifier.max_length]
    passages = [Passage([_input(question, one, classifier)]) for one in whole]
    for place in long:
        passages[place] = _in_windows(question, whole[place], classifier, windows) or _cut(
            question, _encodings(query, texts[place : place + 1], classifier)[0], classifier
        )
    return passages


def _encodings(
    query: str, texts: Sequence[str], classifier: Classifier, whole: bool = False
) -> Any:  # noqa: ANN401 (a list of tokenizers.Encoding)
    if not texts:
        return []
    encoded = classifier.tokenizer(
        [query] * len(texts),
        list(texts),
        truncation=False if whole else "longest_first",
        max_length=None if whole else classifier.max_length,
        verbose=False,
    )
    return encoded.encodings


def _cut(question: int, encoding: Any, classifier: Classifier) -> Passage:  # noqa: ANN401
    return Passage([_input(question, encoding, classifier)], cut=bool(encoding.overflowing))


def _input(question: int, encoding: Any, classifier: Classifier) -> Input:  # noqa: ANN401
    types = np.array(encoding.type_ids, np.int8) if classifier.types else None
    return Input(question, np.array(encoding.ids, np.int32), types)


def _in_windows(
    question: int,
    encoding: Any,  # noqa: ANN401
    classifier: Classifier,
    config: WindowConfig,
) -> Passage | None:
    """Cut a passage into windows, each with the whole question; None where that leaves no room."""
    whole = _input(question, encoding, classifier)
    of_passage = np.flatnonzero(np.array(encoding.sequence_ids, np.float32) == 1)
    if not len(of_passage):
        return None
    begin, end = int(of_passage[0]), int(of_passage[-1]) + 1
    room = classifier.max_length - (whole.tokens - (end - begin))
    if room < _SMALLEST_ROOM:
        return None
    cut = windows_of(end - begin, room, config)
    kept = np.arange(whole.tokens)
    inputs = []
    for first, last in cut.windows:
        places = np.concatenate([kept[:begin], kept[begin + first : begin + last], kept[end:]])
        types = None if whole.types is None else whole.types[places]
        inputs.append(Input(question, whole.ids[places], types))
    return Passage(inputs, behind=cut.left > 0)
