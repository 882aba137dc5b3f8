"""The client for OpenAI and its likes, over a real connection."""

from __future__ import annotations

import json
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import pytest
from provider_server import Act, ProviderServer
from pydantic import BaseModel

from generation.clients import open_llm
from generation.clients.chat_completions import read_completion
from generation.clients.hosted import hide
from generation.llm import (
    LLM,
    LLMError,
    Message,
    ModelConfig,
    Reply,
    Request,
    Sampling,
    Usage,
)
from generation.structured import schema_of
from hybrid_ir.errors import InputError


class Passage(BaseModel):
    text: str
    year: int = 2000


def _open(provider: ProviderServer, **more: Any) -> LLM:
    return open_llm(ModelConfig("gen", "openai", "m", base_url=provider.openai_url, **more))


def _request(text: str = "what?", **more: Any) -> Request:
    return Request("q1", (Message("system", "be brief"), Message("user", text)), **more)


def _reply(llm: LLM, request: Request) -> Reply:
    (reply,) = llm.complete([request])
    assert isinstance(reply, Reply), reply
    return reply


def _error(llm: LLM, request: Request | None = None) -> LLMError:
    (error,) = llm.complete([request or _request()])
    assert isinstance(error, LLMError), error
    return error


def test_a_reply(provider: ProviderServer) -> None:
    reply = _reply(_open(provider), _request("why?"))
    assert reply.text == "A reply to: be brief\nwhy?"
    assert (reply.finish, reply.model) == ("stop", "m-2026-01-01")
    assert reply.usage == Usage(2 + 1, 3 + 2 + 1)  # words: "be brief why?", and the reply's
    assert '"chatcmpl-1"' in reply.raw


def test_the_body_holds_what_is_set_and_nothing_else(provider: ProviderServer) -> None:
    llm = _open(provider)
    _reply(llm, _request(sampling=Sampling(max_tokens=7)))
    _reply(
        llm,
        _request(
            sampling=Sampling(
                max_tokens=8,
                temperature=0.0,
                top_p=0.5,
                top_k=4,
                seed=10,
                stop=("END",),
                frequency_penalty=0.1,
                presence_penalty=0.2,
                reasoning_effort="low",
            ),
            sample=3,
        ),
    )
    plain, full = (call.body for call in provider.calls)
    messages = [
        {"role": "system", "content": "be brief"},
        {"role": "user", "content": "what?"},
    ]
    assert plain == {"model": "m", "messages": messages, "max_tokens": 7}
    assert full == plain | {
        "max_tokens": 8,
        "temperature": 0.0,
        "top_p": 0.5,
        "top_k": 4,
        "seed": 10 + 3,
        "stop": ["END"],
        "frequency_penalty": 0.1,
        "presence_penalty": 0.2,
        "reasoning_effort": "low",
    }


def test_the_longest_reply_has_the_name_that_the_server_knows() -> None:
    from generation.clients.chat_completions import chat_body

    def name(base_url: str, **more: Any) -> set[str]:
        body = chat_body(ModelConfig("g", "openai", "m", base_url=base_url, **more), _request())
        return set(body) - {"model", "messages"}

    assert name("") == {"max_completion_tokens"}
    assert name("https://eu.api.openai.com/v1") == {"max_completion_tokens"}
    assert name("https://mine.openai.azure.com/openai/v1") == {"max_completion_tokens"}
    assert name("http://localhost:8000/v1") == {"max_tokens"}
    assert name("https://notopenai.com/v1") == {"max_tokens"}
    assert name("http://x/v1", tokens_parameter="max_completion_tokens") == {
        "max_completion_tokens"
    }


