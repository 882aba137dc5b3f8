import json
from pathlib import Path

import pytest

from hybrid_ir.bioasq.questions import question_type, questions_of, read_questions
from hybrid_ir.errors import InputError
from hybrid_ir.records import Question

HERE = Path("batch.json")
ID = "5fc7def430a653d77d00000"


def test_bodies_are_normalised_and_types_read_in_any_case():
    raw = [
        {"id": ID + "1", "type": "YesNo", "body": " Is  a precursor mRNA\na\u00a0mature\tmRNA? "},
        {"id": ID + "2", "type": "yes/no", "body": "b"},
        {"id": ID + "3", "type": " Factoid ", "body": "c", "documents": None, "_body": "old"},
        {"id": ID + "4", "type": "list", "body": "d"},
        {"id": ID + "5", "type": "SUMMARY", "body": "e"},
    ]
    assert questions_of(raw, HERE) == (
        Question(ID + "1", "Is a precursor mRNA a mature mRNA?", "yesno"),
        Question(ID + "2", "b", "yesno"),
        Question(ID + "3", "c", "factoid"),
        Question(ID + "4", "d", "list"),
        Question(ID + "5", "e", "summary"),
    )


@pytest.mark.parametrize("value", ["", "facto", "lists", None, 3, ["list"]])
def test_what_is_no_type(value):
    assert question_type(value) is None


def test_all_that_cannot_be_read_is_named_at_once():
    raw = [
        {"id": ID + "1", "type": "list", "body": "fine"},
        {"id": ID + "2", "type": "Factiod", "body": " \n"},
        {"type": "list", "body": "no id"},
        {"id": 7, "type": "list", "body": "number"},
        {"id": ID + "1", "type": "list", "body": "again"},
        {"id": ID + "3", "type": "list"},
    ]
    with pytest.raises(InputError) as caught:
        questions_of(raw, HERE)
    lines = str(caught.value).splitlines()
    assert lines[0] == "batch.json: cannot read these of 6 questions"
    assert sorted(lines[1:]) == sorted(
        [
            f"  question {ID}1: stands 2 times in the file",
            f"  question {ID}2: body: expected text, got ' \\n'; type: expected yesno, factoid, "
            "list, summary, got 'Factiod' (did you mean 'factoid'?)",
            "  question 3: id: expected text, got nothing",
            "  question 4: id: expected text, got 7",
            f"  question {ID}3: body: expected text, got nothing",
        ]
    )


def test_an_empty_batch_is_refused():
    with pytest.raises(InputError, match=r"batch\.json: expected questions, but"):
        questions_of([], HERE)


def test_unusual_ids_are_counted(caplog):
    raw = [{"id": i, "type": "list", "body": "b"} for i in ("x1", ID + "1", ID + "12", ID + "A")]
    assert [question.id for question in questions_of(raw, HERE)] == [q["id"] for q in raw]
    assert "2 of 4 question ids are not 24 hexadecimal characters (first: 'x1')" in caplog.text


def test_the_file_is_named(tmp_path):
    path = tmp_path / "BioASQ-task13bPhaseA-testset4"
    path.write_text(json.dumps({"questions": [{"id": ID + "1", "type": "list", "body": "b"}]}))
    assert read_questions(path) == (Question(ID + "1", "b", "list"),)
    path.write_text(json.dumps({"questions": [{"id": ID + "1", "body": "b"}]}))
    with pytest.raises(InputError, match=str(path)):
        read_questions(path)


@pytest.mark.shared
def test_every_file_with_questions_is_read(shared: Path, caplog):
    folders = ["golden", "testsets", "training", "synergy"]
    paths = [path for name in folders for path in (shared / f"data/bioasq_{name}").rglob("*.json*")]
    batches = {path.name.split(".")[0]: read_questions(path) for path in paths}
    assert sum(len(batch) for name, batch in batches.items() if "golden" in name) == 2992
    assert len(batches["BioASQ-task12bPhaseA-testset1"]) == 85
    assert batches["BioASQ-task12bPhaseA-testset1"] == batches["12B1_golden"]
    types = [question.type for question in batches["12B1_golden"]]
    assert [types.count(kind) for kind in ("yesno", "list", "factoid", "summary")] == [
        25,
        21,
        21,
        18,
    ]
    assert (
        "What are the necessary steps for the transition from a precursor mRNA to a mature mRNA?"
        in {question.body for question in batches["11B4_golden"]}
    )
    assert not caplog.records


@pytest.mark.shared
def test_the_official_sample_has_no_questions(shared: Path):
    for path in (shared / "data/bioasq_eval_sample").glob("*.json*"):
        with pytest.raises(InputError, match="cannot read these of 100 questions") as caught:
            read_questions(path)
        assert str(caught.value).count("body: expected text, got nothing; type: expected") == 100
