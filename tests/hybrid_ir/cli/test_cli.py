import json
import subprocess
import sys

import pytest

from hybrid_ir.cli import main
from hybrid_ir.files import write_jsonl
from hybrid_ir.records import Document
from hybrid_ir.trec import read_run


@pytest.fixture
def documents(tmp_path):
    path = tmp_path / "documents.jsonl"
    write_jsonl(path, [Document("1", "heart", "failure"), Document("2", "lung", "heart")])
    return path


@pytest.fixture
def questions(tmp_path):
    path = tmp_path / "batch.json"
    batch = [
        {"id": "6" * 24, "body": "What of the heart?", "type": "summary"},
        {"id": "7" * 24, "body": "Is it the lung?", "type": "yesno"},
    ]
    path.write_text(json.dumps({"questions": batch}))
    return path


@pytest.fixture
def gold(tmp_path):
    path = tmp_path / "gold.json"
    url = "http://www.ncbi.nlm.nih.gov/pubmed/"
    batch = [
        {"id": "6" * 24, "body": "b", "type": "summary", "documents": [f"{url}2", f"{url}5"]},
        {"id": "7" * 24, "body": "b", "type": "yesno", "documents": [f"{url}2"]},
    ]
    path.write_text(json.dumps({"questions": batch}))
    return path


def call(*arguments):
    return main([str(argument) for argument in arguments])


def test_the_commands_go_from_documents_to_scores(tmp_path, documents, questions, gold, capsys):
    index, run, submission = (tmp_path / name for name in ("index", "run", "submission.json"))
    assert call("index", "--documents", documents, "--output", index, "fields=[title]") == 0
    search = ("search", "--index", index, "--output", run, "--name", "mine", "hits=10")
    assert call(*search, "--questions", questions) == 0
    assert call("submit", "--run", run, "--questions", questions, "--output", submission) == 0
    assert list(read_run(run).rankings) == ["6" * 24, "7" * 24]
    capsys.readouterr()
    evaluate = ("evaluate", "--gold", gold, "--submission", submission)
    assert call(*evaluate, "--json", "--mode", "official") == 0
    (scores,) = json.loads(capsys.readouterr().out)
    # both documents hold "heart": the longer one is second, and gold is {2, 5}; "lung" is in 2
    assert scores["measures"]["documents_map"] == pytest.approx(((1 / 2) / 2 + 1) / 2)
    assert call(*evaluate, "--official-line", "--phase", "A") == 0
    line = capsys.readouterr().out.split()
    assert len(line) == 20
    assert float(line[8]) == pytest.approx(scores["measures"]["documents_map"])


def test_a_table_and_the_values_of_each_question(tmp_path, gold, capsys):
    run, values = tmp_path / "run", tmp_path / "values.jsonl"
    run.write_text(f"{'6' * 24} Q0 2 1 2.0 mine\n{'7' * 24} Q0 3 1 2.0 mine\n")
    call("evaluate", "--gold", gold, "--run", run, "--per-question", values, "--cutoffs", 1, 10)
    table = capsys.readouterr().out
    assert "official, edition 9" in table
    assert "strict, edition 9" in table
    assert "recall@1 " in table
    rows = [json.loads(line) for line in values.read_text().splitlines()]
    assert [(row["id"][0], row["mode"], row["recall@10"]) for row in rows] == [
        ("6", "official", 1 / 2),
        ("7", "official", 0.0),
        ("6", "strict", 1 / 2),
        ("7", "strict", 0.0),
    ]


def test_gold_outside_the_index_is_left_out_and_counted(tmp_path, documents, gold, capsys):
    index, run = tmp_path / "index", tmp_path / "run"
    run.write_text(f"{'6' * 24} Q0 2 1 2.0 mine\n{'7' * 24} Q0 2 1 2.0 mine\n")
    call("index", "--documents", documents, "--output", index)
    capsys.readouterr()
    call("evaluate", "--gold", gold, "--run", run, "--within", index, "--mode", "strict", "--json")
    (scores,) = json.loads(capsys.readouterr().out)
    assert scores["gold_documents"] == {"number": 2, "of": 3}
    assert scores["measures"]["recall@10"] == 1.0


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        (["index", "--documents", "absent", "--output", "i"], "absent: expected a file"),
        (["index", "--documents", "absent", "--output", "i", "stemer=none"], "mean 'stemmer'?"),
        (["search", "--index", "absent", "--questions", "absent", "--output", "r"], "absent"),
        (["search", "--index", "i", "--questions", "q", "--output", "r", "k1=-1"], "k1: expected"),
        (["evaluate", "--gold", "absent"], "--run RUN or --submission FILE"),
        (["evaluate", "--gold", "absent", "--run", "r"], "absent: expected a readable file"),
        (["evaluate", "--gold", "g", "--run", "r", "--phase", "A"], "--phase goes with"),
        (["evaluate", "--gold", "g", "--run", "r", "--official-line"], "takes one --submission"),
        (["run", "--config", "absent.yaml"], "absent.yaml: expected a YAML file"),
        (["run", "questions=q"], "needs values for: documents"),
    ],
)
def test_what_the_user_can_mend_is_one_message_and_exit_code_2(
    tmp_path, monkeypatch, capsys, arguments, part
):
    monkeypatch.chdir(tmp_path)
    assert main(arguments) == 2
    output = capsys.readouterr()
    assert output.out == ""
    assert output.err.startswith("hybrid-ir: ")
    assert part in output.err
    assert "Traceback" not in output.err
    assert list(tmp_path.iterdir()) == []


