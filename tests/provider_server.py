"""A language model's HTTP server for tests and benchmarks: it speaks two protocols and misbehaves.

    python tests/provider_server.py --latency 0.5      # prints its URL first

It answers OpenAI's Chat Completions (``/v1/chat/completions``) and Gemini's ``generateContent``
(``/v1beta/models/NAME:generateContent``) over real sockets of the loopback interface, from one
event loop in a thread (tests: the fixture ``provider``) or in a process of its own. What it says
depends on the request alone (messages, seed, schema), so two runs can be compared byte for byte.

    provider.script("q7", Act("status", status=429, retry_after="1"), Act("cut"))
                                    # the first request with q7 in its messages, the second one;
                                    # after that it answers well
    provider.script("q8", Act("refusal"), forever=True)
    provider.script("", Act("hang"))            # the very first request, whatever it asks
    provider.latency = 0.05                     # seconds before every answer
    provider.calls                              # Call(path, body, headers, prompt, act), in order
    provider.count("q7")                        # requests with q7 in their messages
    provider.most_in_flight
    ModelConfig(..., base_url=provider.openai_url)      # or provider.gemini_url
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import threading
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Literal

Kind = Literal[
    "answer",  # as asked; ``text`` for other words, "" for an empty reply
    "status",  # an error with ``status``, ``retry_after`` and ``message``
    "hang",  # no byte for ``seconds``, or until the client leaves
    "reset",  # the connection is closed without a byte
    "cut",  # the connection is closed in the midst of the body
    "malformed",  # 200 with a page of HTML
    "truncated",  # 200, a complete HTTP answer, its JSON ends in the midst
    "wrong_shape",  # 200 with other JSON
    "no_choices",  # 200, no choice / no candidate
    "refusal",  # the model declines
    "filtered",  # stopped by the provider's filter in the midst of the text
    "blocked",  # Gemini: the prompt is refused; OpenAI: 400 content_filter
    "length",  # the reply reached its longest
    "no_usage",  # an answer without token counts
    "latin-1",  # 200, JSON in another encoding than UTF-8
    "mislabelled",  # 200, JSON in UTF-8 whose header says it is in another one
    "echo",  # 401 whose message holds every header, the key too
]
PRIVATE_HEADER = "private-header-of-the-provider"
ERROR_NAMES = {400: "INVALID_ARGUMENT", 401: "UNAUTHENTICATED", 429: "RESOURCE_EXHAUSTED"}


@dataclass(frozen=True, slots=True)
class Act:
    """How to treat one request.

    Attributes:
        kind: See ``Kind``.
        text: The reply's text instead of the usual one; None for that.
        status: HTTP status of an error.
        retry_after: The header Retry-After as it stands; empty for none.
        message: The error's message.
        seconds: How long to hang, or to wait before any other act.
    """

    kind: Kind = "answer"
    text: str | None = None
    status: int = 500
    retry_after: str = ""
    message: str = "something is wrong"
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Call:
    """One request as it came: header names in lower case, ``prompt`` = all messages, joined."""

    path: str
    body: dict[str, Any]
    headers: dict[str, str]
    prompt: str
    act: Act


@dataclass(slots=True)
class ProviderServer:
    """The server's settings and what it saw; see the module's docstring.

    Attributes:
        latency: Seconds before every answer.
        calls: The requests, in the order of their arrival (empty with ``keep`` off).
        arrived: How many there were.
        in_flight: Requests being treated.
        most_in_flight: The most there ever were at once.
        keep: Whether to record calls.
        thoughts: Tokens of thinking reported in each usage.
    """

    url: str = ""
    latency: float = 0.0
    calls: list[Call] = field(default_factory=list)
    arrived: int = 0
    in_flight: int = 0
    most_in_flight: int = 0
    keep: bool = True
    thoughts: int = 0
    _scripts: list[tuple[str, deque[Act], bool]] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _open: set[asyncio.Transport] = field(default_factory=set)

    @property
    def openai_url(self) -> str:
        """What an OpenAI client takes as its base URL."""
        return f"{self.url}/v1"

    @property
    def gemini_url(self) -> str:
        """What a Gemini client takes as its base URL."""
        return self.url

    def script(self, marker: str, *acts: Act, forever: bool = False) -> None:
        """Treat the next requests that hold a text so, one act each; ``forever``: the last stays.

        Of several scripts that fit the first made and not used up counts.
        """
        with self._lock:
            self._scripts.append((marker, deque(acts), forever))

    def count(self, marker: str) -> int:
        """Count the requests that held a text."""
        return sum(marker in call.prompt for call in list(self.calls))

    def next_act(self, prompt: str) -> Act:
        """Take the next act of the script that fits."""
        with self._lock:
            for marker, acts, forever in self._scripts:
                if acts and marker in prompt:
                    return acts[0] if forever and len(acts) == 1 else acts.popleft()
        return Act()


class _Connection(asyncio.Protocol):
    """One client's connection: one request after another."""

    def __init__(self, server: ProviderServer) -> None:
        self.server = server
        self.pending = b""
        self.task: asyncio.Task[None] | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport
        self.server._open.add(transport)

    def connection_lost(self, exc: Exception | None) -> None:
        self.server._open.discard(self.transport)
        if self.task:
            self.task.cancel()

    def data_received(self, data: bytes) -> None:
        self.pending += data
        head, found, rest = self.pending.partition(b"\r\n\r\n")
        if not found:
            return
        first, *lines = head.decode("latin-1").split("\r\n")
        pairs = (line.partition(":") for line in lines)
        headers = {name.lower(): value.strip() for name, _, value in pairs}
        length = int(headers.get("content-length", 0))
        if len(rest) >= length:
            self.pending = rest[length:]
            self.start(first.split(" ")[1], headers, rest[:length])

    def start(self, path: str, headers: dict[str, str], raw: bytes) -> None:
        """Take a request; it is answered at once where nothing is to be waited for."""
        server = self.server
        if path == "/stats":
            numbers = {"calls": server.arrived, "most_in_flight": server.most_in_flight}
            self.transport.write(http_answer(200, json.dumps(numbers).encode()))
            return
        body = json.loads(raw)
        prompt = "\n".join(read_messages(body))
        call = Call(path, body, headers, prompt, server.next_act(prompt))
        server.arrived += 1
        server.in_flight += 1
        server.most_in_flight = max(server.most_in_flight, server.in_flight)
        if server.keep:
            server.calls.append(call)
        seconds = server.latency + call.act.seconds
        if call.act.kind == "hang":
            seconds = call.act.seconds or 3_600.0
        if not seconds:
            self.finish(call)
            return
        self.task = asyncio.get_running_loop().create_task(asyncio.sleep(seconds))
        self.task.add_done_callback(lambda task: self.finish(call, left=task.cancelled()))

    def finish(self, call: Call, left: bool = False) -> None:
        """Answer, or do what the act says instead."""
        self.task = None
        self.server.in_flight -= 1
        if left:
            return
        if call.act.kind in ("hang", "reset"):
            self.transport.abort()
            return
        answer = answer_to(call, self.server.thoughts)
        if call.act.kind == "cut":
            self.transport.write(answer[: -len(answer) // 4])
            self.transport.close()
            return
        self.transport.write(answer)


def read_messages(body: dict[str, Any]) -> list[str]:
    """Give the texts of a request of either protocol, a system instruction first."""
    if "messages" in body:
        return [str(message["content"]) for message in body["messages"]]
    turns = [body["systemInstruction"]] if "systemInstruction" in body else []
    return [part["text"] for turn in turns + body["contents"] for part in turn["parts"]]


def answer_to(call: Call, thoughts: int = 0) -> bytes:
    """Make the whole HTTP answer to a request."""
    act = call.act
    if act.kind == "status":
        return http_error(act.status, act.message, act.retry_after)
    if act.kind == "echo":
        return http_error(401, f"not accepted: {call.headers}")
    if act.kind == "malformed":
        return http_answer(200, b"<html><body>busy</body></html>", "text/html")
    if act.kind == "wrong_shape":
        return http_answer(200, b'{"status": "fine"}')
    gemini = "messages" not in call.body
    if act.kind == "blocked" and not gemini:
        return http_error(400, "content_filter: the prompt is refused", code="content_filter")
    answer = gemini_answer(call, thoughts) if gemini else openai_answer(call, thoughts)
    body = json.dumps(answer).encode()
    if act.kind in ("latin-1", "mislabelled"):
        encoding = "utf-8" if act.kind == "mislabelled" else "latin-1"
        body = json.dumps(answer, ensure_ascii=False).encode(encoding)
        return http_answer(200, body, "application/json; charset=iso-8859-1")
    return http_answer(200, body[: len(body) // 2] if act.kind == "truncated" else body)


def http_answer(status: int, body: bytes, kind: str = "application/json", more: str = "") -> bytes:
    """Join an HTTP answer; one header is nobody's business."""
    lines = (
        f"HTTP/1.1 {status} X",
        f"Content-Type: {kind}",
        f"Content-Length: {len(body)}",
        f"X-Private: {PRIVATE_HEADER}",
        more,
    )
    return "\r\n".join(lines).encode() + b"\r\n" + body


def http_error(status: int, message: str, retry_after: str = "", code: str = "") -> bytes:
    """Make an error that both SDKs read."""
    error = {
        "message": message,
        "code": code or status,
        "status": ERROR_NAMES.get(status, "INTERNAL"),
    }
    more = f"Retry-After: {retry_after}\r\n" if retry_after else ""
    return http_answer(status, json.dumps({"error": error}).encode(), more=more)


def openai_answer(call: Call, thoughts: int) -> dict[str, Any]:
    """Make a chat completion."""
    act, body = call.act, call.body
    wanted = body.get("response_format", {}).get("json_schema", {}).get("schema")
    text = reply_text(call, body.get("seed"), wanted)
    message: dict[str, Any] = {"role": "assistant", "content": text}
    if act.kind == "refusal":
        message = {"role": "assistant", "content": None, "refusal": "I cannot help with that."}
    finish = {"length": "length", "filtered": "content_filter"}.get(act.kind, "stop")
    choice = {"index": 0, "finish_reason": finish, "message": message, "logprobs": None}
    words = len(call.prompt.split()), len(text.split()) + thoughts
    answer = {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1_700_000_000,
        "model": f"{body['model']}-2026-01-01",
        "choices": [] if act.kind == "no_choices" else [choice],
        "usage": {
            "prompt_tokens": words[0],
            "completion_tokens": words[1],
            "total_tokens": sum(words),
        },
    }
    if act.kind == "no_usage":
        del answer["usage"]
    return answer


def gemini_answer(call: Call, thoughts: int) -> dict[str, Any]:
    """Make a generateContent answer."""
    act, options = call.act, call.body.get("generationConfig", {})
    wanted = options.get("responseJsonSchema") or options.get("responseSchema")
    text = reply_text(call, options.get("seed"), wanted)
    finish = {"length": "MAX_TOKENS", "filtered": "SAFETY", "refusal": "PROHIBITED_CONTENT"}
    candidate: dict[str, Any] = {"index": 0, "finishReason": finish.get(act.kind, "STOP")}
    if act.kind != "refusal":
        candidate["content"] = {"role": "model", "parts": [{"text": text}]}
    usage = {
        "promptTokenCount": len(call.prompt.split()),
        "candidatesTokenCount": len(text.split()),
        "thoughtsTokenCount": thoughts,
    }
    answer: dict[str, Any] = {
        "candidates": [candidate],
        "modelVersion": call.path.rpartition("/")[2].partition(":")[0] + "-001",
        "usageMetadata": usage | {"totalTokenCount": sum(usage.values())},
    }
    if act.kind in ("no_choices", "blocked"):
        del answer["candidates"]
    if act.kind == "blocked":
        answer["promptFeedback"] = {"blockReason": "SAFETY"}
    if act.kind == "no_usage":
        del answer["usageMetadata"]
    return answer


def reply_text(call: Call, seed: int | None, schema: dict[str, Any] | None) -> str:
    """Say what the request and nothing else decides."""
    if call.act.text is not None:
        return call.act.text
    text = f"A reply to: {call.prompt}" + ("" if seed is None else f" (seed {seed})")
    return json.dumps(example(schema, text, schema)) if schema else text


def example(schema: dict[str, Any], text: str, whole: dict[str, Any]) -> Any:
    """Make a value that a JSON schema allows, with a text wherever one may stand."""
    if "$ref" in schema:
        named = whole["$defs"][schema["$ref"].rpartition("/")[2]]
        return example(named, text, whole)
    if "enum" in schema:
        return schema["enum"][0]
    if "anyOf" in schema:
        return example(schema["anyOf"][0], text, whole)
    kind = str(schema.get("type", "object")).lower()
    if kind == "object":
        return {name: example(one, text, whole) for name, one in schema["properties"].items()}
    if kind == "array":
        return [example(schema["items"], text, whole)]
    return {"string": text, "integer": 1, "number": 0.5, "boolean": True}.get(kind)


async def _serve(server: ProviderServer, port: int, ready: Callable[[], object]) -> None:
    loop = asyncio.get_running_loop()
    listening = await loop.create_server(lambda: _Connection(server), "127.0.0.1", port)
    server.url = f"http://127.0.0.1:{listening.sockets[0].getsockname()[1]}"
    ready()
    await listening.serve_forever()


@contextlib.contextmanager
def running(server: ProviderServer) -> Iterator[ProviderServer]:
    """Serve from a thread while the block runs."""
    loop, ready = asyncio.new_event_loop(), threading.Event()
    thread = threading.Thread(target=_run, args=(loop, server, ready.set), daemon=True)
    thread.start()
    if not ready.wait(10):
        raise RuntimeError("the server did not start")
    try:
        yield server
    finally:
        loop.call_soon_threadsafe(lambda: [task.cancel() for task in asyncio.all_tasks(loop)])
        thread.join(10)


def _run(
    loop: asyncio.AbstractEventLoop, server: ProviderServer, ready: Callable[[], object]
) -> None:
    with contextlib.suppress(asyncio.CancelledError):
        loop.run_until_complete(_serve(server, 0, ready))
    for transport in list(server._open):
        transport.abort()
    loop.run_until_complete(asyncio.sleep(0))  # sockets are closed in the loop's next round
    loop.close()


def main() -> None:
    """Serve from this process until it is killed; the first line printed is the URL."""
    parser = argparse.ArgumentParser(description="a language model's server that knows nothing")
    parser.add_argument("--port", type=int, default=0, help="0 for a free one")
    parser.add_argument("--latency", type=float, default=0.0, help="seconds before every answer")
    args = parser.parse_args()
    server = ProviderServer(latency=args.latency, keep=False)

    def announce() -> None:
        print(server.url, flush=True)  # noqa: T201 (what this program is to say)

    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(_serve(server, args.port, announce))


if __name__ == "__main__":
    main()
