"""The command train-data."""

import json

import pytest

from hybrid_ir.cli import main


def write(path, *questions):
    path.write_text(json.dumps({"questions": questions}))
    return str(path)


@pytest.fixture
def files(tmp_path):
    questions = [
        {
            "id": f"q{n}",
            "body": f"What of {n}?",
            "type": "list",
            "documents": [f"http://www.ncbi.nlm.nih.gov/pubmed/{n}"],
            "snippets": [
                {
                    "document": f"http://www.ncbi.nlm.nih.gov/pubmed/{n}",
                    "text": f"It is {n}.",
                    "beginSection": "abstract",
                    "endSection": "abstract",
                    "offsetInBeginSection": 0,
                    "offsetInEndSection": len(f"It is {n}."),
                }
            ],
        }
        for n in range(3)
    ]
    gold = write(tmp_path / "9B1.json", *questions)
    target = write(tmp_path / "12B1.json", {"id": "t", "body": "What then?", "type": "list"})
    return ["--gold", gold, "--target", target, "--output", str(tmp_path / "data")]


def test_it_writes_data_and_manifest_with_settings_anywhere(files, tmp_path):
    assert main(["train-data", "seed=7", *files, "max_positives=1"]) == 0
    assert (tmp_path / "data" / "stage1" / "dataset_info.json").is_file()
    manifest = json.loads((tmp_path / "data.manifest.json").read_text())
    assert (manifest["stage"], manifest["settings"]["seed"]) == ("train-data", 7)


def test_what_the_user_can_mend_is_one_message_and_code_2(files, capsys):
    assert main(["train-data", *files, "before=6B1"]) == 2
    assert "golden files of batches before 6B1 other than 12B1, got 9B1" in capsys.readouterr().err


def test_an_output_that_is_an_input_is_refused(files, capsys):
    assert main(["train-data", *files[:-1], files[1]]) == 2
    assert "is an input" in capsys.readouterr().err


def test_the_configuration_of_the_example_collection_can_be_read():
    from pathlib import Path

    from hybrid_ir.config import load_config
    from training.data_config import TrainDataConfig

    path = Path(__file__).resolve().parents[3] / "configs" / "train-data.yaml"
    assert load_config(TrainDataConfig, path).negatives.bm25.count == 1
