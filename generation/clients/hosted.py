"""What the clients of hosted models share: names, keys, and what an HTTP error means."""

from __future__ import annotations

import json
import math
import os
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TypeGuard

from generation.llm import ErrorKind, Identity, LLMError, ModelConfig, Request, Usage
from hybrid_ir.errors import refuse

NO_KEY = "no-key"  # what a server gets that asks for none: the SDKs insist on something
CHARACTERS_A_TOKEN = 4  # a rule of thumb for English
_MOST_TOKENS = 10**8  # no model takes or gives as many: what says so does not count
_SHORTEST_SECRET = 8  # servers that ask for any key get "test" or "EMPTY": words, in replies too
_KEY_LIKE = re.compile(r"\b(?:sk-|AIza)[\w*.-]+|\S*\*{3,}\S*")  # as providers quote a wrong key


def identity_of(config: ModelConfig) -> Identity:
    """Name a hosted model; no key is needed.

    A server's address belongs to it, since each serves its own weights.
    """
    server = (("base_url", config.base_url.rstrip("/")),) if config.base_url else ()
    settings = (*server, ("structured", str(config.structured)))
    return Identity(config.provider, config.model, config.revision, settings)


def refuse_settings(config: ModelConfig, usual: str, *own: tuple[str, str, object, bool]) -> None:
    """Raise one InputError for all of a hosted model's settings that cannot be used.

    Args:
        config: The model.
        usual: The variable that holds the provider's key.
        own: The provider's own conditions, as :func:`hybrid_ir.errors.refuse` takes them.
    """
    variable, key = _variable_and_key(config, usual)
    is_key = bool(key) and key.isascii() and key.isprintable() and " " not in key
    refuse(
        f"the model {config.name}",
        *own,
        (
            "key_variable",
            f"a key in the environment variable {variable} (export {variable}=... or name another)",
            "blanks or characters that no key has" if key else "nothing: it is not set",
            is_key or not variable,
        ),
    )


def read_key(config: ModelConfig, usual: str) -> str:
    """Read the key from the environment, once :func:`refuse_settings` has looked at it.

    Args:
        config: The model.
        usual: The provider's own variable.

    Returns:
        The key, or ``NO_KEY`` for another server than the provider's whose variable is not named.
    """
    return _variable_and_key(config, usual)[1] or NO_KEY


def _variable_and_key(config: ModelConfig, usual: str) -> tuple[str, str]:
    variable = config.key_variable or ("" if config.base_url else usual)
    return variable, os.environ.get(variable, "").strip() if variable else ""


def hide(text: str, key: str) -> str:
    """Take the key out of a text, JSON or not; a provider may send it back.

    A key of fewer than 8 characters stays: it is no secret, and may be a word of the text.
    """
    if key == NO_KEY or len(key) < _SHORTEST_SECRET:
        return text
    in_json = json.dumps(key)[1:-1]
    for written in (key, in_json, in_json.replace("/", "\\/")):
        text = text.replace(written, "[key]")
    return text


def quoted(said: str, key: str) -> str:
    """Give what a provider or a library says, in a line, without keys."""
    line = hide(" ".join(said.split()), key)
    if key != NO_KEY:
        line = re.sub(rf"(?<!\w){re.escape(key)}(?!\w)", "[key]", line)  # a short one, too
    return _KEY_LIKE.sub("[key]", line)[:500]


def http_error(
    config: ModelConfig, key: str, status: int, message: str, headers: Mapping[str, str]
) -> LLMError:
    """Turn an HTTP error into ours.

    Args:
        config: The model.
        key: The key in use; it is taken out of the message.
        status: The HTTP status.
        message: What the provider says.
        headers: Its headers, to read when to come back.
    """
    kind = kind_of(status)
    cure = ""
    if kind == "key":
        usual = "key_variable names none" if key == NO_KEY else "the key was not accepted"
        cure = f" ({usual}; mend the environment variable that key_variable names)"
    elif 300 <= status < 400:
        cure = " (a redirect, not followed; give the new address as base_url)"
    return LLMError(
        kind, f"{config.name}: HTTP {status}: {quoted(message, key)}{cure}", retry_after(headers)
    )


def kind_of(status: int) -> ErrorKind:
    """Say what kind of error an HTTP status is."""
    if status == 429:
        return "rate"
    if status in (401, 403):
        return "key"
    if status in (408, 409, 425) or status >= 500:
        return "server"
    return "request"


def malformed(config: ModelConfig, what: str) -> LLMError:
    """Give the error for an answer that is not of the provider's shape."""
    return LLMError("malformed", f"{config.name}: the server's answer cannot be read: {what}")


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Read the seconds to wait from ``retry-after-ms`` or Retry-After (RFC 9110, both forms).

    A date in the past gives 0.
    """
    if (milliseconds := _number(headers.get("retry-after-ms"))) is not None:
        return milliseconds / 1000
    given = headers.get("retry-after")
    if given is None or (seconds := _number(given)) is not None:
        return None if given is None else seconds
    try:
        date = parsedate_to_datetime(given)
    except ValueError:
        return None
    if date.tzinfo is None:
        date = date.replace(tzinfo=UTC)
    return max(0.0, (date - datetime.now(UTC)).total_seconds())


def _number(text: str | None) -> float | None:
    """Read a number of 0 or more."""
    try:
        number = float(text or "")
    except ValueError:
        return None
    return number if math.isfinite(number) and number >= 0 else None


def usage_of(prompt: object, completion: object, request: Request, text: str) -> Usage:
    """Give the tokens a provider counted, or an estimate where it says none that can be.

    Args:
        prompt: What it says the messages took, whatever that is.
        completion: What it says the reply took, whatever that is.
        request: What was asked.
        text: The reply's text.
    """
    if _is_count(prompt) and _is_count(completion):
        return Usage(prompt, completion)
    return _estimate(request, text)


def _is_count(value: object) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= _MOST_TOKENS


def _estimate(request: Request, text: str) -> Usage:
    sent = sum(len(message.content) for message in request.messages)
    return Usage(-(-sent // CHARACTERS_A_TOKEN), -(-len(text) // CHARACTERS_A_TOKEN), True)
