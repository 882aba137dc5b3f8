"""Replies from a file."""

from __future__ import annotations

import gzip
import hashlib
from pathlib import Path
from typing import Any

import pytest

from generation.clients import open_llm
from generation.llm import LLM, LLMError, Message, ModelConfig, Reply, Request, Usage
from hybrid_ir.errors import InputError

LINES = (
    '{"question_id": "q1", "text": "one"}\n'
    '{"question_id": "q1", "sample": 1, "text": "two", "more": [1]}\n'
    '{"id": "q2", "text": ""}\n'
)


def _open(path: Path, content: str, **more: Any) -> LLM:
    path.write_text(content)
    return open_llm(ModelConfig("rec", "recorded", str(path), **more))


def _ask(question: str, sample: int = 0) -> Request:
    return Request(question, (Message("user", "anything"),), sample=sample)


def test_replies_by_question_and_sample(tmp_path: Path) -> None:
    llm = _open(tmp_path / "r.jsonl", LINES)
    one, two, empty, missing, other = llm.complete(
        [_ask("q1"), _ask("q1", 1), _ask("q2"), _ask("q3"), _ask("q2", 1)]
    )
    first = LINES.splitlines()[0]
    assert one == Reply("one", "stop", Usage(0, 0), "r.jsonl", first)
    assert [isinstance(reply, Reply) and reply.text for reply in (two, empty)] == ["two", ""]
    for error, place in ((missing, "q3, sample 0"), (other, "q2, sample 1")):
        assert isinstance(error, LLMError)
        assert (error.kind, error.retryable) == ("missing", False)
        assert place in str(error)


def test_the_content_identifies_it_not_the_place(tmp_path: Path) -> None:
    plain = _open(tmp_path / "r.jsonl", LINES).identity
    (tmp_path / "there").mkdir()
    packed = tmp_path / "there" / "r.jsonl"
    packed.write_bytes(gzip.compress(LINES.encode()))
    assert open_llm(ModelConfig("x", "recorded", str(packed))).identity == plain
    assert plain.revision == hashlib.sha256(LINES.encode()).hexdigest()
    assert plain.settings == (("text_field", "text"),)
    assert _open(tmp_path / "r.jsonl", LINES + '{"id": "q4", "text": ""}').identity != plain


@pytest.mark.parametrize(
    ("name", "text_field", "count"),
    [("10B1.expert", "pseudo_document", 90), ("10B.synthetic", "passage", 180)],
)
def test_the_example_collection(mini: Path, name: str, text_field: str, count: int) -> None:
    path = mini / "llm" / f"{name}.jsonl.gz"
    llm = open_llm(ModelConfig("expert", "recorded", str(path), text_field=text_field))
    (reply,) = llm.complete([_ask("61f80d5d882a024a1000003c")])
    assert isinstance(reply, Reply)
    assert reply.text.startswith("MEF2C haploinsufficiency")
    with gzip.open(path) as file:
        assert len(file.readlines()) == count


def test_all_faults_at_once(tmp_path: Path) -> None:
    content = (
        '{"id": "q1", "pseudo_document": "x"}\n'
        "[1]\n"
        '{"text": "x"}\n'
        '{"id": "q2", "text": "x", "sample": -1}\n'
        '{"id": "q3", "text": "x"}\n'
        '{"id": "q3", "text": "y", "sample": 0}\n'
    )
    with pytest.raises(InputError) as raised:
        _open(tmp_path / "r.jsonl", content)
    faults = str(raised.value).split("\n")[1:]
    assert [fault.split(": ")[0].rpartition(":")[2] for fault in faults] == list("12346")
    assert "the keys are id, pseudo_document" in faults[0]
    assert "question_id or id" in faults[2]
    assert "got -1" in faults[3]
    assert "the same as line 5" in faults[4]


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"r\.jsonl: expected a readable file"):
        open_llm(ModelConfig("rec", "recorded", str(tmp_path / "r.jsonl")))
