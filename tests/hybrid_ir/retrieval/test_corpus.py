import hashlib
import multiprocessing
import random
import resource
import shutil
from dataclasses import replace

import numpy as np
import pytest

from hybrid_ir.errors import InputError
from hybrid_ir.files import remove
from hybrid_ir.pubmed.rows import Recipe
from hybrid_ir.pubmed.selection import SelectionConfig
from hybrid_ir.records import Clause, Query
from hybrid_ir.retrieval.bm25 import SearchConfig, Searcher
from hybrid_ir.retrieval.corpus import apply_files
from hybrid_ir.retrieval.corpus_manifest import CorpusFile, Counts, read_corpus, total
from hybrid_ir.retrieval.index import IDS, SETTINGS, IndexConfig, open_reader, open_store
from hybrid_ir.retrieval.indexing import build_index

CONFIG = IndexConfig(fields=("title", "publication_type", "year"), buffer_mb=16)
RECIPE = Recipe(SelectionConfig(), labels=True)
EVERYTHING = Recipe(SelectionConfig(abstract=False), labels=True)
WORDS = [f"w{number}" for number in range(60)]


def random_citations(pubmed, ids, seed, share_without_abstract=0.1):
    draw = random.Random(seed)
    for id_ in ids:
        abstract = " ".join(draw.choices(WORDS, weights=range(60, 0, -1), k=draw.randint(3, 40)))
        blank = draw.random() < share_without_abstract
        title = " ".join(draw.sample(WORDS, 3))
        types = draw.sample(["Review", "Letter", "Journal Article"], draw.randint(0, 2))
        yield pubmed.citation(
            id_, title, "" if blank else abstract, types=types, year=draw.randint(1990, 2024)
        )


def history(pubmed, size):
    """Write a baseline of four files and an update of two: revisions, deletions, new ones."""
    ids = range(1, 4 * size + 1)
    baseline = [
        list(random_citations(pubmed, ids[start : start + size], start))
        for start in range(0, 4 * size, size)
    ]
    revised = [*random_citations(pubmed, range(1, 4 * size, 9), "revised", 0.3)]
    new = [*random_citations(pubmed, range(4 * size + 1, 5 * size), "new")]
    deleted = [pubmed.deletion(id_) for id_ in range(5, 4 * size, 50)]
    files = pubmed.write(*baseline, [*revised, *deleted], new)
    return files[:4], files


def scores(folder, hits=1000):
    """Give what searches of all kinds find."""
    filtered = (Clause("w1 w5"), Clause("2000-2010", "year", operator="filter"))
    queries = [Query(word, (Clause(f"{word} w7 w50"),)) for word in WORDS[::6]]
    queries += [Query("title", (Clause("w3 w4", "title"),)), Query("filtered", filtered)]
    with Searcher(folder, SearchConfig(hits=hits)) as searcher:
        return dict(searcher.search_all(queries))


def contents(folder):
    store = open_store(folder)
    found = {document.id: document for document in store.documents()}
    store.close()
    return found


def assert_same(folder, reference):
    """Compare ids, stored fields and scores, exactly; internal numbering may differ."""
    assert contents(folder) == contents(reference)
    assert sorted(np.load(folder / IDS)) == sorted(np.load(reference / IDS))
    assert scores(folder) == scores(reference)


def test_a_corpus_is_an_index_of_the_selected_citations(tmp_path, pubmed):
    files = pubmed.write(
        [pubmed.citation(7, "Heart", "failure", types=["Review"], year=1999)],
        [pubmed.citation(12, "Stroke", "aspirin"), pubmed.citation(3, "No abstract")],
    )
    seen = []
    applied = apply_files(tmp_path / "c", files, CONFIG, RECIPE, progress=seen.append)
    assert seen == [1, 2]
    corpus = read_corpus(tmp_path / "c")
    assert corpus == applied.corpus
    assert (corpus.baseline, corpus.documents, corpus.missing) == ("pubmed25n", 2, ())
    assert corpus.pmids_sha256 == hashlib.sha256(b"7\n12\n").hexdigest()
    assert [(file.name, file.md5) for file in corpus.files] == [(f.name, f.md5) for f in files]
    assert corpus.files == applied.new
    assert corpus.counts == Counts(citations=3, added=2, left_out={"no abstract": 1})
    store = contents(tmp_path / "c")
    assert list(store) == ["7", "12"]
    assert (store["7"].abstract, store["7"].publication_types) == ("failure", ("Review",))
    with Searcher(tmp_path / "c") as searcher:
        review = Clause("review", "publication_type", operator="filter")
        found = searcher.search(Query("q", (Clause("heart"), review)))
    assert [hit.item for hit in found] == ["7"]
    assert sorted(path.name for path in (tmp_path / "c").iterdir()) == [
        "corpus.json", "documents.sqlite", "documents.sqlite.lock", "ids.npy", "index.json",
        "lucene",
    ]  # fmt: skip


