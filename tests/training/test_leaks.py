"""What the guard lets through."""

from collections import Counter
from pathlib import Path

import pytest

from hybrid_ir.errors import InputError
from hybrid_ir.records import Gold, Question
from training.batches import Batch
from training.leaks import Golden, admitted_files, body_key, guard_of, without_leaks

TARGET = Question("t1", "Is  Aspirin useful in stroke?", "yesno")


def golden(id_, body):
    return Golden(Question(id_, body, "yesno"), Gold(id_, "enriched", ("1",), (), (), None))


def guard(*batches, before=None):
    return guard_of([TARGET], batches or [Batch(12, 1)], before)


@pytest.mark.parametrize(
    ("body", "key"),
    [
        ("Is Aspirin useful in stroke?", "is aspirin useful in stroke"),
        ("is aspirin\nuseful, in STROKE", "is aspirin useful in stroke"),
        ("\uff21spirin\u00a0\uff1f", "aspirin"),  # full width
        ("What is TNF-\u03b1?", "what is tnf \u03b1"),
        ("Useful is aspirin", "useful is aspirin"),  # the order counts
        (" ? ! ", "? !"),  # no word: the signs themselves
    ],
)
def test_a_bodys_key_is_its_words(body, key):
    assert body_key(body) == key


def test_only_batches_before_the_targets_are_admitted():
    batches = [Batch(9, 5), Batch(11, 4), Batch(12, 0), Batch(12, 1), Batch(12, 2), Batch(13, 1)]
    assert list(filter(guard().admits, batches)) == batches[:3]


def test_before_may_be_earlier_than_the_target():
    assert not guard(before=Batch(11, 2)).admits(Batch(11, 2))
    assert guard(before=Batch(11, 2)).admits(Batch(11, 1))


def test_before_may_be_later_but_never_admits_a_targets_own_batch():
    several = guard(Batch(10, 1), Batch(11, 2), before=Batch(11, 3))
    tried = [Batch(9, 1), Batch(10, 1), Batch(10, 2), Batch(11, 2), Batch(11, 3)]
    assert [several.admits(batch) for batch in tried] == [True, False, True, False, False]


def test_of_several_targets_the_first_counts():
    assert guard(Batch(11, 2), Batch(10, 1)).before == (10, 1)


def test_a_target_of_unknown_batch_needs_before():
    with pytest.raises(InputError, match="say so, as in before=12B1"):
        guard(None)
    assert guard(None, before=Batch(12, 1)).before == (12, 1)


def test_questions_of_the_target_are_left_out_by_id_and_by_body():
    dropped = Counter()
    others = [golden("a", "Another?"), golden("t1", "Reworded?")]
    same_body = golden("b", "is aspirin useful in STROKE")
    kept = without_leaks([*others, same_body, golden("a", "Twice?")], guard(), dropped)
    assert kept == [others[0]]
    assert dropped == {
        "golden question has a target question's id": 1,
        "golden question has a target question's body": 1,
        "golden question stands there already": 1,
    }


def test_files_are_used_oldest_first():
    batches = {Path("c"): Batch(12, 2), Path("a"): Batch(11, 4), Path("b"): Batch(6, 1)}
    assert admitted_files(batches, guard()) == [Path("b"), Path("a")]


def test_without_an_older_file_it_says_what_came():
    with pytest.raises(InputError, match="of batches before 12B1 other than 12B1, got 12B1, 12B2"):
        admitted_files({Path("a"): Batch(12, 2), Path("b"): Batch(12, 1)}, guard())
