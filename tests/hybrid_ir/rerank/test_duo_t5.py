from itertools import permutations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from tiny_t5 import save_tiny_t5

from hybrid_ir.rerank.candidates import Candidates
from hybrid_ir.rerank.duo_t5 import open_duo_t5, sym_sum
from hybrid_ir.rerank.settings import ScorerConfig

QUERY = "what is known about the gene"
TEXTS = ("heart gene", "the old trial of the new virus in brain", "kidney " * 20)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return save_tiny_t5(tmp_path_factory.mktemp("models") / "t5", seed=0, spread=2.0)


def settings(folder, **changes):
    plain = {"precision": "float32", "device": "cpu", "tokens_at_once": 200}
    return ScorerConfig(kind="duo_t5", model=str(folder), **(plain | changes))


def asked(texts=TEXTS, query=QUERY):
    return Candidates("q1", query, tuple(map(str, range(len(texts)))), tuple(texts))


@pytest.fixture(scope="module")
def chance_of(folder):
    """The chance that one text is better than another, by the model called alone."""
    from transformers import AutoTokenizer, T5ForConditionalGeneration

    model = T5ForConditionalGeneration.from_pretrained(folder).eval()
    tokenizer = AutoTokenizer.from_pretrained(folder)
    answers = tokenizer.convert_tokens_to_ids(["▁true", "▁false"])

    def chance(one, other, query=QUERY):
        prompt = f"Query: {query} Document0: {one} Document1: {other} Relevant:"
        ids = tokenizer(prompt, return_tensors="pt").input_ids
        with torch.no_grad():
            logits = model(input_ids=ids, decoder_input_ids=torch.tensor([[0]])).logits[0, 0]
        return logits[answers].softmax(0)[0].item()

    return chance


def test_a_score_is_the_mean_of_the_chances_both_ways_round():
    chances = np.array([[0.5, 0.9, 0.6], [0.2, 0.5, 0.3], [0.5, 0.8, 0.5]])
    assert sym_sum(chances) == pytest.approx(
        [
            ((0.9 + 1 - 0.2) + (0.6 + 1 - 0.5)) / 4,
            ((0.2 + 1 - 0.9) + (0.3 + 1 - 0.8)) / 4,
            ((0.5 + 1 - 0.6) + (0.8 + 1 - 0.3)) / 4,
        ]
    )


def test_a_lone_document_scores_1_and_none_scores_nothing():
    assert sym_sum(np.zeros((1, 1))).tolist() == [1.0]
    assert sym_sum(np.zeros((0, 0))).tolist() == []


def test_the_best_of_all_scores_1_and_the_worst_0():
    assert sym_sum(np.array([[np.nan, 1, 1], [0, np.nan, 1], [0, 0, np.nan]])).tolist() == [
        1.0,
        0.5,
        0.0,
    ]


def test_a_pair_that_is_no_number_spoils_both_of_its_documents_only():
    chances = np.full((3, 3), 0.5)
    chances[0, 1] = np.nan
    assert np.isnan(sym_sum(chances)).tolist() == [True, True, False]


@given(
    st.integers(2, 6).flatmap(lambda n: st.lists(st.floats(0, 1), min_size=n * n, max_size=n * n))
)
def test_scores_lie_between_0_and_1_and_share_out_half_a_point_each(flat):
    count = round(len(flat) ** 0.5)
    scores = sym_sum(np.array(flat).reshape(count, count))
    assert (scores >= -1e-9).all()
    assert (scores <= 1 + 1e-9).all()
    # of each pair one document gets what the other one lacks
    assert scores.sum() == pytest.approx(count / 2)


def test_scores_are_those_of_the_model_called_pair_by_pair(folder, chance_of):
    (scores,) = open_duo_t5(settings(folder))([asked()])
    p = {(i, j): chance_of(TEXTS[i], TEXTS[j]) for i, j in permutations(range(3), 2)}
    expected = [
        (p[0, 1] + 1 - p[1, 0] + p[0, 2] + 1 - p[2, 0]) / 4,
        (p[1, 0] + 1 - p[0, 1] + p[1, 2] + 1 - p[2, 1]) / 4,
        (p[2, 0] + 1 - p[0, 2] + p[2, 1] + 1 - p[1, 2]) / 4,
    ]
    assert scores == pytest.approx(expected, abs=1e-5)
    assert np.ptp(scores) > 0.01


def test_questions_follow_each_other_whatever_they_have(folder):
    found = list(open_duo_t5(settings(folder))([asked(()), asked(TEXTS[:1]), asked(TEXTS[:2])]))
    assert [len(scores) for scores in found] == [0, 1, 2]
    assert found[1].tolist() == [1.0]
    assert found[2].sum() == pytest.approx(1.0)


def test_documents_have_equal_shares_and_the_words_behind_them_stay(folder, chance_of, caplog):
    # the frame and the end are 9 tokens, the question 6: (27 - 9 - 6) / 2 are 6 for a document
    (scores,) = open_duo_t5(settings(folder, max_length=27))([asked(TEXTS[1:])])
    one, other = "the old trial of the new", "kidney " * 6
    p01, p10 = chance_of(one, other), chance_of(other, one)
    assert scores == pytest.approx([(p01 + 1 - p10) / 2, (p10 + 1 - p01) / 2], abs=1e-5)
    assert "the end of 2 of 2 documents was cut: 27 tokens" in caplog.text


def test_a_long_question_gets_a_third_of_the_room(folder, chance_of, caplog):
    # (39 - 9) / 3 are 10 for each
    scorer = open_duo_t5(settings(folder, max_length=39))
    (scores,) = scorer([asked(("gene " * 30, "lung " * 30), "heart " * 30)])
    p01 = chance_of("gene " * 10, "lung " * 10, "heart " * 10)
    p10 = chance_of("lung " * 10, "gene " * 10, "heart " * 10)
    assert scores == pytest.approx([(p01 + 1 - p10) / 2, (p10 + 1 - p01) / 2], abs=1e-5)
    assert "the end of 1 of 1 question was cut" in caplog.text


def test_many_documents_are_logged_beforehand_once(folder, caplog):
    questions = [asked(("gene",) * count) for count in (50, 51, 52)]
    found = list(open_duo_t5(settings(folder, tokens_at_once=100_000))(questions))
    assert [len(scores) for scores in found] == [50, 51, 52]
    (record,) = caplog.records
    assert "51 documents, which make 2,550 pairs" in record.getMessage()  # 51 x 50
