import os
import signal
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hybrid_ir.errors import InputError
from hybrid_ir.files import write_jsonl
from hybrid_ir.records import Document
from hybrid_ir.retrieval.ids import open_ids
from hybrid_ir.retrieval.index import IDS, IndexConfig, open_reader, open_store, read_settings
from hybrid_ir.retrieval.indexing import build_index, read_documents
from hybrid_ir.retrieval.jvm import java_class

DOCUMENTS = [
    Document(
        "7", "Heart failure", "Beta blockers reduce mortality.", 1999, ("Heart",), ("Review",)
    ),
    Document("12", "", "Aspirin and “stroke”: α-blockers\nhelp."),
    Document("3", "No abstract"),
]


def terms_of(folder, field):
    """Give the terms of a field as Lucene holds them."""
    reader = open_reader(folder / "lucene")
    found = []
    terms = java_class("org.apache.lucene.index.MultiTerms").getTerms(reader, field)
    if terms is not None:
        each = terms.iterator()
        while (term := each.next()) is not None:
            found.append(term.utf8ToString())
    reader.close()
    return found


def test_an_index_holds_every_document_and_its_settings(tmp_path):
    folder = tmp_path / "index"
    batches = []
    made = build_index(DOCUMENTS, folder, IndexConfig(fields=("title", "mesh")), batches.append)
    assert made == read_settings(folder)
    assert made == replace(
        made, fields=("contents", "title", "mesh"), stemmer="porter", documents=3, without_text=0
    )
    assert batches == [3]
    store = open_store(folder)
    assert list(store.documents()) == DOCUMENTS
    assert sorted(np.load(folder / IDS).tolist()) == [3, 7, 12]
    assert terms_of(folder, "title") == ["abstract", "failur", "heart"]
    assert terms_of(folder, "mesh") == ["heart"]
    assert terms_of(folder, "abstract") == []
    assert "beta" in terms_of(folder, "contents")


@pytest.mark.parametrize(
    ("config", "terms"),
    [
        (IndexConfig(), ["drug", "run"]),
        (IndexConfig(stemmer="none"), ["drugs", "running"]),
        (IndexConfig(stemmer="krovetz"), ["drug", "running"]),
        (IndexConfig(keep_stopwords=True), ["drug", "run", "the"]),
    ],
)
def test_the_analysis_is_as_asked_for(tmp_path, config, terms):
    build_index([Document("1", "the running drugs")], tmp_path / "index", config)
    assert terms_of(tmp_path / "index", "contents") == terms


def test_a_document_without_text_is_stored_and_counted_but_not_indexed(tmp_path):
    documents = [Document("1", "text"), Document("2"), Document("3", "\x01", "\n\x00")]
    made = build_index(documents, tmp_path / "index", IndexConfig())
    assert (made.documents, made.without_text) == (3, 2)
    assert list(open_store(tmp_path / "index")) == ["1", "2", "3"]
    assert np.load(tmp_path / "index" / IDS).tolist() == [1]


@pytest.mark.parametrize(
    ("ids", "kind"),
    [(["1", "20"], "i"), (["1", "020"], "S"), (["ä", "b"], "S"), (["1" * 19], "S"), (["0"], "i")],
)
def test_ids_are_kept_as_they_are(tmp_path, ids, kind):
    build_index([Document(i, "text") for i in ids], tmp_path / "index", IndexConfig())
    kept = np.load(tmp_path / "index" / IDS)
    assert kept.dtype.kind == kind
    names = [str(i) if kind == "i" else i.decode() for i in kept.tolist()]
    assert sorted(names) == sorted(ids)


@pytest.mark.slow
def test_the_ids_of_many_batches_and_pages_stand_where_lucene_has_their_documents(tmp_path):
    count = 45_000  # more than two pages of ids, nine batches, in an order of their own
    documents = (
        Document(str(i * 7919 % count + 1), f"w{i * 7919 % count + 1}") for i in range(count)
    )
    build_index(documents, tmp_path / "index", IndexConfig(buffer_mb=16))
    ids = np.load(tmp_path / "index" / IDS)
    assert sorted(ids.tolist()) == list(range(1, count + 1))
    reader = open_reader(tmp_path / "index" / "lucene")
    stored = reader.storedFields()
    for number in range(0, count, 1499):
        assert stored.document(number).get("id") == str(ids[number])
    reader.close()


@settings(max_examples=25)
@given(st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=40), max_size=8))
def test_any_text_can_be_indexed_and_comes_back_from_the_store(tmp_path_factory, texts):
    folder = tmp_path_factory.mktemp("any") / "index"
    documents = [Document(str(i), text) for i, text in enumerate(["first", *texts])]

    build_index(documents, folder, IndexConfig(fields=("title",)))
    assert list(open_store(folder).documents()) == documents


