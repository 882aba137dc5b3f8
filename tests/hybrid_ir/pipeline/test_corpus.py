"""Corpora whose files are changed, lost or damaged between two calls."""

import gzip
import hashlib
import os
import shutil

import msgspec
import pytest

from hybrid_ir.errors import InputError
from hybrid_ir.files import remove
from hybrid_ir.manifests import manifest_path, read_manifest
from hybrid_ir.pipeline.corpus import build, update
from hybrid_ir.pipeline.corpus_config import CorpusConfig, WorkConfig
from hybrid_ir.pipeline.retrieval import search
from hybrid_ir.pubmed.selection import SelectionConfig
from hybrid_ir.pubmed.store_lock import writing_alone
from hybrid_ir.pubmed.sums import SUMS, Sums
from hybrid_ir.records import Clause, Query
from hybrid_ir.retrieval.bm25 import SearchConfig, Searcher
from hybrid_ir.retrieval.corpus_manifest import read_corpus
from hybrid_ir.retrieval.index import IndexConfig, open_store

WORK = WorkConfig(processes=1, buffer_mb=16)
CONFIG = CorpusConfig(work=WORK)


@pytest.fixture
def files(tmp_path, pubmed):
    """A baseline of two files and an update."""
    written = pubmed.write(
        [pubmed.citation(n, "heart", "failure") for n in range(1, 9)],
        [pubmed.citation(9, "lung", "cancer")],
        [pubmed.citation(1, "heart", "attack"), pubmed.deletion(2)],
    )
    folder = tmp_path / "files"
    for file, kind in zip(written, ("baseline", "baseline", "updatefiles"), strict=True):
        (folder / kind).mkdir(parents=True, exist_ok=True)
        file.path.rename(folder / kind / file.name)
    return folder


@pytest.fixture
def corpus(tmp_path, files):
    build(files, tmp_path / "corpus", CONFIG)
    return tmp_path / "corpus"


def found(corpus, text="heart"):
    with Searcher(corpus) as searcher:
        return {hit.item for hit in searcher.search(Query("q", (Clause(text),)))}


def flip(path):
    """Change a byte behind size and time stamp."""
    stat, content = path.stat(), bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))


@pytest.mark.parametrize("lost", ["corpus.json", "index.json", "ids.npy", "lucene"])
def test_what_is_lost_beside_the_store_is_made_again(corpus, files, lost):
    before, manifest = read_corpus(corpus), read_manifest(corpus)
    remove(corpus / lost)
    build(files, corpus, CONFIG)
    assert found(corpus) == {"1", "3", "4", "5", "6", "7", "8"}
    assert read_corpus(corpus) == before
    assert read_manifest(corpus).key == manifest.key


@pytest.mark.parametrize("lost", ["ids.npy", "lucene"])
@pytest.mark.parametrize("manifest", ["there", "lost"])
def test_an_update_makes_what_is_lost_again_too(corpus, files, lost, manifest):
    remove(corpus / lost)
    if manifest == "lost":
        remove(manifest_path(corpus))
    update(files, corpus, WORK)
    assert found(corpus) == {"1", "3", "4", "5", "6", "7", "8"}


@pytest.mark.parametrize("damaged", ["corpus.json", "index.json", "ids.npy"])
def test_what_is_cut_off_is_made_again(corpus, files, damaged):
    (corpus / damaged).write_bytes((corpus / damaged).read_bytes()[:20])
    build(files, corpus, CONFIG)
    assert found(corpus) == {"1", "3", "4", "5", "6", "7", "8"}


def test_damaged_lucene_files_are_found_by_verify_and_made_again(corpus, files, caplog):
    flip(max((corpus / "lucene").glob("_*"), key=lambda path: path.stat().st_size))
    build(files, corpus, CONFIG, verify=True)
    assert "it is made again" in caplog.text
    assert found(corpus) == {"1", "3", "4", "5", "6", "7", "8"}
    caplog.clear()
    build(files, corpus, CONFIG, verify=True)
    assert "made again" not in caplog.text


def test_a_changed_store_is_never_taken_for_the_corpus(corpus, files):
    flip(corpus / "documents.sqlite")
    build(files, corpus, CONFIG)  # trusts times
    for call in (
        lambda: build(files, corpus, CONFIG, verify=True),
        lambda: update(files, corpus, WORK, verify=True),
    ):
        with pytest.raises(InputError, match=r"documents\.sqlite: has changed since the corpus"):
            call()


