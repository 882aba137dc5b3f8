"""BioASQ files to TREC files and JSONL and back, by hand, at random and on real files."""

import json
import logging
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hybrid_ir.bioasq.converters import (
    golden_to_jsonl,
    golden_to_qrels,
    jsonl_to_questions,
    qrels_to_golden,
    questions_to_jsonl,
    run_of_submission,
    submission_to_run,
)
from hybrid_ir.bioasq.gold import qrels, read_gold
from hybrid_ir.bioasq.questions import read_questions
from hybrid_ir.bioasq.raw import DOCUMENT_URL, pmid_of, read_raw, write_raw
from hybrid_ir.bioasq.submission import phase_a_of
from hybrid_ir.errors import InputError
from hybrid_ir.files import read_jsonl
from hybrid_ir.records import Gold, Question
from hybrid_ir.trec import read_qrels, read_run, write_qrels

IDS = [f"{number:024x}" for number in range(3)]


def raw_question(id_, *documents):
    return {"id": id_, "body": f"Is it {id_}?", "type": "yesno", "documents": list(documents)}


def test_a_submission_keeps_its_order_as_a_run(tmp_path, caplog):
    write_raw(
        tmp_path / "submission.json",
        [
            raw_question(IDS[0], DOCUMENT_URL + "9", "https://pubmed.ncbi.nlm.nih.gov/10/", 2),
            raw_question(IDS[1]),
            raw_question(IDS[2], "5", DOCUMENT_URL + "5", "7", "5"),
        ],
    )
    assert submission_to_run(tmp_path / "submission.json", tmp_path / "run", "ours") == 2
    assert (tmp_path / "run").read_text() == (
        f"{IDS[0]} Q0 9 1 3.0 ours\n"
        f"{IDS[0]} Q0 10 2 2.0 ours\n"
        f"{IDS[0]} Q0 2 3 1.0 ours\n"
        f"{IDS[2]} Q0 5 1 2.0 ours\n"
        f"{IDS[2]} Q0 7 2 1.0 ours\n"
    )
    assert "2 documents stand there twice" in caplog.text
    assert f"1 of 3 questions have no documents and leave no line (first: {IDS[1]})" in caplog.text


def test_what_is_no_submission_is_said_all_at_once():
    raw = [
        raw_question("a", "1"),
        raw_question("a", "2"),
        {"documents": []},
        {"id": "b", "documents": "http://..."},
        {"id": "c", "documents": [None]},
        {"id": "d"},
    ]
    with pytest.raises(InputError) as caught:
        run_of_submission(raw, "ours", Path("s.json"))
    assert str(caught.value).splitlines() == [
        "s.json: cannot become a run",
        "  question 2: expected an id of its own, got 'a'",
        "  question 3: expected an id of its own, got None",
        "  question b: expected a list of documents, got 'http://...'",
        "  question c: expected a list of documents, got [None]",
    ]
    with pytest.raises(InputError, match="no question has documents"):
        run_of_submission([{"id": "d"}], "ours", Path("s.json"))


def test_a_document_that_a_run_cannot_hold(tmp_path):
    write_raw(tmp_path / "s.json", [raw_question("a", "http://elsewhere/a b")])
    with pytest.raises(InputError, match="white space"):
        submission_to_run(tmp_path / "s.json", tmp_path / "run", "ours")
    assert not (tmp_path / "run").exists()


PMIDS = st.lists(st.integers(1, 99_999_999).map(str), max_size=10, unique=True)
SPELLINGS = st.sampled_from(
    [DOCUMENT_URL + "{}", "https://pubmed.ncbi.nlm.nih.gov/{}/", "{}", "PMID:{}"]
)


@settings(max_examples=50, deadline=None)
@given(batch=st.lists(PMIDS, min_size=1, max_size=3).filter(any), data=st.data())
def test_submission_to_run_and_back(tmp_path_factory, batch, data):
    folder = tmp_path_factory.mktemp("converted")
    spelled = [[data.draw(SPELLINGS).format(pmid) for pmid in pmids] for pmids in batch]
    raw = [raw_question(id_, *documents) for id_, documents in zip(IDS, spelled, strict=False)]
    write_raw(folder / "submission.json", raw)
    submission_to_run(folder / "submission.json", folder / "run", "ours")
    questions = [Question(question["id"], question["body"], "yesno") for question in raw]
    again = phase_a_of(questions, read_run(folder / "run"))
    assert [question["documents"] for question in again] == [
        [DOCUMENT_URL + pmid for pmid in pmids] for pmids in batch
    ]


def test_a_golden_file_as_qrels(tmp_path, caplog):
    golden = [raw_question("a", DOCUMENT_URL + "9", "https://pubmed.ncbi.nlm.nih.gov/9/", "4")]
    write_raw(tmp_path / "golden.json", [*golden, raw_question("b")])
    assert golden_to_qrels(tmp_path / "golden.json", tmp_path / "qrels") == 1
    assert (tmp_path / "qrels").read_text() == "a 0 9 1\na 0 4 1\n"
    assert "1 of 2 questions have no documents" in caplog.text


