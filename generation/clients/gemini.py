"""Google's Gemini through google-genai, the SDK that followed google-generativeai."""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import httpx2
import msgspec
from google import genai
from google.genai import errors, types

from generation.clients.connections import open_connections, transport_error
from generation.clients.hosted import (
    hide,
    http_error,
    identity_of,
    malformed,
    read_key,
    refuse_settings,
    usage_of,
)
from generation.llm import (
    LLM,
    Finish,
    Identity,
    LLMError,
    Message,
    ModelConfig,
    Reply,
    Request,
    Sampling,
    Usage,
)
from generation.structured import with_schema

OWN_URL = "https://generativelanguage.googleapis.com"
_VERSION = "v1beta"  # v1 knows neither JSON schemas nor levels of thinking
_FINISH: dict[str, Finish] = {
    "STOP": "stop",
    "MAX_TOKENS": "length",
    "SAFETY": "filtered",
    "RECITATION": "filtered",
    "BLOCKLIST": "filtered",
    "PROHIBITED_CONTENT": "filtered",
    "SPII": "filtered",
    "ESCALATION": "filtered",
}
_USUAL_KEY = "GEMINI_API_KEY"
_LEVELS = ("minimal", "low", "medium", "high", "xhigh")


class _Part(msgspec.Struct):
    text: str = ""
    thought: bool = False


class _Content(msgspec.Struct):
    parts: list[_Part] = []


class _Candidate(msgspec.Struct, rename="camel"):
    content: _Content = msgspec.field(default_factory=_Content)
    finish_reason: str = ""


class _Feedback(msgspec.Struct, rename="camel"):
    block_reason: str = ""


class _Tokens(msgspec.Struct, rename="camel"):
    prompt_token_count: Any = 0
    candidates_token_count: Any = 0
    thoughts_token_count: Any = 0


class _Answer(msgspec.Struct, rename="camel"):
    candidates: list[_Candidate] = []
    prompt_feedback: _Feedback | None = None
    usage_metadata: _Tokens | None = None
    model_version: str = ""


class _Detail(msgspec.Struct, rename="camel"):
    reason: str = ""
    retry_delay: str = ""


class _Details(msgspec.Struct):
    message: str = ""
    details: list[_Detail] = []


class _Failure(msgspec.Struct):
    error: _Details


_read_answer = msgspec.json.Decoder(_Answer).decode
_read_failure = msgspec.json.Decoder(_Failure).decode


@dataclass(frozen=True, slots=True, weakref_slot=True)
class GeminiLLM:
    """A Gemini model; one client for all threads.

    Attributes:
        config: The model.
        key: Its key, kept to take it out of what comes back.
        client: The SDK's client.
    """

    config: ModelConfig
    key: str = field(repr=False)
    client: genai.Client = field(repr=False)

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
        contents, config = _contents(self.config, request)
        try:
            answer = self.client.models.generate_content(
                model=self.config.model, contents=contents, config=config
            )
        except errors.APIError as error:
            return self._refused(error)
        except httpx2.TransportError as error:
            return transport_error(self.config, self.key, error)
        response = answer.sdk_http_response
        try:
            return read_answer(
                self.config, request, hide((response and response.body) or "", self.key)
            )
        except LLMError as error:
            return error.with_traceback(None)

    def _refused(self, error: errors.APIError) -> LLMError:
        answer = error.response
        assert isinstance(answer, httpx2.Response)  # of the client that open_gemini made
        text = hide(answer.text, self.key)
        try:
            failure = _read_failure(text).error
        except msgspec.MsgspecError:  # a proxy's page
            failure = _Details(text)
        status = error.code
        if any(detail.reason == "API_KEY_INVALID" for detail in failure.details):
            status = 401  # Gemini says 400
        found = http_error(self.config, self.key, status, failure.message, answer.headers)
        if found.retry_after is None:
            found.retry_after = _delay(failure.details)
        return found


