"""Texts as vectors, by a model of sentence-transformers; questions and documents differ in it."""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hybrid_ir.rerank.lengths import Lengths
from hybrid_ir.rerank.settings import WindowConfig
from hybrid_ir.rerank.windows import Cut

Matrix: TypeAlias = NDArray[np.float32]
"""Vectors as rows, of shape (texts, dimensions); of a document one for each of its windows."""

_LONGEST_WORD = 16
"""Tokens of what counts as a word where windows begin and end; longer ones are cut apart."""


class _Piece(NamedTuple):
    """A text that becomes one vector, and about how many tokens the model sees of it."""

    text: str
    tokens: int


@dataclass(frozen=True, slots=True)
class Encoder:
    """A model of sentence-transformers that is ready.

    Attributes:
        model: The model.
        longest: Tokens of a text at most, those counted that the model itself adds.
        budget: Tokens of a batch, padding included.
        windows: For documents that are longer; None cuts them.
        for_question: What is put before a question.
        for_document: What is put before a document.
    """

    model: Any
    longest: int
    budget: int
    windows: WindowConfig | None
    for_question: str
    for_document: str

    def room(self, before: str) -> int:
        """Give the tokens that a text can have behind what is put before it."""
        taken = len(self.model.tokenizer(before, add_special_tokens=False).input_ids)
        return self.longest - taken - int(self.model.tokenizer.num_special_tokens_to_add())

    def questions(self, texts: Sequence[str], lengths: Lengths) -> Matrix:
        """Give a question's vector in each row."""
        room = self.room(self.for_question)
        pieces = []
        for text, encoding in zip(texts, self._tokens(texts), strict=True):
            lengths.question(cut=len(encoding.ids) > room)
            pieces.append(_Piece(text, self._seen(len(encoding.ids), room)))
        return self._encoded(pieces, self.model.encode_query, self.for_question)

    def documents(self, texts: Sequence[str], lengths: Lengths) -> list[Matrix]:
        """Give the vectors of each document: one, or one a window."""
        room = self.room(self.for_document)
        parts = [
            self._pieces(text, encoding, room, lengths)
            for text, encoding in zip(texts, self._tokens(texts), strict=True)
        ]
        pieces = [piece for part in parts for piece in part]
        if not pieces:
            return []
        vectors = self._encoded(pieces, self.model.encode_document, self.for_document)
        return np.split(vectors, np.cumsum([len(part) for part in parts])[:-1])

    def similarity(self, question: Matrix, documents: Matrix) -> NDArray[np.float64]:
        """Compare one question, of shape (dimensions,), with documents: a number for each row."""
        import torch

        one, others = (torch.from_numpy(each).double() for each in (question[None], documents))
        near: NDArray[np.float64] = self.model.similarity(one, others)[0].numpy()
        return near

    def _tokens(self, texts: Sequence[str]) -> Any:  # noqa: ANN401 (a list of encodings)
        if not texts:
            return []
        return self.model.tokenizer(list(texts), add_special_tokens=False, verbose=False).encodings

    def _seen(self, tokens: int, room: int) -> int:
        return self.longest - room + min(tokens, room)

    def _pieces(
        self,
        text: str,
        encoding: Any,  # noqa: ANN401
        room: int,
        lengths: Lengths,
    ) -> list[_Piece]:
        tokens = len(encoding.ids)
        if self.windows is None or tokens <= room:
            lengths.document(cut=tokens > room)
            return [_Piece(text, self._seen(tokens, room))]
        cut = words_in_windows(encoding.word_ids, room, self.windows)
        lengths.document(behind=cut.left > 0)
        ends = encoding.offsets
        return [
            _Piece(text[ends[first][0] : ends[last - 1][1]], self._seen(last - first, room))
            for first, last in cut.windows
        ]

    def _encoded(
        self, pieces: Sequence[_Piece], encode: Callable[..., Matrix], before: str
    ) -> Matrix:
        """Encode texts in batches of like length; the rows are in the order of the texts."""
        order = sorted(range(len(pieces)), key=lambda place: -pieces[place].tokens)
        vectors = []
        for batch in _batches([pieces[place].tokens for place in order], self.budget):
            texts = [pieces[place].text for place in order[batch]]
            vectors.append(
                encode(texts, prompt=before, batch_size=len(texts), show_progress_bar=False)
            )
        return np.concatenate(vectors)[np.argsort(order)]


def _batches(lengths: Sequence[int], budget: int) -> list[slice]:
    """Cut falling lengths into batches; a text longer than the budget is one of its own."""
    batches = []
    start = 0
    while start < len(lengths):
        count = max(1, budget // max(1, lengths[start]))
        batches.append(slice(start, start + count))
        start += count
    return batches


def words_in_windows(words: Sequence[int | None], room: int, config: WindowConfig) -> Cut:
    """Cut a document into windows of whole words: their text is tokenized again, alone.

    Args:
        words: The word that each token is of.
        room: Tokens a window can have.
        config: The size wanted, the stride, and how many windows at most.

    Returns:
        Windows that leave nothing out between them, and none longer than the room.
    """
    size = min(config.tokens or room, room)
    stride = min(config.stride or max(1, size // 2), size)
    windows: list[tuple[int, int]] = []
    start = 0
    while len(windows) < config.most:
        end = _between_words(words, start + size, start)
        windows.append((start, end))
        if end == len(words):
            break
        start = min(_between_words(words, start + stride, start), end)
    return Cut(windows, len(words) - windows[-1][1])


def _between_words(words: Sequence[int | None], place: int, behind: int) -> int:
    """Give where the word at a place begins; the place itself for a very long word."""
    if place >= len(words):
        return len(words)
    for first in range(place, max(behind, place - _LONGEST_WORD), -1):
        if words[first - 1] != words[place]:
            return first
    return place


class Remembered:
    """The vectors of the documents that were used last; as few texts as make up so many vectors."""

    def __init__(self, most: int) -> None:
        """Remember nothing yet, and at most so many vectors later."""
        self._most = most
        self._count = 0
        self._matrices: OrderedDict[bytes, Matrix] = OrderedDict()

    def get(self, text: str) -> Matrix | None:
        """Give a document's vectors; None where they are not remembered."""
        key = _key(text)
        if key not in self._matrices:
            return None
        self._matrices.move_to_end(key)
        return self._matrices[key]

    def put(self, text: str, matrix: Matrix) -> None:
        """Remember a document that is not; those used longest ago are forgotten for it."""
        self._matrices[_key(text)] = matrix.copy()  # not the whole batch that it is a part of
        self._count += len(matrix)
        while self._count > self._most:
            _, oldest = self._matrices.popitem(last=False)
            self._count -= len(oldest)


def _key(text: str) -> bytes:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()
