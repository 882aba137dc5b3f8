import pytest

from generation import prompts
from generation.examples import ExamplesConfig, drawn, pool_of, refuse_small
from generation.llm import Message
from generation.prompts import SAMPLES, Example, fingerprint
from hybrid_ir.errors import InputError
from hybrid_ir.records import QUESTION_TYPES, Document, Gold, Question, Snippet

ASKED = Question("q", "What is {TFPI}?", "factoid")


def gold(question_id, ideal=(), snippets=()):
    passages = tuple(Snippet("1", "abstract", 0, len(text), text) for text in snippets)
    return Gold(question_id, "enriched", ("1",), passages, tuple(ideal), None)


def test_the_simple_prompt_is_one_turn_with_the_question():
    (message,) = prompts.simple(ASKED)
    assert (message.role, message.content[-15:]) == ("user", "What is {TFPI}?")


def test_the_abstract_prompt_says_what_the_type_wants():
    texts = {prompts.abstract(Question("q", "b", kind))[-1].content for kind in QUESTION_TYPES}
    assert len(texts) == 4
    assert all(text.endswith("Question: b") for text in texts)


def test_examples_are_turns_before_the_question():
    examples = [Example(Question("e", "What is FXI?", "factoid"), "FXI is a zymogen.")]
    turns = prompts.with_examples(ASKED, examples)
    assert [turn.role for turn in turns] == ["system", "user", "assistant", "user"]
    assert turns[2] == Message("assistant", "FXI is a zymogen.")
    assert (turns[0], turns[3]) == prompts.abstract(ASKED)


def test_every_name_has_its_prompt():
    assert prompts.pseudo_document("simple", ASKED, ()) == prompts.simple(ASKED)
    assert prompts.pseudo_document("abstract", ASKED, ()) == prompts.abstract(ASKED)
    assert prompts.pseudo_document("examples", ASKED, ()) == prompts.abstract(ASKED)


def test_the_fingerprint_tells_prompts_apart():
    marks = {
        fingerprint(map(write, SAMPLES))
        for write in (prompts.simple, prompts.abstract, prompts.relevant_passage)
    }
    assert len(marks) == 3
    assert fingerprint(map(prompts.simple, SAMPLES)) == fingerprint(map(prompts.simple, SAMPLES))


def test_the_prompts_for_synthetic_pairs_hold_question_document_and_type():
    assert prompts.relevant_passage(ASKED)[-1].content.endswith("What is {TFPI}?")
    document = Document("1", "Title.", "Abstract {x}.")
    texts = [prompts.question_for(document, kind)[-1].content for kind in QUESTION_TYPES]
    assert len(set(texts)) == 4
    assert all(text.endswith("Text: Title. Abstract {x}.") for text in texts)


def test_an_example_never_is_of_the_batch_in_id_or_body():
    batch = [Question("q1", "Is TFPI inhibited by concizumab?", "yesno")]
    answered = [
        (Question("q1", "Another body", "yesno"), gold("q1", ["x"])),
        (Question("q2", "is TFPI inhibited by Concizumab", "yesno"), gold("q2", ["x"])),
        (
            Question("q3", "Is FXI inhibited?", "yesno"),
            gold("q3", ["Yes,\nit is.", "longer answer"]),
        ),
        (Question("q4", "Is FXI  inhibited", "yesno"), gold("q4", ["a body twice"])),
        (Question("q5", "Is it known?", "yesno"), gold("q5", ["", " "])),
    ]
    pool = pool_of(answered, batch, "ideal")
    (example,) = pool["yesno"]
    assert (example.question.id, example.text) == ("q3", "Yes, it is.")


def test_the_longest_snippet_answers_an_example():
    answered = [(ASKED, gold("q", ["ideal"], ["short", "much longer", "middle"]))]
    assert pool_of(answered, [], "snippet")["factoid"][0].text == "much longer"


def test_the_draw_depends_on_seed_and_question_alone():
    answered = [(Question(f"e{n}", f"body {n}", "list"), gold(f"e{n}", ["x"])) for n in range(50)]
    pool = pool_of(answered, [], "ideal")
    config, other = ExamplesConfig(number=3), ExamplesConfig(number=3, seed=1)
    asked = [Question(f"q{n}", "b", "list") for n in range(5)]
    first = [drawn(question, pool, config) for question in asked]
    assert first == [drawn(question, pool, config) for question in asked]
    assert all(len(set(examples)) == 3 for examples in first)
    assert len(set(first)) == 5
    assert first != [drawn(question, pool, other) for question in asked]


def test_too_few_examples_are_named_by_type():
    batch = [Question("q", "b", "list"), Question("r", "c", "yesno")]
    pool = pool_of([(Question("e", "x", "list"), gold("e", ["x"]))], batch, "ideal")
    with pytest.raises(InputError, match=r"takes 2 examples[\s\S]*list: 1\n  yesno: 0"):
        refuse_small(pool, batch, ExamplesConfig())


def test_no_examples_is_refused():
    with pytest.raises(InputError, match="number: expected 1 or more, got 0"):
        ExamplesConfig(number=0)
