"""Which pairs a step sees, and what is said where they cannot be used."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hybrid_ir.errors import InputError
from training.checks import refuse_unusable, share_of
from training.length_batches import Batches, Collator, Share, groups_of, mixed, plan
from training.settings import StageConfig, TrainConfig
from training.tokens import Pairs, Tokens


def pairs(*questions, teacher=np.nan):
    """Pairs of questions given as their labels."""
    labels = [label for question in questions for label in question]
    numbers = [number for number, question in enumerate(questions) for _ in question]
    return Pairs(
        np.array(numbers),
        [f"q{number}" for number in range(len(questions))],
        np.array(labels, np.float32),
        np.ones(len(labels), np.float32),
        np.full(len(labels), teacher, np.float32),
        np.array(["gold" if label else "random" for label in labels]),
    )


def chance():
    return np.random.default_rng(0)


def test_the_mix_takes_parts_and_repeats():
    known = pairs(*[[1, 0, 0, 0]] * 10)
    rows = mixed(known, StageConfig(mix={"gold": 2, "random": 0.5}), chance())
    counts = np.bincount(rows, minlength=40)
    assert set(counts[known.sources == "gold"]) == {2}
    assert counts[known.sources == "random"].sum() == 15  # half of 30
    assert (np.diff(rows) >= 0).all()
    assert len(mixed(known, StageConfig(mix={"random": 0}), chance())) == 10
    assert counts[known.sources == "random"].max() == 1


@given(st.lists(st.tuples(st.integers(0, 6), st.integers(0, 9)), min_size=1), st.integers(2, 6))
def test_lists_hold_both_kinds_and_every_pair(questions, size):
    known = pairs(*[[1] * positives + [0] * negatives for positives, negatives in questions])
    if not len(known.labels):
        return
    config = StageConfig(loss="infonce", list_size=size, incomplete="leave_out")
    seen = set()
    for rows in groups_of(np.arange(len(known.labels)), known, config, chance()):
        assert len(rows) <= size
        assert len(set(rows)) == len(rows)
        assert len(set(known.questions[rows])) == 1
        assert set(known.labels[rows]) == {0, 1}
        seen |= set(rows.tolist())
    whole = {number for number, (p, n) in enumerate(questions) if p and n}
    assert seen == {row for row, q in enumerate(known.questions) if q in whole}


@given(st.integers(1, 60), st.integers(1, 8), st.floats(0.1, 3), st.integers(1, 5))
def test_a_plan_goes_through_all_as_often_as_asked(groups, batch, epochs, window):
    lengths = chance().integers(1, 100, groups)
    config = StageConfig(epochs=epochs)
    batches = plan(lengths, batch, config, window, chance())
    assert len(batches) == -(-round(groups * epochs, 6) // batch)
    counts = np.bincount(batches.ravel(), minlength=groups)
    assert counts.max() - counts.min() <= 1
    assert (np.diff(lengths[batches]) >= 0).all()
    np.testing.assert_array_equal(batches, plan(lengths, batch, config, window, chance()))


@pytest.mark.parametrize(
    ("window", "turns", "least", "most"), [(1, 1, 0.5, 1), (1, 4, 0.1, 0.3), (64, 1, 0, 0.05)]
)
def test_sorting_leaves_little_to_be_padded(window, turns, least, most):
    lengths = chance().integers(10, 256, 3200)
    batches = plan(lengths, 32, StageConfig(), window, chance())
    share = Share(0, 1, 32 // turns, turns)
    parts = [lengths[part] for batch in batches for part in share.of(batch)]
    padded = sum(part.max() * len(part) for part in parts) / lengths.sum() - 1
    assert least <= padded <= most


def test_a_batch_is_a_random_sample():
    lengths = chance().integers(10, 256, 3200)
    means = lengths[plan(lengths, 32, StageConfig(), 1, chance())].mean(1)
    spread = lengths.std() / 32**0.5
    assert means.std() == pytest.approx(spread, rel=0.3)


def test_unshuffled_pairs_come_in_their_own_order():
    batches = plan(np.arange(12)[::-1], 2, StageConfig(shuffle=False), 2, chance())
    windows = batches.reshape(3, 4)
    assert [sorted(window) for window in windows.tolist()] == [
        [0, 1, 2, 3],
        [4, 5, 6, 7],
        [8, 9, 10, 11],
    ]


@pytest.mark.parametrize(("processes", "turns"), [(1, 1), (2, 1), (1, 4), (2, 2)])
def test_shares_of_a_batch_are_equal_and_whole(processes, turns):
    groups = [np.array([number]) for number in range(24)]
    batches = plan(np.arange(24), 8, StageConfig(), 3, chance())
    shares = [Share(rank, processes, 8 // processes // turns, turns) for rank in range(processes)]
    parts = [list(Batches(batches, groups, share)) for share in shares]
    assert [len(part) for part in parts] == [3 * turns] * processes
    for step, batch in enumerate(batches):
        rows = [
            row.item()
            for part in parts
            for turn in part[step * turns : (step + 1) * turns]
            for row in turn
        ]
        assert sorted(rows) == sorted(batch)


def test_a_turn_becomes_tensors():
    known = pairs([1, 0], [1, 0, 0], teacher=2)
    tokens = Tokens(
        np.arange(1, 16, dtype=np.int32),
        np.tile([0, 1, 1], 5).astype(np.int8),
        np.array([0, 3, 5, 9, 10, 15]),
        0,
    )
    made = Collator(tokens, known, 99, 8)([[np.array([0, 1])], [np.array([4, 2, 3])]])
    assert made["batch"]["input_ids"].tolist() == [
        [1, 2, 3, 99, 99, 99, 99, 99],
        [4, 5, 99, 99, 99, 99, 99, 99],
        [11, 12, 13, 14, 15, 99, 99, 99],
        [6, 7, 8, 9, 99, 99, 99, 99],
        [10, 99, 99, 99, 99, 99, 99, 99],
    ]
    assert made["batch"]["token_type_ids"][0].tolist() == [0, 1, 1, 0, 0, 0, 0, 0]
    assert made["batch"]["attention_mask"].sum(1).tolist() == [3, 2, 5, 4, 1]
    assert made["lists"]["labels"].tolist() == [[1, 0, 0], [0, 1, 0]]
    assert made["lists"]["mask"].tolist() == [[True, True, False], [True] * 3]
    assert made["lists"]["teacher"].tolist() == [[2, 2, 0], [2, 2, 2]]


def test_a_batch_that_cannot_be_shared_out_is_refused(tmp_path):
    config = TrainConfig(tmp_path, tmp_path, batch_size=24, micro_batch=8)
    assert share_of(config, StageConfig(), 1, 3) == Share(1, 3, 8, 1)
    assert share_of(config, StageConfig(loss="listnet"), 0, 1) == Share(0, 1, 1, 3)
    with pytest.raises(InputError, match="multiple of processes x micro_batch, got 24 pairs for 2"):
        share_of(config, StageConfig(), 0, 2)
    with pytest.raises(InputError, match="in lists of 32, got 24"):
        share_of(config, StageConfig(loss="infonce", list_size=32), 0, 1)


@pytest.mark.parametrize(
    ("known", "stage", "said"),
    [
        (pairs([0, 0]), StageConfig(), "there are no positives"),
        (pairs([1, 1]), StageConfig(), "there are no negatives"),
        (pairs([1], [0]), StageConfig(loss="lambda"), "no question has both"),
        (
            pairs([1, 0], [1], [1]),
            StageConfig(loss="pairwise"),
            r"2 of 3 questions have no negative \(first: q1\)",
        ),
        (
            pairs([1, 0], [0]),
            StageConfig(loss="infonce"),
            r"1 of 2 questions have no positive \(first: q1\)",
        ),
        (pairs([1, 0]), StageConfig(loss="margin_mse"), "2 of 2 pairs have no teacher score"),
        (pairs([1, 0]), StageConfig(mix={"gould": 1}), "expected some of gold, random, got gould"),
        (pairs([1, 0]), StageConfig(mix={"gold": 0, "random": 0}), "leaves no pair"),
    ],
)
def test_pairs_that_teach_nothing_are_refused(known, stage, said, tmp_path):
    with pytest.raises(InputError, match=said):
        refuse_unusable(tmp_path, known, mixed(known, stage, chance()), stage)


def test_incomplete_questions_may_be_left_out(tmp_path):
    known = pairs([1, 0], [1], [0])
    stage = StageConfig(loss="listnet", incomplete="leave_out")
    rows = mixed(known, stage, chance())
    refuse_unusable(tmp_path, known, rows, stage)
    (only,) = groups_of(rows, known, stage, chance())
    assert sorted(only) == [0, 1]
