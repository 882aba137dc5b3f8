"""ROUGE-2 and ROUGE-SU4 of ideal answers, to the digit as BioASQ's organisers compute them.

The organisers' server ran ``ROUGE-1.5.5.pl -c 95 -2 4 -u -x -n 4`` (C.-Y. Lin, ROUGE: A Package for
Automatic Evaluation of Summaries, 2004): no stemming, no stop words, no length limit. Everything
that follows is that program's behaviour on the files the server fed it, oddities included:

* a text is read up to its first ``<`` or line break, and only its ASCII characters;
* the last word of a text is no unit of ROUGE-SU4 by itself, so a one-word answer scores 0;
* every score is rounded to 5 decimals, and F is computed from the rounded recall and precision;
* the reported average is the mean over 1000 bootstrap resamples, not the mean over the questions.

How today's server feeds several gold answers is not known. ``pooled`` is the program's default,
``best`` its option ``-f B``.
"""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple, TypeAlias

from hybrid_ir.errors import InputError

RESAMPLES = 1000
FARTHEST = 5
"""The option ``-2 4``: at most 4 words between the two of a pair."""

_CUT = re.compile("[<\n]")

Units: TypeAlias = Counter[tuple[str, ...]]


class Rouge(NamedTuple):
    """The six numbers in the order the organisers' program prints them, each in [0, 1]."""

    rouge_2_recall: float
    rouge_2_precision: float
    rouge_2_f1: float
    rouge_su4_recall: float
    rouge_su4_precision: float
    rouge_su4_f1: float


class Averages(NamedTuple):
    """The mean over the questions and what the organisers report; round to 5 digits to compare."""

    plain: Rouge
    bootstrap: Rouge


class Length(NamedTuple):
    """Length of a text, or the mean length of several."""

    words: float
    """Parts between white space, as BioASQ's limit of 200 words counts them."""
    tokens: float
    """What ROUGE sees of them."""


@dataclass(frozen=True, slots=True)
class QuestionRouge:
    """Scores and lengths of one question's ideal answer.

    ``pooled`` counts all gold answers together, ``best`` takes for each measure the gold answer of
    highest recall. ``cut`` says that ROUGE lost the end of the answer, from a ``<`` or a line break
    on; ``golds_cut`` counts the gold answers to which that happened.
    """

    question_id: str
    pooled: Rouge
    best: Rouge
    answer_length: Length
    gold_length: Length
    cut: bool
    golds_cut: int


@dataclass(frozen=True, slots=True)
class BatchRouge:
    """Scores of a batch: its questions with a gold ideal answer, in the order of their ids.

    ``missing`` are those of them that had no answer at all; they count as empty answers.
    """

    questions: tuple[QuestionRouge, ...]
    pooled: Averages
    best: Averages
    missing: tuple[str, ...]


def score_batch(answers: Mapping[str, str], golds: Mapping[str, Sequence[str]]) -> BatchRouge:
    """Score the ideal answers of a batch.

    Args:
        answers: Question id -> ideal answer, verbatim. Ids without a gold answer are not scored.
        golds: Question id -> gold ideal answers, verbatim. Questions with none, or with blank ones
            only, are left out.

    Raises:
        InputError: no question has a gold ideal answer.
    """
    ids = questions_with_gold(golds)
    questions = tuple(score_question(id_, answers.get(id_, ""), golds[id_]) for id_ in ids)
    return BatchRouge(
        questions,
        average([question.pooled for question in questions]),
        average([question.best for question in questions]),
        tuple(id_ for id_ in ids if id_ not in answers),
    )


def questions_with_gold(golds: Mapping[str, Sequence[str]]) -> list[str]:
    """Give the ids, sorted, of the questions that have a gold ideal answer with any text.

    Raises:
        InputError: there is none.
    """
    ids = sorted(id_ for id_, texts in golds.items() if any(text.strip() for text in texts))
    if not ids:
        raise InputError(
            f"expected gold ideal answers, got none for any of {len(golds)} questions; "
            "give a golden or training file (test files hold no answers)"
        )
    return ids


def score_question(question_id: str, answer: str, golds: Sequence[str]) -> QuestionRouge:
    """Score one ideal answer against its gold ideal answers, at least one, all verbatim."""
    tokens, gold_tokens = tokenise(answer), [tokenise(gold) for gold in golds]
    rouge_2 = overlaps(tokens, gold_tokens, bigrams)
    rouge_su4 = overlaps(tokens, gold_tokens, skip_units)
    gold_words = sum(len(gold.split()) for gold in golds)
    return QuestionRouge(
        question_id,
        Rouge(*score_pooled(rouge_2), *score_pooled(rouge_su4)),
        Rouge(*score_best(rouge_2), *score_best(rouge_su4)),
        Length(len(answer.split()), len(tokens)),
        Length(gold_words / len(golds), sum(map(len, gold_tokens)) / len(golds)),
        is_cut(answer),
        sum(map(is_cut, golds)),
    )