def test_qrels_as_a_golden_file(tmp_path):
    write_raw(tmp_path / "batch.json", [raw_question("b"), raw_question("a")])
    (tmp_path / "qrels").write_text("a 0 9 2\na 0 8 0\na 0 7 -1\na 0 x 1\n")
    qrels_to_golden(tmp_path / "qrels", tmp_path / "batch.json", tmp_path / "golden.json")
    golden = read_raw(tmp_path / "golden.json")
    assert [question["id"] for question in golden] == ["b", "a"]
    assert golden[0]["documents"] == []
    assert golden[1] == raw_question("a", DOCUMENT_URL + "9", "x") | {"snippets": []}
    (tmp_path / "qrels").write_text("z 0 9 1\ny 0 9 1\na 0 1 1\n")
    with pytest.raises(InputError, match=r"not in .*batch.json\n  y\n  z$"):
        qrels_to_golden(tmp_path / "qrels", tmp_path / "batch.json", tmp_path / "golden.json")


@settings(max_examples=50, deadline=None)
@given(batch=st.lists(PMIDS, min_size=1, max_size=3))
def test_qrels_to_golden_and_back(tmp_path_factory, batch):
    folder = tmp_path_factory.mktemp("converted")
    judged = {id_: dict.fromkeys(pmids, 1) for id_, pmids in zip(IDS, batch, strict=False) if pmids}
    write_qrels(folder / "qrels", judged)
    write_raw(folder / "batch.json", [raw_question(id_) for id_ in IDS])
    qrels_to_golden(folder / "qrels", folder / "batch.json", folder / "golden.json")
    if judged:
        assert golden_to_qrels(folder / "golden.json", folder / "again") == len(judged)
        assert list(read_qrels(folder / "again").items()) == list(judged.items())


BODIES = st.text(min_size=1).map(lambda text: " ".join(text.split())).filter(bool)


@settings(max_examples=50, deadline=None)
@given(st.lists(BODIES, min_size=1, max_size=3))
def test_questions_to_jsonl_and_back(tmp_path_factory, bodies):
    folder = tmp_path_factory.mktemp("converted")
    raw = [{"id": i, "body": b, "type": "list"} for i, b in zip(IDS, bodies, strict=False)]
    write_raw(folder / "batch.json", raw)
    assert questions_to_jsonl(folder / "batch.json", folder / "batch.jsonl") == len(bodies)
    assert jsonl_to_questions(folder / "batch.jsonl", folder / "again.json") == len(bodies)
    assert read_raw(folder / "again.json") == raw


def test_jsonl_questions_are_one_object_a_line(tmp_path):
    write_raw(tmp_path / "batch.json", [raw_question("a")])
    questions_to_jsonl(tmp_path / "batch.json", tmp_path / "batch.jsonl")
    (line,) = (tmp_path / "batch.jsonl").read_text().splitlines()
    assert json.loads(line) == {"id": "a", "body": "Is it a?", "type": "yesno"}


@pytest.mark.shared
def test_real_goldens(shared, tmp_path, caplog):
    caplog.set_level(logging.WARNING)
    goldens = sorted((shared / "data" / "bioasq_golden").glob("*.json.gz"))
    assert len(goldens) == 32
    for golden in goldens[::6]:
        records = read_gold(golden, "enriched")
        written = golden_to_qrels(golden, tmp_path / "qrels")
        judged = qrels(records)
        assert written == sum(bool(documents) for documents in judged.values())
        assert read_qrels(tmp_path / "qrels") == {i: d for i, d in judged.items() if d}
        qrels_to_golden(tmp_path / "qrels", golden, tmp_path / "golden.json")
        assert qrels(read_gold(tmp_path / "golden.json", "enriched")) == judged
        assert golden_to_jsonl(golden, tmp_path / "gold.jsonl") == len(records)
        assert tuple(read_jsonl(tmp_path / "gold.jsonl", Gold)) == records
        assert questions_to_jsonl(golden, tmp_path / "questions.jsonl") == len(records)
        questions = tuple(read_jsonl(tmp_path / "questions.jsonl", Question))
        assert questions == read_questions(golden)


@pytest.mark.shared
def test_real_submissions(shared, tmp_path):
    files = sorted((shared / "data" / "bioasq_submissions").rglob("*.json*"))
    assert len(files) == 26
    for path in files:
        submission_to_run(path, tmp_path / "run", "ours")
        rankings = read_run(tmp_path / "run").rankings
        for question in read_raw(path):
            expected = dict.fromkeys(map(pmid_of, question["documents"]))
            ranking = rankings.get(question["id"], ())
            assert [item for item, _ in ranking] == list(expected)
            assert [score for _, score in ranking] == list(range(len(expected), 0, -1))
