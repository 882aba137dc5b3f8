import logging
import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from generation.lexical import lexical_vectors, terms
from generation.quality import QualityConfig, agreements, weigh
from hybrid_ir.errors import InputError
from hybrid_ir.records import PseudoDocument, Question

HEART = Question("h", "Which drug prevents stroke?", "factoid")
GENE = Question("g", "Is MEF2C mutated in epilepsy?", "yesno")


def text(question, content, generator="a", sample=0):
    return PseudoDocument(question.id, generator, sample, "plain", content)


def look_up(vectors):
    return lambda texts: np.array([vectors[text] for text in texts])


def idf(rows, holding):
    return math.log(1 + (rows - holding + 0.5) / (holding + 0.5))


def test_terms_are_cut_and_words_of_every_question_left_out():
    assert terms("Which drugs prevent the 5'UTR-variants?") == [
        "drugs",
        "preven",
        "5",
        "utr",
        "varian",
    ]


def test_the_share_of_a_question_in_a_text_is_weighted_by_rarity():
    questions = ["drug stroke", "stroke"]
    vectors = lexical_vectors(questions, ["a drug", "stroke stroke"])
    drug, stroke = idf(4, 2), idf(4, 3)  # drug: a question and a text; stroke: two and one
    share = (vectors.questions @ vectors.presence.T).toarray()
    assert share[0] == pytest.approx([drug / (drug + stroke), stroke / (drug + stroke)])
    assert share[1] == pytest.approx([0, 1])
    assert (vectors.texts @ vectors.texts.T).toarray() == pytest.approx(np.eye(2))


def test_agreement_with_the_question_alone_is_taken_above_chance():
    # each text holds the whole of its question and nothing of the other's: chance is 0
    texts = [text(HEART, "drug prevents stroke"), text(GENE, "mef2c mutated epilepsy")]
    assert agreements([HEART, GENE], texts, "lexical") == pytest.approx([1, 1])
    # by vectors: own products 1 and 0.6, those of strangers 0.8 and 0, so chance is 0.4
    vectors = {HEART.body: [1, 0], GENE.body: [0, 1], "t": [1, 0], "u": [0.8, 0.6]}
    texts = [text(HEART, "t"), text(GENE, "u")]
    found = agreements(
        [HEART, GENE], texts, "embedding", lambda t: np.array([vectors[x] for x in t])
    )
    assert found == pytest.approx([1, (0.6 - 0.4) / (1 - 0.4)])


def test_a_believed_text_backs_one_that_is_like_it():
    vectors = {HEART.body: [1, 0, 0], "own": [0.8, 0.6, 0], "like": [0, 1, 0], "other": [0, 0, 1]}
    texts = [text(HEART, name, name) for name in ("own", "like", "other")]
    found = agreements([HEART], texts, "embedding", look_up(vectors))
    # one question: no strangers, no chance. own 0.8, 0, 0; like is 0.6 like own, other is nothing
    assert found == pytest.approx([0.8, 1 - (1 - 0) * (1 - 0.8 * 0.6), 0])


def test_both_is_the_mean_and_a_weight_rises_between_its_ends():
    vectors = {HEART.body: [1, 0], "drug prevents stroke": [0.5, math.sqrt(0.75)]}
    texts = [text(HEART, "drug prevents stroke")]
    embed = look_up(vectors)
    assert agreements([HEART], texts, "both", embed) == pytest.approx([(1 + 0.5) / 2])
    (weighed,) = weigh([HEART], texts, QualityConfig("both", 0.5, 1.0), embed)
    assert weighed == replace(texts[0], weight=pytest.approx((0.75 - 0.5) / (1.0 - 0.5)))
    assert weigh([HEART], texts, QualityConfig("both", 0.0, 0.75), embed)[0].weight == 1
    assert weigh([HEART], texts, QualityConfig("both", 0.75, 1.0), embed)[0].weight == 0


