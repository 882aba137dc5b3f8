from __future__ import annotations

import math
from typing import Any

import pytest

from hybrid_ir.bioasq.measures import read_gold, read_responses
from hybrid_ir.bioasq.measures.documents import Retrieval, RetrievalMeans
from hybrid_ir.bioasq.measures.questions import Edition, Passage, section_name
from hybrid_ir.bioasq.measures.snippets import merge, score_passages, score_snippets

URL = "http://www.ncbi.nlm.nih.gov/pubmed/1"


def at(begin: int, end: int, document: str = URL, section: str = "abstract") -> Passage:
    return Passage(document, section, section, begin, end)


def snippet(begin: int, end: int, document: str = URL, section: str = "abstract") -> dict[str, Any]:
    return {
        "document": document,
        "beginSection": section,
        "endSection": section,
        "offsetInBeginSection": begin,
        "offsetInEndSection": end,
        "text": "",
    }


def snippets(
    gold: dict[str, list[dict[str, Any]]],
    answers: dict[str, list[dict[str, Any]]],
    edition: Edition = 9,
) -> RetrievalMeans:
    asked = read_gold([{"id": name, "snippets": found} for name, found in gold.items()], edition)
    given = [{"id": name, "snippets": found} for name, found in answers.items()]
    return score_snippets(asked, read_responses(given, edition), edition)


def test_ends_count_as_inclusive() -> None:
    score = score_passages([at(0, 9)], [at(5, 14)], 9)
    assert score == Retrieval(5 / 10, 5 / 10, 0.5, (5 / 10) / 1)


def test_passages_that_touch_share_a_character() -> None:
    assert score_passages([at(0, 10)], [at(10, 20)], 9).precision == 1 / 11


@pytest.mark.parametrize(
    ("first", "second", "unions"),
    [
        ((0, 9), (9, 29), [at(0, 29)]),
        ((0, 9), (10, 29), [at(0, 9), at(10, 29)]),
        ((10, 29), (0, 9), [at(10, 29), at(0, 9)]),
        ((0, 30), (5, 6), [at(0, 30)]),
    ],
)
def test_merging(first: tuple[int, int], second: tuple[int, int], unions: list[Passage]) -> None:
    assert list(merge([at(*first), at(*second)])) == unions


def test_a_union_stands_where_its_earliest_member_stood() -> None:
    other = at(0, 5, section="title")
    assert merge([at(20, 30), other, at(0, 10), at(8, 22)]) == (at(0, 30), other)


def test_only_one_section_of_one_url_is_merged() -> None:
    apart = (at(0, 9), at(0, 9, section="title"), at(0, 9, URL + "/"))
    assert merge(apart) == apart


def test_a_passage_that_ends_before_it_begins_stays_alone() -> None:
    assert merge([at(5, 1), at(0, 20), at(10, 30)]) == (at(5, 1), at(0, 30))


def test_precision_and_recall_forgive_a_slash_and_look_at_the_last_part_of_the_url() -> None:
    for document in (URL + "/", "https://pubmed.ncbi.nlm.nih.gov/1", "1"):
        score = score_passages([at(0, 9)], [at(0, 9, document)], 9)
        assert (score.precision, score.recall) == (1, 1)
        assert score.average_precision == 0  # the whole URL is compared there


def test_a_snippet_beside_the_gold_passage_is_a_hit_all_the_same() -> None:
    score = score_passages([at(0, 9)], [at(50, 59), at(0, 9)], 9)
    assert score.average_precision == (0 / 10 + 10 / 20) / 1


def test_average_precision_can_exceed_one() -> None:
    answers = [at(0, 10), at(20, 30), at(40, 50)]
    assert score_passages([at(0, 99)], answers, 9).average_precision == (1 + 1 + 1) / 1


@pytest.mark.parametrize(("edition", "divisor"), [(2, 1), (3, 10), (5, 10), (8, 1), (9, 1)])
def test_average_precision_is_divided_by_merged_gold_passages(
    edition: Edition, divisor: int
) -> None:
    score = score_passages([at(0, 9), at(5, 19)], [at(0, 19)], edition)
    assert score.average_precision == 1 / divisor


@pytest.mark.parametrize(
    ("name", "compared"), [("sections.0", "0"), ("abstract", "abstract"), ("a.b.c", "b.c")]
)
def test_section_names(name: str, compared: str) -> None:
    assert section_name(name) == compared


def test_the_old_name_of_the_abstract_matches_in_one_direction() -> None:
    old = at(0, 9, section="0")
    assert score_passages([at(0, 9)], [old], 9).precision == 1
    assert score_passages([old], [at(0, 9)], 9).precision == 0


def test_a_gold_without_snippets_adds_nothing_but_counts_before_edition_9() -> None:
    gold = {"q": [snippet(0, 9)], "r": []}
    old, new = snippets(gold, gold, 8), snippets(gold, gold, 9)
    assert math.isnan(old.per_question["r"].average_precision)
    assert old.values[:4] == (1 / 2,) * 4
    assert old.gmap == math.exp(math.log(1 + 1e-5) / 2)
    assert new.values[:4] == (1,) * 4
    assert list(new.per_question) == ["q"]


def test_edition_3_divides_by_ten_so_that_nothing_is_nan() -> None:
    assert snippets({"q": []}, {"q": []}, 3).per_question["q"].average_precision == 0 / 10


def test_snippets_of_no_size_are_nan() -> None:
    means = snippets({"q": [snippet(0, 9)]}, {"q": [snippet(5, 4)]})
    assert math.isnan(means.per_question["q"].precision)
    assert math.isnan(means.per_question["q"].average_precision)
    assert means.values == (0, 0, 0, 0, 0)


def test_an_empty_answer_scores_zero() -> None:
    means = snippets({"q": [snippet(0, 9)]}, {"q": []})
    assert means.values[:4] == (0,) * 4
    assert means.gmap == math.exp(math.log(1e-5))


def test_no_question_answered_gives_nan_and_a_zero() -> None:
    *others, gmap = snippets({"q": [snippet(0, 9)]}, {}).values
    assert gmap == 0
    assert all(math.isnan(value) for value in others)
