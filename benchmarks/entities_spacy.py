"""A spaCy pipeline trained to find entities, without pre-trained vectors, for comparison."""

from __future__ import annotations

import random
import warnings
from collections.abc import Callable

import spacy
from entities_gold import Annotated
from spacy.language import Language
from spacy.training import Example
from spacy.util import compounding, fix_random_seed, minibatch

SEED = 0
DROPOUT = 0.1


def train(
    training: list[Annotated],
    epochs: int,
    judge: Callable[[Language], float],
) -> tuple[Language, list[float]]:
    """Train spaCy's tok2vec and named-entity recogniser from nothing.

    Args:
        training: The sentences to learn from.
        epochs: How often all of them are seen.
        judge: Gives the F1 of a pipeline on the development part: the best epoch's is kept.

    Returns:
        The best epoch's pipeline and the F1 of each epoch.
    """
    fix_random_seed(SEED)
    order = random.Random(SEED)
    nlp = spacy.blank("en")
    nlp.add_pipe("ner")
    examples = [_example(nlp, one) for one in training]
    optimizer = nlp.initialize(lambda: examples)
    scores: list[float] = []
    best = b""
    for _ in range(epochs):
        order.shuffle(examples)
        for batch in minibatch(examples, compounding(16.0, 128.0, 1.005)):
            nlp.update(batch, sgd=optimizer, drop=DROPOUT)
        with nlp.use_params(optimizer.averages):
            scores.append(judge(nlp))
            if scores[-1] == max(scores):
                best = nlp.to_bytes()
    return nlp.from_bytes(best), scores


def _example(nlp: Language, one: Annotated) -> Example:
    spans = [(entity.start, entity.end, entity.label) for entity in one.entities]
    with warnings.catch_warnings():  # tokens that a span cuts through teach nothing
        warnings.filterwarnings("ignore", message=".*W030.*")
        return Example.from_dict(nlp.make_doc(one.text), {"entities": spans})
