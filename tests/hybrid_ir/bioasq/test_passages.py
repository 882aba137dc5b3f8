"""Positive passages as a data set, and questions that recur."""

import json

import pytest
from datasets import load_dataset

from hybrid_ir.bioasq.passages import (
    PassagesReport,
    Place,
    PositivePassage,
    Recurrence,
    passages_text,
    recurrences,
    write_passages,
)
from hybrid_ir.bioasq.questions import read_questions
from hybrid_ir.bioasq.raw import read_raw, write_raw
from hybrid_ir.errors import InputError
from hybrid_ir.files import read_jsonl
from hybrid_ir.records import Question


def raw_question(id_, body, *texts):
    snippets = [
        {
            "document": "http://www.ncbi.nlm.nih.gov/pubmed/7",
            "text": text,
            "beginSection": "abstract",
            "endSection": "abstract",
            "offsetInBeginSection": 0,
            "offsetInEndSection": len(text),
        }
        for text in texts
    ]
    return {"id": id_, "body": body, "type": "yesno", "ideal_answer": ["x"], "snippets": snippets}


@pytest.fixture
def goldens(tmp_path):
    first, second = tmp_path / "1.json", tmp_path / "2.json"
    write_raw(
        first,
        [
            raw_question("a", "Is IL-2 up?", " one ", "two", "two", "\n", 'quote " α\u2028'),
            raw_question("b", "Is it?", "one"),
        ],
    )
    write_raw(second, [raw_question("c", "is  IL 2 up", "three"), raw_question("d", "And?")])
    return [first, second]


def test_passages_and_what_became_of_them(goldens, tmp_path):
    report = write_passages(goldens, tmp_path / "passages.jsonl")
    rows = list(read_jsonl(tmp_path / "passages.jsonl", PositivePassage))
    assert [(row.question_id, row.passage) for row in rows] == [
        ("a", " one "), ("a", "two"), ("a", 'quote " α\u2028'), ("b", "one"), ("c", "three"),
    ]  # fmt: skip
    assert rows[0] == PositivePassage(
        "Is IL-2 up?", " one ", "a", "yesno", "7", "abstract", "1.json"
    )
    assert report == PassagesReport(
        passages=5,
        questions=3,
        without_passage=(Place("2.json", "d"),),
        repeated=1,
        blank=1,
        recurrences=(Recurrence("Is IL-2 up?", (Place("1.json", "a"), Place("2.json", "c"))),),
    )
    text = passages_text(report)
    assert text.startswith("5 passages of 3 questions\n1 questions have no passage\n")
    assert text.endswith("  Is IL-2 up?: 1.json a, 2.json c\n")


def test_datasets_loads_them_with_the_columns_in_order(goldens, tmp_path):
    write_passages(goldens, tmp_path / "passages.jsonl")
    data = load_dataset(
        "json",
        data_files=str(tmp_path / "passages.jsonl"),
        split="train",
        cache_dir=str(tmp_path / "cache"),
    )
    lines = (tmp_path / "passages.jsonl").read_bytes().split(b"\n")[:-1]
    assert data.column_names[:2] == ["question", "passage"]
    assert [dict(row) for row in data] == [json.loads(line) for line in lines]
    assert len(data) == 5


def test_recurrences_within_a_file_and_under_the_same_id():
    first = [Question("a", "What is α?", "list"), Question("b", "what is  A?", "list")]
    second = [Question("a", "What is Α", "summary"), Question("c", "What was α?", "list")]
    assert recurrences({"1": first, "2": second}) == (
        Recurrence("What is α?", (Place("1", "a"), Place("2", "a"))),
    )
    assert recurrences({"1": first[1:], "2": first[1:]})[0].places == (
        Place("1", "b"),
        Place("2", "b"),
    )
    assert recurrences({"1": first}) == ()


def test_files_of_one_name_cannot_be_told_apart(goldens, tmp_path):
    with pytest.raises(InputError, match=r"several 1\.json"):
        write_passages([goldens[0], goldens[0]], tmp_path / "passages.jsonl")


@pytest.mark.shared
def test_real_questions_that_recur(shared):
    goldens = sorted((shared / "data" / "bioasq_golden").glob("*.json.gz"))
    found = recurrences({path.name: read_questions(path) for path in goldens})
    assert len(found) == 8
    assert found[0].body == "What is an exosome?"
    assert [place.source for place in found[0].places] == [
        "10B1_golden.json.gz",
        "6B5_golden.json.gz",
    ]
    same_file = [r.body for r in found if len({place.source for place in r.places}) == 1]
    assert same_file == ["What is a cytokine storm?"]


@pytest.mark.shared
def test_real_passages(shared, tmp_path):
    golden = shared / "data" / "bioasq_golden" / "12B1_golden.json.gz"
    report = write_passages([golden], tmp_path / "passages.jsonl")
    assert report.questions == 85
    with (tmp_path / "passages.jsonl").open(encoding="utf-8", newline="\n") as file:
        assert sum(1 for _ in file) == report.passages
    snippets = sum(len(question["snippets"]) for question in read_raw(golden))
    assert report.passages + report.repeated + report.blank == snippets == 1942
