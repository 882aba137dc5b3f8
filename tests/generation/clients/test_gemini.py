"""The client for Gemini, over a real connection."""

from __future__ import annotations

import json
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from provider_server import Act, ProviderServer
from pydantic import BaseModel

from generation.clients import open_llm
from generation.clients.gemini import read_answer
from generation.llm import LLM, LLMError, Message, ModelConfig, Reply, Request, Sampling, Usage
from generation.structured import schema_of
from hybrid_ir.errors import InputError

CONFIG = ModelConfig("gem", "gemini", "gemini-x")


class Passage(BaseModel):
    text: str
    year: int = 2000


def _open(provider: ProviderServer, **more: Any) -> LLM:
    return open_llm(ModelConfig("gem", "gemini", "gemini-x", base_url=provider.gemini_url, **more))


def _request(text: str = "what?", **more: Any) -> Request:
    return Request("q1", (Message("system", "be brief"), Message("user", text)), **more)


def _reply(llm: LLM, request: Request) -> Reply:
    (reply,) = llm.complete([request])
    assert isinstance(reply, Reply), reply
    return reply


def _error(llm: LLM) -> LLMError:
    (error,) = llm.complete([_request()])
    assert isinstance(error, LLMError), error
    return error


def test_a_reply_with_thoughts_counted(provider: ProviderServer) -> None:
    provider.thoughts = 100
    reply = _reply(_open(provider), _request("why?"))
    assert reply.text == "A reply to: be brief\nwhy?"
    assert (reply.finish, reply.model) == ("stop", "gemini-x-001")
    assert reply.usage == Usage(2 + 1, 3 + 2 + 1 + 100)  # words, and what it thought
    assert json.loads(reply.raw)["usageMetadata"]["thoughtsTokenCount"] == 100
    assert provider.calls[0].path == "/v1beta/models/gemini-x:generateContent"


def test_the_body_holds_what_is_set_and_nothing_else(provider: ProviderServer) -> None:
    llm = _open(provider)
    turns = (*_request().messages, Message("assistant", "this"), Message("user", "no"))
    _reply(llm, Request("q1", turns, Sampling(max_tokens=7)))
    sampling = Sampling(
        max_tokens=8,
        temperature=0.0,
        top_p=0.5,
        top_k=4,
        seed=10,
        stop=("END",),
        frequency_penalty=0.25,
        presence_penalty=0.5,
        reasoning_effort="low",
    )
    _reply(llm, _request(sampling=sampling, sample=3))
    plain, full = (call.body for call in provider.calls)
    assert [(turn["role"], turn["parts"]) for turn in plain["contents"]] == [
        ("user", [{"text": "what?"}]),
        ("model", [{"text": "this"}]),
        ("user", [{"text": "no"}]),
    ]
    assert plain["systemInstruction"]["parts"] == [{"text": "be brief"}]
    assert plain["generationConfig"] == {"maxOutputTokens": 7}
    thinking = full["generationConfig"].pop("thinkingConfig")
    assert full["generationConfig"] == {
        "maxOutputTokens": 8,
        "temperature": 0.0,
        "topP": 0.5,
        "topK": 4,
        "seed": 10 + 3,
        "stopSequences": ["END"],
        "frequencyPenalty": 0.25,
        "presencePenalty": 0.5,
    }
    assert list(thinking.values()) == ["LOW"]


@pytest.mark.parametrize(
    ("act", "kind"),
    [
        (Act("status", status=429), "rate"),
        (Act("status", status=500), "server"),
        (Act("status", status=503), "server"),
        (Act("status", status=400), "request"),
        (Act("status", status=404), "request"),
        (Act("status", status=302), "request"),
        (Act("status", status=403), "key"),
        (Act("cut"), "connection"),
        (Act("reset"), "connection"),
        (Act("malformed"), "malformed"),
        (Act("truncated"), "malformed"),
        (Act("wrong_shape"), "malformed"),
        (Act("no_choices"), "malformed"),
    ],
)
def test_each_misbehaviour_has_its_kind_and_costs_one_call(
    provider: ProviderServer, act: Act, kind: str
) -> None:
    provider.script("", act)
    llm = _open(provider)
    assert (_error(llm).kind, provider.arrived) == (kind, 1)
    assert _reply(llm, _request()).finish == "stop"


