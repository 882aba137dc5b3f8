import gzip
import json

import pytest

from generation.texts.checks import ChecksConfig, passage_fault, question_fault
from hybrid_ir.bioasq.questions import read_questions
from hybrid_ir.errors import InputError

CHECKS = ChecksConfig(passage_words=(5, 20))
QUESTION = "Is concizumab used for the treatment of haemophilia?"


def kind(fault):
    return fault and fault.partition(":")[0].removeprefix("it ")


@pytest.mark.parametrize(
    ("passage", "expected"),
    [
        ("Concizumab, an antibody against TFPI, prevents bleeding in haemophilia.", None),
        # 5 of the question's 6 runs of three words: 0.83 are allowed, all 6 are not
        ("In trials concizumab used for the treatment of haemophilia was safe.", None),
        (f"{QUESTION} Yes, it prevents bleeding.", "repeats the question"),
        ("Too short a passage.", "is too short"),
        (" ".join(f"word{n}" for n in range(21)), "is too long"),
        (" ... ", "is too short"),
    ],
)
def test_passages(passage, expected):
    assert kind(passage_fault(QUESTION, passage, CHECKS)) == expected


def test_a_short_question_may_stand_in_its_passage():
    passage = "What is TFPI and what is it good for?"
    assert passage_fault("What is TFPI?", passage, CHECKS) is None


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        (QUESTION, None),
        ("Which antibody against TFPI prevents bleeding in haemophilia", None),
        ("What did this study show about concizumab?", "speaks of its source"),
        ("What was tested in the PATCH-Trauma trial?", None),
        ("What is it?\nWhich one?", "is more than one line"),
        ("Concizumab?", "is too short"),
        ("Is it so that a b c d e f g h i j is found?", None),  # 10 words in a row
        ("Is it so that a b c d e f g h i j k is found?", "copies"),  # 11
    ],
)
def test_questions(question, expected):
    assert kind(question_fault("x a b c d e f g h i j k y", question, ChecksConfig())) == expected


def test_what_is_said_tells_the_model_what_to_mend():
    fault = question_fault("a b c d e f g h i j k", "Why a b c d e f g h i j k?", ChecksConfig())
    assert fault == "it copies: 11 words in a row"


def test_limits_that_cannot_be_are_named_together():
    with pytest.raises(InputError, match=r"passage_words[\s\S]*near_duplicate[\s\S]*copied_words"):
        ChecksConfig(passage_words=(5, 2), near_duplicate=0, copied_words=0)


def test_real_synthetic_passages_pass(mini):
    questions = {
        question.id: question.body
        for batch in ("10B1", "10B2")
        for question in read_questions(mini / "dev" / f"{batch}.questions.json")
    }
    with gzip.open(mini / "llm" / "10B.synthetic.jsonl.gz") as file:
        rows = [json.loads(line) for line in file]
    faults = [passage_fault(questions[row["id"]], row["passage"], ChecksConfig()) for row in rows]
    assert (len(faults), faults.count(None)) == (180, 180)
