"""Checkpoints that are whole or do not count."""

import logging

import pytest

from hybrid_ir.errors import InputError
from training.checkpoints import (
    SEAL,
    fault_of,
    keep_newest,
    newest,
    not_written,
    place_of,
    processes_of,
    saying_when_full,
    seal,
    step_of,
)


def checkpoint(folder, step, sealed=True, best=None):
    place = place_of(folder, step)
    place.mkdir(parents=True)
    (place / "model.safetensors").write_bytes(b"weights" * step)
    (place / "optimizer.pt").write_bytes(b"moments" * step)
    if sealed:
        seal(place, best)
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


def test_one_whose_best_is_damaged_does_not_count(tmp_path, caplog):
    for step, best in ((5, 5), (10, 10), (15, 10), (20, 10)):
        checkpoint(tmp_path, step, best=best)
    weights = place_of(tmp_path, 10) / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-1])
    assert newest(tmp_path) == place_of(tmp_path, 5)
    assert "of checkpoint-10, the best one: model.safetensors is damaged" in caplog.text


def test_the_newest_and_what_was_the_best_for_them_are_kept(tmp_path):
    for step, best in ((5, 5), (10, 5), (15, 5), (20, 20)):
        checkpoint(tmp_path, step, best=best)
    keep_newest(tmp_path, 2)
    assert sorted(map(step_of, tmp_path.iterdir())) == [5, 15, 20]
    keep_newest(tmp_path, 1)
    assert sorted(map(step_of, tmp_path.iterdir())) == [20]


def test_the_writers_are_counted(tmp_path):
    place = checkpoint(tmp_path, 5)
    (place / "rng_state.pth").touch()
    assert processes_of(place) == 1
    (place / "rng_state.pth").unlink()
    for number in range(3):
        (place / f"rng_state_{number}.pth").touch()
    assert processes_of(place) == 3


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
    assert not_written(ValueError("a model that writes text"), tmp_path) is None
    with pytest.raises(ValueError, match="writes"), saying_when_full(tmp_path):
        raise ValueError("a model that writes text")


def test_any_file_that_does_not_fit_is_named(tmp_path):
    from safetensors import SafetensorError

    said = "kept: could not be written: no room; make room on the disk"
    for error in (OSError("no room"), SafetensorError("no room\nwrite")):
        with pytest.raises(InputError, match=said), saying_when_full(tmp_path / "kept"):
            raise error