@pytest.mark.parametrize(
    ("act", "kind"),
    [
        (Act("status", status=429), "rate"),
        (Act("status", status=500), "server"),
        (Act("status", status=503), "server"),
        (Act("status", status=529), "server"),
        (Act("status", status=408), "server"),
        (Act("status", status=400), "request"),
        (Act("status", status=404), "request"),
        (Act("status", status=302), "request"),
        (Act("status", status=401), "key"),
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
    error = _error(llm)
    assert (error.kind, error.retry_after, provider.arrived) == (kind, None, 1)
    assert str(error).startswith("gen: ")
    assert _reply(llm, _request()).finish == "stop"  # the client is as good as before


@pytest.mark.parametrize(
    ("act", "finish", "text"),
    [
        (Act("refusal"), "refusal", "I cannot help with that."),
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


def test_retry_after_in_seconds_and_as_a_date(provider: ProviderServer) -> None:
    soon = format_datetime(datetime.now(UTC) + timedelta(seconds=60), usegmt=True)
    past = "Wed, 21 Oct 2015 07:28:00 GMT"
    for given in ("2.5", "0", soon, past, "soon", "-1", "nan"):
        provider.script("", Act("status", status=429, retry_after=given))
    llm = _open(provider)
    waits = [_error(llm).retry_after for _ in range(7)]
    assert waits[:2] == [2.5, 0.0]
    assert waits[2] is not None
    assert 50 < waits[2] <= 60
    assert waits[3:] == [0.0, None, None, None]


def test_retry_after_ms_is_more_exact() -> None:
    from generation.clients.hosted import retry_after

    assert retry_after({"retry-after-ms": "1500", "retry-after": "2"}) == 1500 / 1000


def test_an_account_without_money_is_not_asked_again(provider: ProviderServer) -> None:
    text = b'{"error": {"message": "no credit", "code": "insufficient_quota"}}'
    with _raw_server(b"HTTP/1.1 429 X\r\nContent-Length: %d\r\n\r\n%s" % (len(text), text)) as url:
        llm = open_llm(ModelConfig("gen", "openai", "m", base_url=url))
        error = _error(llm)
    assert (error.kind, error.retryable) == ("key", False)


def test_a_hanging_server_times_out(provider: ProviderServer) -> None:
    provider.script("", Act("hang"))
    start = time.monotonic()
    error = _error(_open(provider, timeout=0.3))
    assert error.kind == "timeout"
    assert "0.3 s" in str(error)
    assert time.monotonic() - start < 5


def test_a_server_that_drips_times_out_all_the_same() -> None:
    head = b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n"
    with _raw_server(head, drip=0.1) as url:
        llm = open_llm(ModelConfig("gen", "openai", "m", base_url=url, timeout=0.5))
        start = time.monotonic()
        assert _error(llm).kind == "timeout"
        assert time.monotonic() - start < 5


def test_nobody_listens() -> None:
    with _raw_server(b"") as url:
        pass
    error = _error(open_llm(ModelConfig("gen", "openai", "m", base_url=url)))
    assert error.kind == "connection"
    assert url in str(error)


def test_a_usage_that_is_missing_is_estimated(provider: ProviderServer) -> None:
    provider.script("", Act("no_usage", text="12345"))
    usage = _reply(_open(provider), _request("12345")).usage
    assert usage == Usage(4, 2, estimated=True)  # (8 + 5) / 4 = 3.25 and 5 / 4 = 1.25, rounded up


def test_threads_share_one_client(provider: ProviderServer) -> None:
    provider.latency = 0.2
    llm = _open(provider, concurrency=16)
    with ThreadPoolExecutor(16) as pool:
        replies = list(pool.map(lambda n: _reply(llm, _request(f"<{n}>")).text, range(16)))
    assert replies == [f"A reply to: be brief\n<{n}>" for n in range(16)]
    assert provider.most_in_flight == 16  # enough connections for all of them


def test_the_key_goes_out_once_asked_for(
    provider: ProviderServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-openai")
    monkeypatch.setenv("MY_KEY", "  mine\n")
    _reply(_open(provider), _request())
    _reply(_open(provider, key_variable="MY_KEY"), _request())
    sent = [call.headers["authorization"] for call in provider.calls]
    assert sent == ["Bearer no-key", "Bearer mine"]  # OpenAI's key never goes elsewhere unnamed


def test_what_cannot_be_opened(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InputError, match=r"variable OPENAI_API_KEY \(export .*it is not set"):
        open_llm(ModelConfig("gen", "openai", "m"))
    monkeypatch.setenv("BAD", "clé secrète")
    for settings, message in (
        ({"key_variable": "BAD"}, r"BAD \(.*, got blanks"),
        ({"base_url": "localhost:8000"}, "expected http://HOST"),
        ({"base_url": "https://me:pw@host/v1"}, "without user, password"),
        ({"base_url": "https://host/v1?key=k"}, "without user, password"),
        ({"sampling": Sampling(top_k=3)}, "no such parameter, got 3"),
    ):
        with pytest.raises(InputError, match=message) as raised:
            open_llm(ModelConfig("gen", "openai", "m", **settings))
        assert "secrète" not in str(raised.value)


def test_all_faults_of_the_settings_are_named_at_once() -> None:
    config = ModelConfig("gen", "openai", "m", key_variable="ABSENT", sampling=Sampling(top_k=3))
    with pytest.raises(InputError, match=r"sampling\.top_k[\s\S]*ABSENT"):
        open_llm(config)
    with pytest.raises(InputError, match=r"base_url[\s\S]*concurrency") as raised:
        ModelConfig("gen", "openai", "m", base_url="https://me:secret@host/v1", concurrency=0)
    assert "secret" not in str(raised.value)


def test_json_is_asked_for_in_three_ways(provider: ProviderServer) -> None:
    request = _request(schema=schema_of(Passage))
    for structured in ("native", "json", "prompt"):
        _reply(_open(provider, structured=structured), request)
    native, as_json, in_prompt = (call.body for call in provider.calls)
    shape = native["response_format"]["json_schema"]
    assert (shape["name"], shape["strict"]) == ("Passage", True)
    assert shape["schema"]["required"] == ["text", "year"]
    assert shape["schema"]["additionalProperties"] is False
    assert as_json["response_format"] == {"type": "json_object"}
    assert "response_format" not in in_prompt
    assert len(native["messages"]) == len(as_json["messages"]) == 2
    assert "JSON schema" not in native["messages"][-1]["content"]
    for body in (as_json, in_prompt):
        assert body["messages"][-1]["content"].startswith("what?\n\nAnswer with one JSON object")


def test_what_identifies_a_model(provider: ProviderServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    own = open_llm(ModelConfig("g", "openai", "m", revision="r")).identity
    assert (own.provider, own.model, own.revision) == ("openai", "m", "r")
    assert own.settings == (("structured", "native"),)
    other = _open(provider, structured="json").identity
    assert other.settings == (("base_url", provider.openai_url), ("structured", "json"))


class _raw_server:  # noqa: N801
    """A server that sends these bytes to whoever comes, then perhaps a blank now and then."""

    def __init__(self, answer: bytes, drip: float = 0) -> None:
        import socket

        self.answer, self.drip, self.over = answer, drip, threading.Event()
        self.listening = socket.create_server(("127.0.0.1", 0))
        self.thread = threading.Thread(target=self._serve, daemon=True)

    def _serve(self) -> None:
        try:
            connection, _ = self.listening.accept()
            with connection:
                connection.recv(65536)
                connection.sendall(self.answer)
                while self.drip and not self.over.wait(self.drip):
                    connection.sendall(b" ")
        except OSError:
            pass

    def __enter__(self) -> str:
        self.thread.start()
        return f"http://127.0.0.1:{self.listening.getsockname()[1]}"

    def __exit__(self, *_: object) -> None:
        import socket

        self.over.set()
        self.listening.shutdown(socket.SHUT_RDWR)
        self.listening.close()
        self.thread.join(5)


@pytest.mark.parametrize(
    "said",
    [
        None,
        {},
        [1],
        "none",
        {"prompt_tokens": -5, "completion_tokens": 3},
        {"prompt_tokens": "5", "completion_tokens": "3"},
        {"prompt_tokens": None, "completion_tokens": None},
        {"prompt_tokens": 10**30, "completion_tokens": 3},
        {"prompt_tokens": 5, "completion_tokens": 1.5},
        {"prompt_tokens": True, "completion_tokens": 3},
    ],
)
def test_a_usage_that_cannot_be_is_estimated(said: Any) -> None:
    choice = {"message": {"content": "four words of text"}, "finish_reason": "stop"}
    raw = json.dumps({"choices": [choice], "model": None, "usage": said})
    reply = read_completion(ModelConfig("gen", "openai", "m"), _request("why?"), raw)
    sent, written = len("be brief") + len("why?"), len("four words of text")
    assert reply.usage == Usage(sent // 4, -(-written // 4), estimated=True)
    assert reply.model == "m"


def test_json_is_utf_8_whatever_the_header_says(provider: ProviderServer) -> None:
    llm = _open(provider)
    provider.script("Greek", Act("mislabelled", text="caf\u00e9 \u03b1"))
    provider.script("Latin", Act("latin-1", text="caf\u00e9"))
    assert _reply(llm, _request("Greek")).text == "caf\u00e9 \u03b1"
    error = _error(llm, _request("Latin"))
    assert error.kind == "malformed"
    assert "not UTF-8" in str(error)


def test_a_key_that_is_a_word_leaves_replies_as_they_are(
    provider: ProviderServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LOCAL_KEY", "test")
    llm = _open(provider, key_variable="LOCAL_KEY")
    provider.script("why", Act(text="The test was positive."))
    assert _reply(llm, _request("why?")).text == "The test was positive."
    provider.script("again", Act("echo"))
    assert "Bearer test" not in str(_error(llm, _request("again")))


def test_a_key_is_hidden_however_json_writes_it() -> None:
    key = 'ab/cd"ef\\gh'
    for written in (key, json.dumps(key)[1:-1], json.dumps(key)[1:-1].replace("/", "\\/")):
        assert hide(f"it is {written}.", key) == "it is [key]."