@pytest.mark.parametrize("processes", [1, 2])
def test_an_update_gives_what_a_fresh_build_of_the_final_state_gives(tmp_path, pubmed, processes):
    baseline, files = history(pubmed, 150)
    grown = tmp_path / "grown"
    apply_files(grown, baseline, CONFIG, RECIPE, processes, checkpoint=100)
    before = scores(grown)
    applied = apply_files(grown, files, CONFIG, RECIPE, processes)
    assert [file.name for file in applied.new] == [file.name for file in files[4:]]
    apply_files(tmp_path / "at_once", files, CONFIG, RECIPE)
    assert_same(grown, tmp_path / "at_once")
    assert read_corpus(grown) == read_corpus(tmp_path / "at_once")
    build_index(contents(grown).values(), tmp_path / "fresh", CONFIG)
    assert_same(grown, tmp_path / "fresh")
    assert scores(grown) != before
    reader = open_reader(grown / "lucene")
    assert (reader.maxDoc(), reader.numDocs()) == (len(contents(grown)), len(contents(grown)))
    reader.close()
    counts = total(applied.new)
    assert min(counts.added, counts.replaced, counts.removed, sum(counts.left_out.values())) > 0
    every = read_corpus(grown).counts
    assert every.citations == every.added + every.replaced + every.unchanged + every.outdated + sum(
        every.left_out.values()
    )
    assert every.added - every.removed == len(contents(grown))


def test_what_was_applied_is_not_touched_again(tmp_path, pubmed):
    baseline, files = history(pubmed, 20)
    apply_files(tmp_path / "c", files, CONFIG, RECIPE)
    paths = [path for path in (tmp_path / "c").rglob("*") if path.name != "lucene"]
    before = {path: (path.stat().st_mtime_ns, path.stat().st_size) for path in paths}
    for again in (files, baseline, files[5:]):
        assert apply_files(tmp_path / "c", again, CONFIG, RECIPE).new == ()
    assert {path: (path.stat().st_mtime_ns, path.stat().st_size) for path in paths} == before


def test_documents_without_text_are_counted_as_they_come_and_go(tmp_path, pubmed):
    files = pubmed.write(
        [pubmed.citation(1), pubmed.citation(2, "text"), pubmed.citation(3)],
        [pubmed.citation(1, "text"), pubmed.citation(2), pubmed.deletion(3), pubmed.citation(4)],
    )
    settings = {}
    for end in (1, 2):
        apply_files(tmp_path / "c", files[:end], CONFIG, EVERYTHING)
        with Searcher(tmp_path / "c") as searcher:
            settings[end] = searcher.settings
            found = searcher.search(Query("q", (Clause("text"),)))
        assert [hit.item for hit in found] == {1: ["2"], 2: ["1"]}[end]
    assert (settings[1].documents, settings[1].without_text) == (3, 2)
    assert (settings[2].documents, settings[2].without_text) == (3, 2)
    assert settings[2].sequence == 2


def test_bad_records_are_told_and_the_others_applied(tmp_path, pubmed):
    bad = "<PubmedArticle><MedlineCitation></MedlineCitation></PubmedArticle>"
    files = pubmed.write([pubmed.citation(1, "a", "b"), bad, pubmed.citation(2, "c", "d")])
    told = []
    applied = apply_files(tmp_path / "c", files, CONFIG, RECIPE, report=told.append)
    assert [fault.path for fault in told] == [files[0].path]
    assert applied.corpus.counts.faults == 1
    assert list(contents(tmp_path / "c")) == ["1", "2"]


