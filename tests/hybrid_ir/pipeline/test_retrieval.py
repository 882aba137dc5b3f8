import gzip
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from hybrid_ir.errors import InputError
from hybrid_ir.files import write_jsonl
from hybrid_ir.manifests import read_manifest
from hybrid_ir.pipeline import retrieval
from hybrid_ir.pipeline.growing import growing_run
from hybrid_ir.records import Clause, Document, Query
from hybrid_ir.retrieval.bm25 import SearchConfig
from hybrid_ir.retrieval.index import IndexConfig
from hybrid_ir.retrieval.rm3 import Rm3Config
from hybrid_ir.trec import read_run


@pytest.fixture(scope="module")
def index(documents, tmp_path_factory):
    folder = tmp_path_factory.mktemp("index") / "index"
    retrieval.index([documents], folder, IndexConfig())
    return folder


def search(index, questions, output, **settings):
    return retrieval.search(index, questions, None, output, "BM25", SearchConfig(**settings))


@pytest.mark.parametrize("moment", [0.0, 0.02, 0.1])
def test_a_search_killed_at_any_moment_goes_on_and_ends_with_the_same_run(
    index, mini, tmp_path, moment
):
    questions, whole, killed = mini / "dev" / "10B1.questions.json", *map(tmp_path.joinpath, "ab")
    search(index, questions, whole, hits=1000)
    program = f"""
from pathlib import Path
from hybrid_ir.pipeline import retrieval
from hybrid_ir.retrieval.bm25 import SearchConfig, Searcher
print("ready", flush=True)
retrieval.search(Path({str(index)!r}), Path({str(questions)!r}), None, Path({str(killed)!r}),
                "BM25", SearchConfig(hits=1000, threads=1))
"""
    process = subprocess.Popen(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    assert process.stdout is not None
    process.stdout.readline()
    partial = tmp_path / ".b.partial"
    while process.poll() is None and not (partial.exists() and partial.stat().st_size):
        time.sleep(0.001)
    time.sleep(moment)
    process.send_signal(signal.SIGKILL)
    process.wait()
    process.stdout.close()
    assert killed.exists() or partial.stat().st_size > 0
    search(index, questions, killed, hits=1000)
    assert killed.read_bytes() == whole.read_bytes()
    assert not list(tmp_path.glob(".*"))


def interrupted(output: Path, key: str, content: str) -> Path:
    """Leave what a killed search leaves in the place of a run."""
    output.unlink()
    output.with_name(f".{output.name}.key").write_text(key)
    partial = output.with_name(f".{output.name}.partial")
    partial.write_text(content)
    return partial


def test_an_interrupted_search_repeats_no_whole_question(index, mini, tmp_path, caplog):
    questions, output = mini / "dev" / "10B1.questions.json", tmp_path / "run"
    manifest = search(index, questions, output, hits=50)
    lines = output.read_text().splitlines(keepends=True)
    partial = interrupted(output, manifest.key, "".join(lines[: len(lines) // 2])[:-7])
    started = {line.split()[0] for line in partial.read_text().splitlines()}
    with caplog.at_level("INFO"):
        search(index, questions, output, hits=50)
    assert f"{len(started) - 1} of 90 questions were searched before" in caplog.text
    assert output.read_text() == "".join(lines)


def test_what_was_searched_with_other_settings_is_not_gone_on_with(index, mini, tmp_path):
    questions, output = mini / "dev" / "10B1.questions.json", tmp_path / "run"
    manifest = search(index, questions, output, hits=5)
    partial = interrupted(output, manifest.key, output.read_text())
    search(index, questions, output, hits=6)
    assert max(len(ranking) for ranking in read_run(output).rankings.values()) == 6
    assert not partial.exists()


def test_two_processes_do_not_write_one_run(index, mini, tmp_path):
    questions, output = mini / "dev" / "10B1.questions.json", tmp_path / "run"
    with growing_run(output, "another key") as (file, _):
        program = f"""
from pathlib import Path
from hybrid_ir.cli import main
raise SystemExit(main(["search", "--index", {str(index)!r}, "--questions", {str(questions)!r},
                       "--output", {str(output)!r}]))
"""
        other = subprocess.run(
            [sys.executable, "-c", program], capture_output=True, text=True, check=False
        )
        file.write("q Q0 d 1 1.0 n\n")
    assert other.returncode == 2
    assert "another process is writing it" in other.stderr
    assert output.read_text() == "q Q0 d 1 1.0 n\n"
    assert os.listdir(tmp_path) == ["run"]


def test_a_run_leaves_the_unfinished_run_of_a_longer_name_alone(index, mini, tmp_path):
    questions, other = mini / "dev" / "10B1.questions.json", tmp_path / ".bm25.rm3.partial"
    other.write_text("q Q0 d 1 1.0 n\n")
    search(index, questions, tmp_path / "bm25", hits=5)
    assert other.exists()


def test_a_run_can_be_packed(index, mini, tmp_path):
    questions = mini / "dev" / "10B1.questions.json"
    search(index, questions, tmp_path / "run.trec.gz", hits=5)
    search(index, questions, tmp_path / "run.trec", hits=5)
    packed = gzip.decompress((tmp_path / "run.trec.gz").read_bytes())
    assert packed == (tmp_path / "run.trec").read_bytes()


def test_what_cannot_be_searched_is_said_before_and_leaves_nothing(index, mini, tmp_path):
    questions = mini / "dev" / "10B1.questions.json"
    for wrong in ({"fields": {"title": 1.0}}, {"rm3": Rm3Config(), "fields": {"contents": 2e6}}):
        with pytest.raises(InputError):
            search(index, questions, tmp_path / "run", **wrong)
    with pytest.raises(InputError, match="cannot hold"):
        retrieval.search(index, questions, None, tmp_path / "run", "two words", SearchConfig())
    assert list(tmp_path.iterdir()) == []


def test_a_document_that_occurs_twice_is_named_with_its_places(tmp_path):
    for name, ids in (("a.jsonl", "12"), ("b.jsonl", "31")):
        write_jsonl(tmp_path / name, [Document(i, "text") for i in ids])
    files = [tmp_path / "a.jsonl", tmp_path / "b.jsonl"]
    with pytest.raises(InputError, match=r"document 1 occurs twice: .*a\.jsonl:1, .*b\.jsonl:2"):
        retrieval.index(files, tmp_path / "index", IndexConfig())


def test_queries_with_clauses_of_their_own_are_searched(index, tmp_path):
    queries, output = tmp_path / "queries.jsonl", tmp_path / "run"
    write_jsonl(queries, [Query("a", (Clause("heart", boost=2.0),)), Query("b", (Clause("zzz"),))])
    manifest = retrieval.search(index, None, queries, output, "mine", SearchConfig(hits=3))
    run = read_run(output)
    assert run.name == "mine"
    assert len(run.rankings["a"]) == 3
    assert "b" not in run.rankings
    assert (manifest.info["questions"], manifest.info["without_hits"]) == (2, 1)
    assert read_manifest(output) == manifest


def test_two_queries_of_a_question_or_field_weights_beside_queries_are_refused(index, tmp_path):
    queries = tmp_path / "queries.jsonl"
    write_jsonl(queries, [Query("a", (Clause("heart"),)), Query("a", (Clause("lung"),), "2")])
    with pytest.raises(InputError, match="one query a question, got several for"):
        retrieval.search(index, None, queries, tmp_path / "run", "n", SearchConfig())
    config = SearchConfig(fields={"title": 1.0})
    with pytest.raises(InputError, match="field weights go with questions"):
        retrieval.search(index, None, queries, tmp_path / "run", "n", config)
