"""validate and repair: what they say, what they write, how they exit."""

import csv
import json

import pytest

from hybrid_ir.bioasq.raw import read_raw, write_raw
from hybrid_ir.cli import main
from hybrid_ir.files import write_jsonl
from hybrid_ir.records import Document

URL = "http://www.ncbi.nlm.nih.gov/pubmed/"
IDS = [character * 24 for character in "abcdef"]


def call(*arguments):
    return main([str(argument) for argument in arguments])


@pytest.fixture
def batch(tmp_path):
    path = tmp_path / "batch.json"
    write_raw(path, [{"id": id_, "body": "Why?", "type": "summary"} for id_ in IDS])
    return path


@pytest.fixture
def check(tmp_path, batch, capsys):
    """Call a command on a submission of these questions; gives exit code and what it printed."""

    def run(name, questions, *arguments, phase="A"):
        path = tmp_path / "submission.json"
        write_raw(path, questions)
        code = call(name, path, "--questions", batch, "--phase", phase, *arguments)
        return code, capsys.readouterr().out

    return run


def submission(*documents):
    return [{"id": id_, "documents": list(documents)} for id_ in IDS]


def test_a_submission_without_a_fault(check):
    code, out = check("validate", submission(URL + "1"))
    assert code == 0
    assert out.endswith("submission.json, Phase A: no fault found\n")


def test_warnings_are_said_and_allowed(check):
    questions = [*submission(URL + "1")[:-1], {"id": IDS[-1], "documents": []}]
    code, out = check("validate", questions)
    assert code == 0
    assert "Phase A: 0 errors, 1 warning: BioASQ takes and scores it\n\n1 warning:\n" in out
    assert (
        f"  $.questions[5].documents (question {IDS[-1]}): no document: recall is 0; cure:" in out
    )


def test_faults_of_a_kind_are_counted_and_the_first_is_shown(check):
    questions = submission("https://pubmed.ncbi.nlm.nih.gov/1/", URL + "2", "x", 3)[:-1]
    code, out = check("validate", questions)
    assert code == 1
    lines = out.splitlines()
    assert lines[0].endswith("Phase A: 16 errors, 0 warnings")
    assert lines[2] == "16 errors:"
    missing = f"  $.questions (question {IDS[-1]}): the question is missing;"
    assert lines[3].startswith(missing)
    assert lines[4] == (
        '  5 in 5 questions: $.questions[*].documents[*]: "…" can never match: addresses are '
        "compared as strings"
    )
    assert lines[5] == (
        f"    first: $.questions[0].documents[0] (question {IDS[0]}): "
        '"https://pubmed.ncbi.nlm.nih.gov/1/" can never match: addresses are compared as strings; '
        f"cure: write {URL}1"
    )
    assert lines[6].startswith("  5 in 5 questions: $.questions[*].documents[*]: expected a PubMed")
    assert lines[8].startswith("  5 in 5 questions: $.questions[*].documents[*]: N can never match")
    assert lines[-1] == "… stands for what differs; every one: --json"


def test_json_has_every_fault(check):
    code, out = check("validate", submission("x"), "--json")
    content = json.loads(out)
    assert code == 1
    assert (content["phase"], content["errors"], content["warnings"]) == ("A", 6, 0)
    assert content["submission"].endswith("submission.json")
    assert content["questions"].endswith("batch.json")
    assert [fault["path"] for fault in content["faults"]] == [
        f"$.questions[{place}].documents[0]" for place in range(6)
    ]
    assert content["faults"][0].keys() == {"question_id", "path", "problem", "cure", "severity"}


def test_snippets_are_compared_with_the_documents_of_an_index(check, tmp_path, capsys):
    documents, index = tmp_path / "documents.jsonl", tmp_path / "index"
    write_jsonl(documents, [Document("1", "A title", "An abstract.")])
    call("index", "--documents", documents, "--output", index)
    snippet = {
        "document": URL + "1", "text": "abstract", "beginSection": "abstract",
        "endSection": "abstract", "offsetInBeginSection": 0, "offsetInEndSection": 8,
    }  # fmt: skip
    questions = [question | {"snippets": [snippet]} for question in submission(URL + "1")[:2]]
    capsys.readouterr()
    _, out = check("validate", questions + submission(URL + "1")[2:], "--index", index)
    assert "the text stands at 3 to 11, not at 0 to 8" in out
    _, out = check("validate", questions + submission(URL + "1")[2:])
    assert "stands at" not in out


