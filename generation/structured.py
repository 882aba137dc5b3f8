"""Replies in JSON: asking for them, reading them, and asking again, changed, when they are no use.

What a reasoning model thought first is left out. The rest is read as it stands, else as the JSON in
a code fence or amid prose, else as json-repair mends it. What was done is said, so that it can be
counted. A reply that ends in the midst is never mended: what it lost cannot be known.
"""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Generic, Literal, TypeVar

from pydantic import BaseModel, ValidationError

from generation.llm import Message, Reply, Request, Schema

Model = TypeVar("Model", bound=BaseModel)
Mending = Literal["", "extracted", "repaired"]

THINKING = re.compile(
    r"\A\s*+(?:<think(?:ing)?>.*?(?:</think(?:ing)?>|\Z)|.*?</think(?:ing)?>)\s*",
    re.DOTALL | re.IGNORECASE,
)
"""What a reasoning model thought before it answered; up to the end where the thought has none.

Some servers send the end mark alone: the chat template has put the first one into the prompt.
"""
NOTHING_ELSE = "it holds nothing but thinking"

_FENCE = re.compile(r"```[\w-]*[ \t]*\n(.*?)```", re.DOTALL)
_SEED_STEP = 1_000_003  # far from the seeds of other samples, and a few steps fit in 32 bits


class Unusable(Exception):  # noqa: N818 (a verdict on a reply, not a fault of the program)
    """A reply that cannot be used; the message says why, for people and for the model."""


@dataclass(frozen=True, slots=True)
class Parsed(Generic[Model]):
    """What a reply holds.

    Attributes:
        value: The pydantic model.
        mending: Nothing, ``extracted`` (from a fence, prose or after thinking) or ``repaired``
            (broken JSON).
        repairs: What json-repair did, a sentence each.
    """

    value: Model
    mending: Mending = ""
    repairs: tuple[str, ...] = ()


def schema_of(model: type[BaseModel]) -> Schema:
    """Give the JSON schema of a pydantic model, to ask for it."""
    return Schema(model.__name__, model.model_json_schema())


def strict(schema: dict[str, Any]) -> dict[str, Any]:
    """Give a schema as OpenAI's strict mode takes it: all keys required, no others, no defaults.

    https://platform.openai.com/docs/guides/structured-outputs (supported schemas)
    """
    result = copy.deepcopy(schema)
    for part in _parts(result):
        part.pop("default", None)
        if "properties" in part:
            part["required"] = list(part["properties"])
            part["additionalProperties"] = False
    return result


