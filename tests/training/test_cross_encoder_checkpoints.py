"""Checkpoints that are whole or do not count."""

import logging

import pytest

from training.checkpoints import (
    SEAL,
    fault_of,
    keep_newest,
    newest,
    not_written,
    place_of,
    seal,
    step_of,
)


def checkpoint(folder, step, sealed=True):
    place = place_of(folder, step)
    place.mkdir(parents=True)
    (place / "model.safetensors").write_bytes(b"weights" * step)
    (place / "optimizer.pt").write_bytes(b"moments" * step)
    if sealed:
        seal(place)
    return place


def test_the_newest_whole_one_is_found(tmp_path):
    assert newest(tmp_path / "none") is None
    checkpoint(tmp_path, 9)
    last = checkpoint(tmp_path, 10)
    assert newest(tmp_path) == last
    assert step_of(last) == 10


@pytest.mark.parametrize("harm", ["unsealed", "cut", "changed", "missing", "seal"])
def test_a_damaged_one_is_named_and_the_one_before_is_taken(tmp_path, caplog, harm):
    before, last = checkpoint(tmp_path, 5), checkpoint(tmp_path, 10, sealed=harm != "unsealed")
    file = last / "optimizer.pt"
    if harm == "cut":
        file.write_bytes(file.read_bytes()[:-1])
    elif harm == "changed":
        file.write_bytes(b"M" + file.read_bytes()[1:])
    elif harm == "missing":
        file.unlink()
    elif harm == "seal":
        (last / SEAL).write_text("{")
    assert fault_of(last)
    assert fault_of(before) == ""
    with caplog.at_level(logging.WARNING):
        assert newest(tmp_path) == before
    assert "checkpoint-10: cannot go on from here" in caplog.text
    assert not last.exists()


def test_the_newest_and_the_best_are_kept(tmp_path):
    for step in (5, 10, 15, 20):
        checkpoint(tmp_path, step)
    keep_newest(tmp_path, 2, best=5)
    assert sorted(map(step_of, tmp_path.iterdir())) == [5, 15, 20]


@pytest.mark.parametrize(
    "error",
    [
        OSError(28, "No space left on device"),
        RuntimeError("[enforce fail at inline_container.cc:672] . unexpected pos 64 vs 0"),
        RuntimeError("PytorchStreamWriter failed writing file data/3: file write failed"),
    ],
)
def test_a_full_disk_leaves_no_half_checkpoint(tmp_path, error):
    checkpoint(tmp_path, 5)
    half = checkpoint(tmp_path, 10, sealed=False)
    said = not_written(error, half)
    assert "checkpoint-5 is whole: make room on the disk" in str(said)
    assert not half.exists()


def test_other_faults_are_not_the_disks(tmp_path):
    assert not_written(RuntimeError("mat1 and mat2 shapes cannot be multiplied"), tmp_path) is None
