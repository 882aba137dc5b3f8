import gzip
import json
import subprocess
import sys

import pytest

from hybrid_ir.cli import main
from hybrid_ir.trec import read_run

BASELINE = "baseline/pubmed25n0001.xml.gz"
UPDATE = "updatefiles/pubmed25n0002.xml.gz"


def article(pmid, title, abstract="Abstract text.", year=2020, kind="Journal Article", version=1):
    body = f"<Abstract><AbstractText>{abstract}</AbstractText></Abstract>" if abstract else ""
    return (
        f'<PubmedArticle><MedlineCitation><PMID Version="{version}">{pmid}</PMID><Article><Journal>'
        f"<JournalIssue><PubDate><Year>{year}</Year></PubDate></JournalIssue></Journal>"
        f"<ArticleTitle>{title}</ArticleTitle>{body}<Language>eng</Language><PublicationTypeList>"
        f'<PublicationType UI="D1">{kind}</PublicationType></PublicationTypeList></Article>'
        "</MedlineCitation></PubmedArticle>\n"
    )


def deletion(*pmids):
    listed = "".join(f'<PMID Version="1">{pmid}</PMID>' for pmid in pmids)
    return f"<DeleteCitation>{listed}</DeleteCitation>\n"


def write(folder, name, *parts):
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    text = f'<?xml version="1.0"?>\n<PubmedArticleSet>\n{"".join(parts)}</PubmedArticleSet>\n'
    path.write_bytes(gzip.compress(text.encode(), mtime=0))
    return path


@pytest.fixture
def files(tmp_path):
    folder = tmp_path / "files"
    write(
        folder, BASELINE,
        article(1, "heart failure", year=1999), article(2, "lung", year=2001),
        article(3, "heart", abstract=""), article(4, "heart", kind="Letter"), article(5, "heart"),
    )  # fmt: skip
    return folder


@pytest.fixture
def questions(tmp_path):
    path = tmp_path / "batch.json"
    batch = [{"id": "6" * 24, "body": "What of the heart?", "type": "summary"}]
    path.write_text(json.dumps({"questions": batch}))
    return path


def call(*arguments):
    return main([str(argument) for argument in arguments])


def stats_of(index, capsys):
    capsys.readouterr()
    assert call("pubmed", "stats", index, "--json") == 0
    return json.loads(capsys.readouterr().out)


def found(index, questions, run):
    call("search", "--index", index, "--questions", questions, "--output", run)
    return {ranked.item for ranked in read_run(run).rankings["6" * 24]}


def test_a_corpus_is_built_updated_searched_and_described(tmp_path, files, questions, capsys):
    index, run = tmp_path / "index", tmp_path / "run"
    build = ("pubmed", "build", "--files", files, "--output", index)
    settings = ("selection.exclude_types=[mibi]", "index.fields=[title]", "work.processes=1")
    assert call(*build, *settings) == 0
    assert found(index, questions, run) == {"1", "5"}
    before = stats_of(index, capsys)
    assert (before["documents"], before["with_abstract"]) == (3, 3)
    assert before["by_decade"] == {"1990": 1, "2000": 1, "2020": 1}
    assert before["counts"]["left_out"] == {"no abstract": 1, "publication type Letter": 1}

    write(files, UPDATE, article(2, "heart of a lung"), article(6, "heart"), deletion(1))
    assert call("pubmed", "update", "--files", files, "--index", index, "work.processes=1") == 0
    # searched again although nothing but the index has changed
    assert found(index, questions, run) == {"2", "5", "6"}
    after = stats_of(index, capsys)
    assert (after["files"], after["last_file"]) == (2, "pubmed25n0002.xml.gz")
    assert after["settings"]["selection"]["exclude_types"] == ["mibi"]
    assert after["settings"]["fields"] == ["title"]
    assert after["bytes"]["all"] >= sum(after["bytes"][part] for part in ("lucene", "ids.npy"))
    assert call("pubmed", "stats", index) == 0
    text = capsys.readouterr().out
    assert "2020s" in text
    assert "pubmed25n (2025)" in text
    for line in ("labels: yes", "selection.exclude_types: mibi", "selection.languages: any"):
        assert f"  {line}\n" in text
    assert after["year"] == 2025

    (files / BASELINE).unlink()  # no longer needed
    for again in (build, ("pubmed", "update", "--files", files, "--index", index)):
        capsys.readouterr()
        code = call(*again, *settings) if again is build else call(*again)
        assert code == 0
        assert "up to date" in capsys.readouterr().err
    assert stats_of(index, capsys)["pmids_sha256"] == after["pmids_sha256"]


