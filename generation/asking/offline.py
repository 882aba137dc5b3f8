"""Replies by way of files: requests written as OpenAI's Batch API takes them, results taken in.

https://platform.openai.com/docs/guides/batch: a line a request, results in any order, errors in a
file of their own. Any other means of answering will do that writes the same lines.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, TypeVar

import msgspec

from generation.asking.outcomes import ATTEMPTS, Outcome, Parse, fault_of, look_up
from generation.cache.replies import ReplyCache
from generation.clients.chat_completions import chat_body, read_completion
from generation.llm import Identity, LLMError, ModelConfig, Reply, Request
from hybrid_ir.files import open_binary, writing

T = TypeVar("T")

MOST_REQUESTS = 50_000
MOST_BYTES = 200_000_000
_URL = "/v1/chat/completions"


@dataclass(slots=True)
class Exported:
    """What was written.

    Attributes:
        files: The files, each small enough for one batch.
        requests: Requests in them.
        cached: Requests that need no answer: the cache has one.
        unusable: Requests whose every attempt is cached and of no use.
    """

    files: list[Path] = field(default_factory=list)
    requests: int = 0
    cached: int = 0
    unusable: int = 0


@dataclass(slots=True)
class Imported:
    """What was taken in.

    Attributes:
        good: Replies.
        rejected: Replies of no use, kept, yet asked again.
        repeated: Replies to what the cache has a good reply to.
        faults: A line each for errors, unknown ids and lines that cannot be read.
    """

    good: int = 0
    rejected: int = 0
    repeated: int = 0
    faults: list[str] = field(default_factory=list)


def export_requests(
    path: Path,
    config: ModelConfig,
    identity: Identity,
    requests: Iterable[Request],
    cache: ReplyCache,
    parse: Parse[T],
    attempts: int = ATTEMPTS,
) -> Exported:
    """Write what is not cached yet; the cache remembers what was asked.

    After a reply of no use the changed request is written. What is more than one batch may hold
    (50,000 requests, 200 MB) goes on in ``NAME.2.jsonl`` and so on. Where nothing is to be asked no
    file is written.

    Args:
        path: The JSONL file.
        config: The model; with another provider than ``openai`` the body has its model's name, too.
        identity: The model, as its client names it.
        requests: As for ``ask_all``.
        cache: Where replies are, and will be, kept.
        parse: As for ``ask_all``.
        attempts: As for ``ask_all``.
    """
    exported = Exported()
    lines = _lines(config, identity, requests, cache, parse, attempts, exported)
    line = next(lines, None)
    while line is not None:
        number = len(exported.files) + 1
        part = path if number == 1 else path.with_name(f"{path.stem}.{number}{path.suffix}")
        count = size = 0
        with writing(part) as file:
            while line is not None:
                length = len(line.encode())
                if count and (count == MOST_REQUESTS or size + length > MOST_BYTES):
                    break
                file.write(line)
                count, size = count + 1, size + length
                line = next(lines, None)
        exported.files.append(part)
        exported.requests += count
    return exported


def _lines(
    config: ModelConfig,
    identity: Identity,
    requests: Iterable[Request],
    cache: ReplyCache,
    parse: Parse[T],
    attempts: int,
    exported: Exported,
) -> Iterator[str]:
    """Yield the lines of the requests to answer, each once."""
    written = set()
    for given in requests:
        found = look_up(cache, identity, given, parse, attempts)
        if isinstance(found, Outcome):
            exported.cached += found.failure is None
            exported.unusable += found.failure is not None
            continue
        request, key = found.request, found.key
        if key in written:  # a batch takes an id once
            continue
        written.add(key)
        cache.export(key, identity, request)
        body = chat_body(config, request)
        line = {"custom_id": key, "method": "POST", "url": _URL, "body": body}
        yield msgspec.json.encode(line).decode() + "\n"


class _Error(msgspec.Struct):
    message: str | None = None
    code: str | int | None = None


class _Response(msgspec.Struct):
    status_code: int
    body: msgspec.Raw = msgspec.Raw()


class _Line(msgspec.Struct):
    custom_id: str
    response: _Response | None = None
    error: _Error | None = None


class _Failure(msgspec.Struct):
    error: _Error


_read_line = msgspec.json.Decoder(_Line).decode


def import_replies(path: Path, cache: ReplyCache) -> Imported:
    """Take the output file, or the error file, of a batch into the cache; twice does no harm.

    Args:
        path: The file, gzipped or not, its lines in any order.
        cache: The cache that the requests were exported with.

    Returns:
        Counts, and what was wrong; good lines are kept whatever the others hold.

    Raises:
        InputError: the file is missing.
    """
    imported = Imported()
    with ExitStack() as stack:
        file = stack.enter_context(open_binary(path))
        for number, line in _numbered(file, path, imported):
            if fault := _take(line, cache, imported):
                imported.faults.append(f"{path}:{number}: {fault}")
    return imported


def _numbered(file: IO[bytes], path: Path, imported: Imported) -> Iterator[tuple[int, bytes]]:
    """Yield lines that are not blank, as far as the file can be read."""
    number = 0
    try:
        for number, line in enumerate(file, start=1):
            if line.strip():
                yield number, line
    except (EOFError, OSError, zlib.error) as error:
        imported.faults.append(f"{path}:{number + 1}: cannot read on: {error}")


def _take(text: bytes, cache: ReplyCache, imported: Imported) -> str | None:
    """Keep the reply of one line, or say what is wrong with the line."""
    try:
        line = _read_line(text)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        return f"expected a result of a batch, it cannot be read: {error}"
    asked = cache.exported(line.custom_id)
    if asked is None:
        if cache.find(line.custom_id):
            imported.repeated += 1
            return None
        return f"unknown custom_id {line.custom_id!r}: it was not exported with {cache.path}"
    identity, request = asked
    if failed := _error_of(line):
        return f"question {request.question_id}: {failed}; export it again"
    assert line.response
    config = ModelConfig("offline", "openai", identity.model)
    try:
        reply = read_completion(config, request, bytes(line.response.body).decode())
    except (LLMError, UnicodeDecodeError) as problem:
        return f"question {request.question_id}: {problem}; export it again"
    _keep(line.custom_id, identity, request, reply, cache, imported)
    return None


def _error_of(line: _Line) -> str | None:
    """Say what the provider says went wrong, or None."""
    if line.error:
        return f"{line.error.code}: {line.error.message}"
    if not line.response:
        return "neither a response nor an error"
    if line.response.status_code == 200:
        return None
    try:
        error = msgspec.json.decode(line.response.body, type=_Failure).error
    except msgspec.MsgspecError:
        error = _Error()
    return f"HTTP {line.response.status_code}: {error.message}"


def _keep(
    key: str,
    identity: Identity,
    request: Request,
    reply: Reply,
    cache: ReplyCache,
    imported: Imported,
) -> None:
    rejected = fault_of(reply)
    kept = cache.store(key, identity, request, reply, rejected)
    cache.forget_exported(key)
    if kept is not reply:
        imported.repeated += 1
    elif rejected:
        imported.rejected += 1
    else:
        imported.good += 1
