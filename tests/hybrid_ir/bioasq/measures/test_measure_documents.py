from __future__ import annotations

import math
from typing import Any

import pytest

from hybrid_ir.bioasq.measures import read_gold, read_responses
from hybrid_ir.bioasq.measures.documents import (
    NO_HIT,
    RetrievalMeans,
    score_concepts,
    score_documents,
    score_items,
)
from hybrid_ir.bioasq.measures.questions import Edition

URL = "http://www.ncbi.nlm.nih.gov/pubmed/"


def question(name: str, documents: list[str], **more: Any) -> dict[str, Any]:
    return {"id": name, "documents": documents, **more}


def documents(
    gold: list[dict[str, Any]], submission: list[dict[str, Any]], edition: Edition = 9
) -> RetrievalMeans:
    return score_documents(read_gold(gold, edition), read_responses(submission, edition), edition)


def test_precision_recall_f_and_average_precision() -> None:
    score = score_items(["a", "b", "c", "d"], ["a", "x", "b"], 9)
    precision, recall = 2 / 3, 2 / 4
    assert score.precision == precision
    assert score.recall == recall
    assert score.f1 == 2 * precision * recall / (precision + recall)
    assert score.average_precision == (1 / 1 + 2 / 3) / 4


@pytest.mark.parametrize(
    ("edition", "few", "many"), [(2, 2, 12), (3, 10, 10), (5, 10, 10), (8, 2, 10), (9, 2, 10)]
)
def test_editions_divide_average_precision_differently(
    edition: Edition, few: int, many: int
) -> None:
    assert score_items(["a", "b"], ["a"], edition).average_precision == 1 / few
    twelve = [str(i) for i in range(12)]
    assert score_items(twelve, ["0"], edition).average_precision == 1 / many


def test_nothing_is_cut_at_ten() -> None:
    twenty = [str(i) for i in range(20)]
    assert score_items(twenty, twenty, 9).average_precision == 20 / 10


@pytest.mark.parametrize(("gold", "answer"), [([], ["a"]), (["a"], []), (["a"], ["b"]), ([], [])])
def test_nothing_found_scores_zero(gold: list[str], answer: list[str]) -> None:
    assert score_items(gold, answer, 8) == NO_HIT


def test_a_repeated_document_counts_once_where_it_stood_first() -> None:
    means = documents([question("q", ["a", "b", "a"])], [question("q", ["x", "a", "x", "a", "b"])])
    assert means.per_question["q"].precision == 2 / 3
    assert means.map == (1 / 2 + 2 / 3) / 2


@pytest.mark.parametrize("spelling", ["https" + URL[4:] + "1", URL + "1/", "1"])
def test_urls_are_compared_as_strings(spelling: str) -> None:
    assert documents([question("q", [URL + "1"])], [question("q", [spelling])]).recall == 0


def test_a_number_among_documents_is_read_as_text() -> None:
    assert documents([question("q", ["17"])], [{"id": "q", "documents": [17]}]).recall == 1


def test_a_missing_question_is_left_out_not_scored_zero() -> None:
    gold = [question("q", ["a"]), question("r", ["b"])]
    means = documents(gold, [question("q", ["a"])])
    assert means.recall == 1
    assert list(means.per_question) == ["q"]


def test_the_first_of_two_responses_counts() -> None:
    means = documents([question("q", ["a"])], [question("q", ["x"]), question("q", ["a"])])
    assert means.recall == 0


@pytest.mark.parametrize(("edition", "recall"), [(2, 1 / 2), (8, 1 / 2), (9, 1 / 1)])
def test_edition_9_leaves_out_a_gold_without_documents(edition: Edition, recall: float) -> None:
    gold = [question("q", ["a"]), question("r", [])]
    assert documents(gold, gold, edition).recall == recall


def test_means() -> None:
    gold = [question("q", ["a"]), question("r", ["b", "c"])]
    means = documents(gold, [question("q", ["a"]), question("r", ["x", "b"])])
    assert means.precision == (1 / 1 + 1 / 2) / 2
    assert means.recall == (1 / 1 + 1 / 2) / 2
    assert means.f1 == (1 + 2 * 0.5 * 0.5 / (0.5 + 0.5)) / 2
    assert means.map == (1 + (1 / 2) / 2) / 2
    assert means.gmap == math.exp((math.log(1 + 1e-5) + math.log(0.25 + 1e-5)) / 2)


def test_no_question_answered_gives_zeros_and_nan() -> None:
    precision, recall, *others = documents([question("q", ["a"])], [question("z", ["a"])]).values
    assert (precision, recall) == (0, 0)
    assert all(math.isnan(value) for value in others)


def test_concepts_count_where_both_sides_have_some() -> None:
    gold = [
        question("q", ["a"], concepts=["c"]),
        question("r", ["a"], concepts=[]),
        question("s", ["a"], concepts=["c"]),
    ]
    given = [
        question("q", [], concepts=["c", "d"]),
        question("r", [], concepts=["c"]),
        question("s", []),
    ]
    means = score_concepts(read_gold(gold, 9), read_responses(given, 9), 9)
    assert list(means.per_question) == ["q"]
    assert means.values[:4] == (1 / 2, 1.0, 2 * 0.5 / 1.5, 1.0)


def test_concepts_of_a_gold_without_documents_are_left_out_in_edition_9() -> None:
    gold = [question("q", [], concepts=["c"])]
    for edition, expected in ((8, 1), (9, 0)):
        entries, responses = read_gold(gold, edition), read_responses(gold, edition)
        assert len(score_concepts(entries, responses, edition).per_question) == expected


def test_without_concepts_all_is_zero() -> None:
    gold = [question("q", ["a"])]
    assert score_concepts(read_gold(gold, 9), read_responses(gold, 9), 9).values == (0,) * 5
