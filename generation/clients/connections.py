"""HTTP connections to hosted models: how many, how long, and what it means when they fail."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator
from typing import cast

import httpx2

from generation.clients.hosted import quoted
from generation.llm import LLMError, ModelConfig

_CONNECT_SECONDS = 10.0
_QUIET = {  # at DEBUG they write headers, at INFO httpx2 writes a line a request
    "httpcore2": logging.INFO,
    "openai": logging.INFO,
    "google_genai": logging.INFO,
    "httpx2": logging.WARNING,
}
_DEADLINE = "hybrid_ir.deadline"


def open_connections(config: ModelConfig) -> httpx2.Client:
    """Give an HTTP client for as many threads as the model's concurrency.

    Each request has ``config.timeout`` seconds in all, a server that sends a byte now and then
    included. Redirects are not followed: a key would follow, too. Proxies are the environment's.
    """
    for name, level in _QUIET.items():
        logger = logging.getLogger(name)
        logger.setLevel(max(logger.getEffectiveLevel(), level))

    def start(request: httpx2.Request) -> None:
        request.extensions[_DEADLINE] = time.monotonic() + config.timeout

    return httpx2.Client(
        timeout=httpx2.Timeout(config.timeout, connect=min(_CONNECT_SECONDS, config.timeout)),
        limits=httpx2.Limits(
            max_connections=config.concurrency, max_keepalive_connections=config.concurrency
        ),
        follow_redirects=False,
        event_hooks={"request": [start], "response": [_watch]},
    )


def _watch(response: httpx2.Response) -> None:
    """Have the body read under the request's deadline, and as UTF-8: JSON is nothing else."""
    response.encoding = "utf-8"
    stream = cast(httpx2.SyncByteStream, response.stream)
    response.stream = _Watched(stream, response.request)


class _Watched(httpx2.SyncByteStream):
    """A body that must end before the deadline."""

    def __init__(self, stream: httpx2.SyncByteStream, request: httpx2.Request) -> None:
        self.stream, self.request = stream, request

    def __iter__(self) -> Iterator[bytes]:
        for part in self.stream:
            if time.monotonic() > self.request.extensions[_DEADLINE]:
                raise httpx2.ReadTimeout("the answer takes too long", request=self.request)
            yield part

    def close(self) -> None:
        self.stream.close()


def transport_error(config: ModelConfig, key: str, error: BaseException) -> LLMError:
    """Turn a failed connection or a time-out into ours, by the HTTP library's exception."""
    if isinstance(error, httpx2.TimeoutException):
        return LLMError("timeout", f"{config.name}: no reply within {config.timeout:g} s")
    where = f" to {config.base_url}" if config.base_url else ""
    return LLMError(
        "connection", f"{config.name}: the connection{where} failed: {quoted(str(error), key)}"
    )
