"""Asking a public server without being a burden: few connections, pauses, and patience.

All connections of a client share one clock. A server that says it is busy (429, 503, Retry-After)
holds all of them back, not only the one that was told.
"""

from __future__ import annotations

import contextlib
import logging
import random
import threading
import time
import urllib.request
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from http import HTTPStatus
from importlib.metadata import version
from typing import TypeVar
from urllib.parse import urlsplit

import urllib3
from urllib3.exceptions import HTTPError, InvalidHeader, MaxRetryError

from hybrid_ir.errors import refuse

log = logging.getLogger(__name__)

T = TypeVar("T")

_LONGEST_TEXT = 32 * 2**20
_FOLLOW_ONLY = urllib3.Retry(
    total=None, connect=0, read=0, status=0, other=0, redirect=5, respect_retry_after_header=False
)
_BUSY = (HTTPStatus.REQUEST_TIMEOUT, HTTPStatus.TOO_MANY_REQUESTS)


@dataclass(frozen=True, slots=True)
class HttpConfig:
    """How a server is asked.

    Attributes:
        connections: Connections at the same time.
        pause: Seconds from the start of one request to that of the next, over all connections.
        timeout: Seconds without an answer or a byte until a connection is given up.
        tries: How often in a row a request may fail; one that brought new bytes does not count.
        backoff: Seconds to wait after the first failure, doubled with each, half of it by chance.
        longest_wait: Seconds; a server that asks for more (Retry-After) is left alone.
        contact: A mail address for the User-Agent, so that the server's people can write to you.
    """

    connections: int = 2
    pause: float = 0.4
    timeout: float = 30.0
    tries: int = 6
    backoff: float = 2.0
    longest_wait: float = 900.0
    contact: str = ""

    def __post_init__(self) -> None:
        printable = self.contact.isprintable() and self.contact.isascii()
        refuse(
            "the connection",
            ("connections", "1 to 8", self.connections, 1 <= self.connections <= 8),
            ("pause", "0 seconds or more", self.pause, self.pause >= 0),
            ("timeout", "more than 0 seconds", self.timeout, self.timeout > 0),
            ("tries", "1 or more", self.tries, self.tries >= 1),
            ("backoff", "0 seconds or more", self.backoff, self.backoff >= 0),
            ("longest_wait", "0 seconds or more", self.longest_wait, self.longest_wait >= 0),
            ("contact", "a mail address", self.contact, printable),
        )


class FetchError(Exception):
    """Something that a server did not give; the message says what and how often it was tried."""


class NotThereError(FetchError):
    """What the server says it does not have (404, 410)."""


class AgainError(Exception):
    """A failure that may pass; ``wait`` is what the server asks for, in seconds."""

    def __init__(self, problem: str, wait: float | None = None) -> None:
        super().__init__(problem)
        self.wait = wait


class StoppedError(Exception):
    """The client was told to stop."""


