"""Pairs on disk."""

import pytest

from hybrid_ir.errors import InputError
from hybrid_ir.records import TrainingPair
from training.saving import require_datasets, save_pairs

PAIRS = [
    TrainingPair("q", "Body?", "7", "Text \u03b1 \U0001f9ec.", 1.0, 0.1, "gold", 1, 0.1 + 0.2),
    TrainingPair("q", "Body?", "", "", 0.0, 1.0, "random", 1),
]


def loaded(folder):
    import datasets

    return datasets.load_from_disk(str(folder)).to_list()


def test_what_is_saved_is_loaded_row_by_row(tmp_path):
    assert save_pairs(tmp_path / "stage1", iter(PAIRS), "0" * 16) == 2
    assert loaded(tmp_path / "stage1") == [
        {
            "question_id": "q",
            "question": "Body?",
            "document_id": pair.document_id,
            "text": pair.text,
            "label": pair.label,
            "weight": pair.weight,
            "source": pair.source,
            "teacher": pair.teacher,
        }
        for pair in PAIRS
    ]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["stage1"]


def test_equal_pairs_give_equal_bytes_whatever_their_number(tmp_path):
    for name in ("one", "two"):
        save_pairs(tmp_path / name, PAIRS * 1_500, "0" * 16)  # 3 batches of 1,000
    first, second = (
        {file.name: file.read_bytes() for file in (tmp_path / name).iterdir()}
        for name in ("one", "two")
    )
    assert first == second
    assert len(loaded(tmp_path / "one")) == 3_000


def test_no_pair_is_no_dataset(tmp_path):
    assert save_pairs(tmp_path / "stage1", [], "0" * 16) == 0
    assert not list(tmp_path.iterdir())


def test_a_missing_package_is_named_with_its_cure(monkeypatch):
    monkeypatch.setattr("training.saving.find_spec", lambda name: None)
    with pytest.raises(InputError, match=r"pip install 'hybrid-ir\[train\]'"):
        require_datasets()