def test_a_stop_before_the_manifest_is_made_up_for(corpus, files, pubmed, tmp_path):
    older = manifest_path(corpus).read_bytes()
    newest = pubmed.write([pubmed.citation(10, "heart", "new")])[-1]
    newest.path.rename(files / "updatefiles" / newest.name)
    update(files, corpus, WORK)
    complete = read_manifest(corpus)
    manifest_path(corpus).write_bytes(older)
    with pytest.raises(InputError, match="has changed since pubmed made it; make it again"):
        searched(corpus, tmp_path)
    update(files, corpus, WORK)
    assert read_manifest(corpus).key == complete.key
    assert "10" in searched(corpus, tmp_path)


def searched(corpus, tmp_path):
    queries, run = tmp_path / "queries.jsonl", tmp_path / "run"
    queries.write_bytes(msgspec.json.encode(Query("q", (Clause("heart"),))) + b"\n")
    search(corpus, None, queries, run, "run", SearchConfig())
    return run.read_text().split()


def test_a_search_knows_a_corpus_without_manifest_by_what_it_says(corpus, tmp_path):
    remove(manifest_path(corpus))
    searched(corpus, tmp_path)
    marks = read_manifest(tmp_path / "run").inputs["index"].files
    assert sorted(marks) == ["corpus.json", "index.json"]  # the rest is not hashed


def test_a_search_during_an_update_says_so(corpus, tmp_path):
    remove(corpus / "index.json")
    with (
        writing_alone(corpus / "documents.sqlite"),
        pytest.raises(InputError, match="another process is updating it"),
    ):
        searched(corpus, tmp_path)
    with pytest.raises(InputError, match="its build or update was interrupted"):
        searched(corpus, tmp_path)


def test_a_file_changed_since_sync_brought_it_is_refused(files, tmp_path):
    path = files / "baseline" / "pubmed25n0002.xml.gz"
    md5 = hashlib.md5(path.read_bytes()).hexdigest()
    Sums(files).remember(path, md5, "2025-01-01 19M")
    whole = path.read_bytes()
    path.write_bytes(whole[:-20])
    for verify in (False, True):
        with pytest.raises(InputError, match=rf"0002\.xml\.gz: expected MD5 {md5}, it has"):
            build(files, tmp_path / "corpus", CONFIG, verify)
    assert not (tmp_path / "corpus").exists()
    path.write_bytes(whole)
    build(files, tmp_path / "corpus", CONFIG)


def test_a_damage_behind_time_and_size_is_found_by_verify(files, tmp_path):
    path = files / "baseline" / "pubmed25n0002.xml.gz"
    Sums(files).remember(path, hashlib.md5(path.read_bytes()).hexdigest(), "2025-01-01 19M")
    flip(path)
    with pytest.raises(InputError, match="expected MD5"):
        build(files, tmp_path / "corpus", CONFIG, verify=True)


def test_a_sum_beside_a_file_counts(files, tmp_path):
    path = files / "baseline" / "pubmed25n0001.xml.gz"
    beside = path.with_name(f"{path.name}.md5")
    beside.write_text(f"MD5({path.name})= {'0' * 32}\n")
    with pytest.raises(InputError, match=f"expected MD5 {'0' * 32}"):
        build(files, tmp_path / "corpus", CONFIG)
    assert not (files / SUMS).exists() or "0001" not in (files / SUMS).read_text()
    md5 = hashlib.md5(path.read_bytes()).hexdigest()
    beside.write_text(f"MD5({path.name})= {md5}\n")
    build(files, tmp_path / "corpus", CONFIG)


def test_a_name_in_both_folders_must_be_one_file(files, tmp_path):
    name = "pubmed25n0002.xml.gz"
    shutil.copy(files / "baseline" / name, files / "updatefiles" / name)
    assert build(files, tmp_path / "one", CONFIG).manifest.info["files"] == 3
    (files / "updatefiles" / name).write_bytes(gzip.compress(b"<PubmedArticleSet/>"))
    with pytest.raises(InputError, match="differs from"):
        build(files, tmp_path / "two", CONFIG)


def test_updates_without_a_baseline_are_refused(files, tmp_path):
    shutil.rmtree(files / "baseline")
    with pytest.raises(InputError, match="numbered 1-2 are missing"):
        build(files, tmp_path / "corpus", CONFIG)


def test_the_first_update_must_not_be_missing_either(files, corpus, pubmed):
    for written in pubmed.write([pubmed.citation(10, "a", "b")], [pubmed.citation(11, "a", "b")]):
        if written.path.exists():
            written.path.rename(files / "updatefiles" / written.name)
    (files / "updatefiles" / "pubmed25n0004.xml.gz").unlink()
    with pytest.raises(InputError, match="numbered 4 are missing"):
        update(files, corpus, WORK)


