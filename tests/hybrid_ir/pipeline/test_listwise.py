"""Re-ranking by recorded replies: what is read, counted and written."""

import json
import logging
from dataclasses import replace
from pathlib import Path

import pytest

from generation.asking.estimates import dry_run
from generation.budget import Budget
from generation.clients import identity_of
from generation.listwise import ListwiseConfig
from generation.llm import ModelConfig
from hybrid_ir.errors import IncompleteError, InputError
from hybrid_ir.files import read_jsonl
from hybrid_ir.manifests import read_manifest
from hybrid_ir.pipeline.asking import Missing
from hybrid_ir.pipeline.listwise import listwise, listwise_plan
from hybrid_ir.pipeline.listwise_batch import ListwiseFiles
from hybrid_ir.pipeline.planning import estimates
from hybrid_ir.pubmed.store import StoreWriter
from hybrid_ir.records import Document, Ranked
from hybrid_ir.trec import read_run, write_run

DOCUMENTS = 7


@pytest.fixture
def files(tmp_path, monkeypatch):
    """Three questions; q0 and q1 with 7 documents, q2 with 1."""
    monkeypatch.chdir(tmp_path)
    Path("index").mkdir()
    store = StoreWriter(Path("index/documents.sqlite"))
    store.add(Document(str(number), f"Title {number}.", "word " * 9) for number in range(20))
    store.close()
    numbers = {"q0": range(DOCUMENTS), "q1": range(10, 10 + DOCUMENTS), "q2": [19]}
    rankings = {
        question: tuple(Ranked(str(one), 20.0 - one) for one in ids)
        for question, ids in numbers.items()
    }
    write_run(Path("first.trec"), rankings.items(), "first")
    batch = [{"id": one, "body": f"What is {one}?", "type": "list"} for one in rankings]
    Path("batch.json").write_text(json.dumps({"questions": batch}))
    return ListwiseFiles(Path("first.trec"), Path("batch.json"), Path("index"))