def test_an_id_that_occurs_twice_is_refused_and_leaves_no_index(tmp_path):
    with pytest.raises(InputError, match="document 1 occurs twice"):
        build_index([Document("1", "a"), Document("1", "b")], tmp_path / "index", IndexConfig())
    assert list(tmp_path.iterdir()) == []


def test_no_documents_are_refused(tmp_path):
    with pytest.raises(InputError, match="no documents to index"):
        build_index([], tmp_path / "index", IndexConfig())
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("document_id", ["", " ", "a b", "a\n", "a\0", "a" * 513])
def test_an_id_no_run_can_hold_is_refused_with_its_line(tmp_path, document_id):
    path = tmp_path / "documents.jsonl"
    write_jsonl(path, [Document("1", "a"), Document(document_id, "b")])
    with pytest.raises(InputError, match=r"documents\.jsonl:2: expected an id without white space"):
        list(read_documents([path]))


def test_a_folder_that_is_no_index_is_refused(tmp_path):
    with pytest.raises(InputError, match=r"expected an index folder with index\.json"):
        read_settings(tmp_path)


def test_an_index_killed_while_being_built_leaves_the_old_one(tmp_path):
    folder = tmp_path / "index"
    build_index(DOCUMENTS, folder, IndexConfig())
    program = f"""
from itertools import count
from pathlib import Path
from hybrid_ir.records import Document
from hybrid_ir.retrieval.index import IndexConfig
from hybrid_ir.retrieval.indexing import build_index
documents = (Document(str(i), "text " * 20) for i in count())
build_index(documents, Path({str(folder)!r}), IndexConfig(), lambda n: print(n, flush=True))
"""
    process = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE)
    assert process.stdout is not None
    process.stdout.readline()
    process.stdout.readline()
    process.send_signal(signal.SIGKILL)
    process.wait()
    process.stdout.close()
    assert read_settings(folder).documents == 3
    assert len(list(tmp_path.iterdir())) == 2  # the old index and what the killed one left
    build_index(DOCUMENTS[:2], folder, IndexConfig())
    assert [path.name for path in tmp_path.iterdir()] == ["index"]
    assert read_settings(folder).documents == 2


def test_settings_are_those_of_the_installed_anserini(tmp_path):
    made = build_index(DOCUMENTS, tmp_path / "index", IndexConfig())

    assert made.anserini.count(".") == 2
    assert os.listdir(tmp_path) == ["index"]


@pytest.mark.parametrize("kind", ["file", "folder"])
def test_what_is_no_index_is_never_replaced(tmp_path, kind):
    output = tmp_path / "precious"
    precious = output if kind == "file" else output / "thesis.tex"
    precious.parent.mkdir(exist_ok=True)
    precious.write_text("years of work")
    with pytest.raises(InputError, match="expected a new folder or an index to replace"):
        build_index(DOCUMENTS, output, IndexConfig())
    assert precious.read_text() == "years of work"


def test_an_empty_folder_makes_way(tmp_path):
    (tmp_path / "index").mkdir()
    assert build_index(DOCUMENTS, tmp_path / "index", IndexConfig()).documents == 3


def test_an_index_without_its_files_is_refused(tmp_path):
    folder = tmp_path / "index"
    build_index(DOCUMENTS, folder, IndexConfig())
    settings = read_settings(folder)
    np.save(folder / IDS, np.array([1, 2]))
    with pytest.raises(InputError, match=r"ids\.npy: does not fit index\.json"):
        open_ids(folder, settings)
    (folder / IDS).write_bytes(b"x")
    with pytest.raises(InputError, match=r"ids\.npy: cannot be read"):
        open_ids(folder, settings)
    for file in (folder / "lucene").glob("segments_*"):
        file.unlink()
    with pytest.raises(InputError, match="Lucene cannot read it"):
        open_reader(folder / "lucene")


def test_a_failed_build_lets_go_of_the_index(tmp_path):
    for _ in range(3):
        with pytest.raises(InputError, match="occurs twice"):
            build_index([Document("1", "a"), Document("1", "b")], tmp_path / "index", IndexConfig())
    assert build_index(DOCUMENTS, tmp_path / "index", IndexConfig()).documents == 3


@pytest.mark.parametrize("wrong", [{"threads": 0}, {"buffer_mb": 0}, {"fields": ("mesh", "mesh")}])
def test_settings_that_lucene_would_choke_on_are_refused(wrong):
    with pytest.raises(InputError, match=next(iter(wrong))):
        IndexConfig(**wrong)
