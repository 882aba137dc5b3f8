import gzip
import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hybrid_ir.errors import InputError
from hybrid_ir.files import read_jsonl, read_lines, read_text, replacing, write_jsonl, writing
from hybrid_ir.records import Clause, Document, Gold, Query, Question, Snippet

texts = st.text(st.characters(exclude_categories=["Cs"]))
documents = st.builds(
    Document,
    id=texts,
    title=texts,
    abstract=texts,
    year=st.none() | st.integers(1800, 2100),
    mesh=st.lists(texts).map(tuple),
    publication_types=st.lists(texts).map(tuple),
)
queries = st.builds(
    Query,
    question_id=texts,
    clauses=st.lists(
        st.builds(
            Clause,
            text=texts,
            field=texts,
            boost=st.floats(allow_nan=False, allow_infinity=False),
            operator=st.sampled_from(["should", "must", "filter"]),
        )
    ).map(tuple),
    variant=texts,
)
synonyms = st.lists(st.lists(texts).map(tuple)).map(tuple)
golds = st.builds(
    Gold,
    question_id=texts,
    kind=st.sampled_from(["preliminary", "enriched"]),
    documents=st.lists(texts).map(tuple),
    snippets=st.lists(
        st.builds(Snippet, texts, texts, st.integers(-1, 9999), st.integers(0, 9999), texts)
    ).map(tuple),
    ideal=st.lists(texts).map(tuple),
    exact=st.none() | texts | synonyms,
)


@pytest.mark.parametrize(
    ("kind", "records"), [(Document, documents), (Query, queries), (Gold, golds)]
)
@pytest.mark.parametrize("name", ["records.jsonl", "records.jsonl.gz"])
def test_jsonl_gives_back_just_what_was_written(tmp_path_factory, kind, records, name):
    path = tmp_path_factory.mktemp("jsonl") / name

    @given(st.lists(records, max_size=5))
    def round_trip(written):
        assert write_jsonl(path, written) == len(written)
        assert list(read_jsonl(path, kind)) == written

    round_trip()


@pytest.mark.parametrize(
    ("line", "part"),
    [
        ('{"id": "1", "contents": "x"}', "unknown key 'contents'"),
        ('{"id": "1", "titel": "x"}', "did you mean 'title'?"),
        ('{"id": 1}', "Expected `str`, got `int` - at `$.id`"),
        ('{"id": "1"' + "[" * 100_000, "not a Document"),
        ('{"title": "x"}', "missing required field `id`"),
        ('{"id": "1"', "truncated"),
        ("[]", "Expected `object`"),
    ],
)
def test_a_wrong_line_is_named_with_its_fault(tmp_path, line, part):
    path = tmp_path / "documents.jsonl"
    path.write_text('{"id": "0"}\n\n' + line + "\n")
    with pytest.raises(InputError) as caught:
        list(read_jsonl(path, Document))
    assert str(caught.value).startswith(f"{path}:3: ")
    assert part in str(caught.value)


def test_a_gzip_file_that_ends_early_is_an_error_and_no_short_file(tmp_path):
    path = tmp_path / "documents.jsonl.gz"
    write_jsonl(path, [Document(str(number), os.urandom(99).hex()) for number in range(2000)])
    path.write_bytes(path.read_bytes()[:-2000])
    with pytest.raises(InputError, match="cannot read on"):
        list(read_jsonl(path, Document))


def test_a_file_that_is_not_text_is_an_error_with_its_line(tmp_path):
    path = tmp_path / "latin.txt"
    path.write_bytes("a\nb\ncaf\xe9\n".encode("latin-1"))
    with pytest.raises(InputError, match=":3: expected UTF-8 text"):
        list(read_lines(path))
    with pytest.raises(InputError, match="expected UTF-8 text"):
        read_text(path)


@pytest.mark.parametrize("name", ["absent", "."])
def test_a_missing_file_or_a_folder_is_an_input_error(tmp_path, name):
    with pytest.raises(InputError, match="expected a readable file"):
        read_text(tmp_path / name)


def test_gzip_is_known_by_content_not_by_name(tmp_path):
    path = tmp_path / "BioASQ-task13bPhaseA-testset4"
    path.write_bytes(gzip.compress("π\n".encode()))
    assert read_text(path) == "π\n"