def test_recall_goes_by_pmid_however_a_run_spells_it(tmp_path, gold, capsys):
    run = tmp_path / "run"
    run.write_text(f"{'6' * 24} Q0 PMID:2 1 2.0 mine\n{'7' * 24} Q0 2 1 2.0 mine\n")
    call("evaluate", "--gold", gold, "--run", run, "--mode", "official", "--json")
    (scores,) = json.loads(capsys.readouterr().out)
    assert scores["measures"]["recall@10"] == (1 / 2 + 1) / 2


def test_runs_named_one_by_one_are_all_scored(tmp_path, gold, capsys):
    for name in ("a", "b"):
        lines = (f"{character * 24} Q0 2 1 2.0 {name}\n" for character in "67")
        (tmp_path / name).write_text("".join(lines))
    runs = ("--run", tmp_path / "a", "--run", tmp_path / "b")
    for _ in range(2):  # the first call leaves nothing to the second
        assert call("evaluate", "--gold", gold, *runs, "--mode", "strict", "--json") == 0
        columns = json.loads(capsys.readouterr().out)
        assert [column["system"] for column in columns] == ["a", "b"]


def test_values_are_not_written_over_an_input(tmp_path, gold, capsys):
    run = tmp_path / "run"
    run.write_text(f"{'6' * 24} Q0 2 1 2.0 mine\n")
    before = gold.read_text()
    assert call("evaluate", "--gold", gold, "--run", run, "--per-question", gold) == 2
    assert gold.read_text() == before


def test_the_official_line_refuses_what_it_would_not_heed(gold, capsys):
    line = ("evaluate", "--gold", gold, "--submission", gold, "--official-line", "--phase", "A")
    assert call(*line, "--json", "--cutoffs", "10") == 2
    assert "and not --cutoffs, --json" in capsys.readouterr().err


def test_files_can_come_through_pipes(tmp_path, gold):
    run = tmp_path / "run"
    run.write_text(f"{'6' * 24} Q0 2 1 2.0 mine\n{'7' * 24} Q0 2 1 2.0 mine\n")
    command = f"{sys.executable} -m hybrid_ir.cli evaluate --json --mode strict --gold"
    results = [
        subprocess.run(["bash", "-c", line], capture_output=True, text=True, check=True).stdout
        for line in (
            f"{command} {gold} --run {run}",
            f"cat {run} | {command} <(cat {gold}) --run /dev/stdin",
            f"{command} <(gzip -c {gold}) --run <(gzip -c {run})",
        )
    ]
    measures = [json.loads(result)[0]["measures"] for result in results]
    assert measures[0] == measures[1] == measures[2]


def test_stdout_carries_data_only(tmp_path, documents, questions):
    def run(*arguments):
        return subprocess.run(
            [sys.executable, "-m", "hybrid_ir.cli", *map(str, arguments)],
            capture_output=True, text=True, check=True,
        )  # fmt: skip

    index, output = tmp_path / "index", tmp_path / "run"
    made = run("index", "--documents", documents, "--output", index)
    found = run("search", "--index", index, "--questions", questions, "--output", output)
    again = run("--quiet", "search", "--index", index, "--questions", questions, "--output", output)
    assert (made.stdout, found.stdout, again.stdout) == ("", "", "")
    assert "wrote" in made.stderr
    assert again.stderr == ""


def test_an_unknown_command_is_refused(capsys):
    with pytest.raises(SystemExit, match="2"):
        main(["indx"])
    assert "invalid choice" in capsys.readouterr().err


@pytest.mark.parametrize("output", ["taken", "file/run"])
def test_an_output_that_cannot_be_written_is_one_message(
    tmp_path, documents, questions, capsys, output
):
    index = tmp_path / "index"
    (tmp_path / "taken").mkdir()
    (tmp_path / "file").write_text("")
    call("index", "--documents", documents, "--output", index)
    capsys.readouterr()
    search = ("search", "--index", index, "--questions", questions)
    assert call(*search, "--output", tmp_path / output) == 2
    message = capsys.readouterr().err
    assert message.startswith("hybrid-ir: ")
    assert output.partition("/")[0] in message
    assert len(message.splitlines()) == 1
    assert list((tmp_path / "taken").iterdir()) == []
