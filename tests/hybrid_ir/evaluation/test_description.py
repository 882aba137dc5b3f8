"""Descriptions of batches by hand, against Lucene's stop words and against a published figure."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hybrid_ir.bioasq.questions import read_questions
from hybrid_ir.errors import InputError
from hybrid_ir.evaluation.description import (
    FORMS,
    OTHER,
    STOP_WORDS,
    Amount,
    describe,
    describe_table,
    form_of,
    words_of,
)
from hybrid_ir.files import to_json
from hybrid_ir.records import Question
from hybrid_ir.retrieval.jvm import java_class

BATCH = [
    Question("a", "Is IL-2 (or TNF-α) in the gut ?", "yesno"),  # 7 words, 3 of them content
    Question("b", "Which genes are known?", "factoid"),  # 4, 3
    Question("c", "Please list proteins.", "list"),  # 3, 3
]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Is IL-2 (or TNF-α) up?", ["is", "il-2", "or", "tnf-α", "up"]),
        ("“Alzheimer's” -- 5'-UTR/3'-UTR…", ["alzheimer's", "5'-utr/3'-utr"]),
        ("? - () &", []),
        ("", []),
    ],
)
def test_words(text, words):
    assert words_of(text) == words


@pytest.mark.parametrize(
    ("body", "form"),
    [
        ("Which gene is it?", "which"),
        ("In which organ is it?", "which"),
        ("“What” is it?", "what"),
        ("Please list genes", "list"),
        ("IS it?", "is"),
        ("The gene is known for what?", OTHER),
        ("In patients, is it safe?", OTHER),
        ("in", OTHER),
        ("?", OTHER),
    ],
)
def test_forms(body, form):
    assert form_of(body) == form


def test_a_batch_by_hand():
    batch = describe(BATCH)
    assert batch.questions == 3
    assert batch.words == Amount((7 + 4 + 3) / 3, 3, 7)
    assert batch.content_words == Amount((3 + 3 + 3) / 3, 3, 3)
    assert batch.entities is None
    assert batch.types == {"yesno": 1, "factoid": 1, "list": 1, "summary": 0}
    assert list(batch.forms.items()) == [("is", 1), ("list", 1), ("which", 1)]
    assert '"entities":null' in to_json(batch)


def test_entities_are_counted_by_what_is_given():
    def entities_of(body):
        return [word for word in body.split() if word[0].isupper() and "-" in word]

    assert describe(BATCH, entities_of).entities == Amount(2 / 3, 0, 2)  # IL-2, TNF-α)


def test_other_forms_come_last_however_many():
    bodies = ["Genes?", "Cells?", "Drugs?", "Is it?"]
    batch = describe([Question(body, body, "yesno") for body in bodies])
    assert list(batch.forms.items()) == [("is", 1), (OTHER, 3)]


def test_no_question_is_an_error():
    with pytest.raises(InputError, match="got none"):
        describe([])


def test_two_batches_side_by_side():
    lines = describe_table({"ours": describe(BATCH), "b": describe(BATCH[:2])}).splitlines()
    rows = {" ".join(line.split()[:-3]): line.split()[-3:] for line in lines}
    assert lines[0].split() == ["ours", "b", "difference"]
    assert rows["questions"] == ["3", "2", "-1"]
    assert rows["words, mean"] == ["4.7", "5.5", "+0.8"]
    assert rows["list"] == ["33.3", "0.0", "-33.3"]
    assert rows["is"] == ["33.3", "50.0", "+16.7"]
    assert not any("entities" in line for line in lines)


def test_entities_stand_in_the_table_where_every_batch_has_them():
    with_entities = describe(BATCH, str.split)
    assert "entities, mean" in describe_table({"a": with_entities})
    assert "entities" not in describe_table({"a": with_entities, "b": describe(BATCH)})


def test_three_batches_have_no_difference():
    text = describe_table({name: describe(BATCH) for name in "abc"})
    assert text.splitlines()[0].split() == ["a", "b", "c"]
    assert text.splitlines()[1].split() == ["questions", "3", "3", "3"]


def test_stop_words_are_lucene_s():
    theirs = java_class("org.apache.lucene.analysis.en.EnglishAnalyzer").ENGLISH_STOP_WORDS_SET
    assert theirs.size() == len(STOP_WORDS) == 33
    assert all(theirs.contains(word) for word in STOP_WORDS)


@given(st.lists(st.text(min_size=1, max_size=40), min_size=1, max_size=5))
def test_any_bodies_can_be_described(bodies):
    questions = [Question(str(number), body, "list") for number, body in enumerate(bodies)]
    batch = describe(questions)
    assert sum(batch.forms.values()) == sum(batch.types.values()) == len(bodies)
    assert batch.forms.keys() <= FORMS | {OTHER}
    assert 0 <= batch.content_words.mean <= batch.words.mean
    assert describe_table({"a": batch, "b": batch})


@pytest.mark.shared
def test_the_batch_that_mibi_describes(shared):
    """MiBi, section 3.6: 6.6 words that are no stop words in batch 3 of task 12b."""
    golden = shared / "data" / "bioasq_golden" / "12B3_golden.json.gz"
    batch = describe(read_questions(golden))
    assert batch.questions == 85
    assert round(batch.content_words.mean, 1) == 6.6
    assert round(batch.words.mean, 1) == 9.5
