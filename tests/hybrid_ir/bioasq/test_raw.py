import gzip
import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hybrid_ir.bioasq.raw import (
    address_of,
    document_id_of,
    is_offset,
    is_text,
    pmid_of,
    read_raw,
    texts_in,
    url_of,
)
from hybrid_ir.bioasq.raw import write_raw as write
from hybrid_ir.errors import InputError

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda children: st.lists(children, max_size=3)
    | st.dictionaries(st.text(max_size=5), children, max_size=3),
    max_leaves=8,
)  # fmt: skip
raw_questions = st.lists(st.dictionaries(st.text(max_size=8), json_values, max_size=4), max_size=3)


@settings(max_examples=50, deadline=None)
@given(raw_questions)
def test_what_is_written_comes_back_exactly(tmp_path_factory, questions):
    path = tmp_path_factory.mktemp("raw") / "file"
    write(path, questions)
    assert repr(read_raw(path)) == repr(questions)  # repr tells 1 from 1.0 and True


def test_verbatim_whatever_the_packing(tmp_path):
    questions = [
        {"id": "a", "body": " x\n y", "extra": None, "n": 1, "f": 1.0, "exact_answer": "Yes."},
        {"id": "a", "body": "twice"},
    ]
    text = json.dumps({"questions": questions}).encode()
    packings = {
        "plain.json": text,
        "BioASQ-task13bPhaseA-testset4": text,
        "zipped.json.gz": gzip.compress(text),
        "zipped": gzip.compress(text),
        "bom.json": b"\xef\xbb\xbf" + text,
    }
    for name, content in packings.items():
        (tmp_path / name).write_bytes(content)
        assert repr(read_raw(tmp_path / name)) == repr(questions)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('{"questions": [\n  {"id": "a",}]}', r"line 2 column 1[0-9]"),
        ("", "line 1 column 1"),
        ("[" * 100_000, "expected a BioASQ file, in JSON"),
        ('{"questions": [{"a": NaN}]}', "NaN is no JSON number"),
        ('{"questions": [{"id": "q7", "id": "b"}]}', "key 'id' stands twice"),
        ('[{"id": "a"}]', r"got a list of 1"),
        ('{"data": [], "version": 1}', "keys data, version"),
        ('{"questions": {"a": 1}}', "keys questions"),
        ('{"questions": [{"id": "a"}, 7, [1, 2]]}', r"\[1\]: 7\n.*\[2\]: a list of 2"),
    ],
)
def test_what_is_no_bioasq_file_is_refused(tmp_path, content, message):
    path = tmp_path / "wrong.json"
    path.write_text(content)
    with pytest.raises(InputError, match=message) as caught:
        read_raw(path)
    assert str(path) in str(caught.value)


def test_other_top_level_keys_are_named(tmp_path, caplog):
    path = tmp_path / "file.json"
    path.write_text('{"username": "x", "questions": [{"id": "a"}], "system": "y"}')
    assert read_raw(path) == [{"id": "a"}]
    assert "system, username" in caplog.text


def test_written_files_are_ascii(tmp_path):
    write(tmp_path / "f.json", [{"id": "a", "body": "TNF-α 😀"}])
    assert (tmp_path / "f.json").read_bytes().isascii()


@pytest.mark.parametrize(
    "spelling",
    [
        "http://www.ncbi.nlm.nih.gov/pubmed/15829955",
        "https://www.ncbi.nlm.nih.gov/pubmed/15829955",
        "http://www.ncbi.nlm.nih.gov/pubmed/15829955/",
        "http://ncbi.nlm.nih.gov/pubmed/15829955",
        "www.ncbi.nlm.nih.gov/pubmed/15829955",
        "HTTP://WWW.NCBI.NLM.NIH.GOV/pubmed/15829955",
        "https://pubmed.ncbi.nlm.nih.gov/15829955/",
        "https://pubmed.ncbi.nlm.nih.gov/15829955",
        "https://pubmed.ncbi.nlm.nih.gov/15829955/?format=abstract#x",
        "pubmed.ncbi.nlm.nih.gov/15829955",
        " 15829955\n",
        "015829955",
        "PMID:15829955",
        "pmid: 15829955",
        15829955,
    ],
)
def test_every_spelling_of_a_pmid(spelling):
    assert pmid_of(spelling) == "15829955"
    assert url_of(spelling) == "http://www.ncbi.nlm.nih.gov/pubmed/15829955"
    assert document_id_of(spelling) == "15829955"


@pytest.mark.parametrize(
    "reference",
    [
        "", "0", "abc", "123456789", "12 34", "-5", "1.0", "١٢٣", 0, -1, True, 1.0, None, ["1"],
        "15829955/", "http://www.ncbi.nlm.nih.gov/pubmed/", "http://example.org/pubmed/123",
        "http://www.ncbi.nlm.nih.gov/pmc/articles/PMC3245227",
        "http://www.ncbi.nlm.nih.gov/pubmed/12/34",
    ],
)  # fmt: skip
def test_what_is_no_pmid(reference):
    with pytest.raises(ValueError, match="no PubMed reference"):
        pmid_of(reference)
    with pytest.raises(ValueError, match="no PubMed reference"):
        url_of(reference)


def test_a_document_outside_pubmed_keeps_its_address():
    address = "http://www.ncbi.nlm.nih.gov/pmc/articles/PMC3245227"
    assert document_id_of(f" {address} ") == address
    assert address_of(address) == address


@given(st.integers(1, 99_999_999))
def test_pmid_and_url_are_inverse(number):
    assert pmid_of(url_of(number)) == str(number)
    assert url_of(url_of(number)) == url_of(number)
    assert document_id_of(address_of(str(number))) == str(number)


def test_what_counts_as_text_and_as_offset():
    assert list(texts_in([["a", None], "b", [[["c"]], []], 4])) == ["a", "b", "c", "4"]
    assert list(texts_in(None)) == []
    offsets = [0, -1, "12", "-3", 1.0, True, "1.0", " 1", "", None]
    assert list(map(is_offset, offsets)) == [True] * 4 + [False] * 6
    assert list(map(is_text, ["", 1, 1.5, True, None, []])) == [True, True, True] + 3 * [False]


@pytest.mark.shared
def test_every_file_at_hand_is_read(shared: Path):
    folders = ["golden", "testsets", "training", "eval_sample", "synergy", "submissions"]
    paths = [path for name in folders for path in (shared / f"data/bioasq_{name}").rglob("*.json*")]
    counts = {path.name: len(read_raw(path)) for path in paths}
    assert len(paths) == 32 + 18 + 1 + 2 + 2 + 26
    assert counts["12B1_golden.json.gz"] == 85
    assert counts["BioASQ-taskSynergy-testset4.json"] == 113
    assert min(counts.values()) == 4


@pytest.mark.shared
def test_a_real_golden_survives_writing(shared: Path, tmp_path):
    questions = read_raw(shared / "data/bioasq_golden/12B2_golden.json.gz")
    write(tmp_path / "copy.json.gz", questions)
    assert repr(read_raw(tmp_path / "copy.json.gz")) == repr(questions)
