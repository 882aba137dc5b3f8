from __future__ import annotations

import math
from typing import Any

import pytest

from hybrid_ir.bioasq.measures import Strict, read_gold, read_responses, score_strict
from hybrid_ir.bioasq.measures.questions import Passage
from hybrid_ir.bioasq.measures.strict_exact import match_lists, matching_size
from hybrid_ir.bioasq.measures.strict_retrieval import score_ranges
from hybrid_ir.errors import InputError

URL = "http://www.ncbi.nlm.nih.gov/pubmed/"


def strict(gold: list[dict[str, Any]], submission: list[dict[str, Any]]) -> Strict:
    return score_strict(read_gold(gold, 9), read_responses(submission, 9))


def at(begin: int, end: int, section: str = "abstract") -> Passage:
    """A range with an exclusive end, as the scoring functions take it."""
    return Passage("1", section, section, begin, end - 1)


def snippet(begin: int, end: int, document: str = URL + "1", section: str = "abstract") -> Any:
    return {
        "document": document,
        "beginSection": section,
        "endSection": section,
        "offsetInBeginSection": begin,
        "offsetInEndSection": end,
    }


def test_documents_are_compared_by_pmid() -> None:
    gold = [{"id": "q", "documents": [URL + "1", "https://pubmed.ncbi.nlm.nih.gov/1/"]}]
    documents = strict(gold, [{"id": "q", "documents": ["1", URL + "1", "PMID:2"]}]).documents
    assert documents.values[:4] == (1 / 2, 1 / 1, 2 * 0.5 / 1.5, 1.0)


def test_documents_are_cut_at_ten() -> None:
    gold = [{"id": "q", "documents": [f"{URL}{i}" for i in range(1, 21)]}]
    documents = strict(gold, gold).documents
    assert documents.values[:2] == (10 / 10, 10 / 20)
    assert documents.map == 10 / 10
    late = [{"id": "q", "documents": [f"{URL}{i}" for i in range(90, 100)] + [URL + "1"]}]
    assert strict(gold, late).documents.values[:4] == (0, 0, 0, 0)


def test_a_missing_question_scores_zero() -> None:
    gold = [{"id": name, "documents": ["1"], "snippets": [snippet(0, 9)]} for name in "qr"]
    scores = strict(gold, gold[:1])
    for means in (scores.documents, scores.snippets):
        assert means.values[:4] == ((1 + 0) / 2,) * 4
        assert means.gmap == math.exp((math.log(1) + math.log(1e-5)) / 2)


def test_a_gold_with_nothing_to_find_does_not_count() -> None:
    scores = strict([{"id": "q", "documents": [], "snippets": [snippet(5, 5)]}], [{"id": "q"}])
    assert not scores.documents.per_question
    assert not scores.snippets.per_question


def test_ends_are_exclusive() -> None:
    score = score_ranges([at(0, 10)], [at(5, 20)])
    assert (score.precision, score.recall) == (5 / 15, 5 / 10)
    assert score_ranges([at(0, 10)], [at(10, 20)]).recall == 0


def test_characters_covered_twice_count_once() -> None:
    score = score_ranges([at(0, 10)], [at(0, 10), at(5, 15)])
    assert (score.precision, score.recall) == (10 / 15, 10 / 10)


def test_snippet_average_precision() -> None:
    gold = [at(0, 10), at(20, 30)]
    answers = [at(0, 5), at(5, 10), at(40, 50), at(20, 30)]
    # hits are ranks 1 and 4: rank 2 meets a passage met before, rank 3 meets none
    assert score_ranges(gold, answers).average_precision == (5 / 5 + 20 / 30) / 2


def test_many_snippets_in_one_gold_passage_are_one_hit() -> None:
    assert score_ranges([at(0, 99)], [at(0, 9), at(20, 30), at(40, 50)]).average_precision == 1


def test_snippets_are_cut_at_ten_and_old_sections_match_both_ways() -> None:
    gold = [{"id": "q", "snippets": [snippet(0, 10, section="sections.0")]}]
    late = [snippet(0, 9, section="title")] * 10 + [snippet(0, 10)]
    assert strict(gold, [{"id": "q", "snippets": late}]).snippets.recall == 0
    assert strict(gold, [{"id": "q", "snippets": late[-1:]}]).snippets.recall == 1


def exact(kind: str, gold: list[Any], answers: list[Any]) -> Strict:
    return strict(
        [{"id": str(i), "type": kind, "exact_answer": x} for i, x in enumerate(gold)],
        [{"id": str(i), "exact_answer": x} for i, x in enumerate(answers)],
    )


def test_a_gold_of_one_label_answered_perfectly_scores_one() -> None:
    assert exact("yesno", ["yes", "Yes."], ["yes", "yes"]).yesno.values == (1, 1, 1, 1)


def test_a_label_not_in_the_gold_but_given_has_no_f1() -> None:
    f1_yes = 2 * 1 / (2 * 1 + 0 + 1)
    assert exact("yesno", ["yes"] * 2, ["yes", "no"]).yesno.values == (1 / 2, f1_yes, f1_yes, 0)


def test_only_yes_and_no_are_answers_and_a_missing_one_is_wrong() -> None:
    yesno = exact("yesno", ["yes", "no", "no", "yes"], ["yes", "not sure", " No"]).yesno
    f1_yes = 2 * 1 / (2 * 1 + 0 + 1)
    f1_no = 2 * 1 / (2 * 1 + 0 + 1)  # the wrong answers are no false positives of either label
    assert yesno.values == (2 / 4, (f1_yes + f1_no) / 2, f1_yes, f1_no)


def test_a_list_for_a_yes_no_question_is_refused() -> None:
    with pytest.raises(InputError, match="question 0"):
        exact("yesno", ["yes"], [[["yes"]]])


def test_factoids_are_cut_at_five_and_have_no_synonyms() -> None:
    wrong = [["x"]] * 4
    factoid = exact(
        "factoid", [[["a"]]] * 3, [[*wrong, ["A"]], [*wrong, ["x"], ["a"]], [["x", "a"]]]
    )
    assert factoid.factoid.values == (0, 1 / 3, (1 / 5) / 3)


def test_lists_are_cut_at_a_hundred() -> None:
    answers = [[f"x{i}"] for i in range(100)]
    assert exact("list", [[["a"]]], [[*answers, ["a"]]]).lists.values == (0, 0, 0)
    assert exact("list", [[["a"]]], [[*answers[:99], ["a"]]]).lists.precision == 1 / 100


def test_each_list_entry_has_an_entity_of_its_own() -> None:
    assert match_lists([["a"], ["a", "b"]], [["a"]]).recall == 1 / 2
    assert match_lists([["a", "b"], ["a"]], [["a"], ["b"]]).recall == 2 / 2
    assert matching_size([[0, 1], [0], [0, 1]]) == 2
