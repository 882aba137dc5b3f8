import pytest

from generation.examples import ExamplesConfig
from generation.llm import ModelConfig, Reply, Sampling, Usage
from generation.prompts import Example, abstract, simple, with_examples
from generation.pseudo_documents import PseudoConfig, fingerprints, prompt_of, requests_of
from generation.structured import Unusable
from generation.texts.refusals import usable
from hybrid_ir.errors import InputError
from hybrid_ir.records import Question

MODEL = ModelConfig("m", "openai", "gpt", sampling=Sampling(max_tokens=9, seed=4))
BATCH = [Question("q1", "What is A?", "factoid"), Question("q2", "Is it B?", "yesno")]


def config(**settings):
    return PseudoConfig({"m": MODEL}, **settings)


def reply(text):
    return Reply(text, "stop", Usage(), "m", "{}")


def test_requests_go_by_question_prompt_and_sample():
    two = config(prompts=("simple", "abstract"), samples=2)
    requests = list(requests_of(BATCH, two, MODEL, {}))
    assert [(one.question_id, one.sample) for one in requests] == [
        (question, sample) for question in ("q1", "q2") for sample in range(2 * 2)
    ]
    assert [one.messages for one in requests[:4]] == [simple(BATCH[0])] * 2 + [
        abstract(BATCH[0])
    ] * 2
    assert {one.sampling for one in requests} == {MODEL.sampling}
    assert [prompt_of(sample, two) for sample in range(4)] == ["simple"] * 2 + ["abstract"] * 2
    assert two.texts == 4


def test_the_examples_of_the_type_are_shown():
    pool = {
        kind: [Example(Question(kind, f"{kind}?", kind), f"a {kind}")]
        for kind in ("factoid", "yesno")
    }
    shown = config(prompts=("examples",), examples=ExamplesConfig(number=1))
    first, second = requests_of(BATCH, shown, MODEL, pool)
    assert first.messages == with_examples(BATCH[0], pool["factoid"])
    assert second.messages == with_examples(BATCH[1], pool["yesno"])


def test_each_prompt_has_a_fingerprint_of_its_own():
    names = ("simple", "abstract", "examples", "recorded")
    assert len(set(fingerprints(config(prompts=names)))) == 4


def test_a_reply_is_read_without_its_wrappings():
    result = usable(reply("Sure! TFPI is inhibited."))
    assert (result.text, result.cut) == ("TFPI is inhibited.", ("opening",))


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("Sure! I cannot answer.", "it refuses: 'I cannot answer.'"),
        ("TFPI is inhibited.", "it is too short: 3 words, 4 or more are wanted"),
        ("<think>What?</think>", "it holds nothing but thinking"),
        ("<think>What?", "it holds nothing but thinking"),
    ],
)
def test_a_reply_of_no_use_says_why(text, why):
    with pytest.raises(Unusable) as error:
        usable(reply(text), 4)
    assert str(error.value) == why


def test_faults_of_the_settings_are_named_together():
    with pytest.raises(InputError) as error:
        PseudoConfig({"n": MODEL}, prompts=("simple", "simple"), samples=0, attempts=0)
    for part in ("prompts", "samples", "attempts"):
        assert part in str(error.value)
    with pytest.raises(InputError, match="one model or more, got 0"):
        PseudoConfig({})
    with pytest.raises(InputError, match=r"n\.name: expected none[\s\S]*one word, got 'a b'"):
        PseudoConfig({"n": MODEL, "a b": ModelConfig("", "openai", "gpt")})


def test_a_model_is_named_by_its_key():
    models = PseudoConfig({"one": ModelConfig(model="gpt"), "m": MODEL}).generators
    assert [(key, model.name) for key, model in models.items()] == [("one", "one"), ("m", "m")]
    with pytest.raises(InputError, match="model: expected the provider's name"):
        ModelConfig("m")
    with pytest.raises(InputError, match="without a slash"):
        PseudoConfig({"a/b": ModelConfig(model="gpt")})
