"""Batches in the order of time, whatever their files are called."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hybrid_ir.errors import InputError
from training.batches import Batch, batch_named, batches_of, parse_batch, refuse_unknown


@pytest.mark.parametrize(
    ("name", "batch"),
    [
        ("6B1.golden.json.gz", (6, 1)),
        ("12B4_golden.json", (12, 4)),
        ("BioASQ-task13bPhaseA-testset4", (13, 4)),
        ("BioASQ-task10bPhaseB-testset6.json", (10, 6)),
        ("BioASQ-task12b-batch_2.json", (12, 2)),
        ("training12b_new.json", (12, 0)),
        ("BioASQ-trainingDataset6b.json", (6, 0)),
        ("golden.json", None),
        ("112B1.json", None),
        ("batch2.json", None),
    ],
)
def test_a_batch_is_read_out_of_a_files_name(name, batch):
    assert batch_named(name) == batch


def test_batches_are_ordered_by_year_then_number_and_not_as_text():
    names = ["12B4", "6B1", "10B1", "6B2", "9B5", "12B1"]
    ordered = ["6B1", "6B2", "9B5", "10B1", "12B1", "12B4"]
    assert [str(batch) for batch in sorted(map(parse_batch, names))] == ordered


def test_a_years_training_set_is_older_than_its_batches_and_younger_than_the_year_before():
    training = batch_named("training12b.json")
    assert parse_batch("11B4") < training < parse_batch("12B1")


@given(st.integers(1, 99), st.integers(0, 99))
def test_what_a_batch_is_called_is_read_back(year, number):
    assert parse_batch(str(Batch(year, number))) == (year, number)


@pytest.mark.parametrize("name", ["", "12", "B1", "12B", "x12B1", "12B1 and more"])
def test_something_else_is_no_batch_in_settings(name):
    with pytest.raises(InputError, match="expected a batch such as 12B1"):
        parse_batch(name)


def test_a_given_batch_goes_before_the_name():
    paths = [Path("a/6B1.json"), Path("b/mine.json")]
    given_ = {"mine.json": "9B2", "6B1.json": "7B1"}
    assert list(batches_of(paths, given_).values()) == [(7, 1), (9, 2)]


def test_all_that_is_wrong_with_given_batches_is_said_at_once():
    with pytest.raises(InputError) as caught:
        batches_of([Path("a.json")], {"a.json": "soon", "b.json": "9B1"})
    assert "b.json: there is no such file" in str(caught.value)
    assert "a.json: expected a batch such as 12B1, got 'soon'" in str(caught.value)


def test_files_of_unknown_batches_are_named_with_the_cure():
    with pytest.raises(InputError) as caught:
        refuse_unknown(batches_of([Path("x/a.json"), Path("6B1.json"), Path("b.json")], {}))
    assert "batches={a.json: 10B3}" in str(caught.value)
    assert "x/a.json" in str(caught.value)
    assert "b.json" in str(caught.value)
    assert "6B1.json" not in str(caught.value)