def test_missing_numbers_are_said(tmp_path, pubmed):
    files = pubmed.write(*([pubmed.citation(n, "a", "b")] for n in range(1, 10)))
    some = [files[number - 1] for number in (2, 3, 5, 9)]
    corpus = apply_files(tmp_path / "c", some, CONFIG, RECIPE).corpus
    assert corpus.missing == ("1", "4", "6-8")


def test_files_that_do_not_fit_are_refused_all_at_once_and_change_nothing(tmp_path, pubmed):
    files = pubmed.write(*([pubmed.citation(n, "a", "b")] for n in range(1, 6)))
    apply_files(tmp_path / "c", files[1:3], CONFIG, RECIPE)
    before = (tmp_path / "c" / SETTINGS).read_bytes()
    files[4].path.unlink()
    wrong = [files[0], replace(files[2], md5="0" * 32), files[4], files[3]]
    with pytest.raises(InputError) as caught:
        apply_files(tmp_path / "c", wrong, CONFIG, RECIPE)
    message = str(caught.value)
    assert "pubmed25n0001.xml.gz: pubmed25n0003.xml.gz was applied before it" in message
    assert f"was applied with MD5 {files[2].md5} and has {'0' * 32} now" in message
    assert "pubmed25n0004.xml.gz: expected ascending numbers" in message
    assert f"{files[4].path}: is missing" in message
    assert (tmp_path / "c" / SETTINGS).read_bytes() == before
    for name, fault in [("x.xml", "expected a name such as"), ("pubmed26n0009.xml", "baseline")]:
        with pytest.raises(InputError, match=fault):
            apply_files(tmp_path / "c", [replace(files[3], name=name)], CONFIG, RECIPE)


def test_a_file_that_is_not_what_its_sum_says_stops_the_update_and_the_next_call_goes_on(
    tmp_path, pubmed
):
    files = pubmed.write(*([pubmed.citation(n, "same", "words")] for n in range(1, 4)))
    wrong = [files[0], replace(files[1], md5="0" * 32), files[2]]
    with pytest.raises(InputError, match=f"expected MD5 {'0' * 32}, it has {files[1].md5}"):
        apply_files(tmp_path / "c", wrong, CONFIG, RECIPE)
    apply_files(tmp_path / "one", files[:1], CONFIG, RECIPE)
    assert_same(tmp_path / "c", tmp_path / "one")  # what came before it can be searched
    applied = apply_files(tmp_path / "c", files, CONFIG, RECIPE)
    assert [file.name for file in applied.new] == [file.name for file in files[1:]]
    apply_files(tmp_path / "fresh", files, CONFIG, RECIPE)
    assert_same(tmp_path / "c", tmp_path / "fresh")


def test_a_corpus_keeps_its_settings(tmp_path, pubmed):
    files = pubmed.write([pubmed.citation(1, "a", "b")])
    apply_files(tmp_path / "c", files, CONFIG, RECIPE)
    apply_files(tmp_path / "c", files, replace(CONFIG, threads=1, buffer_mb=32), RECIPE)
    with pytest.raises(InputError) as caught:
        apply_files(tmp_path / "c", files, IndexConfig(), replace(EVERYTHING, labels=False))
    message = str(caught.value)
    assert "a corpus keeps its settings" in message
    for name in ("labels: it was begun with True, now asked for is False", "selection", "fields"):
        assert name in message


def test_only_a_corpus_grows(tmp_path, pubmed):
    files = pubmed.write([pubmed.citation(1, "a", "b")])
    with pytest.raises(InputError, match="expected a new folder or a PubMed corpus"):
        apply_files(pubmed.folder, files, CONFIG, RECIPE)
    apply_files(tmp_path / "c", files, CONFIG, RECIPE)
    with pytest.raises(InputError, match="holds a PubMed corpus"):
        build_index(contents(tmp_path / "c").values(), tmp_path / "c", CONFIG)


def test_files_that_are_refused_leave_no_folder(tmp_path, pubmed):
    first, second = pubmed.write([pubmed.citation(1, "a", "b")], [pubmed.citation(2, "a", "b")])
    with pytest.raises(InputError, match="expected ascending numbers"):
        apply_files(tmp_path / "c", [second, first], CONFIG, RECIPE)
    assert not (tmp_path / "c").exists()