def _parts(schema: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield a schema and every schema inside it."""
    yield schema
    for named in ("properties", "$defs"):
        for part in schema.get(named, {}).values():
            yield from _parts(part)
    for part in [*schema.get("anyOf", ()), *schema.get("prefixItems", ())]:
        yield from _parts(part)
    if isinstance(items := schema.get("items"), dict):
        yield from _parts(items)


def with_schema(request: Request) -> tuple[Message, ...]:
    """Give a request's messages with its schema in the last one, for want of another way.

    It joins the user's own words: some chat templates take no system message, or no second one.
    """
    if not request.schema:
        return request.messages
    wanted = json.dumps(request.schema.schema, ensure_ascii=False)
    asked = f"Answer with one JSON object that fits this JSON schema, and nothing else:\n{wanted}"
    return _say(request.messages, asked)


def _say(messages: tuple[Message, ...], text: str) -> tuple[Message, ...]:
    """Add the user's words: to a last message of the user's, else as a new one."""
    if messages and messages[-1].role == "user":
        return (*messages[:-1], Message("user", f"{messages[-1].content}\n\n{text}"))
    return (*messages, Message("user", text))


def parse_reply(reply: Reply, model: type[Model]) -> Parsed[Model]:
    """Read a reply in JSON.

    Raises:
        Unusable: it was refused, filtered, cut off or empty, holds nothing but thinking, no JSON,
            or JSON that does not fit the model.
    """
    if reply.finish in ("refusal", "filtered"):
        raise Unusable("it was refused" if reply.finish == "refusal" else "it was filtered")
    if reply.finish == "length":
        raise Unusable("it was cut off at the longest length")
    text = reply.text.strip()
    if not text:
        raise Unusable("it is empty")
    answer = THINKING.sub("", text)
    if not answer:
        raise Unusable(NOTHING_ELSE)
    try:
        value = model.model_validate_json(answer)
        return Parsed(value, "" if answer == text else "extracted")
    except ValidationError:
        pass  # perhaps there is more in it than JSON
    places = _candidates(answer)
    found = [_read(place, model) for place in places]
    fitting = [one for one in found if isinstance(one, Parsed)]
    if fitting:
        return fitting[0]
    faults = [one for one in found if isinstance(one, str)]
    longest = max(range(len(faults)), key=lambda number: len(places[number]), default=None)
    raise Unusable("it holds no JSON" if longest is None else faults[longest])


def _candidates(text: str) -> list[str]:
    """Give the places where the JSON may be: code fences, else whatever stands in brackets."""
    if fenced := [part.strip() for part in _FENCE.findall(text)]:
        return fenced
    places = []
    while start := re.search(r"[{\[]", text):
        text = text[start.start() :]
        end = _end_of_json(text) or len(text)
        places.append(text[:end])
        text = text[end:]
    return places


def _read(text: str, model: type[Model]) -> Parsed[Model] | str:
    """Read JSON, mended where it must be, or say why not."""
    end = _end_of_json(text)
    if end is None:
        return "its JSON ends in the midst" if text[:1] in ("{", "[") else "it holds no JSON"
    try:
        return Parsed(model.model_validate_json(text[:end]), "extracted")
    except ValidationError as error:
        if all(fault["type"] != "json_invalid" for fault in error.errors()):
            return _explain(error)
    from json_repair import repair_json

    value, log = repair_json(text[:end], logging=True, skip_json_loads=True)
    try:
        mended = model.model_validate(value)
    except ValidationError as error:
        return _explain(error)
    return Parsed(mended, "repaired", tuple(step["text"] for step in log))


def _end_of_json(text: str) -> int | None:
    """Find where the bracket that a text begins with is closed, strings left out, or None."""
    if text[:1] not in ("{", "["):
        return None
    try:
        return json.JSONDecoder().raw_decode(text)[1]
    except (ValueError, RecursionError):
        pass  # broken, a number of thousands of digits, nested too deep: count brackets
    depth, quoted, escaped = 0, False, False
    for position, character in enumerate(text):
        if quoted:
            escaped, quoted = character == "\\" and not escaped, character != '"' or escaped
        elif character == '"':
            quoted = True
        elif character in "{[":
            depth += 1
        elif character in "}]":
            depth -= 1
            if not depth:
                return position + 1
    return None


def _explain(error: ValidationError) -> str:
    """Say in a line what does not fit."""
    faults = []
    for fault in error.errors(include_url=False, include_input=False):
        where = ".".join(str(step) for step in fault["loc"])
        faults.append(f"{where}: {fault['msg']}" if where else fault["msg"])
    return "; ".join(faults[:5])


def changed(request: Request, reply: Reply, reason: str) -> Request:
    """Give the request that asks again after a reply of no use: never the same request twice.

    The reply (without what was thought first, which models are not to see again) and what was wrong
    with it follow as further messages, and another seed draws.
    """
    ask = f"That reply cannot be used: {reason}. Please answer again, without that fault."
    messages = request.messages
    if answer := THINKING.sub("", reply.text).strip():
        messages = (*messages, Message("assistant", answer))
    sampling = request.sampling
    if sampling.seed is not None:
        sampling = replace(sampling, seed=sampling.seed + _SEED_STEP)
    return replace(
        request, messages=_say(messages, ask), sampling=sampling, attempt=request.attempt + 1
    )
