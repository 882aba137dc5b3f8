"""convert: every form, and what it refuses."""

import json

import pytest

from hybrid_ir.bioasq.raw import read_raw, write_raw
from hybrid_ir.cli import main
from hybrid_ir.files import read_jsonl
from hybrid_ir.records import Gold, Question

URL = "http://www.ncbi.nlm.nih.gov/pubmed/"
A, B = "a" * 24, "b" * 24
SNIPPET = {
    "document": URL + "7", "text": "It beats.", "beginSection": "abstract",
    "endSection": "abstract", "offsetInBeginSection": 0, "offsetInEndSection": 9,
}  # fmt: skip


def call(*arguments):
    return main([str(argument) for argument in arguments])


@pytest.fixture
def golden(tmp_path):
    path = tmp_path / "golden.json"
    members = {"documents": [URL + "7", URL + "2"], "snippets": [SNIPPET]}
    question = {"body": "What of the heart?", "type": "summary"}
    write_raw(path, [{"id": id_} | question | members for id_ in (A, B)])
    return path


def test_a_gold_as_qrels_and_back(golden, tmp_path, capsys):
    qrels, again = tmp_path / "qrels", tmp_path / "again.json"
    assert call("convert", "golden-to-qrels", golden, "--output", qrels) == 0
    assert qrels.read_text() == f"{A} 0 7 1\n{A} 0 2 1\n{B} 0 7 1\n{B} 0 2 1\n"
    output = capsys.readouterr()
    assert output.out == ""
    assert f"wrote 2 questions to {qrels}" in output.err
    asked = ("convert", "qrels-to-golden", qrels, "--questions", golden, "--output", again)
    assert call(*asked) == 0
    assert [question["documents"] for question in read_raw(again)] == [[URL + "7", URL + "2"]] * 2


def test_a_submission_as_a_run(golden, tmp_path):
    run = tmp_path / "run"
    assert call("convert", "submission-to-run", golden, "--output", run) == 0
    assert run.read_text().splitlines()[:2] == [
        f"{A} Q0 7 1 2.0 golden", f"{A} Q0 2 2 1.0 golden",
    ]  # fmt: skip
    assert call("convert", "submission-to-run", golden, "--output", run, "--name", "ours") == 0
    assert run.read_text().splitlines()[0].endswith(" ours")


def test_questions_as_jsonl_and_back(golden, tmp_path):
    lines, again = tmp_path / "questions.jsonl", tmp_path / "again.json"
    assert call("convert", "questions-to-jsonl", golden, "--output", lines) == 0
    assert next(read_jsonl(lines, Question)) == Question(A, "What of the heart?", "summary")
    assert call("convert", "jsonl-to-questions", lines, "--output", again) == 0
    assert read_raw(again)[1] == {"id": B, "body": "What of the heart?", "type": "summary"}


def test_gold_records_as_jsonl(golden, tmp_path):
    assert call("convert", "golden-to-jsonl", golden, "--output", tmp_path / "gold.jsonl") == 0
    assert next(read_jsonl(tmp_path / "gold.jsonl", Gold)).documents == ("7", "2")


def test_passages_and_the_questions_that_recur(golden, tmp_path, capsys):
    output = tmp_path / "passages.jsonl"
    assert call("convert", "golden-to-passages", golden, "--output", output) == 0
    assert len(output.read_text().splitlines()) == 2
    assert capsys.readouterr().out.splitlines() == [
        "2 passages of 2 questions",
        "0 questions have no passage",
        "left out: 0 repeated and 0 blank snippets",
        "1 questions stand there more than once",
        f"  What of the heart?: golden.json {A}, golden.json {B}",
    ]
    assert call("convert", "golden-to-passages", golden, "--output", output, "--json") == 0
    assert json.loads(capsys.readouterr().out)["passages"] == 2


@pytest.mark.parametrize(
    "form",
    [
        "golden-to-qrels", "qrels-to-golden", "submission-to-run", "questions-to-jsonl",
        "jsonl-to-questions", "golden-to-jsonl", "golden-to-passages",
    ],
)  # fmt: skip
def test_no_form_writes_over_what_it_reads(golden, form, capsys):
    before = golden.read_bytes()
    more = ("--questions", golden) if form == "qrels-to-golden" else ()
    assert call("convert", form, golden, "--output", golden, *more) == 2
    assert "is an input" in capsys.readouterr().err
    assert golden.read_bytes() == before


def test_a_form_is_needed(capsys):
    with pytest.raises(SystemExit, match="2"):
        main(["convert"])
    assert "FORM" in capsys.readouterr().err
