import json

import pytest

from hybrid_ir.errors import InputError
from hybrid_ir.evaluation.question_values import read_question_values

ROW = {
    "system": "A", "gold": "g", "mode": "strict", "edition": 9, "id": "q", "type": "list",
    "list_f1": 0.5, "factoid_mrr": None,
}  # fmt: skip


def written(tmp_path, *rows):
    path = tmp_path / "values.jsonl"
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    return path


def test_systems_of_one_mode(tmp_path):
    rows = [ROW, ROW | {"mode": "official"}, ROW | {"id": "r", "type": None}, ROW | {"system": "B"}]
    path = written(tmp_path, *rows)
    first, second = read_question_values(path, "strict")
    assert (first.name, first.gold, first.edition) == ("A", "g", 9)
    assert first.values == {"q": {"list_f1": 0.5}, "r": {"list_f1": 0.5}}
    assert first.types == {"q": "list"}
    assert (second.name, second.origin) == ("B", f"{path}: B")


@pytest.mark.parametrize(
    ("rows", "part"),
    [
        ([], "expected values of mode strict, it is empty"),
        ([ROW | {"mode": "official"}], "expected values of mode strict, only official"),
        ([ROW, ROW], "values.jsonl:2: expected one value of A for question q"),
        ([ROW, ROW | {"id": "r", "gold": "h"}], "against one gold, got g .edition 9. and h"),
        ([{"id": "q"}], ":1: expected an object with texts under system, gold, mode, id"),
        ([ROW | {"list_f1": "high"}], ":1: expected numbers, got 'high'"),
        ([ROW | {"list_f1": True}], ":1: expected numbers, got True"),
        ([[1]], ":1: expected an object"),
    ],
)
def test_what_is_not_read(tmp_path, rows, part):
    with pytest.raises(InputError, match=part):
        read_question_values(written(tmp_path, *rows), "strict")


def test_a_line_that_is_no_json(tmp_path):
    path = written(tmp_path, ROW)
    path.write_text(path.read_text() + "{\n")
    with pytest.raises(InputError, match=r"values.jsonl:2: expected JSON"):
        read_question_values(path, "strict")