def open_gemini(config: ModelConfig) -> LLM:
    """Open a Gemini model.

    Raises:
        InputError: no key, a level of thinking that Gemini lacks, or both.
    """
    effort = config.sampling.reasoning_effort
    wanted = f"one of {', '.join(_LEVELS)} (Gemini's), or none"
    known = effort is None or effort in _LEVELS
    refuse_settings(config, _USUAL_KEY, ("sampling.reasoning_effort", wanted, repr(effort), known))
    key = read_key(config, _USUAL_KEY)
    connections = open_connections(config)
    options = types.HttpOptions(
        base_url=config.base_url or OWN_URL,
        api_version=_VERSION,
        timeout=round(config.timeout * 1000),
        httpx_client=connections,
    )
    llm = GeminiLLM(config, key, genai.Client(api_key=key, vertexai=False, http_options=options))
    weakref.finalize(llm, connections.close)
    return llm


def _contents(
    config: ModelConfig, request: Request
) -> tuple[list[types.Content], types.GenerateContentConfig]:
    """Give a request as Gemini takes it: turns, and the rest."""
    sampling, schema = request.sampling, request.schema
    native = schema and config.structured == "native"
    messages = request.messages if native else with_schema(request)
    turns = [_turn(message) for message in messages if message.role != "system"]
    system = "\n\n".join(message.content for message in messages if message.role == "system")
    as_json = schema and config.structured != "prompt"
    return turns, types.GenerateContentConfig(
        system_instruction=system or None,
        max_output_tokens=sampling.max_tokens,
        temperature=sampling.temperature,
        top_p=sampling.top_p,
        top_k=sampling.top_k,
        seed=None if sampling.seed is None else sampling.seed + request.sample,
        stop_sequences=list(sampling.stop) or None,
        frequency_penalty=sampling.frequency_penalty,
        presence_penalty=sampling.presence_penalty,
        thinking_config=_thinking(sampling),
        response_mime_type="application/json" if as_json else None,
        response_json_schema=schema.schema if schema and native else None,
        automatic_function_calling=types.AutomaticFunctionCallingConfig(disable=True),
        automatic_continuation=False,  # each call is counted: none behind our back
        should_return_http_response=True,  # the body as it came
    )


def _turn(message: Message) -> types.Content:
    role = "model" if message.role == "assistant" else "user"
    return types.Content(role=role, parts=[types.Part(text=message.content)])


def _thinking(sampling: Sampling) -> types.ThinkingConfig | None:
    if sampling.reasoning_effort is None:
        return None
    return types.ThinkingConfig(thinking_level=types.ThinkingLevel(sampling.reasoning_effort))


def read_answer(config: ModelConfig, request: Request, raw: str) -> Reply:
    """Read an answer to generateContent.

    Args:
        config: The model that was asked.
        request: What was asked.
        raw: The answer's body.

    Raises:
        LLMError: of kind ``malformed``: not JSON, not of that shape, or without a candidate and
            without a reason why.
    """
    try:
        answer = _read_answer(raw)
    except (msgspec.MsgspecError, RecursionError) as error:
        raise malformed(config, str(error)) from None
    blocked = answer.prompt_feedback and answer.prompt_feedback.block_reason
    if not answer.candidates and not blocked:
        raise malformed(config, "it holds no candidate")
    candidate = answer.candidates[0] if answer.candidates else _Candidate(finish_reason="SAFETY")
    text = "".join(part.text for part in candidate.content.parts if not part.thought)
    usage = _usage(answer.usage_metadata, request, text)
    finish = _FINISH.get(candidate.finish_reason, "other")
    return Reply(text, finish, usage, answer.model_version or config.model, raw)


def _usage(tokens: _Tokens | None, request: Request, text: str) -> Usage:
    """Count the reply and what was thought first; what is 0 Gemini leaves out."""
    said = tokens or _Tokens(None)
    thoughts = usage_of(said.thoughts_token_count, 0, request, text)
    reply = usage_of(said.prompt_token_count, said.candidates_token_count, request, text)
    if reply.estimated or thoughts.estimated:
        return replace(reply, estimated=True)
    return Usage(reply.prompt, reply.completion + thoughts.prompt)


def _delay(details: list[_Detail]) -> float | None:
    """Read the seconds to wait from google.rpc.RetryInfo (``34.5s``)."""
    for detail in details:
        number = detail.retry_delay.removesuffix("s")
        if number.replace(".", "", 1).isdigit():
            return float(number)
    return None
