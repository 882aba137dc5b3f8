"""Scoring question and passage together with a cross-encoder.

Several questions are looked at together, so that inputs of like length go through the model at once
and hardly anything is padded; meanwhile a thread tokenizes the next questions.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future
from dataclasses import dataclass
from threading import Lock

import numpy as np
import torch

from hybrid_ir.rerank.ahead import ahead
from hybrid_ir.rerank.batches import Input, add, padded, take
from hybrid_ir.rerank.candidates import Candidates, Scorer, Scores
from hybrid_ir.rerank.classifier import Classifier, open_classifier
from hybrid_ir.rerank.lengths import Lengths
from hybrid_ir.rerank.pairs import Passage, passages_of
from hybrid_ir.rerank.precision import tokens_at_once
from hybrid_ir.rerank.settings import ScorerConfig, WindowConfig
from hybrid_ir.rerank.windows import joined
from hybrid_ir.rerank.workers import workers

_TOKENS_AHEAD = 1 << 17
"""Some 512 pairs: no further question is begun while so many tokens wait."""

_BATCHES_AHEAD = 16
"""At least as many, where batches are large."""


@dataclass(frozen=True, slots=True)
class _Question:
    """A question whose scores are under way.

    Attributes:
        places: For each candidate the number of its passage.
        passages: The different ones.
    """

    places: list[int]
    passages: list[Passage]

    @property
    def inputs(self) -> list[Input]:
        return [one for passage in self.passages for one in passage.inputs]

    @property
    def done(self) -> bool:
        return all(one.done for one in self.inputs)


def open_cross_encoder(config: ScorerConfig) -> Scorer:
    """Open a cross-encoder; its scores are logits.

    A pair's score depends in its last digits on the padding, so on what else is in its batch: in
    float32 by less than 1e-5. Equal passages of a question are scored once.

    Raises:
        InputError: the model cannot be used as the settings say.
    """
    classifier = open_classifier(config)
    budget = tokens_at_once(config.tokens_at_once, classifier.device)
    lock = Lock()  # a scorer may be used for two runs at once, a tokenizer may not

    def tokenized(numbered: tuple[int, Candidates]) -> _Question:
        number, candidates = numbered
        different = {text: place for place, text in enumerate(dict.fromkeys(candidates.texts))}
        with lock:
            passages = passages_of(
                number, candidates.query, list(different), classifier, config.windows
            )
        return _Question([different[text] for text in candidates.texts], passages)

    def score(questions: Iterable[Candidates]) -> Iterator[Scores]:
        lengths = Lengths(classifier.max_length)
        for question in _scored(ahead(enumerate(questions), tokenized), classifier, budget):
            for passage in question.passages:
                lengths.document(passage.cut, passage.behind)
            yield _scores(question, config.windows)
        lengths.report(__name__)

    return score


def _scored(
    questions: Iterator[_Question], classifier: Classifier, budget: int
) -> Iterator[_Question]:
    """Score question after question, with as many begun as fill the batches.

    What is in a batch depends on the questions alone, not on how fast anything is.
    """
    enough = max(_TOKENS_AHEAD, _BATCHES_AHEAD * budget)
    begun: deque[_Question] = deque()
    waiting: list[Input] = []
    computing: deque[Future[None]] = deque()
    with workers(classifier.device) as (pool, count):
        while True:
            while sum(one.tokens for one in waiting) < enough and (more := next(questions, None)):
                begun.append(more)
                add(waiting, more.inputs)
            if waiting:
                computing.append(pool.submit(_compute, take(waiting, budget), classifier))
            if computing and (len(computing) > count or not waiting):
                computing.popleft().result()
            while begun and begun[0].done:
                yield begun.popleft()
            if not begun:
                return


def _compute(batch: list[Input], classifier: Classifier) -> None:
    arrays = padded(batch, classifier.padding)
    tensors = {"input_ids": arrays.ids, "attention_mask": arrays.mask}
    if arrays.types is not None:
        tensors["token_type_ids"] = arrays.types
    device = classifier.device
    with torch.inference_mode():
        inputs = {name: torch.from_numpy(array).to(device) for name, array in tensors.items()}
        logits = classifier.model(**inputs).logits.float().flatten().tolist()
    for one, score in zip(batch, logits, strict=True):
        one.score, one.done = score, True


def _scores(question: _Question, windows: WindowConfig | None) -> Scores:
    of_passages = np.array(
        [joined([one.score for one in part.inputs], windows) for part in question.passages],
        np.float64,
    )
    return of_passages[question.places]
