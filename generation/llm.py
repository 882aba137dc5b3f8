"""What a language model is to this project: requests in, replies out.

A :class:`Request` says what is asked, a :class:`Reply` what came back, an :class:`LLMError` why
nothing did. A client (``generation/clients/``) turns one into the other and does nothing else: it
neither retries nor counts nor remembers; ``generation/asking/`` does that for all of them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, Literal, Protocol
from urllib.parse import urlsplit

from hybrid_ir.errors import refuse

Role = Literal["system", "user", "assistant"]
Finish = Literal["stop", "length", "refusal", "filtered", "other"]
Provider = Literal["openai", "gemini", "transformers", "recorded"]
Structured = Literal["native", "json", "prompt"]
TokensParameter = Literal["", "max_tokens", "max_completion_tokens"]
ErrorKind = Literal[
    "rate", "server", "timeout", "connection", "malformed", "request", "key", "missing"
]

RETRYABLE: frozenset[ErrorKind] = frozenset(
    ("rate", "server", "timeout", "connection", "malformed")
)


@dataclass(frozen=True, slots=True)
class Message:
    """One turn of a conversation."""

    role: Role
    content: str


@dataclass(frozen=True, slots=True)
class Sampling:
    """How the model draws its words; None leaves a parameter to the provider.

    Attributes:
        max_tokens: Tokens of a reply at most.
        temperature: 0 for the likeliest words.
        top_p: Probability mass drawn from.
        top_k: Words drawn from (Gemini, transformers, servers other than OpenAI's own).
        seed: For providers that take one; sample m of a question asks with ``seed + m``, which
            the client adds up.
        stop: Texts that end a reply.
        frequency_penalty: As the provider defines it.
        presence_penalty: As the provider defines it.
        reasoning_effort: For models that think first (OpenAI's name and values).
    """

    max_tokens: int = 512
    temperature: float | None = None
    top_p: float | None = None
    top_k: int | None = None
    seed: int | None = None
    stop: tuple[str, ...] = ()
    frequency_penalty: float | None = None
    presence_penalty: float | None = None
    reasoning_effort: str | None = None

    def __post_init__(self) -> None:
        most, top_p, top_k, seed = self.max_tokens, self.top_p, self.top_k, self.seed
        temperature, penalties = self.temperature, (self.frequency_penalty, self.presence_penalty)
        mild = all(one is None or math.isfinite(one) for one in penalties)
        refuse(
            "the sampling",
            ("max_tokens", "1 to 10,000,000", most, 1 <= most <= 10_000_000),
            ("temperature", "0 or more", temperature, _none_or_positive(temperature)),
            ("top_p", "more than 0, 1 at most", top_p, top_p is None or 0 < top_p <= 1),
            ("top_k", "0 (all) or more", top_k, top_k is None or top_k >= 0),
            ("seed", "0 to 2,147,483,647", seed, seed is None or 0 <= seed < 2**31),
            ("frequency_penalty and presence_penalty", "numbers", penalties, mild),
        )


def _none_or_positive(number: float | None) -> bool:
    return number is None or 0 <= number < math.inf


@dataclass(frozen=True, slots=True)
class Schema:
    """The JSON a reply must be: a name and a JSON schema, as pydantic writes it."""

    name: str
    schema: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Request:
    """What is asked.

    Attributes:
        question_id: Whose reply it is; decides nothing but what a recorded reply is looked up by.
        messages: The conversation so far.
        sampling: How to draw.
        schema: The JSON to answer with, or None for text.
        sample: 0 for a question's first reply, m for its m-th other one.
        attempt: 0, or how often a reply to this was no use and it was asked again, changed.
    """

    question_id: str
    messages: tuple[Message, ...]
    sampling: Sampling = field(default_factory=Sampling)
    schema: Schema | None = None
    sample: int = 0
    attempt: int = 0


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens, as the provider counts (and charges) them.

    Attributes:
        prompt: Of the messages.
        completion: Of the reply, what the model thought first included.
        estimated: The provider did not say; both are estimated, four characters a token.
    """

    prompt: int = 0
    completion: int = 0
    estimated: bool = False


@dataclass(frozen=True, slots=True)
class Reply:
    """What came back.

    Attributes:
        text: The reply's text.
        finish: Why it ended.
        usage: Tokens.
        model: The model as the provider names it in its answer.
        raw: The provider's answer as JSON, without headers.
    """

    text: str
    finish: Finish
    usage: Usage
    model: str
    raw: str


class LLMError(Exception):
    """Why there is no reply to one request.

    Attributes:
        kind: ``rate``, ``server``, ``timeout``, ``connection`` and ``malformed`` (no JSON of the
            provider's shape, no choice in it) may go away; ``request`` (refused as it is), ``key``
            (none, or not accepted) and ``missing`` (no recorded reply) will not.
        retry_after: Seconds the provider asked to wait, or None.
    """

    def __init__(self, kind: ErrorKind, message: str, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.kind = kind
        self.retry_after = retry_after

    @property
    def retryable(self) -> bool:
        """Whether the same request may succeed later."""
        return self.kind in RETRYABLE


@dataclass(frozen=True, slots=True)
class Identity:
    """Which model answers: with the request, all that decides a reply.

    Attributes:
        provider: Who serves it.
        model: Its name there.
        revision: A commit, a date, a file's hash; empty where none is known.
        settings: What else changes its replies (quantisation, server, template), as plain values.
    """

    provider: Provider
    model: str
    revision: str = ""
    settings: tuple[tuple[str, str], ...] = ()


class LLM(Protocol):
    """A language model.

    ``complete`` answers each request with a reply or the error it met, in the requests' order; it
    raises only for what no request can be answered with (no key, no model). Hosted models take one
    request a call (``batch_size`` 1) from several threads at once; a local one takes a batch and
    one call at a time.
    """

    @property
    def identity(self) -> Identity:
        """Which model it is."""

    @property
    def batch_size(self) -> int:
        """Requests one call of ``complete`` takes at most."""

    def complete(self, requests: Sequence[Request]) -> list[Reply | LLMError]:
        """Answer requests."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What a provider allows, or 0 for no limit."""

    requests_per_second: float = 0
    requests_per_minute: int = 0
    requests_per_hour: int = 0
    tokens_per_minute: int = 0

    def __post_init__(self) -> None:
        values = ((one.name, getattr(self, one.name)) for one in fields(self))
        refuse(
            "the limits",
            *((name, "0 (none) or more", value, 0 <= value < math.inf) for name, value in values),
        )


@dataclass(frozen=True, slots=True)
class Prices:
    """US dollars per million tokens; 0 where nothing is charged."""

    prompt: float = 0.0
    completion: float = 0.0

    def __post_init__(self) -> None:
        values = ((one.name, getattr(self, one.name)) for one in fields(self))
        wanted = "0 to 10,000 (USD per million tokens)"
        refuse(
            "the prices",
            *((name, wanted, value, 0 <= value <= 10_000) for name, value in values),
        )


@dataclass(frozen=True, slots=True)
class ModelConfig:
    """A model and how it is called.

    Attributes:
        name: The generator's name in files and tables: one word. In a file of settings it is the
            model's key under ``generators`` and need not be written again.
        provider: ``openai`` (any OpenAI-compatible server by ``base_url``), ``gemini``,
            ``transformers`` (in this process) or ``recorded`` (replies from a JSONL file).
        model: The provider's name for it, a hub name, a folder, or the JSONL file.
        revision: A commit or date, where known; part of what identifies a reply.
        base_url: The server, for another than the provider's own. No user, password or query: it
            is written to files.
        key_variable: The environment variable that holds the key; empty for the provider's usual
            one (OPENAI_API_KEY, GEMINI_API_KEY, HF_TOKEN). With a ``base_url`` empty means that
            no key is sent: a provider's key never goes to another server unless it is named here.
        structured: How a reply in JSON is asked for: by the provider's own means (``native``: the
            schema binds the reply), by its JSON mode and the schema in the prompt (``json``), or
            in the prompt alone (``prompt``), for servers that refuse the others.
        tokens_parameter: What a server calls the longest reply; empty for ``max_completion_tokens``
            at OpenAI and Azure, whose newer models know nothing else, and ``max_tokens`` elsewhere.
        text_field: The key of a line that holds the reply (recorded).
        knowledge_cutoff: Until when its training data reach, as far as known (``2023-09``).
        sampling: Parameters of the replies.
        concurrency: Requests in flight at once.
        timeout: Seconds a request may take.
        retries: Tries after the first for errors that may go away; a 429 while other calls are
            answered is no such error, its call waits for its turn.
        limits: The provider's limits.
        prices: What it charges; None where it is not known. A model in this process and recorded
            replies are free without any.
        four_bit: Load the weights in NF4 4-bit (transformers).
        batch_size: Requests answered together (transformers).
        gguf_file: A GGUF file inside ``model`` (transformers).
    """

    name: str = ""
    provider: Provider = "openai"
    model: str = ""
    revision: str = ""
    base_url: str = ""
    key_variable: str = ""
    structured: Structured = "native"
    tokens_parameter: TokensParameter = ""
    text_field: str = "text"
    knowledge_cutoff: str = ""
    sampling: Sampling = field(default_factory=Sampling)
    concurrency: int = 8
    timeout: float = 120.0
    retries: int = 5
    limits: Limits = field(default_factory=Limits)
    prices: Prices | None = None
    four_bit: bool = False
    batch_size: int = 8
    gguf_file: str = ""

    @property
    def priced(self) -> bool:
        """Whether it is known what a call costs."""
        return self.prices is not None or self.provider in ("transformers", "recorded")

    def __post_init__(self) -> None:
        plain = self.name.isprintable() and len(self.name.split()) <= 1 and "/" not in self.name
        refuse(
            f"the model {self.name or self.model}",
            ("name", "one word without a slash", repr(self.name), plain),
            ("model", "the provider's name of a model, or a file", "nothing", bool(self.model)),
            (
                "base_url",
                "http://HOST... or https://HOST... without user, password or query (a key comes"
                " from the environment, see key_variable)",
                "one with them" if {"@", "?"} & {*self.base_url} else repr(self.base_url),
                not self.base_url or _is_plain_address(self.base_url),
            ),
            ("concurrency", "1 to 1,000", self.concurrency, 1 <= self.concurrency <= 1_000),
            ("timeout", "more than 0 s, a day at most", self.timeout, 0 < self.timeout <= 86_400),
            ("retries", "0 or more", self.retries, self.retries >= 0),
            ("batch_size", "1 or more", self.batch_size, self.batch_size >= 1),
        )


def _is_plain_address(url: str) -> bool:
    try:
        parts = urlsplit(url)
    except ValueError:
        return False
    secret = parts.username or parts.password or parts.query
    return parts.scheme in ("http", "https") and bool(parts.hostname) and not secret


def named(models: Mapping[str, ModelConfig]) -> dict[str, ModelConfig]:
    """Name each model by its key.

    Raises:
        InputError: a key is not one word, or a model has another name of its own.
    """
    wanted = "none, its key is its name"
    refuse(
        "the generators",
        *((f"{key}.name", wanted, m.name, m.name in ("", key)) for key, m in models.items()),
        *(("a generator's key", "one word", repr(key), key.split() == [key]) for key in models),
    )
    return {key: replace(model, name=key) for key, model in models.items()}