class PoliteClient(AbstractContextManager["PoliteClient"]):
    """Makes GET requests, from several threads at once if need be."""

    def __init__(self, config: HttpConfig, url: str) -> None:
        """Set up for the server of ``url``; a proxy is taken from the environment, as usual."""
        self.config = config
        mail = f"; {config.contact}" if config.contact else ""
        agent = f"hybrid-ir/{version('hybrid-ir')} (BioASQ retrieval toolkit{mail})"
        timeout = urllib3.Timeout(connect=config.timeout, read=config.timeout)
        self._pool = _pool(url, agent, config.connections, timeout)
        self._lock = threading.Lock()
        self._next = 0.0  # when the next request may start, on the monotonic clock
        self._stopped = threading.Event()
        self._receiving: set[urllib3.BaseHTTPResponse] = set()

    def __exit__(self, *_: object) -> None:
        self.stop()
        self._pool.clear()

    def stop(self) -> None:
        """Let every thread that waits or receives raise StoppedError.

        One that was given no answer yet does so when its time is out.
        """
        self._stopped.set()
        for response in tuple(self._receiving):
            with contextlib.suppress(ValueError, RuntimeError, OSError):  # it ended just now
                response.shutdown()  # ends a read that another thread is blocked in

    def refuse_if_stopped(self) -> None:
        """Raise StoppedError once the client was told to stop."""
        if self._stopped.is_set():
            raise StoppedError

    def get_text(self, url: str) -> str:
        """Get a text of at most 32 MB.

        Raises:
            FetchError: the server does not give it.
        """

        def receive(response: urllib3.BaseHTTPResponse) -> str:
            content = response.read(_LONGEST_TEXT + 1, decode_content=True)
            if len(content) > _LONGEST_TEXT:
                raise FetchError(f"{url}: expected a text of at most {_LONGEST_TEXT} bytes")
            return content.decode("utf-8", "replace")

        return self.fetch(url, dict, receive, lambda: 0)

    def fetch(
        self,
        url: str,
        headers: Callable[[], Mapping[str, str]],
        receive: Callable[[urllib3.BaseHTTPResponse], T],
        position: Callable[[], int],
    ) -> T:
        """Make a request until it succeeds or has failed too often in a row.

        Args:
            url: What is wanted.
            headers: Gives the headers of the next try.
            receive: Takes the answer (status below 400, or 416); an HTTPError or AgainError it
                raises counts as a failure.
            position: How many bytes are at hand; a try that leaves more than ever does not count.

        Raises:
            FetchError: the server does not give it.
            StoppedError: :meth:`stop` was called.
        """
        failures, furthest = 0, position()
        while True:
            self._wait_turn()
            try:
                return self._once(url, headers(), receive)
            except (AgainError, HTTPError) as error:
                failures = 1 if position() > furthest else failures + 1
                furthest = max(furthest, position())
                problem = error.reason if isinstance(error, MaxRetryError) else error
                if failures >= self.config.tries:
                    raise FetchError(f"{url}: {problem}; gave up after {failures} tries") from error
                asked = error.wait if isinstance(error, AgainError) else None
                if asked is not None and asked > self.config.longest_wait:
                    raise FetchError(f"{url}: {problem}; asks to wait {asked:,.0f} s") from error
                log.debug("%s: %s; trying again", url, problem)
                self._hold_back(_backoff(self.config.backoff, failures) if asked is None else asked)

    def _once(
        self,
        url: str,
        headers: Mapping[str, str],
        receive: Callable[[urllib3.BaseHTTPResponse], T],
    ) -> T:
        response = self._pool.request(
            "GET", url, headers={**self._pool.headers, **headers}, preload_content=False,
            retries=_FOLLOW_ONLY,
        )  # fmt: skip
        self._receiving.add(response)
        try:
            _refuse_status(url, response)
            return receive(response)
        except BaseException:
            response.close()  # the rest of it must not be taken for the next answer
            raise
        finally:
            self._receiving.discard(response)
            response.release_conn()

    def _wait_turn(self) -> None:
        while True:
            self.refuse_if_stopped()
            with self._lock:
                delay = self._next - time.monotonic()
                if delay <= 0:
                    self._next = time.monotonic() + self.config.pause
                    return
            self._stopped.wait(delay)

    def _hold_back(self, seconds: float) -> None:
        with self._lock:
            self._next = max(self._next, time.monotonic() + seconds)


def _pool(url: str, agent: str, connections: int, timeout: urllib3.Timeout) -> urllib3.PoolManager:
    headers = {"User-Agent": agent, "Accept-Encoding": "identity"}
    address = urlsplit(url)
    proxy = urllib.request.getproxies().get(address.scheme)
    if proxy and not urllib.request.proxy_bypass(address.hostname or ""):
        return urllib3.ProxyManager(
            proxy, headers=headers, maxsize=connections, block=True, timeout=timeout
        )
    return urllib3.PoolManager(headers=headers, maxsize=connections, block=True, timeout=timeout)


def _refuse_status(url: str, response: urllib3.BaseHTTPResponse) -> None:
    """Tell failures that may pass from those that will not."""
    status = response.status
    if status < HTTPStatus.BAD_REQUEST or status == HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE:
        return
    problem = f"HTTP status {status}"
    if status in _BUSY or status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        raise AgainError(problem, _asked_wait(response))
    if status in (HTTPStatus.NOT_FOUND, HTTPStatus.GONE):
        raise NotThereError(f"{url}: {problem}")
    raise FetchError(f"{url}: {problem}")


def _asked_wait(response: urllib3.BaseHTTPResponse) -> float | None:
    try:
        return _FOLLOW_ONLY.get_retry_after(response)
    except InvalidHeader:
        return None


def _backoff(first: float, failures: int) -> float:
    """Double with each failure, and let chance take up to half, so that clients do not march."""
    whole = first * 2.0 ** (failures - 1)
    return float(whole * random.uniform(0.5, 1.0))  # noqa: S311 (no secret)
