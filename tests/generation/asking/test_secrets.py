"""No key and no header gets into anything that is written, shown or raised."""

from __future__ import annotations

import json
import logging
import traceback
from collections.abc import Iterator
from pathlib import Path

import pytest
from provider_server import PRIVATE_HEADER, Act, ProviderServer

from generation.asking.calls import ask_all
from generation.budget import Budget
from generation.cache.replies import ReplyCache
from generation.clients import open_llm
from generation.llm import LLM, LLMError, Message, ModelConfig, Provider, Reply, Request
from hybrid_ir.config import plain
from hybrid_ir.errors import InputError

KEY = "sk-proj-0123456789abcdefSECRET"
ACTS = (
    Act(),
    Act(text=f"your key is {KEY}"),
    Act("echo"),
    Act("status", status=400, message=f"Incorrect API key provided: {KEY[:8]}***{KEY[-6:]}"),
    Act("status", status=500, message=f"Authorization: Bearer {KEY}"),
    Act("cut"),
    Act("reset"),
    Act("malformed"),
    Act("truncated", text=KEY),
    Act("wrong_shape"),
    Act("hang"),
    Act("refusal"),
)
QUESTIONS = [f"<{number}>" for number in range(len(ACTS))]


@pytest.fixture
def log(tmp_path: Path) -> Iterator[Path]:
    """A file with every line that any logger writes, all of them at DEBUG."""
    path = tmp_path / "log.txt"
    handler = logging.FileHandler(path)
    handler.setFormatter(logging.Formatter("%(name)s %(levelname)s %(message)s %(args)s"))
    root, openai, level = logging.getLogger(), logging.getLogger("openai"), logging.root.level
    root.addHandler(handler)
    root.setLevel(logging.DEBUG)
    openai.setLevel(logging.DEBUG)
    yield path
    root.removeHandler(handler)
    root.setLevel(level)
    handler.close()


def _config(provider: ProviderServer, which: Provider) -> ModelConfig:
    url = provider.openai_url if which == "openai" else provider.gemini_url
    return ModelConfig(
        "gen", which, "m", base_url=url, key_variable="THE_KEY", timeout=0.5, retries=0
    )


def _requests() -> list[Request]:
    return [Request(text, (Message("user", text),)) for text in QUESTIONS]


def _assert_clean(*texts: str | bytes) -> None:
    for text in texts:
        content = text if isinstance(text, bytes) else text.encode()
        for secret in (KEY, KEY[-6:], PRIVATE_HEADER):
            assert secret.encode() not in content, content[-2000:]


@pytest.mark.parametrize("which", ["openai", "gemini"])
def test_nothing_that_is_written_holds_a_secret(
    provider: ProviderServer,
    which: Provider,
    tmp_path: Path,
    log: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("THE_KEY", KEY)
    for text, act in zip(QUESTIONS, ACTS, strict=True):
        provider.script(text, act, forever=True)
    config = _config(provider, which)
    logging.getLogger("openai").debug("the log takes everything")
    llm = open_llm(config)
    parts: list[str] = [repr(llm), str(llm), repr(llm.identity), json.dumps(plain(config))]
    for text in QUESTIONS:  # each by itself: a refused key would stop the others
        requests = [Request(text, (Message("user", text),))]
        with ReplyCache(tmp_path / "cache.sqlite") as cache:
            (outcome,) = ask_all(
                llm, requests, config, "secrets", cache, Budget(), lambda _, reply: reply.text
            )
            parts += [repr(outcome), str(cache.ledger.accounts())]
            _assert_clean(*(path.read_bytes() for path in tmp_path.iterdir()))
    _assert_clean(*parts, log.read_bytes(), *capsys.readouterr())
    sent = {json.dumps(call.headers) for call in provider.calls}
    assert all(KEY in headers for headers in sent)  # it did go where it belongs
    assert "HTTP 401" in str(parts)
    assert "the log takes everything" in log.read_text()


@pytest.mark.parametrize("which", ["openai", "gemini"])
def test_no_error_leads_to_a_secret(
    provider: ProviderServer, which: Provider, log: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("THE_KEY", KEY)
    for act in ACTS:
        provider.script("", act)
    llm = open_llm(_config(provider, which))
    for result in llm.complete(_requests()):
        if isinstance(result, Reply):
            _assert_clean(repr(result))
            continue
        with pytest.raises(LLMError) as raised:
            raise result
        shown = "".join(traceback.format_exception(raised.value))
        _assert_clean(shown, repr(raised.value), repr(vars(raised.value)))
        assert raised.value.__cause__ is None  # the SDK's own exceptions hold the request
        assert not isinstance(raised.value.__context__, OSError)
    _assert_clean(log.read_bytes())


def test_a_key_that_cannot_be_one_is_not_shown(
    provider: ProviderServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("THE_KEY", f"{KEY} x")
    with pytest.raises(InputError) as raised:
        open_llm(_config(provider, "openai"))
    _assert_clean("".join(traceback.format_exception(raised.value)))


def test_the_log_would_show_it(
    provider: ProviderServer, log: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The HTTP library does log headers at DEBUG where nobody stops it."""
    monkeypatch.setenv("THE_KEY", KEY)
    llm: LLM = open_llm(_config(provider, "openai"))
    logging.getLogger("httpcore2").setLevel(logging.DEBUG)
    llm.complete(_requests()[:1])
    logging.getLogger("httpcore2").setLevel(logging.INFO)
    assert PRIVATE_HEADER in log.read_text()
