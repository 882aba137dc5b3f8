"""What is right for a question."""

from collections import Counter
from random import Random

import pytest

from hybrid_ir.records import Gold, PseudoDocument, Snippet, SyntheticPair
from training.passages import Passages
from training.positives import (
    Passage,
    at_most,
    gold_positives,
    pseudo_positives,
    synthetic_positives,
)

TEXTS = {"1": "Text of one.", "2": "Text of two."}
PASSAGES = Passages(TEXTS.get, 2, list(TEXTS).__getitem__)


def snippet(pmid, text):
    return Snippet(pmid, "abstract", 0, len(text), text)


GOLD = Gold(
    "q",
    "enriched",
    ("1", "2", "3"),
    (snippet("1", "Text of\none."), snippet("9", "A part."), snippet("2", " ")),
    (),
    None,
)


def test_documents_and_snippets_are_positives_each_text_once():
    dropped = Counter()
    assert gold_positives(GOLD, ("documents", "snippets"), PASSAGES, dropped) == [
        Passage("1", "Text of one.", "gold"),
        Passage("2", "Text of two.", "gold"),
        Passage("9", "A part.", "snippet"),
    ]
    assert dropped == {
        "gold document without a text": 1,  # 3
        "gold snippet without a text": 1,
        "passage that the question has already": 1,  # the snippet that is all of document 1
    }


@pytest.mark.parametrize(
    ("parts", "sources"),
    [(("documents",), ["gold", "gold"]), (("snippets",), ["snippet", "snippet"])],
)
def test_either_part_may_be_left_out(parts, sources):
    found = gold_positives(GOLD, parts, PASSAGES, Counter())
    assert [passage.source for passage in found] == sources


def pair(document, text, source):
    return SyntheticPair("q", "Body?", "list", document, text, 1, source, "model")


def test_a_written_passage_stays_and_a_documents_text_comes_from_where_texts_come_from():
    dropped = Counter()
    pairs = [
        pair("q.model.0", " Made up. ", "passage"),
        pair("1", "What a later year marked.", "question"),
        pair("3", "A document whose text is not to be had.", "question"),
    ]
    assert synthetic_positives(pairs, PASSAGES, dropped) == [
        Passage("", "Made up.", "synthetic"),
        Passage("1", "Text of one.", "synthetic"),
    ]
    assert dropped == {"synthetic pair without a text of the passage": 1}


def test_pseudo_documents_keep_their_weights():
    dropped = Counter()
    texts = [("A.", 1.0), ("B.", 0.25), ("C.", 0.2), ("D.", 0.0), (" ", 1.0), ("A.", 0.5)]
    found = [PseudoDocument("q", "m", n, "p", *text) for n, text in enumerate(texts)]
    assert pseudo_positives(found, 0.25, dropped) == [
        Passage("", "A.", "pseudo", 1.0),
        Passage("", "B.", "pseudo", 0.25),
    ]
    assert dropped == {
        "pseudo-document of too little weight": 2,
        "pseudo-document without a text": 1,
        "passage that the question has already": 1,
    }


def test_a_weight_of_0_teaches_nothing():
    assert pseudo_positives([PseudoDocument("q", "m", 0, "p", "A.", 0.0)], 0.0, Counter()) == []


def test_a_cap_draws_and_keeps_the_order():
    dropped = Counter()
    passages = [Passage(str(number), "x", "gold") for number in range(10)]
    drawn = [at_most(passages, 4, Random(seed), "gold", dropped) for seed in range(20)]
    assert all(len(few) == 4 and few == sorted(few, key=passages.index) for few in drawn)
    assert len({tuple(few) for few in drawn}) > 10
    assert dropped == {"gold above the cap": 20 * (10 - 4)}


@pytest.mark.parametrize("most", [None, 10, 11])
def test_few_enough_are_all_kept(most):
    passages = [Passage(str(number), "x", "gold") for number in range(10)]
    assert at_most(passages, most, Random(0), "gold", Counter()) == passages
