"""compare and describe: which files they take, what they say."""

import json

import pytest

from hybrid_ir.bioasq.raw import write_raw
from hybrid_ir.cli import main

URL = "http://www.ncbi.nlm.nih.gov/pubmed/"
IDS = [f"{number:024x}" for number in range(8)]
TYPES = ["summary"] * 4 + ["yesno"] * 4


def call(*arguments):
    return main([str(argument) for argument in arguments])


@pytest.fixture
def gold(tmp_path):
    """Document 1 is right, and yes."""
    path = tmp_path / "gold.json"
    write_raw(
        path,
        [
            {
                "id": id_, "body": "Why?", "type": kind, "documents": [URL + "1"],
                "exact_answer": "yes", "ideal_answer": ["one two three"],
            }
            for id_, kind in zip(IDS, TYPES, strict=True)
        ],
    )  # fmt: skip
    return path


@pytest.fixture
def write(tmp_path):
    def run(name, tag, ranked):
        path = tmp_path / name
        path.write_text(
            "".join(
                f"{id_} Q0 {document} {place} {-place}.0 {tag}\n"
                for id_, documents in zip(IDS, ranked, strict=False)
                for place, document in enumerate(documents.split(), start=1)
            )
        )
        return path

    return run


@pytest.fixture
def runs(write):
    return write("a.trec", "A", ["2 1"] * 8), write("b.trec", "B", ["1"] * 7 + ["2 3 1"])


def report(capsys, *arguments):
    capsys.readouterr()
    assert call("compare", *arguments, "--json") == 0
    return json.loads(capsys.readouterr().out)


def test_two_runs(runs, gold, capsys):
    found = report(capsys, *runs, "--gold", gold)
    assert (found["gold"], found["mode"], found["edition"]) == ("gold", "strict", 9)
    assert found["systems"] == ["A", "B"]
    whole = found["comparisons"][0]
    assert (whole["measure"], whole["group"], whole["n"]) == ("documents_map", "all", 8)
    assert whole["first_mean"] == 1 / 2
    assert whole["second_mean"] == pytest.approx((7 * 1 + 1 / 3) / 8)
    # signs of 7 differences of 1/2 and one of -1/6; as large a mean: all but -1/6, or all, or
    # either turned round: 4 of 2**8
    assert whole["randomisation"]["raw"] == pytest.approx(4 / 2**8)
    assert whole["moved"][-1]["difference"] == 1 / 2
    assert call("compare", *runs, "--gold", gold) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "against gold, strict, edition 9"
    assert lines[2] == "B against A"


def test_settings_stand_behind_the_files_measures_and_baseline_have_options(runs, gold, capsys):
    settings = ("moved=1", "resamples=99", "--gold", gold, "--baseline", "B")
    found = report(capsys, *runs, *settings, "--measures", "recall@10", "documents_map")
    assert (found["comparisons"][0]["first"], found["resamples"]) == ("B", 99)
    assert [len(row["moved"]) for row in found["comparisons"]] == [1, 1, 1, 0, 0, 0]
    assert {row["measure"] for row in found["comparisons"]} == {"documents_map", "recall@10"}


def test_a_run_a_submission_and_values(runs, gold, tmp_path, capsys):
    submission, values = tmp_path / "ours.json", tmp_path / "values.jsonl"
    answer = {"ideal_answer": "one two three", "documents": [URL + "1"]}
    write_raw(submission, [{"id": id_} | answer for id_ in IDS[:7]])
    scored = ("evaluate", "--gold", gold, "--run", *runs, "--submission", submission)
    assert call(*scored, "--per-question", values) == 0
    direct = report(capsys, *runs, submission, "--gold", gold)
    stored = report(capsys, values)
    assert direct == stored
    assert direct["systems"] == ["A", "B", "ours"]
    mixed = report(capsys, values, write_copy(runs[0], tmp_path), "--gold", gold)
    assert mixed["systems"] == [f"{values}: A", "B", "ours", str(tmp_path / "copy.trec")]


def write_copy(run, folder):
    (folder / "copy.trec").write_bytes(run.read_bytes())
    return folder / "copy.trec"


def test_a_missing_answer_is_0_in_strict_mode_and_no_pair_in_official(gold, tmp_path, capsys):
    paths = tmp_path / "whole.json", tmp_path / "part.json"
    for path, count in zip(paths, (8, 7), strict=True):
        write_raw(path, [{"id": id_, "documents": [URL + "1"]} for id_ in IDS[:count]])
    for mode, (n, left_out, mean) in {"strict": (8, 0, 7 / 8), "official": (7, 1, 1.0)}.items():
        whole = report(capsys, *paths, "--gold", gold, "--mode", mode)["comparisons"][0]
        assert (whole["n"], whole["left_out"], whole["second_mean"]) == (n, left_out, mean)


