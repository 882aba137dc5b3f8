import subprocess
import sys

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hybrid_ir.errors import InputError
from hybrid_ir.files import to_json
from hybrid_ir.pubmed.growing_file import Change, Row
from hybrid_ir.pubmed.growing_store import GrowingStore
from hybrid_ir.pubmed.store import DocumentStore
from hybrid_ir.pubmed.store_lock import reading, writing_alone
from hybrid_ir.records import Document


def record(id_, title=""):
    return to_json(Document(id_, title)).encode()


def kept(id_, title="", version=1):
    return Row(id_, version, record(id_, title))


def left_out(id_, version=1):
    return Row(id_, version, reason="no abstract")


def deleted(id_, version=1):
    return Row(id_, version)


def apply(store, *batches):
    """Apply one file and give its changes and counts."""
    changes = []
    with store.file() as file:
        for batch in batches:
            changes += file.apply(batch)
        file.finish(f"f{file.sequence}", "md5", "{}")
    return changes, {name: count for name, count in file.tally.items() if count}


@pytest.fixture
def store(tmp_path):
    opened = GrowingStore(tmp_path / "s", "{}")
    yield opened
    opened.close()


def titles(store):
    decode = msgspec.json.Decoder(Document).decode
    return {document.id: document.title for document in map(decode, store.records())}


def test_later_rows_win_and_what_was_left_out_or_deleted_is_gone(store):
    changes, counts = apply(store, [kept("1", "a"), kept("2", "b"), kept("3", "c")])
    assert changes == [Change(i, None, record(i, t)) for i, t in zip("123", "abc", strict=True)]
    assert counts == {"citations": 3, "added": 3}
    changes, counts = apply(store, [kept("1", "A"), left_out("2"), deleted("3"), kept("4")])
    assert set(changes) == {
        Change("1", record("1", "a"), record("1", "A")),
        Change("2", record("2", "b"), None),
        Change("3", record("3", "c"), None),
        Change("4", None, record("4")),
    }
    assert counts == {"citations": 3, "deletions": 1, "replaced": 1, "removed": 2, "added": 1}
    assert titles(store) == {"1": "A", "4": ""}


def test_a_lower_version_never_replaces_a_higher_one_nor_deletes_it(store):
    apply(store, [kept("1", "two", 2), kept("1", "one", 1)])
    _, counts = apply(store, [kept("1", "one", 1), deleted("1", 1), left_out("1", 1)])
    assert counts == {"citations": 2, "deletions": 1, "outdated": 2}
    assert titles(store) == {"1": "two"}


def test_a_lower_version_does_not_come_back_for_a_higher_one_that_is_not_selected(store):
    apply(store, [kept("1", "one", 1), left_out("1", 2)])
    _, counts = apply(store, [kept("1", "one", 1)])
    assert counts == {"citations": 1, "outdated": 1}
    apply(store, [kept("1", "three", 3)])
    assert titles(store) == {"1": "three"}


def test_what_was_deleted_may_come_again(store):
    apply(store, [kept("1", "two", 2), deleted("1", 2)])
    apply(store, [kept("1", "one", 1)])
    assert titles(store) == {"1": "one"}


def test_an_equal_revision_is_no_change_but_its_version_counts(store):
    apply(store, [kept("1", "a", 1)])
    changes, counts = apply(store, [kept("1", "a", 2)])
    assert changes == []
    assert counts == {"citations": 1, "unchanged": 1}
    assert apply(store, [kept("1", "b", 1)])[1] == {"citations": 1, "outdated": 1}


def test_changes_are_kept_until_the_index_has_them(store):
    apply(store, [kept("1", "a"), kept("2", "b")])
    apply(store, [deleted("1"), kept("3", "c")])
    everything = {"1": None, "2": record("2", "b"), "3": record("3", "c")}
    assert dict(store.changed_since(0)) == everything
    assert dict(store.changed_since(1)) == {"1": None, "3": record("3", "c")}
    store.set_followed(1)
    assert dict(store.changed_since(0)) == dict(store.changed_since(1))
    assert (store.followed, store.last) == (1, 2)
    assert list(store.records()) == [record("2", "b"), record("3", "c")]


