import pytest

from hybrid_ir.retrieval.rm3 import (
    Rm3Config,
    expand,
    heaviest,
    relevance_model,
    to_unit_sum,
    useful,
)


def test_the_relevance_model_is_the_score_weighted_mean_of_document_models():
    feedback = [({"heart": 3, "drug": 1}, 2.0), ({"drug": 1}, 1.0)]
    total = 2 * (3 / 4) + 2 * (1 / 4) + 1 * 1
    model = relevance_model(feedback, terms=10)
    assert model == pytest.approx({"heart": 2 * 3 / 4 / total, "drug": (2 * 1 / 4 + 1) / total})


def test_documents_and_model_are_cut_to_their_heaviest_terms_ties_by_name():
    assert heaviest({"b": 1, "a": 1, "c": 2}, 2) == {"c": 2, "a": 1}
    assert relevance_model([({"a": 1, "b": 3, "c": 2}, 1.0)], terms=1) == {"b": 1.0}


def test_the_query_keeps_its_share():
    config = Rm3Config(documents=1, terms=2, query_weight=0.25)
    weights = expand({"x": 1, "y": 3}, [({"y": 1, "z": 1}, 5.0)], config, lambda _: True)
    assert weights == pytest.approx(
        {"x": 0.25 * 1 / 4, "y": 0.25 * 3 / 4 + 0.75 * 1 / 2, "z": 0.75 * 1 / 2}
    )


def test_without_feedback_the_query_is_left():
    weights = expand({"x": 2}, [], Rm3Config(query_weight=0.5), lambda _: True)
    assert weights == {"x": 0.5}
    assert to_unit_sum({}) == {}


def test_terms_that_are_not_kept_count_for_nothing():
    config = Rm3Config(query_weight=0.0)
    weights = expand({"q": 1}, [({"a": 1, "b": 9}, 1.0)], config, lambda term: term == "a")
    assert weights == {"a": 1.0, "q": 0.0}


@pytest.mark.parametrize(
    ("term", "frequency", "kept"),
    [
        ("il2", 1, True),
        ("ab", 10, True),
        ("ab", 11, False),
        ("a", 1, False),
        ("a" * 20, 1, True),
        ("a" * 21, 1, False),
        ("β2", 1, False),
        ("a_b", 1, False),
    ],
)
def test_which_terms_are_useful_in_100_documents(term, frequency, kept):
    assert useful(term, frequency, 100) is kept
