"""Scoring document after document with monoT5.

Nogueira, Jiang, Pradeep and Lin: Document Ranking with a Pretrained Sequence-to-Sequence Model.
Findings of EMNLP 2020. https://aclanthology.org/2020.findings-emnlp.63
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from hybrid_ir.rerank.batches import Input
from hybrid_ir.rerank.candidates import Candidates, Scorer, Scores
from hybrid_ir.rerank.lengths import Lengths
from hybrid_ir.rerank.pools import pools_of
from hybrid_ir.rerank.settings import ScorerConfig, WindowConfig
from hybrid_ir.rerank.t5 import T5, Ids, ids_of, open_t5, score
from hybrid_ir.rerank.windows import joined, windows_of

_FRAME = ("Query:", "Document:", "Relevant:")

_DOCUMENTS_AHEAD = 256
"""So many documents are sorted by length and scored together."""


def open_mono_t5(config: ScorerConfig) -> Scorer:
    """Open a monoT5, such as castorini/monot5-base-msmarco.

    A document's score is the logarithm of the chance that the model says "true" and not "false"
    after ``Query: ... Document: ... Relevant:``. A document too long for that is cut, or scored in
    windows, so that "Relevant:" always comes last; a question gets at most half of the room.

    Raises:
        InputError: as :func:`hybrid_ir.rerank.t5.open_t5`.
    """
    t5 = open_t5(config, " ".join(_FRAME))

    def scored(questions: Iterable[Candidates]) -> Iterator[Scores]:
        lengths = Lengths(t5.longest)
        for pool in pools_of(questions, _DOCUMENTS_AHEAD):
            prompts = [_prompts(one, t5, config.windows, lengths) for one in pool]
            score([one for question in prompts for windows in question for one in windows], t5)
            for question in prompts:
                yield np.array([_joined(one, config.windows) for one in question], np.float64)
        lengths.report(__name__)

    return scored


def _joined(windows: Sequence[Input], config: WindowConfig | None) -> float:
    return joined([one.score for one in windows], config)


def _prompts(
    question: Candidates, t5: T5, config: WindowConfig | None, lengths: Lengths
) -> list[list[Input]]:
    """Give the prompts of each document: one, or one a window."""
    head, tail = _around(question.query, t5, lengths)
    room = t5.longest - len(head) - len(tail)
    # one token more than there is room for tells that something is cut
    documents = ids_of(question.texts, t5, None if config else room + 1)
    return [
        [Input(0, np.concatenate([head, part, tail]), None) for part in parts]
        for parts in (_parts(document, room, config, lengths) for document in documents)
    ]


def _around(query: str, t5: T5, lengths: Lengths) -> tuple[Ids, Ids]:
    """Give what stands before and behind a document."""
    name, document, relevant = ids_of(_FRAME, t5)
    tail = np.append(relevant, np.int32(t5.end))
    most = (t5.longest - len(name) - len(document) - len(tail)) // 2
    (words,) = ids_of([query], t5, most + 1)
    lengths.question(len(words) > most)
    return np.concatenate([name, words[:most], document]), tail


def _parts(document: Ids, room: int, config: WindowConfig | None, lengths: Lengths) -> list[Ids]:
    """Cut a document, or give its windows where they are asked for."""
    if config is None or len(document) <= room:
        lengths.document(cut=len(document) > room)
        return [document[:room]]
    cut = windows_of(len(document), room, config)
    lengths.document(behind=cut.left > 0)
    return [document[start:end] for start, end in cut.windows]
