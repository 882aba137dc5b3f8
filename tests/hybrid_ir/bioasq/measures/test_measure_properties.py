from __future__ import annotations

import math
import random
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from hybrid_ir.bioasq.measures import (
    EDITIONS,
    Strict,
    official_line,
    read_gold,
    read_responses,
    score_strict,
)
from hybrid_ir.errors import InputError

few = settings(max_examples=50, deadline=None)

SPELLINGS = (
    "http://www.ncbi.nlm.nih.gov/pubmed/{}",
    "https://www.ncbi.nlm.nih.gov/pubmed/{}",
    "https://pubmed.ncbi.nlm.nih.gov/{}/",
    "{}",
)
urls = st.builds(str.format, st.sampled_from(SPELLINGS), st.integers(1, 15))
names = st.sampled_from(["alpha", "Alpha", "beta", "gamma", "delta"])
synonyms = st.lists(names, min_size=1, max_size=3)


@st.composite
def snippets(draw: st.DrawFn, least: int = -2) -> dict[str, Any]:
    begin = draw(st.integers(0, 60))
    section = draw(st.sampled_from(["title", "abstract", "sections.0"]))
    return {
        "document": draw(urls),
        "beginSection": section,
        "endSection": section,
        "offsetInBeginSection": begin,
        "offsetInEndSection": begin + draw(st.integers(least, 40)),
        "text": "any",
    }


@st.composite
def questions(draw: st.DrawFn, name: str, gold: bool) -> dict[str, Any]:
    kind = ("yesno", "factoid", "list", "summary")[int(name) % 4]
    question: dict[str, Any] = {
        "id": name,
        "type": kind,
        "documents": draw(st.lists(urls, min_size=gold, max_size=10 if gold else 14)),
        "snippets": draw(
            st.lists(snippets(1 if gold else -2), min_size=gold, max_size=10 if gold else 14)
        ),
    }
    if kind == "yesno":
        question["exact_answer"] = draw(st.sampled_from(["yes", "no"] if gold else ["yes", "?"]))
    elif kind != "summary":
        question["exact_answer"] = draw(st.lists(synonyms, min_size=gold, max_size=7))
    return question


@st.composite
def batches(draw: st.DrawFn, gold: bool) -> list[dict[str, Any]]:
    ids = draw(st.lists(st.integers(0, 11), unique=True, min_size=gold, max_size=8))
    return [draw(questions(str(number), gold)) for number in ids]


def values(scores: Strict) -> list[float]:
    groups = (scores.documents, scores.snippets, scores.yesno, scores.factoid, scores.lists)
    return [value for group in groups for value in group.values if group.per_question]


@few
@given(batches(gold=True), batches(gold=False))
def test_scoring_never_crashes_and_strict_values_lie_between_0_and_1(
    gold: list[dict[str, Any]], submission: list[dict[str, Any]]
) -> None:
    missing = {question["id"] for question in gold} - {question["id"] for question in submission}
    for edition in EDITIONS:
        assert len(official_line(gold, submission, "A", edition).split()) == 20
        if edition == 9 or not missing:
            assert len(official_line(gold, submission, "B", edition).split()) == 10
    scores = score_strict(read_gold(gold, 9), read_responses(submission, 9))
    assert all(0 <= value <= 1 for value in values(scores))
    groups = (scores.documents, scores.snippets, scores.yesno, scores.factoid, scores.lists)
    for group in groups:
        assert all(0 <= value <= 1 for row in group.per_question.values() for value in row)


@few
@given(batches(gold=True), st.randoms(use_true_random=False))
def test_a_perfect_submission_scores_one(gold: list[dict[str, Any]], rng: random.Random) -> None:
    submission = [perfect(question, rng) for question in gold]
    scores = score_strict(read_gold(gold, 9), read_responses(submission, 9))
    assert set(values(scores)) == {1.0}


def perfect(question: dict[str, Any], rng: random.Random) -> dict[str, Any]:
    """Give the gold back as an answer: any name of each entity, one entity for a factoid."""
    answer = question.get("exact_answer")
    if question["type"] == "factoid":
        answer = [[rng.choice(rng.choice(answer))]]
    elif question["type"] == "list":
        answer = [[rng.choice(names)] for names in answer]
    return {**question, "exact_answer": answer} if answer else question


@few
@given(batches(gold=True), batches(gold=False), st.randoms(use_true_random=False))
def test_the_order_of_questions_changes_nothing(
    gold: list[dict[str, Any]], submission: list[dict[str, Any]], rng: random.Random
) -> None:
    shuffled = [rng.sample(questions, len(questions)) for questions in (gold, submission)]
    for phase in ("A", "B"):
        before, after = (
            [float(number) for number in official_line(*pair, phase, 9).split()]
            for pair in ((gold, submission), shuffled)
        )
        for one, other in zip(before, after, strict=True):
            assert close(one, other)
    one, other = (
        score_strict(read_gold(a, 9), read_responses(b, 9))
        for a, b in ((gold, submission), shuffled)
    )
    for x, y in zip(values(one), values(other), strict=True):
        assert math.isclose(x, y, rel_tol=1e-12)


def close(one: float, other: float) -> bool:
    """Equal but for the rounding of sums; NaN equals NaN."""
    return math.isclose(one, other, rel_tol=1e-12) or (math.isnan(one) and math.isnan(other))


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=5,
)
keys = st.sampled_from(
    ["type", "documents", "snippets", "concepts", "triples", "exact_answer", "body"]
)


@few
@given(st.dictionaries(keys, anything, max_size=4), st.dictionaries(keys, anything, max_size=4))
def test_any_json_is_scored_or_refused_with_an_explanation(
    gold: dict[str, Any], answer: dict[str, Any]
) -> None:
    for phase in ("A", "B"):
        for edition in (2, 9):
            try:
                official_line([{"id": "q"} | gold], [{"id": "q"} | answer], phase, edition)
            except InputError as error:
                assert "question q" in str(error)  # noqa: PT017 (either outcome is right)
