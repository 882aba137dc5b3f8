"""Scoring documents by how near their vectors are to the question's."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from hybrid_ir.rerank.candidates import Candidates, Scorer, Scores
from hybrid_ir.rerank.encoder import open_encoder
from hybrid_ir.rerank.lengths import Lengths
from hybrid_ir.rerank.pools import pools_of
from hybrid_ir.rerank.settings import ScorerConfig
from hybrid_ir.rerank.vectors import Encoder, Matrix, Remembered
from hybrid_ir.rerank.windows import joined

_DOCUMENTS_AHEAD = 256
"""So many documents are sorted by length and encoded together."""

_REMEMBERED = 20_000
"""Vectors of documents that are kept, since further questions may have the same ones."""


def open_bi_encoder(config: ScorerConfig) -> Scorer:
    """Open a model of sentence-transformers; scores are its own similarity: cosine, dot product.

    Questions and documents get the prompts that the model has for them. A text too long is cut, or
    a document's score is that of its windows.

    Raises:
        InputError: as :func:`hybrid_ir.rerank.encoder.open_encoder`.
    """
    encoder = open_encoder(config)
    remembered = Remembered(_REMEMBERED)

    def scored(questions: Iterable[Candidates]) -> Iterator[Scores]:
        lengths = Lengths(encoder.longest)
        for pool in pools_of(questions, _DOCUMENTS_AHEAD):
            asked = encoder.questions([one.query for one in pool], lengths)
            if config.with_texts:
                asked = _with_texts(asked, pool, encoder, lengths)
            documents = _documents(pool, encoder, remembered, lengths)
            for vector, question in zip(asked, pool, strict=True):
                yield _scores(vector, [documents[text] for text in question.texts], encoder)
        lengths.report(__name__)

    return scored


def _with_texts(
    asked: Matrix, pool: Sequence[Candidates], encoder: Encoder, lengths: Lengths
) -> Matrix:
    """Draw each question's vector towards those of the texts that were written for it."""
    texts = [text for question in pool for text, _ in question.written]
    vectors = iter(encoder.documents(texts, lengths))
    drawn = []
    for vector, question in zip(asked, pool, strict=True):
        rows = [vector, *(next(vectors).mean(0) for _ in question.written)]
        weights = [1.0, *(weight for _, weight in question.written)]
        drawn.append(np.average(rows, axis=0, weights=weights))
    return np.array(drawn, np.float32)


def _documents(
    pool: Sequence[Candidates], encoder: Encoder, remembered: Remembered, lengths: Lengths
) -> dict[str, Matrix]:
    """Give the vectors of each different document; what is not remembered is encoded."""
    texts = dict.fromkeys(text for question in pool for text in question.texts)
    known = {text: found for text in texts if (found := remembered.get(text)) is not None}
    new = [text for text in texts if text not in known]
    for text, matrix in zip(new, encoder.documents(new, lengths), strict=True):
        known[text] = matrix
        remembered.put(text, matrix)
    return known


def _scores(question: Matrix, documents: Sequence[Matrix], encoder: Encoder) -> Scores:
    if not documents:
        return np.zeros(0)
    near = encoder.similarity(question, np.concatenate(documents))
    ends = np.cumsum([len(one) for one in documents])[:-1]
    return np.array(
        [joined(part.tolist(), encoder.windows) for part in np.split(near, ends)], np.float64
    )
