"""The command train, on a tiny real backbone."""

import json
from importlib.util import find_spec
from pathlib import Path

import pytest

from hybrid_ir.cli import main


@pytest.fixture
def pairs(tmp_path):
    from datasets import Dataset

    rows = [
        {
            "question_id": f"q{question}",
            "question": "What of the heart?",
            "document_id": str(label),
            "text": "It is the heart." if label else "It is cold.",
            "label": float(label),
            "weight": 1.0,
            "source": "gold" if label else "random",
            "teacher": 0.0,
        }
        for question in range(4)
        for label in (1, 0)
    ]
    Dataset.from_list(rows).save_to_disk(str(tmp_path / "pairs" / "stage1"))
    return tmp_path / "pairs"


@pytest.fixture
def settings(pairs, tmp_path, monkeypatch):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    (package,) = find_spec("cognition").submodule_search_locations
    model = f"model={Path(package) / 'model'}"
    sizes = ["batch_size=4", "micro_batch=4", "max_length=16", "log_every=1", "device=cpu"]
    return [model, f"data={pairs}", f"output={tmp_path / 'model'}", *sizes]


@pytest.mark.slow
def test_it_trains_once_and_is_then_up_to_date(settings, tmp_path, capsys):
    assert main(["train", *settings]) == 0
    said = capsys.readouterr()
    assert said.out == ""
    assert "step 2 of 2, loss" in said.err  # 8 pairs, 4 a step
    manifest = json.loads((tmp_path / "model.manifest.json").read_text())
    assert manifest["info"]["stages"]["stage1"]["steps"] == 2
    assert (tmp_path / "model" / "model.safetensors").is_file()
    written = (tmp_path / "model" / "model.safetensors").stat().st_mtime_ns

    assert main(["train", *settings, "log_every=2", "--verify"]) == 0
    assert "is up to date" in capsys.readouterr().err
    assert (tmp_path / "model" / "model.safetensors").stat().st_mtime_ns == written


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ("batch_sise=4", "did you mean 'batch_size'"),
        ("batch_size=0", "batch_size: expected 1 or more, got 0"),
        ("tracking.texts=true", "texts: expected false without wandb"),
        ("patience=1", "patience: expected 0 without a development batch"),
        ("micro_batch=3", "batch_size: expected a multiple of processes x micro_batch"),
        ("data=nowhere", "nowhere: expected a file or folder, there is none"),
        ("model=.", "model: expected a folder or a hub name of an encoder"),
        ("output=pairs", "pairs: would be overwritten, it is an input (data)"),
    ],
)
def test_what_the_user_can_mend_is_code_2_and_leaves_nothing(
    settings, tmp_path, monkeypatch, capsys, wrong, said
):
    monkeypatch.chdir(tmp_path)
    before = set(tmp_path.iterdir())
    assert main(["train", *settings, wrong]) == 2
    error = capsys.readouterr().err
    assert said in error
    assert "Traceback" not in error
    assert set(tmp_path.iterdir()) == before