def test_files_of_two_years_are_refused_and_leave_nothing(files, tmp_path, corpus):
    baseline = files / "baseline"
    shutil.copy(baseline / "pubmed25n0001.xml.gz", baseline / "pubmed26n0001.xml.gz")
    for call in (
        lambda: build(files, tmp_path / "new", CONFIG),
        lambda: update(files, corpus, WORK),
    ):
        with pytest.raises(InputError, match="files of pubmed25n and pubmed26n: a corpus holds"):
            call()
    assert not (tmp_path / "new").exists()
    assert "1" in found(corpus)


def test_unpacked_and_renamed_files_are_named(files, tmp_path, caplog):
    (files / "updatefiles" / "pubmed25n0004.xml").write_text("<PubmedArticleSet/>")
    (files / "baseline" / "pubmed25n0001.xml.gz.md5").write_text("")
    build(files, tmp_path / "corpus", CONFIG)
    assert caplog.text.count("passed over") == 1
    assert "pubmed25n0004.xml: passed over" in caplog.text


def test_a_corpus_that_selected_nothing_keeps_its_settings_too(files, tmp_path):
    nothing = CorpusConfig(SelectionConfig(first_year=2000), work=WORK)
    with pytest.raises(InputError, match="was selected"):
        build(files, tmp_path / "corpus", nothing)
    with pytest.raises(InputError, match="a corpus keeps its settings"):
        build(files, tmp_path / "corpus", CONFIG)


def test_a_build_whose_first_file_fails_may_begin_with_other_settings(files, tmp_path):
    first = files / "baseline" / "pubmed25n0001.xml.gz"
    whole = first.read_bytes()
    first.write_bytes(gzip.compress(b"no XML"))
    with pytest.raises(InputError, match="expected PubMed's XML"):
        build(files, tmp_path / "corpus", CONFIG)
    first.write_bytes(whole)
    build(files, tmp_path / "corpus", CorpusConfig(labels=False, work=WORK))
    assert read_corpus(tmp_path / "corpus").settings.labels is False


def test_settings_that_would_do_nothing_are_refused():
    with pytest.raises(InputError, match=r"index\.threads: expected work\.threads instead"):
        CorpusConfig(index=IndexConfig(threads=8))
    with pytest.raises(InputError, match="buffer_mb"):
        WorkConfig(buffer_mb=1)


def test_a_lost_manifest_is_written_again(corpus, files):
    before = read_manifest(corpus).files
    remove(manifest_path(corpus))
    build(files, corpus, CONFIG)
    after = read_manifest(corpus).files
    assert {name: mark.sha256 for name, mark in after.items()} == {
        name: mark.sha256 for name, mark in before.items()
    }


def test_the_documents_are_those_of_the_last_files(corpus):
    store = open_store(corpus)
    assert (store["1"].abstract, "2" in store, len(store)) == ("attack", False, 8)
    store.close()


@pytest.mark.parametrize("processes", [1, 2])
@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (lambda _: b"", "ends in b''"),
        (lambda _: gzip.compress(b"<html>404</html>"), "ends in b'<html>404</html>'"),
        (lambda whole: whole[:-30], "cannot be read to its end"),
        (lambda whole: gzip.compress(gzip.decompress(whole)[:-60]), "not in </PubmedArticleSet>"),
        (lambda _: b"404 not found", "expected PubMed's XML"),
    ],
)
def test_a_damaged_file_is_not_applied_in_part(
    corpus, files, pubmed, tmp_path, damage, said, processes
):
    good, bad = pubmed.write(
        [pubmed.citation(10, "heart", "new")],
        [pubmed.citation(n, "heart", "failure") for n in range(11, 30)],
    )[-2:]
    path = files / "updatefiles" / bad.name
    whole = bad.path.read_bytes()
    good.path.rename(files / "updatefiles" / good.name)
    path.write_bytes(damage(whole))
    work = WorkConfig(processes=processes, buffer_mb=16)
    for _ in range(2):
        with pytest.raises(InputError) as caught:
            update(files, corpus, work)
        assert str(path) in str(caught.value)
        assert said in str(caught.value)
        assert "10" in searched(corpus, tmp_path)  # what came before can be searched
        assert "11" not in searched(corpus, tmp_path)
    path.write_bytes(whole)
    update(files, corpus, work)
    assert "11" in searched(corpus, tmp_path)


def test_settings_that_are_refused_leave_the_manifest(corpus, files):
    before = manifest_path(corpus).read_bytes()
    with pytest.raises(InputError, match="keeps its settings"):
        build(files, corpus, CorpusConfig(labels=False, work=WORK))
    assert manifest_path(corpus).read_bytes() == before
