"""OpenAI and every server that speaks its Chat Completions: vLLM, Ollama, llama.cpp, others."""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from dataclasses import dataclass, field

import httpx2
import msgspec
import openai

from generation.clients.chat_completions import OWN_URL, chat_body, is_own, read_completion
from generation.clients.connections import open_connections, transport_error
from generation.clients.hosted import (
    hide,
    http_error,
    identity_of,
    malformed,
    read_key,
    refuse_settings,
)
from generation.llm import LLM, Identity, LLMError, ModelConfig, Reply, Request, Usage

_USUAL_KEY = "OPENAI_API_KEY"


class _Details(msgspec.Struct):
    message: str = ""
    code: str | int | None = None
    type: str | None = None


class _Failure(msgspec.Struct):
    error: _Details


_read_failure = msgspec.json.Decoder(_Failure).decode


@dataclass(frozen=True, slots=True, weakref_slot=True)
class OpenAILLM:
    """A model behind Chat Completions; one client for all threads.

    Attributes:
        config: The model.
        key: Its key, kept to take it out of what comes back.
        client: The SDK's client.
    """

    config: ModelConfig
    key: str = field(repr=False)
    client: openai.OpenAI = field(repr=False)

    @property
    def identity(self) -> Identity:
        """Which model it is."""
        return identity_of(self.config)

    @property
    def batch_size(self) -> int:
        """One request a call."""
        return 1

    def complete(self, requests: Sequence[Request]) -> list[Reply | LLMError]:
        """Ask for each request in turn; errors take the place of replies."""
        return [self._ask(request) for request in requests]

    def _ask(self, request: Request) -> Reply | LLMError:
        body = chat_body(self.config, request)
        try:
            answer = self.client.post("/chat/completions", cast_to=httpx2.Response, body=body)
        except openai.APIStatusError as error:
            return self._refused(error.response)
        except openai.APIConnectionError as error:
            return transport_error(self.config, self.key, error.__cause__ or error)
        try:
            raw = answer.content.decode("utf-8-sig")  # whatever the header says: JSON is UTF-8
            return read_completion(self.config, request, hide(raw, self.key))
        except UnicodeDecodeError as error:
            return malformed(self.config, f"it is not UTF-8: {error.reason}")
        except LLMError as error:
            return error.with_traceback(None)

    def _refused(self, answer: httpx2.Response) -> Reply | LLMError:
        text = hide(answer.text, self.key)
        try:
            details = _read_failure(text).error
        except msgspec.MsgspecError:  # a proxy's page, or a server with a shape of its own
            details = _Details(text)
        if answer.status_code == 400 and "content_filter" in (details.code, details.type):
            return Reply("", "filtered", Usage(), "", text)  # Azure refuses a prompt so
        error = http_error(
            self.config, self.key, answer.status_code, details.message, answer.headers
        )
        if "insufficient_quota" in (details.code, details.type):
            return LLMError("key", str(error))  # a 429, yet no waiting brings the money
        return error


def open_openai(config: ModelConfig) -> LLM:
    """Open a model behind Chat Completions.

    Raises:
        InputError: no key, a parameter that the server does not have, or both.
    """
    top_k = config.sampling.top_k
    known = top_k is None or not is_own(config)
    refuse_settings(
        config, _USUAL_KEY, ("sampling.top_k", "none: OpenAI has no such parameter", top_k, known)
    )
    key = read_key(config, _USUAL_KEY)
    connections = open_connections(config)
    client = openai.OpenAI(
        api_key=key,
        base_url=config.base_url or OWN_URL,
        timeout=connections.timeout,
        max_retries=0,
        http_client=connections,
    )
    llm = OpenAILLM(config, key, client)
    weakref.finalize(llm, connections.close)
    return llm
