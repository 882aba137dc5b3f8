"""Ideal answers against their gold: ROUGE as the organisers run it, lengths, BERTScore.

These scores have no mode and no edition: the official program does not read ideal answers at all.
A question without an answer counts as answered with an empty text.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from hybrid_ir.bioasq import rouge
from hybrid_ir.bioasq.measures import Raw
from hybrid_ir.bioasq.rouge import QuestionRouge, Rouge
from hybrid_ir.errors import InputError

if TYPE_CHECKING:
    from hybrid_ir.bioasq.bertscore import BatchBertScore, QuestionBertScore
    from hybrid_ir.bioasq.bertscore_model import Encoder

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class IdealMeans:
    """Values of one group of measures over some questions, and those of each question."""

    values: tuple[float, ...]
    per_question: Mapping[str, tuple[float, ...]]


@dataclass(frozen=True, slots=True)
class IdealScores:
    """What the ideal answers of one submission scored against one gold.

    Attributes:
        rouge: One for each question with a gold ideal answer, in the order of their ids.
        missing: Those of them without an answer, or with a blank one.
        bertscore: BERTScore of the same questions, where a model was given.
    """

    rouge: tuple[QuestionRouge, ...]
    missing: frozenset[str]
    bertscore: BatchBertScore | None

    @property
    def setting(self) -> str:
        """Say what BERTScore was computed with; empty without BERTScore."""
        if self.bertscore is None:
            return ""
        return f"{self.bertscore.model}, layer {self.bertscore.layer} ({self.bertscore.setting})"


def score_ideal(
    gold: Mapping[str, object],
    submission: Sequence[Raw],
    name: str = "submission",
    encoder: Encoder | None = None,
) -> IdealScores | None:
    """Score the ideal answers of a submission; None where it or the gold has none.

    An answer is read verbatim. The one text of a list (which BioASQ does not ask for) is taken out
    of it and several texts count as no answer, both with a warning.

    Args:
        gold: Question id -> ideal answers as the gold file has them.
        submission: The questions of the submission, verbatim; of an id twice the first counts.
        name: What to call the submission in messages.
        encoder: Adds BERTScore, by this model.

    Raises:
        InputError: a gold ideal answer is neither text nor a list of texts; all are named.
    """
    golds = _gold_texts(gold)
    if not any(text.strip() for texts in golds.values() for text in texts):
        return None
    if all(question.get("ideal_answer") is None for question in submission):
        return None
    answers = _answers(submission, name)
    scored = rouge.score_batch(answers, golds)
    return IdealScores(
        scored.questions,
        frozenset(scored.missing),
        _bertscore(answers, golds, encoder) if encoder else None,
    )


def ideal_means(scores: IdealScores, ids: Container[str]) -> dict[str, IdealMeans]:
    """Average over the questions with these ids: group of measures -> its values.

    The groups and the order of their values are those of ``scores.MEASURES``.
    """
    rows = [row for row in scores.rouge if row.question_id in ids]
    if not rows:
        return {}
    means = {
        "ideal": _rouge_means({row.question_id: row.pooled for row in rows}),
        "ideal_best": _rouge_means({row.question_id: row.best for row in rows}),
        "ideal_text": _text_means(rows, scores.missing),
    }
    if scores.bertscore:
        kept = [row for row in scores.bertscore.questions if row.question_id in ids]
        means["ideal_bertscore"] = _bert_means(kept)
    return means


def _bertscore(
    answers: Mapping[str, str], golds: Mapping[str, Sequence[str]], encoder: Encoder
) -> BatchBertScore:
    from hybrid_ir.bioasq import bertscore

    return bertscore.score_batch(answers, golds, encoder)


def _gold_texts(gold: Mapping[str, object]) -> dict[str, tuple[str, ...]]:
    texts = {id_: _texts(answer) for id_, answer in gold.items()}
    if faults := [
        f"question {id_}: ideal_answer: expected text or a list of texts, got {gold[id_]!r:.80}"
        for id_, found in texts.items()
        if found is None
    ]:
        raise InputError.of_all("cannot read the gold's ideal answers", faults)
    return {id_: found for id_, found in texts.items() if found is not None}


def _texts(answer: object) -> tuple[str, ...] | None:
    """Give the texts of an ideal answer; None where it is neither text, texts nor absent."""
    answers: list[Any] = answer if isinstance(answer, list) else [] if answer is None else [answer]
    return tuple(answers) if all(isinstance(text, str) for text in answers) else None


def _answers(submission: Sequence[Raw], name: str) -> dict[str, str]:
    """Give the answers that are there: question id -> text."""
    given: dict[str, object] = {}
    for question in submission:  # one without an id is refused where responses are read
        given.setdefault(str(question.get("id")), question.get("ideal_answer"))
    texts = {id_: _texts(answer) for id_, answer in given.items()}
    lists = [id_ for id_, answer in given.items() if isinstance(answer, list)]
    single = [id_ for id_ in lists if len(texts[id_] or ()) == 1]
    unreadable = [
        id_ for id_, found in texts.items() if found is None or (id_ in lists and len(found) > 1)
    ]
    _warn(name, single, "are a list of one text, where BioASQ asks for the text; scored as text")
    _warn(name, unreadable, "are no single text; they count as missing")
    answers = {id_: found[0] for id_, found in texts.items() if found and id_ not in unreadable}
    return {id_: text for id_, text in answers.items() if text.strip()}


def _warn(name: str, ids: Sequence[str], what: str) -> None:
    if ids:
        log.warning("%s: %d ideal answers (first: question %s) %s", name, len(ids), ids[0], what)


def _rouge_means(scores: Mapping[str, Rouge]) -> IdealMeans:
    averages = rouge.average(list(scores.values()))
    return IdealMeans((*averages.plain, *averages.bootstrap), scores)


def _text_means(rows: Sequence[QuestionRouge], missing: Container[str]) -> IdealMeans:
    """Mean lengths of the answers that are there and of the gold's; counts of what went wrong."""
    each: dict[str, tuple[float, ...]] = {}
    for row in rows:
        absent = row.question_id in missing
        length = (math.nan, math.nan) if absent else row.answer_length
        counts = int(row.cut), row.golds_cut, int(absent)
        each[row.question_id] = (*length, *row.gold_length, *counts)
    columns = list(zip(*each.values(), strict=True))
    return IdealMeans((*map(_mean, columns[:4]), *map(sum, columns[4:])), each)


def _bert_means(rows: Sequence[QuestionBertScore]) -> IdealMeans:
    each = {row.question_id: (*row.score, int(row.cut), row.golds_cut) for row in rows}
    columns = list(zip(*each.values(), strict=True))
    return IdealMeans((*map(_mean, columns[:3]), *map(sum, columns[3:])), each)


def _mean(values: Iterable[float]) -> float:
    numbers = [value for value in values if not math.isnan(value)]
    return sum(numbers) / len(numbers) if numbers else math.nan