def test_equal_content_gives_equal_gzip_bytes(tmp_path):
    for name in ("a.jsonl.gz", "b.jsonl.gz"):
        write_jsonl(tmp_path / name, [Question("q", "Is it?", "yesno")])
    assert (tmp_path / "a.jsonl.gz").read_bytes() == (tmp_path / "b.jsonl.gz").read_bytes()


def test_a_failed_write_leaves_the_old_file_and_nothing_else(tmp_path):
    path = tmp_path / "file.txt"
    path.write_text("old")
    with pytest.raises(TypeError), writing(path) as file:
        file.writelines(["new", 1])
    assert [p.name for p in tmp_path.iterdir()] == ["file.txt"]
    assert path.read_text() == "old"


def test_a_folder_takes_the_place_of_an_older_one_as_a_whole(tmp_path):
    path = tmp_path / "index"
    for content in ("old", "new"):
        with replacing(path) as folder:
            folder.mkdir()
            (folder / content).write_text(content)
    assert [p.name for p in path.iterdir()] == ["new"]
    assert [p.name for p in tmp_path.iterdir()] == ["index"]


def test_a_killed_writer_leaves_no_file_and_the_next_one_cleans_up(tmp_path):
    program = f"""
from pathlib import Path
import os, signal
from hybrid_ir.files import writing
with writing(Path({str(tmp_path)!r}) / "file.txt") as file:
    file.write("half")
    file.flush()
    os.kill(os.getpid(), signal.SIGKILL)
"""
    killed = subprocess.run([sys.executable, "-c", program], check=False)
    assert killed.returncode == -9
    path = tmp_path / "file.txt"
    assert not path.exists()
    assert len(list(tmp_path.iterdir())) == 1
    with writing(path) as file:
        file.write("whole")
    assert [p.name for p in tmp_path.iterdir()] == ["file.txt"]
    assert Path(path).read_text() == "whole"


@pytest.mark.parametrize("position", [12, 40, 400, -6])
def test_a_damaged_gzip_file_is_an_input_error(tmp_path, position):
    path = tmp_path / "documents.jsonl.gz"
    write_jsonl(path, [Document(str(number), os.urandom(99).hex()) for number in range(2000)])
    content = bytearray(path.read_bytes())
    content[position] ^= 0xFF
    path.write_bytes(content)
    with pytest.raises(InputError):
        list(read_jsonl(path, Document))
    with pytest.raises(InputError):
        read_text(path)


def test_an_unknown_key_of_a_nested_record_is_named(tmp_path):
    path = tmp_path / "queries.jsonl"
    path.write_text('{"question_id": "q", "clauses": [{"text": "heart", "bost": 3}]}\n')
    with pytest.raises(InputError, match=r"unknown key 'bost' \(did you mean 'boost'"):
        list(read_jsonl(path, Query))


def test_a_byte_order_mark_is_no_text(tmp_path):
    path = tmp_path / "text"
    path.write_text("\ufeffa\nb\n")
    assert list(read_lines(path)) == [(1, "a"), (2, "b")]
    assert read_text(path) == "a\nb\n"


def test_the_line_of_a_wrong_byte_is_right_in_a_long_file(tmp_path):
    path = tmp_path / "text"
    path.write_bytes(b"some words\n" * 4000 + b"caf\xe9\n" + b"more\n" * 4000)
    with pytest.raises(InputError, match=":4001: expected UTF-8 text"):
        list(read_lines(path))


def test_a_link_stays_a_link_and_a_device_is_refused(tmp_path):
    target, link = tmp_path / "target", tmp_path / "link"
    target.write_text("old")
    link.symlink_to(target)
    with writing(link) as file:
        file.write("new")
    assert (link.is_symlink(), target.read_text()) == (True, "new")
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(InputError, match="no ordinary file"), writing(tmp_path / "pipe"):
        pass


def test_a_folder_moved_aside_by_a_killed_writer_comes_back(tmp_path):
    path = tmp_path / "index"
    aside = tmp_path / ".index.999999999.old.tmp"
    aside.mkdir()
    (aside / "old").write_text("")
    with pytest.raises(TypeError), replacing(path):
        raise TypeError
    assert [p.name for p in path.iterdir()] == ["old"]


def test_a_name_with_brackets_is_cleaned_up_too(tmp_path):
    path = tmp_path / "run[1]"
    (tmp_path / ".run[1].999999999.tmp").write_text("")
    with writing(path) as file:
        file.write("x")
    assert [p.name for p in tmp_path.iterdir()] == ["run[1]"]