def test_ideal_answers_are_compared_by_rouge(gold, tmp_path, capsys):
    paths = tmp_path / "right.json", tmp_path / "wrong.json"
    for path, text in zip(paths, ("one two three", "four"), strict=True):
        write_raw(path, [{"id": id_, "ideal_answer": text} for id_ in IDS])
    found = report(capsys, *paths, "--gold", gold)
    rows = [row for row in found["comparisons"] if row["group"] == "all"]
    assert {row["measure"]: row["difference"] for row in rows} == {
        "ideal_rouge2_f1": -1.0, "ideal_rougesu4_f1": -1.0,
    }  # fmt: skip
    length = report(capsys, *paths, "--gold", gold, "--measures", "ideal_text_words")
    assert length["comparisons"][0]["difference"] == 1 - 3


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        (["a.trec", "b.trec"], "a run is scored against a gold: give one with --gold"),
        (["a.trec", "--gold", "gold.json"], "at least two systems, got A"),
        (["a.trec", "a.trec", "--gold", "gold.json"], "several times: a.trec"),
        (["a.trec", "absent", "--gold", "gold.json"], "absent: expected a readable file"),
        (["a.trec", "b.trec", "--gold", "gold.json", "--baseline", "C"], "expected one of A, B"),
        (["a.trec", "b.trec", "--gold", "gold.json", "--measures", "map"], "unknown key 'map'"),
        (["a.trec", "b.trec", "move=1", "--gold", "gold.json"], "did you mean 'moved'?"),
        (["gold.json", "a.trec"], "a submission is scored against a gold"),
    ],
)
def test_what_cannot_be_compared(runs, gold, tmp_path, monkeypatch, capsys, arguments, part):
    monkeypatch.chdir(tmp_path)
    assert call("compare", *arguments) == 2
    assert part in capsys.readouterr().err


def test_values_of_several_golds_are_not_compared(runs, gold, tmp_path, capsys):
    values, other = tmp_path / "values.jsonl", tmp_path / "other.json"
    other.write_bytes(gold.read_bytes())
    call("evaluate", "--gold", gold, "--run", *runs, "--per-question", values)
    assert call("compare", values, write_copy(runs[0], tmp_path), "--gold", other) == 2
    assert "systems must share gold and edition to be compared" in capsys.readouterr().err
    asked = ("evaluate", "--gold", gold, "--preliminary", other, "--run", *runs)
    call(*asked, "--per-question", values)
    assert call("compare", values) == 2
    assert "against one gold, got preliminary other" in capsys.readouterr().err


def test_batches_are_described_side_by_side(gold, tmp_path, capsys):
    other = tmp_path / "other.json"
    write_raw(other, [{"id": IDS[0], "body": "Is it the heart?", "type": "yesno"}])
    assert call("describe", gold, other) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["gold", "other", "difference"]
    assert lines[1].split() == ["questions", "8", "1", "-7"]
    assert call("describe", gold, other, "--json") == 0
    content = json.loads(capsys.readouterr().out)
    assert content["other"]["words"] == {"mean": 4.0, "least": 4, "most": 4}
    assert content["gold"]["types"] == {"yesno": 4, "factoid": 0, "list": 0, "summary": 4}
    assert call("describe", tmp_path / "absent") == 2


def test_entities_of_questions_are_counted_as_often_as_they_are_named(tmp_path, capsys):
    paths = [tmp_path / "few.json", tmp_path / "many.json"]
    bodies = (
        ["Why?", "Does aspirin prevent stroke?"],
        ["Is aspirin, or is aspirin with heparin, for stroke?", "Does aspirin prevent stroke?"],
    )
    for path, asked in zip(paths, bodies, strict=True):
        questions = zip(IDS, asked, strict=False)
        write_raw(path, [{"id": id_, "body": body, "type": "list"} for id_, body in questions])
    assert call("describe", *paths, "--json") == 0
    content = json.loads(capsys.readouterr().out)
    assert content["few"]["entities"] == {"mean": (0 + 2) / 2, "least": 0, "most": 2}
    assert content["many"]["entities"] == {"mean": (4 + 2) / 2, "least": 2, "most": 4}
    assert call("describe", *paths) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[8].split() == ["entities,", "mean", "1.0", "3.0", "+2.0"]


def test_real_questions_name_entities(mini, capsys):
    names = ("12B1", "11B2")
    files = [mini / "test" / f"{name}.questions.json" for name in names]
    assert call("describe", *files, "--json") == 0
    content = json.loads(capsys.readouterr().out)
    assert [batch["questions"] for batch in content.values()] == [85, 74]
    for batch in content.values():
        assert 1 < batch["entities"]["mean"] < batch["content_words"]["mean"]
