import sqlite3
import threading

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hybrid_ir.errors import InputError
from hybrid_ir.pubmed.store import DocumentStore, StoreWriter
from hybrid_ir.records import Document

texts = st.text(st.characters(exclude_categories=["Cs"]))
documents = st.builds(
    Document, id=texts, title=texts, abstract=texts, year=st.none() | st.integers()
)


def written(path, content):
    writer = StoreWriter(path)
    writer.add(content)
    writer.close()
    return DocumentStore(path)


@settings(max_examples=50)
@given(st.lists(documents, unique_by=lambda document: document.id, max_size=20))
def test_a_store_is_a_mapping_in_the_order_of_insertion(tmp_path_factory, content):
    store = written(tmp_path_factory.mktemp("store") / "s.sqlite", content)
    assert dict(store) == {document.id: document for document in content}
    assert list(store) == [document.id for document in content]
    assert list(store.documents()) == content
    assert len(store) == len(content)


def test_many_ids_are_found_at_once_in_the_order_asked_for(tmp_path):
    store = written(tmp_path / "s", [Document(str(i), f"t{i}") for i in range(1500)])
    asked = [str(i) for i in range(1600, 0, -2)]
    found = store.find([*asked, "4"])
    assert list(found) == [str(i) for i in range(1498, 0, -2)]
    assert found["4"] == Document("4", "t4")


def test_what_is_not_there_is_a_key_error(tmp_path):
    store = written(tmp_path / "s", [Document("1")])
    assert "2" not in store
    with pytest.raises(KeyError):
        store["2"]


def test_an_id_twice_is_refused(tmp_path):
    writer = StoreWriter(tmp_path / "s")
    writer.add([Document("1")])
    with pytest.raises(InputError, match="document 1 occurs twice"):
        writer.add([Document("1")])


def test_threads_share_a_store(tmp_path):
    store = written(tmp_path / "s", [Document(str(i)) for i in range(200)])
    seen = []

    def look():
        seen.extend(store[str(i)].id for i in range(200))

    threads = [threading.Thread(target=look) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(seen) == 4 * 200


@pytest.mark.parametrize("content", [b"", b"not a database, but long enough to be looked at" * 50])
def test_a_foreign_file_is_refused(tmp_path, content):
    path = tmp_path / "s"
    path.write_bytes(content)
    with pytest.raises(InputError, match="not a document store"):
        DocumentStore(path)


def test_a_missing_file_is_refused(tmp_path):
    with pytest.raises(InputError, match="expected a document store"):
        DocumentStore(tmp_path / "s")


def test_a_closed_store_gives_nothing_more(tmp_path):
    store = written(tmp_path / "s", [Document("1")])
    store.close()
    with pytest.raises(sqlite3.ProgrammingError):
        store["1"]