def test_another_questions_text_is_muted_and_its_good_companion_is_not():
    good = "MEF2C is mutated in epilepsy and in delayed development."
    bad = "Apixaban is a drug that prevents stroke in atrial fibrillation."
    texts = [text(GENE, good, "a"), text(GENE, bad, "b"), text(HEART, bad, "a")]
    steep = QualityConfig(nothing=0.2, everything=0.4)
    assert [one.weight for one in weigh([HEART, GENE], texts, steep)] == [1, 0, 1]


@pytest.mark.parametrize("content", ["", " \n"])
def test_an_empty_text_weighs_nothing_even_beside_another(content):
    texts = [text(HEART, content), text(HEART, "drug prevents stroke", "b")]
    all_alike = look_up({key: [1.0] for key in (HEART.body, *(one.text for one in texts))})
    assert [one.weight for one in weigh([HEART], texts, QualityConfig("both"), all_alike)] == [0, 1]


def test_a_copy_backs_nothing():
    once = agreements([HEART, GENE], [text(HEART, "drug")], "lexical")
    twice = agreements([HEART, GENE], [text(HEART, "drug"), text(HEART, "drug", "b")], "lexical")
    assert 0 < once[0] < 1
    assert twice[0] == twice[1]
    assert twice[0] < 1 - (1 - once[0]) ** 2


def test_no_texts_and_questions_without_texts():
    assert weigh([HEART], []) == []
    assert len(weigh([HEART, GENE, Question("x", "is it", "yesno")], [text(GENE, "MEF2C")])) == 1


def test_faults_name_the_questions_and_the_cure():
    with pytest.raises(InputError, match="of none of them:\n  g\n  z"):
        weigh([HEART], [text(GENE, "a"), replace(text(GENE, "a"), question_id="z")])
    with pytest.raises(InputError, match="the method both needs embeddings"):
        weigh([HEART], [text(HEART, "a")], QualityConfig("both"))
    with pytest.raises(InputError, match=r"0 <= nothing < everything <= 1, got 0.5, 0.5"):
        QualityConfig(nothing=0.5, everything=0.5)


def test_what_was_found_is_logged(caplog):
    with caplog.at_level(logging.INFO):
        weigh([HEART], [text(HEART, "drug prevents stroke"), text(HEART, "nonsense", "b")])
    assert "a: 1 text, mean weight 1.000, 0 of weight 0 and 1 of weight 1" in caplog.text
    assert "b: 1 text, mean weight 0.000, 1 of weight 0 and 0 of weight 1" in caplog.text


WORDS = st.lists(st.sampled_from(["drug", "stroke", "mef2c", "gene", "trial"]), max_size=6)


@given(
    st.lists(st.tuples(st.sampled_from([HEART, GENE]), WORDS, st.sampled_from("abc")), max_size=8)
)
def test_weights_are_in_range_and_do_not_depend_on_the_order(rows):
    texts = [text(question, " ".join(words), name) for question, words, name in rows]
    weighed = weigh([HEART, GENE], texts)
    assert [replace(one, weight=1.0) for one in weighed] == texts
    assert all(0 <= one.weight <= 1 for one in weighed)
    backwards = weigh([GENE, HEART], texts[::-1])[::-1]
    assert [one.weight for one in backwards] == pytest.approx([one.weight for one in weighed])


@given(st.lists(st.sampled_from(terms("drug prevents stroke")), unique=True, max_size=2))
def test_more_of_the_question_never_weighs_less(some):
    others = [text(GENE, "mef2c mutated epilepsy")]
    less = text(HEART, " ".join(["trial", *some]))
    more = text(HEART, " ".join(["trial", *terms("drug prevents stroke")]))
    before, after = (
        agreements([HEART, GENE], [one, *others], "lexical")[0] for one in (less, more)
    )
    assert after >= before - 1e-9
    assert after == pytest.approx(1)