def tokenise(text: str) -> list[str]:
    """Give the words ROUGE sees of a text, in lower case.

    A non-ASCII character vanishes without parting the word it stands in; any other character that
    is no letter or digit parts words.
    """
    return _words(_CUT.split(text, maxsplit=1)[0])


def is_cut(text: str) -> bool:
    """Say whether words follow the first ``<`` or line break: ROUGE never sees them."""
    return any(map(_words, _CUT.split(text, maxsplit=1)[1:]))


def _words(text: str) -> list[str]:
    return re.findall("[a-z0-9]+", text.encode("ascii", "ignore").decode().lower())


def bigrams(tokens: Sequence[str]) -> Units:
    """Count the units of ROUGE-2: neighbouring words."""
    return Counter(itertools.pairwise(tokens))


def skip_units(tokens: Sequence[str]) -> Units:
    """Count the units of ROUGE-SU4: pairs up to ``FARTHEST`` apart, all words but the last."""
    pairs = (zip(tokens, tokens[far:], strict=False) for far in range(1, FARTHEST + 1))
    words = zip(tokens[:-1], strict=True)
    return Counter(itertools.chain(words, *pairs))


class Overlap(NamedTuple):
    """Units an answer shares with one gold answer, and how many each of the two has."""

    hits: int
    gold: int
    answer: int


def overlaps(
    answer: Sequence[str], golds: Iterable[Sequence[str]], units: Callable[[Sequence[str]], Units]
) -> list[Overlap]:
    """Compare an answer with each gold answer; a unit counts as often as it is in both."""
    ours = units(answer)
    found = []
    for gold in golds:
        theirs = units(gold)
        hits = sum(min(ours[unit], theirs[unit]) for unit in ours.keys() & theirs.keys())
        found.append(Overlap(hits, theirs.total(), ours.total()))
    return found


def score_pooled(found: Iterable[Overlap]) -> tuple[float, float, float]:
    """Recall, precision and F of all gold answers taken together."""
    hits, gold, answer = map(sum, zip(*found, strict=True))
    return _score(Overlap(hits, gold, answer))


def score_best(found: Iterable[Overlap]) -> tuple[float, float, float]:
    """Recall, precision and F of the gold answer with the highest recall, the first of several."""
    return max(map(_score, found), key=lambda score: score[0])


def _score(overlap: Overlap) -> tuple[float, float, float]:
    recall, precision = _ratio(overlap.hits, overlap.gold), _ratio(overlap.hits, overlap.answer)
    return recall, precision, _ratio(2 * precision * recall, precision + recall)


def _ratio(part: float, whole: float) -> float:
    return float(f"{part / whole:.5f}") if whole else 0.0


def average(scores: Sequence[Rouge]) -> Averages:
    """Average the scores of at least one question, given in the order of the question ids.

    The bootstrap is that of ROUGE-1.5.5: each resample draws as many questions as there are, with
    replacement. The order matters to it, so a subset of a batch must keep the batch's order.
    """
    weights = _draws(len(scores))
    columns = list(zip(*scores, strict=True))
    plain = (sum(column) / len(scores) for column in columns)
    bootstrap = (
        sum(w * value for w, value in zip(weights, column, strict=True)) / sum(weights)
        for column in columns
    )
    return Averages(Rouge(*plain), Rouge(*bootstrap))


@lru_cache(maxsize=64)
def _draws(n: int) -> tuple[int, ...]:
    """How often each of n questions is drawn in all resamples together.

    Perl's ``srand(resample)`` and ``rand(n)``, which are POSIX drand48. The server numbered its
    questions from 1 and the program sorts these numbers as strings: 1, 10, 11, ..., 2, 20, ...
    """
    order = sorted(range(n), key=lambda index: str(index + 1))
    drawn = [0] * n
    for seed in range(RESAMPLES):
        state = (seed << 16) + 0x330E
        for _ in range(n):
            state = (state * 0x5DEECE66D + 0xB) & 0xFFFFFFFFFFFF
            drawn[order[int(state / 2**48 * n)]] += 1
    return tuple(drawn)