def test_ids_come_in_the_order_of_their_numbers(store):
    apply(store, [kept(i) for i in ("10", "9", "100", "2")])
    assert list(store.ids_in_order()) == ["2", "9", "10", "100"]


def test_a_file_that_fails_leaves_nothing(store):
    apply(store, [kept("1", "a")])

    def fail():
        with store.file() as file:
            file.apply([kept("1", "b"), kept("2")])
            raise ValueError("half way")

    with pytest.raises(ValueError, match="half way"):
        fail()
    assert store.last == 1
    assert titles(store) == {"1": "a"}


IDS = st.sampled_from("123")
ROWS = st.builds(
    lambda id_, version, kind: kind(id_, version),
    IDS,
    st.integers(1, 3),
    st.sampled_from(
        [lambda i, v: kept(i, "a", v), lambda i, v: kept(i, "b", v), left_out, deleted]
    ),
)


@settings(max_examples=60)
@given(st.lists(st.lists(ROWS, max_size=6), max_size=5))
def test_batches_files_and_order_of_work_change_nothing(tmp_path_factory, batches):
    known = {}  # id -> (version, record)
    for row in (row for batch in batches for row in batch):
        if row.version >= known.get(row.id, (0, None))[0]:
            known[row.id] = (row.version, row.record)
            if row.record is None and row.reason is None:
                del known[row.id]
    expected = {id_: text for id_, (_, text) in known.items() if text}
    folder = tmp_path_factory.mktemp("stores")
    in_one = GrowingStore(folder / "one", "{}")
    _, counts = apply(in_one, *batches)
    in_many = GrowingStore(folder / "many", "{}")
    mirror = {}
    for batch in batches:
        for change in apply(in_many, batch)[0]:
            assert mirror.get(change.id) == change.before
            mirror[change.id] = change.after
    for store in (in_one, in_many):
        found = {change_id: text for change_id, text in store.changed_since(0) if text}
        assert found == expected
        store.close()
    assert {id_: text for id_, text in mirror.items() if text} == expected
    assert counts.get("added", 0) - counts.get("removed", 0) == len(expected)


def test_a_growing_store_is_no_store_to_read(tmp_path, store):
    apply(store, [kept("1")])
    store.set_whole(False)
    with pytest.raises(InputError, match="update was interrupted: run the same hybrid-ir pubmed"):
        DocumentStore(tmp_path / "s")


def test_readers_share_a_store_and_a_writer_has_it_alone(tmp_path):
    path = tmp_path / "s"
    with writing_alone(path):
        with pytest.raises(InputError, match="another process is updating it"), reading(path):
            pass
        with pytest.raises(InputError, match="searching or updating"), writing_alone(path):
            pass
    with (
        reading(path),
        reading(path),
        pytest.raises(InputError, match="searching or updating"),
        writing_alone(path),
    ):
        pass
    with writing_alone(path):
        pass


def test_a_store_killed_within_a_file_is_refused_and_goes_on_with_nothing_of_it(tmp_path):
    path = tmp_path / "s"
    program = f"""
import os, signal
from pathlib import Path
from hybrid_ir.pubmed.growing_file import Row
from hybrid_ir.pubmed.growing_store import GrowingStore
store = GrowingStore(Path({str(path)!r}), "{{}}")
with store.file() as file:
    file.apply([Row("1", 1, b"x")])
    file.finish("f1", "md5", "{{}}")
store.set_whole(True)
store._connection.execute("PRAGMA cache_size = 5")
with store.file() as file:
    file.apply([Row(str(i), 1, b"y" * 5000) for i in range(1000)])
    os.kill(os.getpid(), signal.SIGKILL)
"""
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == -9
    assert (tmp_path / "s-journal").exists()
    with pytest.raises(InputError, match="update was interrupted"):
        DocumentStore(path)
    store = GrowingStore(path, "{}")
    assert (store.last, list(store.records())) == (1, [b"x"])
    store.close()
