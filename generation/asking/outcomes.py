"""What becomes of a request, and which of its attempts is next."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Generic, Literal, TypeAlias, TypeVar

from generation.cache.replies import ReplyCache, key_of
from generation.llm import ErrorKind, Identity, Reply, Request
from generation.structured import Unusable, changed

T = TypeVar("T")

ATTEMPTS = 3
"""How often a request is asked, changed each time, until a reply is of use."""

Parse: TypeAlias = Callable[[Request, Reply], T]
"""Makes the value of a reply to a request; raises ``structured.Unusable`` where it is no use."""

FailureKind = ErrorKind | Literal["unusable", "budget", "stopped"]


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a request has no value.

    Attributes:
        kind: An LLMError's kind; ``unusable`` (no reply of any attempt is of use); ``budget`` (not
            asked: there is no room for it) or ``stopped`` (not asked: the model refuses all calls).
        message: What happened, and the cure where there is one.
    """

    kind: FailureKind
    message: str


@dataclass(frozen=True, slots=True)
class Outcome(Generic[T]):
    """What became of one request.

    Attributes:
        request: As it was asked last; its ``attempt`` says how often it was changed.
        value: What ``parse`` made of the reply; None where there is a failure.
        reply: The last reply, of use or not, if there is one.
        failure: Why there is no value, or None.
        rejected: Why the replies before it, the last one included if it is of no use, are not.
        cached: Whether no call was made for it.
    """

    request: Request
    value: T | None
    reply: Reply | None
    failure: Failure | None = None
    rejected: tuple[str, ...] = ()
    cached: bool = False


@dataclass(frozen=True, slots=True)
class Pending:
    """What is to be asked.

    Attributes:
        request: The request, perhaps a later attempt at what was given.
        key: What its reply is kept under.
        rejected: Why the replies to the attempts before are of no use.
    """

    request: Request
    key: str
    rejected: tuple[str, ...]


@dataclass(slots=True)
class Progress:
    """What asking came to so far; ``tokens`` and ``usd`` are at worst where they are not known.

    Attributes:
        requests: Outcomes handed out.
        cached: Those that needed no call.
        failed: Those with a failure.
        not_asked: Those of them stopped by the budget, or as the model refuses all calls.
        calls: Calls made.
        retried: Calls made again after an error.
        changed: Requests asked again, changed, after a reply of no use.
        tokens: Of prompts and replies of these calls.
        usd: Dollars for these calls.
        possible_calls: Calls without a reply that may be charged.
        possible_usd: What these come to at worst; part of ``usd``.
    """

    requests: int = 0
    cached: int = 0
    failed: int = 0
    not_asked: int = 0
    calls: int = 0
    retried: int = 0
    changed: int = 0
    tokens: int = 0
    usd: float = 0.0
    possible_calls: int = 0
    possible_usd: float = 0.0


@dataclass(frozen=True, slots=True)
class Verdict(Generic[T]):
    """What a reply is worth.

    Attributes:
        value: What the parser made of it.
        rejected: Why it is of no use, or None.
        fault: What the parser raised that is no verdict: a bug, to be raised on.
    """

    value: T | None = None
    rejected: str | None = None
    fault: Exception | None = None


def fault_of(reply: Reply) -> str | None:
    """Say why no parser need look at a reply, or None."""
    if reply.finish in ("refusal", "filtered"):
        return "it was refused" if reply.finish == "refusal" else "it was filtered"
    if reply.finish == "length":
        return "it was cut off at the longest length"
    if not reply.text.strip():
        return "it is empty"
    if "\0" in reply.text:
        return "it holds NUL characters"
    return None if is_text(reply.text) else "it holds half a surrogate pair"


def is_text(text: str) -> bool:
    """Whether a text can be written: it holds no half of a surrogate pair."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def judge(request: Request, reply: Reply, parse: Parse[T]) -> Verdict[T]:
    """Judge a reply."""
    if fault := fault_of(reply):
        return Verdict(rejected=fault)
    try:
        return Verdict(parse(request, reply))
    except Unusable as reason:
        return Verdict(rejected=str(reason) or "the parser rejects it")
    except Exception as error:
        return Verdict(rejected=f"the parser failed: {type(error).__name__}", fault=error)


def cure_of(identity: Identity, attempts: int, cache: ReplyCache | None) -> str:
    """Say what helps where no reply is of use."""
    if identity.provider == "recorded":
        return "recorded replies stay as they are: mend their file"
    more = f"more attempts ask on (attempts={attempts + 3})"
    if not cache:
        return more
    return f"{more}; `hybrid-ir cache forget-rejected {cache.path}` has what is rejected asked anew"


def next_attempt(
    request: Request, reply: Reply, rejected: tuple[str, ...], attempts: int, cure: str
) -> Request | Outcome[T]:
    """Give the request that asks again after a reply of no use, or what ends it.

    Args:
        request: What was asked last.
        reply: The reply to it.
        rejected: Why this reply, and those before it, are of no use.
        attempts: How often it may be asked.
        cure: What helps after the last one.
    """
    if request.attempt + 1 < attempts:
        return changed(request, reply, rejected[-1])
    message = f"no reply of {request.attempt + 1} is of use; the last one: {rejected[-1]}; {cure}"
    return Outcome(request, None, reply, Failure("unusable", message), rejected)


def look_up(
    cache: ReplyCache,
    identity: Identity,
    request: Request,
    parse: Parse[T],
    attempts: int,
    rejected: tuple[str, ...] = (),
) -> Outcome[T] | Pending:
    """Give what the cache knows, or what to ask: this or a later attempt at it.

    Args:
        cache: The cache; its verdicts are brought up to date.
        identity: The model.
        request: What is wanted.
        parse: Makes the value.
        attempts: How often it may be asked.
        rejected: Why the replies to attempts before this one are of no use.
    """
    while True:
        key = key_of(identity, request)
        found = cache.find(key)
        if found is None:
            return Pending(request, key, rejected)
        reply, before = found
        verdict = judge(request, reply, parse)
        if verdict.rejected != before:
            cache.judge(key, verdict.rejected)
        if verdict.fault:
            raise verdict.fault
        if verdict.rejected is None:
            return Outcome(request, verdict.value, reply, rejected=rejected, cached=True)
        rejected = (*rejected, verdict.rejected)
        cure = cure_of(identity, attempts, cache)
        step: Request | Outcome[T] = next_attempt(request, reply, rejected, attempts, cure)
        if isinstance(step, Outcome):
            return replace(step, cached=True)
        request = step
