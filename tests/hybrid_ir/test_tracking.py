import json

import pytest

from hybrid_ir.errors import InputError
from hybrid_ir.tracking import TrackingConfig, open_tracker


def lines(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_metrics_are_lines_of_json(tmp_path):
    tracker = open_tracker(TrackingConfig(), tmp_path / "m.jsonl", tmp_path, {}, "run")
    tracker.log({"loss": 0.5}, 1)
    assert lines(tmp_path / "m.jsonl") == [{"step": 1, "loss": 0.5}]  # before it is closed
    tracker.log({"loss": 0.25, "map": 0.5}, 2)
    tracker.close()
    assert lines(tmp_path / "m.jsonl")[1] == {"step": 2, "loss": 0.25, "map": 0.5}


def test_a_resumed_run_has_no_step_twice(tmp_path):
    path = tmp_path / "m.jsonl"
    path.write_text('{"step": 1, "loss": 3}\n{"step": 2, "loss": 2}\n{"step": 3, "lo')
    tracker = open_tracker(TrackingConfig(), path, tmp_path, {}, "run", step=1)
    tracker.log({"loss": 1}, 2)
    tracker.close()
    assert lines(path) == [{"step": 1, "loss": 3}, {"step": 2, "loss": 1}]


def test_settings_are_checked():
    with pytest.raises(InputError, match="project: expected a name"):
        TrackingConfig(project="")
    with pytest.raises(InputError, match="texts: expected false without wandb"):
        TrackingConfig(texts=True)


def test_texts_are_not_for_the_file(tmp_path):
    tracker = open_tracker(TrackingConfig(), tmp_path / "m.jsonl", tmp_path, {}, "run")
    assert not tracker.texts
    tracker.table("questions", ["body"], [["zebra"]], 1)
    tracker.close()
    assert (tmp_path / "m.jsonl").read_text() == ""


@pytest.mark.slow
@pytest.mark.parametrize("texts", [False, True])
def test_wandb_offline_holds_numbers_no_keys_and_texts_on_demand(tmp_path, monkeypatch, texts):
    monkeypatch.setenv("WANDB_MODE", "offline")
    monkeypatch.setenv("WANDB_API_KEY", "secret" * 7)
    config = TrackingConfig(wandb=True, name="a-name", texts=texts)
    tracker = open_tracker(config, tmp_path / "m.jsonl", tmp_path, {"batch_size": 8}, "abc")
    assert tracker.texts == texts
    tracker.log({"loss": 0.5}, 1)
    tracker.table("questions", ["body", "ap"], [["zebra", 0.75]], 1)
    tracker.close()
    assert lines(tmp_path / "m.jsonl") == [{"step": 1, "loss": 0.5}]
    (run,) = tmp_path.glob("wandb/offline-run-*-abc/run-abc.wandb")
    assert b"batch_size" in run.read_bytes()
    every = b"".join(file.read_bytes() for file in tmp_path.rglob("*") if file.is_file())
    assert b"secret" not in every
    assert (b"zebra" in every) == texts
    if texts:
        (table,) = run.parent.glob("files/media/table/*.json")
        content = json.loads(table.read_text())
        assert (content["columns"], content["data"]) == (["body", "ap"], [["zebra", 0.75]])