def test_a_corpus_keeps_the_settings_it_was_begun_with(tmp_path, files, capsys):
    build = (
        "pubmed",
        "build",
        "--files",
        files,
        "--output",
        tmp_path / "index",
        "work.processes=1",
    )
    assert call(*build) == 0
    assert call(*build, "selection.abstract=false") == 2
    error = capsys.readouterr().err
    assert "a corpus keeps its settings; to build a new corpus delete its folder, or give" in error
    assert "up to date" not in error
    assert call(*build) == 0


def test_a_file_that_comes_too_late_is_refused_with_the_way_out(tmp_path, files, capsys):
    index = tmp_path / "index"
    write(files, "updatefiles/pubmed25n0008.xml.gz", article(6, "heart"))
    build = ("pubmed", "build", "--files", files, "--output", index, "work.processes=1")
    assert call(*build, "work.gaps=accept") == 0
    write(files, "baseline/pubmed25n0004.xml.gz", article(7, "heart"))
    update = ("pubmed", "update", "--files", files, "--index", index)
    for again in (build, update):
        capsys.readouterr()
        assert call(*again, "work.gaps=accept") == 2
        error = capsys.readouterr().err
        assert "pubmed25n0004.xml.gz: pubmed25n0008.xml.gz was applied before it" in error
        assert "delete its folder, or give another --output" in error
        assert "up to date" not in error


def test_what_was_applied_before_is_told_with_the_totals(tmp_path, files, capsys):
    index = tmp_path / "index"
    build = ("pubmed", "build", "--files", files, "--output", index, "work.processes=1")
    assert call(*build) == 0
    assert "pubmed: 1 file: 5 citations read, 4 documents added" in capsys.readouterr().err
    (tmp_path / "index.manifest.json").unlink()  # as if killed after the last file
    (index / "index.json").unlink()
    assert call(*build) == 0
    error = capsys.readouterr().err
    assert "pubmed: 1 file had been applied before" in error
    assert "pubmed: in all 1 file: 5 citations read, 4 documents added" in error
    assert "0 files" not in error
    write(files, UPDATE, article(6, "heart"))
    assert call(*build) == 0
    error = capsys.readouterr().err
    assert "pubmed: 1 file: 1 citation read, 1 document added" in error
    assert "pubmed: in all 2 files: 6 citations read, 5 documents added" in error
    assert "pubmed: 5 documents now" in error


def test_bad_records_are_named_counted_and_left_out(tmp_path, files, capsys):
    write(files, UPDATE, article("", "heart"), article(6, "heart"))
    index = tmp_path / "index"
    build = ("pubmed", "build", "--files", files, "--output", index, "work.processes=1")
    assert call(*build) == 1
    error = capsys.readouterr().err
    assert "pubmed25n0002.xml.gz" in error
    assert "1 record could not be read" in error
    assert stats_of(index, capsys)["documents"] == 5  # 1, 2, 4, 5 and 6


@pytest.mark.parametrize(
    ("names", "missing"),
    [
        (["baseline/pubmed25n0003.xml.gz"], "2"),
        (["baseline/pubmed25n0005.xml.gz"], "2-4"),
        (["updatefiles/pubmed25n0007.xml.gz", "updatefiles/pubmed25n0009.xml.gz"], "2-6, 8"),
    ],
)
def test_files_missing_in_between_are_refused_unless_told(tmp_path, files, capsys, names, missing):
    for number, name in enumerate(names):
        write(files, name, article(10 + number, "heart"))
    index = tmp_path / "index"
    build = ("pubmed", "build", "--files", files, "--output", index, "work.processes=1")
    assert call(*build) == 2
    assert f"numbered {missing} are missing" in capsys.readouterr().err
    assert not index.exists()
    assert call(*build, "work.gaps=accept") == 0


