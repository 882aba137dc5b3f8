import gzip
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
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


@pytest.mark.slow
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


def test_field_weights_beside_queries_are_refused(index, tmp_path):
    queries = tmp_path / "queries.jsonl"
    write_jsonl(queries, [Query("a", (Clause("heart"),))])
    config = SearchConfig(fields={"title": 1.0})
    with pytest.raises(InputError, match="field weights go with questions"):
        retrieval.search(index, None, queries, tmp_path / "run", "n", config)


HEART, BLOOD, NOTHING = (Clause(word) for word in ("heart", "blood", "zzz"))


def searched(index, folder, *queries, **settings):
    """Search queries and give their rankings."""
    path, output = folder / "queries.jsonl", folder / "run"
    write_jsonl(path, queries)
    config = SearchConfig(**settings)
    retrieval.search(index, None, path, output, "n", config)
    return read_run(output).rankings


@pytest.mark.parametrize("rrf_k", [0.0, 60.0])
def test_several_queries_of_a_question_are_fused_by_reciprocal_ranks(index, tmp_path, rrf_k):
    alone = searched(index, tmp_path, Query("h", (HEART,)), Query("b", (BLOOD,)), hits=30)
    expected = {}
    for ranking in alone.values():
        assert len(ranking) == 30
        for place, (document, _) in enumerate(ranking, start=1):
            expected[document] = expected.get(document, 0) + 1 / (rrf_k + place)
    fused = searched(
        index,
        tmp_path,
        Query("first", (HEART,)),
        Query("both", (HEART,), "heart"),
        Query("both", (BLOOD,), "blood"),
        Query("both", (NOTHING,), "nothing"),
        Query("none", (NOTHING,), "1"),
        Query("none", (NOTHING,), "2"),
        Query("last", (BLOOD,), "named"),
        hits=30,
        rrf_k=rrf_k,
    )
    assert list(fused) == ["first", "both", "last"]
    best = sorted(expected.values(), reverse=True)[:30]
    assert [score for _, score in fused["both"]] == pytest.approx(best, rel=1e-12)
    assert all(score == pytest.approx(expected[name]) for name, score in fused["both"])
    # one query a question: the scores of BM25, whatever the variant is called
    assert (fused["first"], fused["last"]) == (alone["h"], alone["b"])


def test_queries_are_counted_beside_questions(index, tmp_path):
    queries = tmp_path / "queries.jsonl"
    write_jsonl(queries, [Query("a", (HEART,), "1"), Query("a", (NOTHING,), "2"), *many("xy")])
    manifest = retrieval.search(index, None, queries, tmp_path / "run", "n", SearchConfig(hits=5))
    counts = [manifest.info[name] for name in ("questions", "queries", "without_hits")]
    assert counts == [3, 2 + 2 * 3, 0]
    assert manifest.settings["config"]["rrf_k"] == 60.0


def many(ids):
    """Give three queries for each question."""
    clauses = {"one": (HEART,), "two": (BLOOD,), "three": (HEART, Clause("cancer", boost=0.5))}
    return [Query(id_, of_variant, name) for id_ in ids for name, of_variant in clauses.items()]


@pytest.mark.parametrize("share", [0.0, 0.3, 0.7, 0.99])
def test_an_interrupted_search_of_several_queries_ends_with_the_same_bytes(index, tmp_path, share):
    queries, output = tmp_path / "queries.jsonl", tmp_path / "run"
    write_jsonl(queries, many("abcdefgh"))
    config = SearchConfig(hits=40, threads=1)
    manifest = retrieval.search(index, None, queries, output, "n", config)
    whole = output.read_bytes()
    interrupted(output, manifest.key, whole[: int(share * len(whole))].decode())
    resumed = retrieval.search(index, None, queries, output, "n", replace(config, threads=3))
    assert output.read_bytes() == whole
    assert resumed.key == manifest.key
    assert resumed.info["queries"] == 3 * 8
    assert not list(tmp_path.glob(".*"))


@pytest.mark.slow
def test_a_search_of_several_queries_killed_goes_on_and_ends_with_the_same_run(index, tmp_path):
    queries, whole, killed = map(tmp_path.joinpath, ("queries.jsonl", "a", "b"))
    write_jsonl(queries, many(map(str, range(300))))
    config = SearchConfig(hits=1000, threads=1)
    retrieval.search(index, None, queries, whole, "n", config)
    program = f"""
from pathlib import Path
from hybrid_ir.pipeline import retrieval
from hybrid_ir.retrieval.bm25 import SearchConfig
retrieval.search(Path({str(index)!r}), None, Path({str(queries)!r}), Path({str(killed)!r}), "n",
                 SearchConfig(hits=1000, threads=1))
"""
    process = subprocess.Popen([sys.executable, "-c", program], stderr=subprocess.DEVNULL)
    partial = tmp_path / ".b.partial"
    while process.poll() is None and not (partial.exists() and partial.stat().st_size):
        time.sleep(0.001)
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert 0 < partial.stat().st_size < whole.stat().st_size
    retrieval.search(index, None, queries, killed, "n", config)
    assert killed.read_bytes() == whole.read_bytes()


def test_queries_that_stand_apart_or_have_no_names_of_their_own_are_refused_at_once(
    index, tmp_path
):
    queries = tmp_path / "queries.jsonl"
    rows = [("a", ""), ("b", "1"), ("b", "1"), ("a", "2"), ("c", "1"), ("d", ""), ("d", "")]
    write_jsonl(queries, [Query(id_, (HEART,), variant) for id_, variant in rows])
    with pytest.raises(InputError) as caught:
        retrieval.search(index, None, queries, tmp_path / "run", "n", SearchConfig())
    head, *faults = str(caught.value).splitlines()
    assert head == f"{queries}: these queries cannot be searched:"
    assert [fault.split(": ")[:2] for fault in faults] == [
        ["  question a", "its queries stand apart"],
        ["  question b", "variant '1' stands there several times"],
        ["  question d", "variant '' stands there several times"],
    ]
    assert list(tmp_path.iterdir()) == [queries]
