"""Decoding a batch whose rows differ in seed, temperature, length and stop texts.

transformers draws all rows of a batch by one random stream and one setting. Here it decodes
greedily, and the randomness is put into the scores: the likeliest token of ``score + Gumbel noise``
is a draw from the scores' softmax (the Gumbel-max trick; C. J. Maddison, D. Tarlow, T. Minka: A*
sampling, NeurIPS 2014). Each row has noise of its own seed, so what it draws does not depend on the
rows beside it, as far as its scores do not: batched sums are rounded otherwise than single ones,
about 1 in 10 million in float32 and 1 in 200 in bfloat16, and two nearly equal tokens can change
places by that.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass

import torch

from generation.clients.transformers_loading import Loaded
from generation.llm import Finish


@dataclass(frozen=True, slots=True)
class Drawing:
    """How one row draws its tokens.

    Attributes:
        temperature: 0 for the likeliest token.
        top_p: The likeliest tokens that together have this probability are drawn from.
        top_k: At most so many tokens are drawn from; 0 for all.
        frequency_penalty: Taken off a token's score for every time the reply has it already.
        presence_penalty: Taken off once for a token that the reply has already.
        seed: Of the noise.
    """

    temperature: float
    top_p: float
    top_k: int
    frequency_penalty: float
    presence_penalty: float
    seed: int


@dataclass(frozen=True, slots=True)
class Row:
    """One prompt, in tokens, and how to go on from it."""

    prompt: Sequence[int]
    drawing: Drawing
    max_tokens: int
    stop: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Completion:
    """What one row became; ``tokens`` are all that were drawn for it, the end's included."""

    text: str
    tokens: tuple[int, ...]
    finish: Finish


@torch.inference_mode()
def decode(loaded: Loaded, rows: Sequence[Row]) -> list[Completion]:
    """Complete prompts together, padded on the left.

    Raises:
        torch.OutOfMemoryError: the accelerator has no room for so many at once.
    """
    longest = max(len(row.prompt) for row in rows)
    padding = loaded.model.generation_config.pad_token_id
    ids = [[padding] * (longest - len(row.prompt)) + list(row.prompt) for row in rows]
    mask = [[0] * (longest - len(row.prompt)) + [1] * len(row.prompt) for row in rows]
    device = loaded.model.device
    written = loaded.model.generate(
        input_ids=torch.tensor(ids, device=device),
        attention_mask=torch.tensor(mask, device=device),
        max_new_tokens=max(row.max_tokens for row in rows),
        logits_processor=[_Draw(rows, longest)],
        stopping_criteria=[_Stop(loaded, rows, longest)],
    )
    return [
        _completion(loaded, row, tokens[longest:])
        for row, tokens in zip(rows, written.tolist(), strict=True)
    ]


class _Draw:
    """Turns the scores of each row so that its highest one is the token it draws."""

    def __init__(self, rows: Sequence[Row], begin: int) -> None:
        self._drawings = [row.drawing for row in rows]
        self._begin = begin
        self._noise: list[torch.Generator] = []

    def __call__(self, input_ids: torch.Tensor, scores: torch.Tensor) -> torch.Tensor:
        if not self._noise:
            self._noise = [
                torch.Generator(scores.device).manual_seed(one.seed) for one in self._drawings
            ]
        written = input_ids[:, self._begin :]
        rows = zip(self._drawings, self._noise, written, scores, strict=True)
        return torch.stack([drawn(*row) for row in rows])


def drawn(
    drawing: Drawing, noise: torch.Generator, written: torch.Tensor, scores: torch.Tensor
) -> torch.Tensor:
    """Give scores, float32 of shape (vocabulary,), whose highest is the token to draw."""
    if drawing.frequency_penalty or drawing.presence_penalty:
        times = torch.bincount(written, minlength=len(scores)).to(scores.dtype)
        scores = scores - drawing.frequency_penalty * times
        scores = scores - drawing.presence_penalty * (times > 0)
    if drawing.temperature == 0:
        return scores
    scores = scores / drawing.temperature
    if 0 < drawing.top_k < len(scores):
        scores = _at_least(scores, scores.topk(drawing.top_k).values[-1])
    if drawing.top_p < 1:
        falling = scores.sort(descending=True).values
        shares = falling.softmax(0)
        before = shares.cumsum(0) - shares
        scores = _at_least(scores, falling[before < drawing.top_p][-1])
    waiting = torch.empty_like(scores).exponential_(generator=noise)
    return scores - waiting.clamp_min(torch.finfo(scores.dtype).tiny).log()


def _at_least(scores: torch.Tensor, least: torch.Tensor) -> torch.Tensor:
    return scores.masked_fill(scores < least, -torch.inf)


class _Stop:
    """Says which rows need no more tokens; that they may have too many is mended afterwards."""

    def __init__(self, loaded: Loaded, rows: Sequence[Row], begin: int) -> None:
        self._tokenizer = loaded.tokenizer
        self._rows = rows
        self._begin = begin

    def __call__(self, input_ids: torch.Tensor, _scores: torch.Tensor) -> torch.Tensor:
        written = input_ids[:, self._begin :]
        done = [self._is_done(*row) for row in zip(self._rows, written, strict=True)]
        return torch.tensor(done, device=input_ids.device)

    def _is_done(self, row: Row, written: torch.Tensor) -> bool:
        if len(written) >= row.max_tokens:
            return True
        if not row.stop:
            return False
        reach = max(len(stop.encode()) for stop in row.stop)  # a token is a byte at least
        tail = self._tokenizer.decode(written[-reach:].tolist(), skip_special_tokens=True)
        return any(stop in tail for stop in row.stop)


def _completion(loaded: Loaded, row: Row, written: Sequence[int]) -> Completion:
    """Cut what a row wrote at its limit, its end and its first stop text, whichever is first."""

    def text_of(count: int) -> str:
        return str(loaded.tokenizer.decode(written[:count], skip_special_tokens=True))

    limit = min(len(written), row.max_tokens)
    end = next((place for place in range(limit) if written[place] in loaded.end), None)
    count = limit if end is None else end
    text = text_of(count)
    if places := [place for stop in row.stop if (place := text.find(stop)) >= 0]:
        taken = bisect_left(range(count), True, key=lambda n: _has_any(text_of(n), row.stop))
        return Completion(text[: min(places)], tuple(written[:taken]), "stop")
    if end is None:
        return Completion(text, tuple(written[:count]), "length")
    return Completion(text, tuple(written[: end + 1]), "stop")


def _has_any(text: str, stops: Sequence[str]) -> bool:
    return any(stop in text for stop in stops)
