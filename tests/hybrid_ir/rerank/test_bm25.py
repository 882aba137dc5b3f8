from math import log

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hybrid_ir.rerank.bm25 import STOP_WORDS, bm25, open_bm25, words_of
from hybrid_ir.rerank.candidates import Candidates
from hybrid_ir.rerank.settings import ScorerConfig

WORDS = st.lists(st.sampled_from(["p53", "gene", "lung", "virus"]), max_size=6)


def scores_of(query, *texts, **settings):
    documents = tuple(str(number) for number in range(len(texts)))
    score = open_bm25(ScorerConfig(kind="bm25", **settings))
    (scores,) = score([Candidates("q", query, documents, texts)])
    return scores.tolist()


def test_scores_by_hand():
    # words: 3 ("p53", "p53", "gene"), 1, 2; on average 2. "the", "of", "is" are stop words.
    scores = scores_of("What is the role of p53?", "p53 and P53 the gene", "lung", "P53 (virus).")
    # "role" is in 0 of 3 documents, "p53" in 2 of 3
    weight = log(1 + (3 - 2 + 0.5) / (2 + 0.5))
    first = 2 * 2.5 / (2 + 1.5 * (1 - 0.75 + 0.75 * 3 / 2))
    third = 1 * 2.5 / (1 + 1.5 * (1 - 0.75 + 0.75 * 2 / 2))
    assert scores == pytest.approx([weight * first, 0.0, weight * third], rel=1e-12)


def test_several_words_and_repeated_ones_by_hand():
    # 2 documents of 2 words; "gene" twice in the query, "lung" in both documents
    scores = scores_of("gene gene lung", "gene lung", "lung virus", k1=1.0, b=0.0)
    gene, lung = log(1 + (2 - 1 + 0.5) / 1.5), log(1 + (2 - 2 + 0.5) / 2.5)
    half = 1 * 2 / (1 + 1)  # tf (k1 + 1) / (tf + k1), which is 1
    assert scores == pytest.approx([2 * gene * half + lung * half, lung * half], rel=1e-12)


def test_weights_come_from_the_candidates_alone():
    texts = ("p53 gene", "p53 lung", "virus")
    alone = scores_of("p53", *texts[:2])
    assert alone != scores_of("p53", *texts)[:2]
    score = open_bm25(ScorerConfig(kind="bm25"))
    asked = [Candidates("q", "p53", ("1", "2"), texts[:2]), Candidates("r", "p53", ("3",), ("x",))]
    assert [scores.tolist() for scores in score(asked)] == [alone, [0.0]]


@pytest.mark.parametrize(
    ("texts", "expected"),
    [((), []), (("",), [0.0]), (("", "the of"), [0.0, 0.0]), (("", "gene"), [0.0, 0.0])],
)
def test_where_there_is_nothing_to_find(texts, expected):
    assert scores_of("p53?", *texts) == expected


def test_an_empty_document_beside_one_that_has_the_word():
    for settings in ({}, {"k1": 0.0}, {"b": 1.0}):  # divided by nothing, if by anything
        empty, full = scores_of("p53", "", "p53", **settings)
        assert empty == 0 < full


@given(query=WORDS, documents=st.lists(WORDS, min_size=1, max_size=6), k1=st.floats(0, 1000))
def test_no_score_is_negative_and_a_word_of_all_documents_still_counts(query, documents, k1):
    scores = bm25(query, documents, k1, 0.75)
    for score, document in zip(scores, documents, strict=True):
        assert (score > 0) == bool(set(query) & set(document))
        assert score >= 0


@given(st.integers(1, 50), st.integers(1, 50))
def test_a_word_weighs_less_the_more_documents_have_it(few, more):
    documents = [["few"]] * few + [["more"]] * (few + more)
    scores = bm25(["few", "more"], documents, 1.5, 0.75)
    assert scores[0] > scores[-1]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("IL-6/STAT3 in T cells.", ["il-6/stat3", "t", "cells"]),
        ("Crohn's, Crohn\u2019s: patients' doesn't", ["crohn", "crohn", "patients"]),
        ("5'-UTR, 'quoted' \u201cword\u201d ''x''", ["5'-utr", "quoted", "word", "x"]),
        ("1,000 of 2:1 (a,b) x:y, z", ["1,000", "2:1", "b", "x", "y", "z"]),
        ("0.05. i.v. e.g. al. end... more", ["0.05", "i.v", "e.g", "al", "end"]),
        ("p<0.05; \u03b1-chain\u2014na\u00efve", ["p", "0.05", "\u03b1-chain", "na\u00efve"]),
        ("50% - = / \u00b1 _ -- * & @ #", ["50"]),
        ("cannot a--b", ["cannot", "b"]),
    ],
)  # fmt: skip
def test_words(text, words):
    assert words_of(text) == words


def test_stop_words_are_words():
    assert all(words_of(f"{word} gene") == ["gene"] for word in STOP_WORDS)
    assert all(word.isalpha() and word.islower() for word in STOP_WORDS)