def config(*replies, **settings):
    """A recorded model with (question, window, reply); depth 6, windows of 4 by 2: two of them."""
    rows = [
        {"question_id": question, "sample": window, "text": text}
        for question, window, text in replies
    ]
    Path("replies.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    model = ModelConfig(provider="recorded", model="replies.jsonl")
    shape = {"depth": 6, "window": 4, "step": 2, "cache": None} | settings
    return ListwiseConfig({"old": model}, **shape)


GOOD = (
    ("q0", 0, '{"order": [4, 3, 1, 2]}'),  # 2 3 4 5 -> 5 4 2 3
    ("q0", 1, '{"order": [3, 1, 2, 4]}'),  # 0 1 5 4 -> 5 0 1 4
    ("q1", 0, "[1] > [2] > [3] > [4]"),
    ("q1", 1, "[4] > [3] > [2] > [1]"),
)


def order_in(path, question):
    return [item.item for item in read_run(Path(path)).rankings[question]]


def test_windows_bring_the_best_up_and_the_rest_follows(files):
    listwise(files, Path("new.trec"), "new", config(*GOOD))
    run = read_run(Path("new.trec"))
    assert run.name == "new"
    assert order_in("new.trec", "q0") == ["5", "0", "1", "4", "2", "3", "6"]
    assert order_in("new.trec", "q1") == ["13", "12", "11", "10", "14", "15", "16"]
    assert [item.score for item in run.rankings["q0"]] == [7, 6, 5, 4, 3, 2, 1]
    assert run.rankings["q2"] == (Ranked("19", 1.0),)
    info = read_manifest(Path("new.trec")).info
    assert (info["questions"], info["passages"], info["windows"]) == (3, 6 + 6 + 1, 2 + 2)
    assert info["replies"] == {"json": 2, "extracted": 0, "repaired": 0, "text": 2}
    assert info["mended"] == {"out_of_range": 0, "repeated": 0, "missing": 0}
    assert info["generators"]["old"]["texts"] == 4


def test_the_rest_can_be_dropped(files):
    listwise(files, Path("new.trec"), "new", config(*GOOD, rest="drop"))
    assert order_in("new.trec", "q0") == ["5", "0", "1", "4", "2", "3"]


def test_mendings_are_counted_by_kind_and_logged(files, caplog):
    caplog.set_level(logging.INFO)
    replies = (
        ("q0", 0, '{"order": [4, 4, 9, 3]}'),  # 5 4, then 2 3
        ("q0", 1, '```\n{"order": [3, 1, 2, 4]}\n```'),
        ("q1", 0, "There is no answer."),
        ("q1", 1, "{order: [4, 3, 2, 1]}"),
    )
    listwise(files, Path("new.trec"), "new", config(*replies, passage_words=5))
    assert order_in("new.trec", "q0")[:6] == ["5", "0", "1", "4", "2", "3"]
    assert order_in("new.trec", "q1")[:6] == ["13", "12", "11", "10", "14", "15"]
    info = read_manifest(Path("new.trec")).info
    assert info["mended"] == {"out_of_range": 1, "repeated": 1, "missing": 2}
    assert info["replies"] == {"json": 1, "extracted": 1, "repaired": 1, "text": 0}
    assert (info["windows"], info["windows_mended"], info["windows_left"]) == (4, 1, 1)
    assert info["generators"]["old"]["unusable"] == {"it holds no order of passages": 1}
    assert (info["passages"], info["passages_cut"]) == (13, 13)
    assert "1 of 4 windows mended: 1 number out of range and 1 repeated" in caplog.text
    assert "1 of 4 windows are left as they were" in caplog.text
    assert "the beginning of 13 of 13 passages" in caplog.text


def test_a_window_without_a_reply_leaves_its_question_as_it_was(files):
    with pytest.raises(IncompleteError, match=r"1 question of 3 could not be .* \(missing 1\)"):
        listwise(files, Path("new.trec"), "new", config(*GOOD[:3]))
    assert not Path("new.trec").exists()
    assert order_in("new.incomplete.trec", "q0") == ["5", "0", "1", "4", "2", "3", "6"]
    assert order_in("new.incomplete.trec", "q1") == [str(10 + n) for n in range(7)]
    (failed,) = read_jsonl(Path("new.trec.failed.jsonl"), Missing)
    assert (failed.question_id, failed.sample, failed.kind) == ("q1", 1, "missing")
    listwise(files, Path("new.trec"), "new", config(*GOOD))
    assert not list(Path().glob("*incomplete*")) + list(Path().glob("*failed*"))


def test_a_document_that_the_index_lacks_costs_its_question_alone(files, caplog):
    text = files.run.read_text().replace("q1 Q0 12 ", "q1 Q0 unknown ")
    files.run.write_text(text)
    with pytest.raises(IncompleteError, match=r"\(document 1\)"):
        listwise(files, Path("new.trec"), "new", config(*GOOD))
    assert "question q1: 1 document not in index" in caplog.text
    assert order_in("new.incomplete.trec", "q0") == ["5", "0", "1", "4", "2", "3", "6"]
    assert order_in("new.incomplete.trec", "q1")[:3] == ["10", "11", "unknown"]


def test_no_order_at_all_is_no_success(files):
    replies = [(question, window, "none") for question, window, _ in GOOD]
    with pytest.raises(IncompleteError, match="no reply to any of 4 windows held an order"):
        listwise(files, Path("new.trec"), "new", config(*replies))
    assert not list(Path().glob("new*"))


def test_files_that_do_not_belong_together_are_said(files, caplog):
    batch = json.loads(files.questions.read_text())
    batch["questions"][2]["id"] = "q3"
    files.questions.write_text(json.dumps(batch))
    listwise(files, Path("new.trec"), "new", config(*GOOD))
    assert "first.trec: no documents for 1 question\n" in caplog.text
    assert "first.trec: 1 question not in batch.json, left out" in caplog.text
    for one in batch["questions"]:
        one["id"] = f"other {one['id']}"
    files.questions.write_text(json.dumps(batch))
    with pytest.raises(InputError, match="has none of the questions"):
        listwise(files, Path("new.trec"), "new", config(*GOOD))


def test_an_empty_document_is_a_passage_and_counted(files, caplog):
    Path("index/documents.sqlite").unlink()
    store = StoreWriter(Path("index/documents.sqlite"))
    store.add(Document(str(number), "" if number == 3 else "T.") for number in range(20))
    store.close()
    listwise(files, Path("new.trec"), "new", config(*GOOD))
    assert read_manifest(Path("new.trec")).info["passages_without_text"] == 1
    assert "1 passage without any text" in caplog.text


def test_the_key_holds_what_decides_and_nothing_else(files):
    def key(**settings):
        return listwise(files, Path("new.trec"), "new", config(*GOOD, **settings)).key

    first = key()
    assert key(budget=Budget(tokens=10**6), cache=Path("replies.sqlite")) == first
    others = [key(passage_words=4), key(attempts=1), key(rest="drop"), key(form="text")]
    assert len({first, *others}) == 5


def test_an_estimate_counts_every_window_and_a_plan_what_is_known(files):
    plain = config(*GOOD)
    hosted = replace(plain, generators={"old": ModelConfig(provider="openai", model="gpt")})
    whole = listwise_plan(files, hosted, whole=True)
    ((name, estimate),) = estimates(whole)
    assert (name, estimate.calls, estimate.completion_tokens) == ("old", 4, 4 * 512)
    known = listwise_plan(files, hosted, whole=False)
    ((model, requests),) = known.requests
    assert [(one.question_id, one.sample) for one in requests] == [("q0", 0), ("q1", 0)]
    part = dry_run(identity_of(model), requests, model, None, known.parse)
    assert 0 < part.prompt_tokens < estimate.prompt_tokens