def test_what_cannot_be_read_is_exit_code_2(tmp_path, batch, capsys):
    absent = tmp_path / "absent.json"
    assert call("validate", absent, "--questions", batch, "--phase", "A") == 2
    assert "absent.json: expected a readable file" in capsys.readouterr().err
    arguments = ("--questions", batch, "--phase", "B", "--index", "i")
    assert call("validate", batch, *arguments) == 2
    assert "--index goes with --phase A" in capsys.readouterr().err


def test_a_repair_is_written_and_every_change_reported(check, tmp_path):
    output = tmp_path / "repaired.json"
    given = submission("https://pubmed.ncbi.nlm.nih.gov/1/")
    code, out = check("repair", given, "--output", output)
    assert code == 0
    lines = out.splitlines()
    assert lines[0].endswith(f"submission.json, Phase A: 6 changes, written to {output}")
    assert lines[3] == '  6 in 6 questions: $.questions[*].documents[*]: "…" became "…"'
    assert lines[4].endswith(f'"https://pubmed.ncbi.nlm.nih.gov/1/" became "{URL}1"')
    assert lines[6] == f"{output}: no fault found"
    assert read_raw(output) == submission(URL + "1")
    again, out = check("repair", read_raw(output), "--output", tmp_path / "twice.json", "--json")
    content = json.loads(out)
    assert (again, content["changes"], content["remaining"]) == (0, [], [])
    assert (tmp_path / "twice.json").read_bytes() == output.read_bytes()


def test_what_a_repair_leaves_to_the_author_is_named(check, tmp_path):
    output = tmp_path / "repaired.json"
    code, out = check("repair", submission("x", URL + "1"), "--output", output)
    assert code == 1
    assert f"{output}: 6 errors, 0 warnings" in out
    assert "expected a PubMed address" in out
    code, out = check("repair", submission("x", URL + "1"), "--output", output, "--json")
    content = json.loads(out)
    assert (code, content["errors"], len(content["remaining"])) == (1, 6, 6)
    assert content["output"] == str(output)


def test_a_repair_never_writes_over_what_it_reads(tmp_path, batch, capsys):
    before = batch.read_bytes()
    (tmp_path / "link.json").symlink_to(batch)
    for output in (batch, tmp_path / "link.json"):
        arguments = ("--questions", batch, "--phase", "A", "--output", output)
        assert call("repair", batch, *arguments) == 2
        assert "is an input; give another --output" in capsys.readouterr().err
    assert batch.read_bytes() == before


@pytest.mark.slow
@pytest.mark.shared
def test_where_the_official_program_died_validate_says_why_and_repair_cures_it(
    shared, tmp_path, capsys
):
    """The 64 rows without numbers are 16 files and phases, in two editions and two spellings."""
    with (shared / "data/derived/official_evaluator_lines_dev.tsv").open() as file:
        rows = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    died = {(row["submission"], row["golden"], row["phase"]) for row in rows if row["error"]}
    assert len(died) == 16
    output = tmp_path / "repaired.json"
    for name, golden_name, phase in sorted(died):
        golden = shared / "data/bioasq_golden" / f"{golden_name}.gz"
        given = shared / "data/bioasq_submissions" / f"{name}.gz"
        asked = (given, "--questions", golden, "--phase", phase)
        assert call("validate", *asked) == 1
        assert "the official evaluator dies of it" in capsys.readouterr().out
        assert call("repair", *asked, "--output", output) in (0, 1)
        assert "the official evaluator dies of it" not in capsys.readouterr().out
        scored = ("evaluate", "--gold", golden, "--submission", output, "--official-line")
        assert call(*scored, "--phase", phase) == 0
        numbers = capsys.readouterr().out.split()
        assert len(list(map(float, numbers))) == {"A": 20, "B": 10}[phase]


def test_half_surrogates_are_shown_and_reported_on(check, tmp_path):
    questions = [{"id": id_, "documents": ["\ud800"]} for id_ in IDS]
    code, out = check("validate", questions)
    assert code == 1
    assert "ud800" in out
    code, out = check("repair", questions, "--output", tmp_path / "mended.json")
    assert code == 1
    assert (tmp_path / "mended.json").exists()


def test_a_number_too_large_for_json_is_refused_with_its_file(tmp_path, batch, capsys):
    path = tmp_path / "submission.json"
    path.write_text('{"questions": [{"id": "a", "score": 1e999}]}')
    assert call("validate", path, "--questions", batch, "--phase", "A") == 2
    assert "1e999 is too large a number" in capsys.readouterr().err


def test_a_folder_is_never_replaced_by_a_file(check, tmp_path):
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "precious").write_text("years of work")
    code, _ = check("repair", submission(URL + "1"), "--output", tmp_path / "folder")
    assert code == 2
    assert (tmp_path / "folder" / "precious").read_text() == "years of work"