@pytest.mark.parametrize(
    ("act", "finish", "text"),
    [
        (Act("refusal"), "filtered", ""),
        (Act("filtered", text="half"), "filtered", "half"),
        (Act("blocked"), "filtered", ""),
        (Act("length", text="cut of"), "length", "cut of"),
        (Act(text=""), "stop", ""),
    ],
)
def test_how_replies_end(provider: ProviderServer, act: Act, finish: str, text: str) -> None:
    provider.script("", act)
    reply = _reply(_open(provider), _request())
    assert (reply.finish, reply.text) == (finish, text)


def test_a_hanging_server_times_out(provider: ProviderServer) -> None:
    provider.script("", Act("hang"))
    start = time.monotonic()
    assert _error(_open(provider, timeout=0.3)).kind == "timeout"
    assert time.monotonic() - start < 5


def test_when_to_come_back(provider: ProviderServer) -> None:
    from generation.clients.gemini import _delay, _Detail

    provider.script("", Act("status", status=429, retry_after="2.5"))
    assert _error(_open(provider)).retry_after == 2.5
    assert _delay([_Detail(), _Detail(retry_delay="34.5s")]) == 34.5
    assert _delay([_Detail(retry_delay="soon")]) is None


def test_thoughts_are_not_part_of_the_text() -> None:
    parts = [{"text": "hm", "thought": True}, {"text": "yes"}, {"text": ", no"}]
    raw = {"candidates": [{"content": {"parts": parts}, "finishReason": "STOP"}]}
    reply = read_answer(CONFIG, _request("12345"), json.dumps(raw))
    assert reply.text == "yes, no"
    assert reply.usage == Usage(4, 2, estimated=True)  # 13 / 4 and 7 / 4, rounded up


def test_threads_share_one_client(provider: ProviderServer) -> None:
    provider.latency = 0.2
    llm = _open(provider, concurrency=16)
    with ThreadPoolExecutor(16) as pool:
        replies = list(pool.map(lambda n: _reply(llm, _request(f"<{n}>")).text, range(16)))
    assert replies == [f"A reply to: be brief\n<{n}>" for n in range(16)]
    assert provider.most_in_flight == 16


def test_json_is_asked_for_in_three_ways(provider: ProviderServer) -> None:
    request = _request(schema=schema_of(Passage))
    for structured in ("native", "json", "prompt"):
        _reply(_open(provider, structured=structured), request)
    native, as_json, in_prompt = (call.body for call in provider.calls)
    assert native["generationConfig"]["responseJsonSchema"] == Passage.model_json_schema()
    assert native["generationConfig"]["responseMimeType"] == "application/json"
    assert as_json["generationConfig"] == {
        "maxOutputTokens": 512,
        "responseMimeType": "application/json",
    }
    assert in_prompt["generationConfig"] == {"maxOutputTokens": 512}
    assert native["contents"][0]["parts"][0]["text"] == "what?"
    for body in (as_json, in_prompt):
        text = body["contents"][0]["parts"][0]["text"]
        assert text.startswith("what?\n\nAnswer with one JSON object")


def test_keys(provider: ProviderServer, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InputError, match=r"variable GEMINI_API_KEY \(export .*it is not set"):
        open_llm(CONFIG)
    monkeypatch.setenv("GEMINI_API_KEY", "of-google")
    monkeypatch.setenv("GOOGLE_API_KEY", "another")
    monkeypatch.setenv("MY_KEY", "mine")
    _reply(_open(provider), _request())
    _reply(_open(provider, key_variable="MY_KEY"), _request())
    sent = [call.headers["x-goog-api-key"] for call in provider.calls]
    assert sent == ["no-key", "mine"]


def test_a_level_of_thinking_that_gemini_lacks() -> None:
    with pytest.raises(InputError, match="one of minimal, low"):
        open_llm(ModelConfig("g", "gemini", "m", sampling=Sampling(reasoning_effort="none")))


@pytest.mark.parametrize(
    "said",
    [
        {"promptTokenCount": -1, "candidatesTokenCount": 2},
        {"promptTokenCount": 1, "candidatesTokenCount": "2"},
        {"promptTokenCount": 1, "candidatesTokenCount": 2, "thoughtsTokenCount": 10**30},
    ],
)
def test_a_usage_that_cannot_be_is_an_estimate(said):
    candidate = {"content": {"parts": [{"text": "word"}]}, "finishReason": "STOP"}
    raw = json.dumps({"candidates": [candidate], "usageMetadata": said})
    request = Request("q1", (Message("user", "why?"),))
    usage = read_answer(ModelConfig("gen", "gemini", "m"), request, raw).usage
    assert usage.estimated
    assert min(usage.prompt, usage.completion) >= 0
