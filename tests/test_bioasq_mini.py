"""The example collection in the repository: whole, consistent, licensed, and rebuilt alike."""

import gzip
import json
import subprocess
import sys
from pathlib import Path

import pytest

from hybrid_ir.files import read_jsonl, read_text
from hybrid_ir.records import QUESTION_TYPES, Document

SCRIPT = Path(__file__).resolve().parents[1] / "scripts" / "build_bioasq_mini.py"
BY_HAND = {"README.md", "ATTRIBUTION.md"}


def build(shared: Path, output: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(SCRIPT), "--shared", str(shared), "--output", str(output)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def files(folder: Path) -> dict[str, bytes]:
    """Contents by name; unzipped, since another zlib may pack the same text otherwise."""
    return {
        str(path.relative_to(folder)): read_bytes(path)
        for path in folder.rglob("*")
        if path.is_file()
    }


def read_bytes(path: Path) -> bytes:
    return gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()


def questions(path: Path) -> list[dict[str, object]]:
    found = json.loads(read_text(path))
    assert found.keys() == {"questions"}
    return found["questions"]


@pytest.mark.slow
@pytest.mark.shared
def test_the_script_builds_just_these_bytes(shared, mini, tmp_path):
    result = build(shared, tmp_path)
    assert (result.returncode, result.stderr) == (0, "")
    built, committed = files(tmp_path), files(mini)
    assert built.keys() == committed.keys() - BY_HAND
    assert [name for name in built if built[name] != committed[name]] == []
    assert "| test | 11B2 | 74 | 24 | 22 | 11 | 17 | 698 | 157 (22.5%) | 561 |" in result.stdout


@pytest.mark.shared
def test_goldens_and_language_model_texts_hold_the_values_of_their_sources(shared, mini):
    goldens = sorted(mini.glob("*/*.golden.json.gz"))
    assert len(goldens) == 2 + 2 + 4 * 5 + 4
    for path in goldens:
        name = path.name.replace(".golden.json.gz", "_golden.json.gz")
        source = shared / "data" / "bioasq_golden" / name
        assert json.loads(read_text(path)) == json.loads(read_text(source)), path
    for path in mini.glob("llm/*.gz"):
        source = shared / "data" / "llm" / path.name.removesuffix(".gz")
        assert read_text(path) == read_text(source), path


def test_every_missing_input_is_named_at_once(tmp_path):
    result = build(tmp_path / "nowhere", tmp_path / "out")
    assert result.returncode == 2
    lines = result.stderr.splitlines()
    assert len(lines) == 1 + 1 + 28 + 9  # summary, passages, goldens, language-model files
    assert "--shared" in lines[0]
    assert lines[1].endswith("gold_snippet_docs_dev.jsonl.gz")
    assert not (tmp_path / "out").exists()


@pytest.fixture
def small_shared(tmp_path, mini) -> Path:
    """A shared folder with the committed goldens and texts and three passages."""
    data = tmp_path / "shared" / "data"
    for part in ("bioasq_golden", "llm", "derived"):
        (data / part).mkdir(parents=True)
    for path in mini.glob("*/*.golden.json.gz"):
        name = path.name.replace(".golden.json.gz", "_golden.json.gz")
        (data / "bioasq_golden" / name).write_bytes(path.read_bytes())
    for path in mini.glob("llm/*.gz"):
        (data / "llm" / path.name.removesuffix(".gz")).write_text(read_text(path), "utf-8")
    passage = [
        {"section": "sections.0", "text": "zero"},
        {"section": "title", "text": "T 1"},
        {"section": "abstract", "text": " a "},
        {"section": "title", "text": "T 2"},
        {"section": "sections.3", "text": "three"},
    ]
    write_passages(data.parent, json.dumps({"pmid": "7", "snippets": passage}))
    return data.parent


def write_passages(shared: Path, line: str) -> None:
    path = shared / "data" / "derived" / "gold_snippet_docs_dev.jsonl.gz"
    path.write_bytes(gzip.compress(line.encode()))


def test_title_snippets_make_the_title_and_all_others_the_abstract(small_shared, tmp_path):
    assert build(small_shared, tmp_path / "out").returncode == 0
    documents = list(read_jsonl(tmp_path / "out" / "documents.jsonl.gz", Document))
    assert documents == [Document("7", "T 1 T 2", "zero  a  three")]


def test_a_broken_passage_is_reported_with_its_line(small_shared, tmp_path):
    write_passages(small_shared, '{"pmid": "7"}')
    result = build(small_shared, tmp_path / "out")
    assert result.returncode == 2
    assert "gold_snippet_docs_dev.jsonl.gz:1: expected pmid and snippets" in result.stderr


def test_a_language_model_file_that_lacks_a_question_is_refused(small_shared, tmp_path):
    path = small_shared / "data" / "llm" / "12B1.expert.jsonl"
    first, rest = path.read_text("utf-8").split("\n", 1)
    path.write_text(rest, "utf-8")
    result = build(small_shared, tmp_path / "out")
    assert result.returncode == 2
    assert "one line for each of the 85 questions of 12B1, got 84 lines" in result.stderr
    assert json.loads(first)["id"] in result.stderr


def test_a_folder_above_8_mb_is_an_error(small_shared, tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "ballast").write_bytes(b"x" * 8_000_000)
    result = build(small_shared, tmp_path / "out")
    assert result.returncode == 2
    assert "expected at most 8,000,000 bytes" in result.stderr


def test_the_committed_documents_are_whole(mini):
    documents = list(read_jsonl(mini / "documents.jsonl.gz", Document))
    assert len(documents) == 39_357
    assert len({document.id for document in documents}) == 39_357
    assert all(document.id.isdigit() and document.text.strip() for document in documents)


@pytest.mark.parametrize(
    ("name", "count"), [("test/11B2", 74), ("test/12B1", 85), ("dev/10B1", 90), ("dev/10B2", 90)]
)
def test_questions_are_those_of_the_gold_in_the_shape_of_a_test_file(mini, name, count):
    handed_out = questions(mini / f"{name}.questions.json")
    golden = questions(mini / f"{name}.golden.json.gz")
    assert len(handed_out) == count
    assert [list(question) for question in handed_out] == [["id", "type", "body"]] * count
    assert handed_out == [{key: q[key] for key in ("id", "type", "body")} for q in golden]
    assert all(question["type"] in QUESTION_TYPES for question in handed_out)


def test_no_question_id_is_in_two_batches(mini):
    ids = [q["id"] for path in mini.glob("*/*.golden.json.gz") for q in questions(path)]
    assert len(ids) == 74 + 85 + 90 + 90 + (5 + 5 + 5 + 4) * 100 + 97 + 89 + 90 + 90 + 37
    assert len(set(ids)) == len(ids)


def test_attribution_names_every_source_and_licence(mini):
    text = read_text(mini / "ATTRIBUTION.md")
    for needed in ("BioASQ", "CC BY 2.5", "courtesy of the U.S. National Library of Medicine",
                   "may not reflect the most current", "copyright", "Claude"):  # fmt: skip
        assert needed in " ".join(text.split()), needed
    assert "may have seen the answers" in read_text(mini / "README.md")


def test_the_folder_has_at_most_8_mb(mini):
    sizes = [path.stat().st_size for path in mini.rglob("*") if path.is_file()]
    assert 7_000_000 < sum(sizes) <= 8_000_000
