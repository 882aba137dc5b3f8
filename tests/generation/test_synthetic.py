from dataclasses import replace

import pytest

from generation.llm import ModelConfig, Reply, Usage
from generation.prompts import question_for, relevant_passage
from generation.structured import Unusable
from generation.synthetic import (
    LeftOut,
    SyntheticConfig,
    fingerprints,
    pair_of,
    read_half,
    request_of,
    tasks_for_documents,
    tasks_for_questions,
    without_repeats,
)
from generation.texts.checks import ChecksConfig
from hybrid_ir.errors import InputError
from hybrid_ir.records import Document, Question, SyntheticPair

MODEL = ModelConfig("m", "openai", "gpt")
QUESTION = Question("q", "Is it B?", "yesno")


def test_a_question_wants_a_passage():
    (task,) = tasks_for_questions([QUESTION])
    request = request_of(task, MODEL, 1)
    assert (request.question_id, request.sample) == ("q", 1)
    assert request.messages == relevant_passage(QUESTION)
    assert pair_of(task, "B it is.", "m", 1) == SyntheticPair(
        "q", "Is it B?", "yesno", "q.m.1", "B it is.", 1, "passage", "m"
    )


def test_documents_want_questions_of_the_four_types_in_turn():
    documents = [Document(str(number), "T.", f"A{number}.") for number in range(5)]
    tasks = list(tasks_for_documents(documents))
    assert [task.kind for task in tasks] == ["yesno", "factoid", "list", "summary", "yesno"]
    assert request_of(tasks[1], MODEL, 0).messages == question_for(documents[1], "factoid")
    assert pair_of(tasks[1], "What is A1?", "m", 0) == SyntheticPair(
        "1.m.0", "What is A1?", "factoid", "1", "T. A1.", 1, "question", "m"
    )


def test_each_half_has_its_checks():
    (passage,), (question,) = (
        tasks_for_questions([QUESTION]),
        tasks_for_documents([Document("1", "T.")]),
    )

    def read(task, text):
        return read_half(task, Reply(text, "stop", Usage(), "m", "{}"), ChecksConfig()).text

    assert read(passage, "Sure! " + "one line " * 20) == ("one line " * 20).strip()
    with pytest.raises(Unusable, match="it speaks of its source: 'this study'"):
        read(question, "What does this study say?")
    with pytest.raises(Unusable, match="it is too short: 5 words, 30 to 400 are wanted"):
        read(passage, "What does this study say?")
    with pytest.raises(Unusable, match="it refuses"):
        read(passage, "I cannot answer. " + "one line " * 20)


def test_near_duplicates_of_what_was_written_are_left_out():
    first = SyntheticPair(
        "q", "Is it B?", "yesno", "d1", "B it is, as it seems.", 1, "passage", "m"
    )
    again = replace(first, document_id="d2")
    other = replace(first, document_id="d3", text="It is something else.")
    left_out = []
    assert list(without_repeats([first, again, other], 0.7, left_out)) == [first, other]
    assert left_out == [LeftOut(again, "d1")]
    asked = replace(first, question_id="q2", source="question")
    assert list(without_repeats([asked, replace(asked, text="other")], 0.7, [])) == [asked]


def test_both_prompts_have_fingerprints():
    assert len(set(fingerprints())) == 2


def test_faults_of_the_settings_are_named_together():
    with pytest.raises(InputError, match=r"samples[\s\S]*attempts"):
        SyntheticConfig({"n": MODEL}, samples=0, attempts=0)