def test_an_update_must_follow_the_last_one_applied(tmp_path, files, capsys):
    index = tmp_path / "index"
    write(files, "updatefiles/pubmed25n0009.xml.gz", article(6, "heart"))
    work = ("--files", files, "work.processes=1")
    build = ("pubmed", "build", "--files", files, "--output", index, "work.processes=1")
    assert call(*build) == 2
    assert "numbered 2-8 are missing" in capsys.readouterr().err
    assert call(*build, "work.gaps=accept") == 0  # a baseline in part, to try things out
    write(files, "updatefiles/pubmed25n0011.xml.gz", article(7, "heart"))
    assert call("pubmed", "update", *work, "--index", index) == 2
    assert "numbered 10 are missing" in capsys.readouterr().err
    write(files, "updatefiles/pubmed25n0010.xml.gz", article(8, "heart"))
    assert call("pubmed", "update", *work, "--index", index) == 0
    assert stats_of(index, capsys)["missing"] == ["2-8"]


def test_a_folder_without_files_is_refused(tmp_path, capsys):
    assert call("pubmed", "build", "--files", tmp_path, "--output", tmp_path / "i") == 2
    assert "run hybrid-ir pubmed sync" in capsys.readouterr().err
    assert call("pubmed", "update", "--files", tmp_path, "--index", tmp_path / "i") == 2
    assert call("pubmed", "stats", tmp_path / "i") == 2
    assert list(tmp_path.iterdir()) == []


def test_xml_becomes_documents_to_index_or_all_that_is_read(tmp_path, capsys):
    xml = write(tmp_path, "efetch.xml", article(1, "heart"), article(2, "lung", ""), deletion(3))
    output = tmp_path / "x.jsonl"
    assert call("pubmed", "convert", xml, "--output", output) == 0
    error = capsys.readouterr().err
    assert "wrote 2 documents" in error
    assert "a deletion: 1" in error
    rows = [json.loads(line) for line in output.read_text().splitlines()]
    assert [(row["id"], row["title"], row["year"]) for row in rows] == [
        ("1", "heart", 2020),
        ("2", "lung", 2020),
    ]
    assert call("index", "--documents", output, "--output", tmp_path / "index") == 0
    assert call("pubmed", "convert", xml, "selection.abstract=true", "--output", output) == 0
    assert "left out, no abstract: 1" in capsys.readouterr().err
    command = ("pubmed", "convert", xml, "--output", output)
    assert call(*command, "selection.abstract=true", "labels=false") == 0
    assert "left out, no abstract: 1" in capsys.readouterr().err
    assert len(output.read_text().splitlines()) == 1


def test_all_that_is_read_is_written_with_citations(tmp_path):
    xml = write(tmp_path, "efetch.xml", article(1, "heart", kind="Letter"))
    output = tmp_path / "x.jsonl"
    assert call("pubmed", "convert", xml, "--output", output, "--citations") == 0
    (row,) = map(json.loads, output.read_text().splitlines())
    assert (row["pmid"], row["languages"], row["publication_types"]) == ("1", ["eng"], ["Letter"])
    assert row["abstract"] == [{"text": "Abstract text.", "label": "", "category": ""}]


def test_a_citation_that_comes_again_is_written_once(tmp_path, capsys):
    one = write(tmp_path, "one.xml", article(1, "heart"), article(1, "heart"))
    two = write(tmp_path, "two.xml", article(1, "another heart"), article(2, "lung"))
    output = tmp_path / "x.jsonl"
    assert call("pubmed", "convert", one, "--output", output) == 0
    assert call("pubmed", "convert", one, two, "--output", output) == 1
    assert "two.xml: citation 1 comes again" in capsys.readouterr().err
    rows = [json.loads(line) for line in output.read_text().splitlines()]
    assert [row["title"] for row in rows] == ["heart", "lung"]


def test_what_is_read_is_not_written_over(tmp_path, capsys):
    xml = write(tmp_path, "one.xml", article(1, "heart"))
    before = xml.read_bytes()
    assert call("pubmed", "convert", xml, "--output", xml) == 2
    assert xml.read_bytes() == before


def test_help_is_light():
    program = (
        "import sys, hybrid_ir.cli as cli\n"
        "try: cli.main(['pubmed', 'sync', '--help'])\nexcept SystemExit: pass\n"
        "print(sorted({name.partition('.')[0] for name in sys.modules}))"
    )
    result = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    loaded = result.stdout.splitlines()[-1]
    for heavy in ("urllib3", "pugixml", "msgspec", "numpy", "tqdm"):
        assert f"'{heavy}'" not in loaded
