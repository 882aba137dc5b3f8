"""Replies in JSON: reading, mending, refusing, asking again."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, Field

from generation.llm import Finish, Message, Reply, Request, Sampling, Usage
from generation.structured import (
    Parsed,
    Unusable,
    changed,
    parse_reply,
    schema_of,
    strict,
    with_schema,
)


class Item(BaseModel):
    name: str
    score: float = 0.5


class Answer(BaseModel):
    kind: Literal["yes", "no"]
    items: list[Item] = Field(default_factory=list)
    note: str | None = None


GOOD = '{"kind": "yes", "items": [{"name": "a } b", "score": 1}]}'
VALUE = Answer(kind="yes", items=[Item(name="a } b", score=1)])


def _reply(text: str, finish: Finish = "stop") -> Reply:
    return Reply(text, finish, Usage(), "m", "{}")


def _read(text: str) -> Parsed[Answer]:
    return parse_reply(_reply(text), Answer)


@pytest.mark.parametrize(
    ("text", "mending"),
    [
        (GOOD, ""),
        (f"\n  {GOOD}\n", ""),
        (f"```json\n{GOOD}\n```", "extracted"),
        (f'<think>Is it {{"kind": "no"}}?</think>\n\n{GOOD}', "extracted"),
        (f'Is it {{"kind": "no"}}?\n</think>\n{GOOD}', "extracted"),
        (f"<think>{{}}</think>```json\n{GOOD}\n```", "extracted"),
        (f"Here it is:\n```\n{GOOD}\n```\nAnything else?", "extracted"),
        (f"As [1] says, {{so}}: {GOOD}", "extracted"),
        (f"Sure! {GOOD} I hope {{this}} helps.", "extracted"),
        (GOOD.replace("}]}", "},]}"), "repaired"),  # a comma too many
        (GOOD.replace('"kind"', "kind"), "repaired"),  # no quotes
        (GOOD.replace('"', "'"), "repaired"),  # single quotes
        (GOOD.replace('", "items', '" "items'), "repaired"),  # a comma too few
        (f"```json\n{GOOD.replace('}]}', '},]}')}\n```", "repaired"),
    ],
)
def test_what_can_be_read(text: str, mending: str) -> None:
    parsed = _read(text)
    assert (parsed.value, parsed.mending) == (VALUE, mending)
    assert bool(parsed.repairs) <= (mending == "repaired")


def test_the_first_fence_that_fits_counts() -> None:
    text = f'```json\n{{"kind": "maybe"}}\n```\nor\n```json\n{GOOD}\n```'
    assert _read(text).value == VALUE


def test_line_breaks_inside_a_string_are_mended() -> None:
    parsed = _read('{"kind": "no", "note": "two\nlines"}')
    assert (parsed.value.note, parsed.mending) == ("two\nlines", "repaired")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "empty"),
        ("  \n", "empty"),
        ("I do not know.", "no JSON"),
        ('{"kind": "perhaps"}', "kind: Input should be 'yes' or 'no'"),
        ('Well: {"kind": "perhaps"}', "kind: Input should be 'yes' or 'no'"),
        ('{a} {"kind": "perhaps"} {b}', "kind: Input should be 'yes' or 'no'"),
        ('{"items": []}', "kind: Field required"),
        ('{kind: "perhaps"}', "kind: Input should be 'yes' or 'no'"),
        ('["yes"]', "should be an object"),
        ("```\nyes\n```", "no JSON"),
        ('{"kind": "yes", "note": "and then', "ends in the midst"),
        ('{"kind": "yes", "items": [{"name": "a"}, {"name": "b"', "ends in the midst"),
        ('```json\n{"kind": "yes", "items": [{"name": "a"}', "ends in the midst"),
    ],
)
def test_what_cannot_be_used(text: str, reason: str) -> None:
    with pytest.raises(Unusable, match=reason):
        _read(text)


@pytest.mark.parametrize("finish", ["refusal", "filtered", "length"])
def test_how_it_ended_counts_before_what_it_says(finish: Finish) -> None:
    with pytest.raises(Unusable):
        parse_reply(_reply(GOOD, finish), Answer)


@given(
    text=st.text(max_size=40),
    cut=st.integers(min_value=1, max_value=30),
    fence=st.booleans(),
)
def test_a_reply_cut_in_the_midst_is_never_used(text: str, cut: int, fence: bool) -> None:
    whole = Answer(kind="yes", items=[Item(name=text), Item(name="b")], note=text)
    written = whole.model_dump_json()
    assert _read(written).value == whole
    part = written[: -min(cut, len(written))]
    with pytest.raises(Unusable):
        _read(f"```json\n{part}" if fence else part)


def test_the_schema_of_a_model() -> None:
    schema = schema_of(Answer)
    assert (schema.name, schema.schema["required"]) == ("Answer", ["kind"])
    tight = strict(schema.schema)
    assert tight["required"] == ["kind", "items", "note"]
    assert tight["additionalProperties"] is False
    assert tight["$defs"]["Item"]["required"] == ["name", "score"]
    assert '"default"' not in json.dumps(tight)
    assert '"default"' in json.dumps(schema.schema)  # untouched


def test_a_field_may_be_called_as_a_keyword() -> None:
    class Odd(BaseModel):
        default: str
        properties: list[str]

    tight = strict(Odd.model_json_schema())
    assert tight["required"] == ["default", "properties"]
    assert tight["properties"]["default"]["type"] == "string"


def test_the_schema_joins_the_users_words() -> None:
    messages = (Message("system", "s"), Message("user", "u"))
    request = Request("q", messages, schema=schema_of(Item))
    system, user = with_schema(request)
    assert (system, user.role) == (messages[0], "user")
    assert user.content.startswith("u\n\nAnswer with one JSON object")
    assert json.loads(user.content.split("\n")[-1]) == Item.model_json_schema()
    assert with_schema(replace(request, schema=None)) == messages


def test_asking_again_is_never_the_same_request() -> None:
    request = Request("q", (Message("user", "u"),), Sampling(seed=5), sample=2)
    second = changed(request, _reply("bad"), "it is no JSON")
    third = changed(second, _reply("bad"), "it is no JSON")
    assert [message.role for message in second.messages] == ["user", "assistant", "user"]
    assert second.messages[1].content == "bad"
    assert "it is no JSON" in second.messages[2].content
    assert (second.attempt, third.attempt, second.sample) == (1, 2, 2)
    seeds = [one.sampling.seed for one in (request, second, third)]
    assert seeds == [5, 5 + 1_000_003, 5 + 2 * 1_000_003]
    assert len({request.messages, second.messages, third.messages}) == 3


def test_asking_again_after_nothing_keeps_the_turns_in_order() -> None:
    request = Request("q", (Message("system", "s"), Message("user", "u")))
    second = changed(request, _reply(" "), "it is empty")
    assert [message.role for message in second.messages] == ["system", "user"]
    assert second.messages[1].content.startswith("u\n\nThat reply cannot be used: it is empty.")
    assert second.sampling.seed is None


@pytest.mark.parametrize("text", [f"<think>{GOOD}", f"<think>{GOOD}</think>\n", f"{GOOD}</think>"])
def test_what_is_only_thought_is_no_reply(text: str) -> None:
    with pytest.raises(Unusable, match="it holds nothing but thinking"):
        _read(text)


def test_thoughts_are_not_shown_again() -> None:
    request = Request("q", (Message("user", "why?"),))
    again = changed(request, _reply("<think>Hm.</think>\nSo."), "it is too short")
    assert again.messages[1] == Message("assistant", "So.")
    (message,) = changed(request, _reply("<think>Hm."), "it is too short").messages
    assert message.content.startswith("why?\n\nThat reply cannot be used: it is too short.")


@pytest.mark.parametrize(
    "text",
    [
        " " * 200_000 + "x",  # blanks before what is no thought: read once, not once a blank
        '{"kind": ' * 50_000,
    ],
    ids=["blanks", "depth"],
)
def test_hostile_replies_are_unusable_and_nothing_else(text: str) -> None:
    with pytest.raises(Unusable):
        parse_reply(_reply(text), Answer)


def test_a_number_of_thousands_of_digits_is_read_as_its_digits() -> None:
    digits = "9" * 5_000  # more than int() takes
    assert _read('{"kind": "yes", "note": ' + digits + "}").value.note == digits
