"""Chat Completions: the body of a request and the reading of an answer.

They need no SDK, and OpenAI's Batch API takes and gives the same
(https://platform.openai.com/docs/guides/batch).
"""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

import msgspec

from generation.clients.hosted import malformed, usage_of
from generation.llm import Finish, ModelConfig, Reply, Request
from generation.structured import strict, with_schema

OWN_URL = "https://api.openai.com/v1"
_OWN_HOSTS = (".openai.com", ".openai.azure.com")
_FINISH: dict[str | None, Finish] = {
    "stop": "stop",
    "eos_token": "stop",
    "end_turn": "stop",
    "length": "length",
    "content_filter": "filtered",
}


class _Message(msgspec.Struct):
    content: str | None = None
    refusal: str | None = None


class _Choice(msgspec.Struct):
    message: _Message
    finish_reason: str | None = None


class _Completion(msgspec.Struct):
    choices: list[_Choice]
    model: str | None = None
    usage: Any = None


_read_completion = msgspec.json.Decoder(_Completion).decode


def is_own(config: ModelConfig) -> bool:
    """Say whether OpenAI (or Azure for it) runs the server."""
    host = urlsplit(config.base_url or OWN_URL).hostname or ""
    return f".{host}".endswith(_OWN_HOSTS)


def chat_body(config: ModelConfig, request: Request) -> dict[str, Any]:
    """Give the JSON that Chat Completions takes for a request; parameters left open are left out.

    Sample m asks with ``seed + m``.
    """
    sampling = request.sampling
    shaped = request.schema and config.structured != "native"
    messages = with_schema(request) if shaped else request.messages
    longest = config.tokens_parameter or (
        "max_completion_tokens" if is_own(config) else "max_tokens"
    )
    parameters = {
        longest: sampling.max_tokens,
        "temperature": sampling.temperature,
        "top_p": sampling.top_p,
        "top_k": sampling.top_k,
        "seed": None if sampling.seed is None else sampling.seed + request.sample,
        "stop": list(sampling.stop) or None,
        "frequency_penalty": sampling.frequency_penalty,
        "presence_penalty": sampling.presence_penalty,
        "reasoning_effort": sampling.reasoning_effort,
        "response_format": _response_format(config, request),
    }
    return {
        "model": config.model,
        "messages": [{"role": one.role, "content": one.content} for one in messages],
        **{name: value for name, value in parameters.items() if value is not None},
    }


def _response_format(config: ModelConfig, request: Request) -> dict[str, Any] | None:
    if not request.schema or config.structured == "prompt":
        return None
    if config.structured == "json":
        return {"type": "json_object"}
    shape = {"name": request.schema.name, "strict": True, "schema": strict(request.schema.schema)}
    return {"type": "json_schema", "json_schema": shape}


def read_completion(config: ModelConfig, request: Request, raw: str) -> Reply:
    """Read a chat completion.

    Args:
        config: The model that was asked.
        request: What was asked.
        raw: The answer's body.

    Raises:
        LLMError: of kind ``malformed``: not JSON, not a chat completion, or without a choice.
    """
    try:
        completion = _read_completion(raw)
    except (msgspec.MsgspecError, RecursionError) as error:
        raise malformed(config, str(error)) from None
    if not completion.choices:
        raise malformed(config, "it holds no choice")
    choice = completion.choices[0]
    text = choice.message.content or ""
    finish = _FINISH.get(choice.finish_reason, "other")
    if choice.message.refusal:
        text, finish = choice.message.refusal, "refusal"
    said = completion.usage if isinstance(completion.usage, dict) else {}
    usage = usage_of(said.get("prompt_tokens"), said.get("completion_tokens"), request, text)
    return Reply(text, finish, usage, completion.model or config.model, raw)
