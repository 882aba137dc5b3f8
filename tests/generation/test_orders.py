import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from generation.llm import Reply, Usage
from generation.orders import Order, PassageOrder, mended, order_of
from generation.structured import Unusable, schema_of


def read(text, size):
    return order_of(Reply(text, "stop", Usage(), "m", "{}"), size)


@given(st.lists(st.integers(-3, 30)), st.integers(1, 25))
def test_whatever_is_named_becomes_an_order_of_all(numbers, size):
    named = [number for number in numbers if 1 <= number <= size]
    if not named:
        with pytest.raises(Unusable, match=f"none of the passages 1 to {size}"):
            mended(numbers, size)
        return
    order = mended(numbers, size)
    assert sorted(order.places) == list(range(size))
    kept = len(set(named))
    assert [place + 1 for place in order.places[:kept]] == list(dict.fromkeys(named))
    assert list(order.places[kept:]) == sorted(order.places[kept:])
    assert order.out_of_range == len(numbers) - len(named)
    assert order.repeated == len(named) - kept
    assert order.missing == size - kept
    assert order.was_mended == (sorted(numbers) != list(range(1, size + 1)))


@given(st.text(alphabet="[]{}<>,: \n0123456789\"ordert`='-"), st.integers(1, 25))
def test_any_reply_is_an_order_or_of_no_use(text, size):
    try:
        order = read(text, size)
    except Unusable:
        return
    assert sorted(order.places) == list(range(size))


@given(st.permutations(range(1, 13)))
def test_an_order_is_read_as_it_was_written_in_each_form(numbers):
    places = tuple(number - 1 for number in numbers)
    assert read(json.dumps({"order": numbers}), 12) == Order(places, "json")
    for written in (
        " > ".join(f"[{number}]" for number in numbers),
        ">".join(map(str, numbers)),
        "\n".join(f"{rank}. [{number}]" for rank, number in enumerate(numbers, start=1)),
        str(numbers),
        ", ".join(map(str, numbers)),
        f"{{'passages': {numbers}",
    ):
        assert read(written, 12) == Order(places, "text"), written


def test_what_is_wrong_is_mended_and_counted_by_kind():
    assert read('{"order": [3, 9, 3, 0, 1]}', 4) == Order((2, 0, 1, 3), "json", 2, 1, 2)
    assert read("[3] > [9] > [3] > [0] > [1]", 4) == Order((2, 0, 1, 3), "text", 2, 1, 2)
    assert read("[2]", 3) == Order((1, 0, 2), "text", missing=2)
    assert read(f"[2] > [{'1' * 5_000}]", 2) == Order((1, 0), "text", out_of_range=1, missing=1)
    assert read(f"{'[' * 5_000}[2] > [1]{']' * 5_000}", 2) == Order((1, 0), "text")


@pytest.mark.parametrize(
    ("text", "source"),
    [
        ('```json\n{"order": [2, 1, 3]}\n```', "extracted"),
        ('Sure! Passage [1] is off, so: {"order": [2, 1, 3]}. I hope it helps.', "extracted"),
        ('<think>[3] > [1]?</think>{"order": [2, 1, 3]}', "extracted"),
        ('{"order": [2, 1, 3],}', "repaired"),
        ("{order: [2, 1, 3]}", "repaired"),
        ('{"order": [2, 1, 3]', "text"),
        ('{"order": ["[2]", "[1]", "[3]"]}', "text"),
        ('{"ranking": "[2] > [1] > [3]"}', "text"),
        ("The order of the 3 passages is 2 > 1 > 3, as [3] says p > 0.05.", "text"),
        ("Passage [3] speaks of mice. **[2] > [1] > [3]**", "text"),
        ("[2] > [1] = [3]", "text"),
        ("<think>[3] > [1] > [2]</think>\n[2] > [1] > [3]", "text"),
    ],
)
def test_an_order_is_found_amid_other_words(text, source):
    assert read(text, 3) == Order((1, 0, 2), source)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("I cannot rank 1,000 passages.", "no order of passages"),
        ('{"order": []}', "none of the passages 1 to 3"),
        ('{"order": [4, 0]}', "none of the passages 1 to 3"),
        ("[7] > [8]", "none of the passages 1 to 3"),
        ("<think>[1] > [2]", "nothing but thinking"),
        ("p = 0.05", "no order of passages"),
    ],
)
def test_a_reply_that_names_no_passage_is_of_no_use(text, why):
    with pytest.raises(Unusable, match=why):
        read(text, 3)


def test_the_schema_asks_for_numbers():
    assert schema_of(PassageOrder).schema["properties"]["order"]["items"] == {"type": "integer"}
