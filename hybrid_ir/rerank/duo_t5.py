"""Scoring documents two by two with duoT5.

Pradeep, Nogueira and Lin: The Expando-Mono-Duo Design Pattern for Text Ranking with Pretrained
Sequence-to-Sequence Models. 2021. https://arxiv.org/abs/2101.05667
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from hybrid_ir.rerank.batches import Input
from hybrid_ir.rerank.candidates import Candidates, Scorer, Scores
from hybrid_ir.rerank.lengths import Lengths
from hybrid_ir.rerank.settings import ScorerConfig
from hybrid_ir.rerank.t5 import T5, Ids, ids_of, open_t5, score

log = logging.getLogger(__name__)

_FRAME = ("Query:", "Document0:", "Document1:", "Relevant:")

_MANY = 50
"""Documents of a question, the paper's depth; what more of them cost is logged beforehand."""


def open_duo_t5(config: ScorerConfig) -> Scorer:
    """Open a duoT5, such as castorini/duot5-base-msmarco.

    Every document of a question is held against every other one, both ways round:
    ``Query: ... Document0: ... Document1: ... Relevant:``. Its score is the mean of its chances,
    from 0 to 1 (:func:`sym_sum`); it depends on which other documents there are. Documents have
    equal shares of the room beside the question, which gets at most a third of it.

    Raises:
        InputError: as :func:`hybrid_ir.rerank.t5.open_t5`.
    """
    t5 = open_t5(config, " ".join(_FRAME))

    def scored(questions: Iterable[Candidates]) -> Iterator[Scores]:
        lengths = Lengths(t5.longest)
        warned = False
        for question in questions:
            warned = warned or _warn(question)
            yield sym_sum(_chances(question, t5, lengths))
        lengths.report(__name__)

    return scored


def sym_sum(chances: NDArray[np.float64]) -> Scores:
    """Give each document the mean of its chances against each other one (the paper's SYM-SUM).

    The score of document i is the sum over all j of p_ij + (1 - p_ji), here divided by twice the
    number of other documents, so that it lies between 0 and 1; that of a lone document is 1.

    Args:
        chances: p_ij, of shape (documents, documents): how likely document i, given first, is
            better than j. The diagonal is not read.
    """
    others = len(chances) - 1
    if others < 1:
        return np.ones(len(chances))
    either = chances + (1.0 - chances.T)
    np.fill_diagonal(either, 0.0)
    scores: Scores = either.sum(axis=1) / (2 * others)
    return scores


def _warn(question: Candidates) -> bool:
    """Say what many documents cost; True where it was said."""
    many = len(question.documents)
    if many <= _MANY:
        return False
    log.warning(
        "question %s has %s documents, which make %s pairs to be scored: half as many would make a"
        " quarter (depth); further questions with more than %d are not named",
        question.question_id, f"{many:,}", f"{many * (many - 1):,}", _MANY,
    )  # fmt: skip
    return True


def _chances(question: Candidates, t5: T5, lengths: Lengths) -> NDArray[np.float64]:
    """Give how likely each document is better than each other one, 0 on the diagonal."""
    count = len(question.documents)
    pairs = [(one, other) for one in range(count) for other in range(count) if one != other]
    chances = np.zeros((count, count))
    if pairs:
        prompts = _prompts(question, pairs, t5, lengths)
        score(prompts, t5)
        chances[tuple(np.array(pairs).T)] = np.exp([one.score for one in prompts])
    return chances


def _prompts(
    question: Candidates, pairs: list[tuple[int, int]], t5: T5, lengths: Lengths
) -> list[Input]:
    """Give the prompt of each pair; a document is cut alike in all of them."""
    name, first, second, relevant = ids_of(_FRAME, t5)
    tail = np.append(relevant, np.int32(t5.end))
    room = t5.longest - sum(map(len, (name, first, second, tail)))
    words, *_ = _cut([question.query], room // 3, t5, lengths.question)
    documents = _cut(question.texts, (room - len(words)) // 2, t5, lengths.document)
    befores = [np.concatenate([name, words, first, document, second]) for document in documents]
    behinds = [np.concatenate([document, tail]) for document in documents]
    return [Input(0, np.concatenate([befores[i], behinds[j]]), None) for i, j in pairs]


def _cut(texts: Sequence[str], most: int, t5: T5, count: Callable[[bool], None]) -> list[Ids]:
    """Tokenize texts and cut their ends, counting them."""
    whole = ids_of(texts, t5, most + 1)  # one more tells that something is cut
    for ids in whole:
        count(len(ids) > most)
    return [ids[:most] for ids in whole]