def test_a_full_disk_is_said_in_one_line_and_the_next_call_goes_on(tmp_path, pubmed):
    _, files = history(pubmed, 60)
    most = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, most))  # bytes a file
        with pytest.raises(InputError, match=r"documents\.sqlite: .*(full|disk I/O)") as caught:
            apply_files(tmp_path / "c", files, CONFIG, RECIPE)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
    assert "\n" not in str(caught.value)
    assert apply_files(tmp_path / "c", files, CONFIG, RECIPE).new
    apply_files(tmp_path / "fresh", files, CONFIG, RECIPE)
    assert_same(tmp_path / "c", tmp_path / "fresh")


def test_nothing_selected_is_an_error(tmp_path, pubmed):
    files = pubmed.write([pubmed.citation(1, "no abstract")])
    with pytest.raises(InputError, match="none of 1 citations was selected"):
        apply_files(tmp_path / "c", files, CONFIG, RECIPE)


def test_no_update_while_the_index_is_searched(tmp_path, pubmed):
    files = pubmed.write([pubmed.citation(1, "a", "b")], [pubmed.citation(2, "c", "d")])
    apply_files(tmp_path / "c", files[:1], CONFIG, RECIPE)
    with Searcher(tmp_path / "c"), pytest.raises(InputError, match="is searching or updating"):
        apply_files(tmp_path / "c", files, CONFIG, RECIPE)
    assert apply_files(tmp_path / "c", files, CONFIG, RECIPE).corpus.documents == 2


@pytest.mark.parametrize("loss", ["all", "segment", "older"])
def test_a_lucene_index_that_does_not_fit_is_made_anew_from_the_store(tmp_path, pubmed, loss):
    baseline, files = history(pubmed, 30)
    apply_files(tmp_path / "fresh", files, CONFIG, RECIPE)
    apply_files(tmp_path / "c", baseline, CONFIG, RECIPE)
    lucene = tmp_path / "c" / "lucene"
    shutil.copytree(lucene, tmp_path / "older")
    apply_files(tmp_path / "c", files[:5], CONFIG, RECIPE)
    if loss == "segment":
        next(lucene.glob("segments_*")).write_bytes(b"x")
    else:
        remove(lucene)
    if loss == "older":
        shutil.copytree(tmp_path / "older", lucene)
        with pytest.raises(InputError, match=r"lucene does not fit index\.json"):
            Searcher(tmp_path / "c")
    apply_files(tmp_path / "c", files, CONFIG, RECIPE)
    assert_same(tmp_path / "c", tmp_path / "fresh")


def test_a_reading_process_that_dies_ends_the_call_and_the_next_goes_on(tmp_path, pubmed):
    _, files = history(pubmed, 60)
    pubmed.write(*(list(random_citations(pubmed, range(9000, 9020), n)) for n in range(4)))
    files = pubmed.write()

    def kill(_):
        for child in multiprocessing.active_children():
            child.kill()

    with pytest.raises(InputError, match="was killed"):
        apply_files(tmp_path / "c", files, CONFIG, RECIPE, 2, progress=kill)
    assert multiprocessing.active_children() == []
    apply_files(tmp_path / "c", files, CONFIG, RECIPE)
    apply_files(tmp_path / "fresh", files, CONFIG, RECIPE)
    assert_same(tmp_path / "c", tmp_path / "fresh")


@pytest.mark.shared
def test_real_files_become_a_corpus(tmp_path, shared):
    names = ("medline16n0902.xml.gz", "test_current_medline.xml.gz")
    numbered = [f"medline16n{number:04}.xml.gz" for number in (902, 903)]
    paths = [shared / "data" / "pubmed_xml" / name for name in names]
    files = [CorpusFile(path, name) for path, name in zip(paths, numbered, strict=True)]
    applied = apply_files(tmp_path / "c", files, CONFIG, RECIPE, processes=2)
    documents = contents(tmp_path / "c")
    assert applied.corpus.documents == len(documents) > 0
    assert all(document.abstract for document in documents.values())
    listed = "".join(f"{id_}\n" for id_ in sorted(documents, key=int))
    assert applied.corpus.pmids_sha256 == hashlib.sha256(listed.encode()).hexdigest()
    assert applied.corpus.missing == ("1-901",)
