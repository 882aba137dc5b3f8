"""BERTScore of ideal answers, by the ``bert-score`` library.

Each token of the answer is matched with the most similar token of the gold answer (precision), and
each of the gold answer with the most similar one of the answer (recall), by the cosine of their
contextual embeddings (T. Zhang et al.: BERTScore, ICLR 2020). No idf weights, no rescaling. Of
several gold answers each measure takes its best, as the library does, so precision and recall may
come from different ones.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from hybrid_ir.bioasq.bertscore_model import Encoder, bert_score
from hybrid_ir.bioasq.rouge import questions_with_gold


class BertScore(NamedTuple):
    """Means of cosines: at most 1, and seldom below 0.5 even for texts that share nothing."""

    precision: float
    recall: float
    f1: float


@dataclass(frozen=True, slots=True)
class QuestionBertScore:
    """The score of one question's ideal answer.

    ``cut`` says that the answer is longer than the model takes and lost its end, ``golds_cut``
    counts the gold answers to which that happened.
    """

    question_id: str
    score: BertScore
    cut: bool
    golds_cut: int


@dataclass(frozen=True, slots=True)
class BatchBertScore:
    """Scores of a batch: its questions with a gold ideal answer, in the order of their ids.

    Attributes:
        model: Hub id or path of the model, as given.
        layer: Whose embeddings were compared.
        setting: The library's own name for all that decides about a score, versions included; to
            be published beside it.
        mean: Over the questions.
        missing: Those of them that had no answer at all; they count as empty answers.
    """

    model: str
    layer: int
    setting: str
    questions: tuple[QuestionBertScore, ...]
    mean: BertScore
    missing: tuple[str, ...]


def score_batch(
    answers: Mapping[str, str],
    golds: Mapping[str, Sequence[str]],
    encoder: Encoder,
    batch_size: int = 64,
) -> BatchBertScore:
    """Score the ideal answers of a batch.

    Args:
        answers: Question id -> ideal answer. Ids without a gold answer are not scored.
        golds: Question id -> gold ideal answers. Questions with none, or with blank ones only, are
            left out.
        encoder: From :func:`~hybrid_ir.bioasq.bertscore_model.load_encoder`.
        batch_size: Texts encoded at a time.

    Raises:
        InputError: no question has a gold ideal answer.
    """
    ids = questions_with_gold(golds)
    tried = {id_: answers.get(id_, "") for id_ in ids}
    tokens = _count_tokens(encoder, (text for id_ in ids for text in (tried[id_], *golds[id_])))
    keys = [
        (id_, gold) for id_ in ids for gold in golds[id_] if tokens[tried[id_]] and tokens[gold]
    ]
    scores: dict[str, list[BertScore]] = {id_: [] for id_ in ids}
    pairs = [(tried[id_], gold) for id_, gold in keys]
    for (id_, _), score in zip(keys, score_pairs(pairs, encoder, batch_size), strict=True):
        scores[id_].append(score)
    questions = tuple(
        QuestionBertScore(
            id_,
            _best(scores[id_]),
            tokens[tried[id_]] > encoder.room,
            sum(tokens[gold] > encoder.room for gold in golds[id_]),
        )
        for id_ in ids
    )
    return BatchBertScore(
        encoder.name,
        encoder.layer,
        encoder.setting,
        questions,
        _mean([question.score for question in questions]),
        tuple(id_ for id_ in ids if id_ not in answers),
    )


def score_pairs(
    pairs: Sequence[tuple[str, str]], encoder: Encoder, batch_size: int = 64
) -> list[BertScore]:
    """Score (answer, gold answer) pairs, each of which has at least one token."""
    if not pairs:
        return []
    answers, golds = zip(*pairs, strict=True)
    weights: defaultdict[int, float] = defaultdict(lambda: 1.0)
    weights |= {encoder.tokenizer.cls_token_id: 0.0, encoder.tokenizer.sep_token_id: 0.0}
    scores = bert_score().bert_cos_score_idf(
        encoder.model,
        list(golds),
        list(answers),
        encoder.tokenizer,
        weights,
        batch_size=batch_size,
        device=encoder.model.device,
    )
    return [BertScore(*row) for row in scores.tolist()]


def _best(scores: Sequence[BertScore]) -> BertScore:
    return BertScore(*map(max, zip(*scores, strict=True))) if scores else BertScore(0.0, 0.0, 0.0)


def _mean(scores: Sequence[BertScore]) -> BertScore:
    return BertScore(*(sum(column) / len(scores) for column in zip(*scores, strict=True)))


def _count_tokens(encoder: Encoder, texts: Iterable[str]) -> dict[str, int]:
    """Count the tokens of each text, special ones apart."""
    encode = encoder.tokenizer.encode
    return {text: len(encode(text.strip(), add_special_tokens=False)) for text in set(texts)}
