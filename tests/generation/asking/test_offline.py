"""Offline batches: what is asked is written, what comes back is taken in, in any order."""

import gzip
import json
import urllib.request
from dataclasses import replace

import pytest

import generation.asking.offline as offline
from generation.asking.calls import ask_all
from generation.asking.offline import export_requests, import_replies
from generation.budget import Budget
from generation.cache.replies import ReplyCache, key_of
from generation.clients import open_llm
from generation.llm import Identity, Message, ModelConfig, Request, Sampling, Schema


@pytest.fixture
def cache(tmp_path):
    with ReplyCache(tmp_path / "replies.db") as opened:
        yield opened


@pytest.fixture
def config(provider):
    return ModelConfig("m", "openai", "vendor/m", base_url=provider.openai_url, retries=0)


def questions(count):
    sampling = Sampling(max_tokens=50, temperature=0.5, seed=1)
    return [
        Request(f"q{n}", (Message("user", f"Tell me about q{n}."),), sampling) for n in range(count)
    ]


def text_of(_, reply):
    return reply.text


def export(path, config, requests, cache):
    return export_requests(path, config, open_llm(config).identity, requests, cache, text_of)


def answer(provider, path):
    """Do what a batch does: ask for each line's body, and write what came, last line first."""
    results = []
    for line in map(json.loads, path.read_text().splitlines()):
        asked = urllib.request.Request(
            provider.url + line["url"], json.dumps(line["body"]).encode(), method=line["method"]
        )
        with urllib.request.urlopen(asked) as response:
            body = json.load(response)
        result = {"status_code": 200, "request_id": "r", "body": body}
        results.append(
            {"id": "b", "custom_id": line["custom_id"], "response": result, "error": None}
        )
    return results[::-1]


def write(path, results):
    path.write_text("".join(json.dumps(result) + "\n" for result in results))
    return path


def test_a_batch_gives_what_calls_give(provider, config, cache, tmp_path):
    requests = [
        *questions(5),
        replace(questions(1)[0], sample=1),
        replace(questions(1)[0], schema=Schema("A", {"type": "object", "properties": {}})),
    ]
    exported = export(tmp_path / "batch.jsonl", config, requests, cache)
    assert (exported.files, exported.requests) == ([tmp_path / "batch.jsonl"], 7)
    lines = [json.loads(line) for line in exported.files[0].read_text().splitlines()]
    assert [line["custom_id"] for line in lines] == [
        key_of(open_llm(config).identity, request) for request in requests
    ]
    results = answer(provider, exported.files[0])
    imported = import_replies(write(tmp_path / "results.jsonl", results), cache)
    assert (imported.good, imported.rejected, imported.repeated, imported.faults) == (7, 0, 0, [])
    bodies = [call.body for call in provider.calls]
    llm = open_llm(config)
    cached = list(ask_all(llm, requests, config, "t", cache, Budget(), text_of))
    assert provider.arrived == 7
    called = list(ask_all(llm, requests, config, "t", None, Budget(), text_of))
    assert [o.value for o in cached] == [o.value for o in called]
    assert sorted(map(str, bodies)) == sorted(str(call.body) for call in provider.calls[7:])
    again = import_replies(tmp_path / "results.jsonl", cache)
    assert (again.good, again.repeated, again.faults) == (0, 7, [])


def test_only_what_is_not_cached_is_written_and_each_once(provider, config, cache, tmp_path):
    list(ask_all(open_llm(config), questions(3), config, "t", cache, Budget(), text_of))
    exported = export(tmp_path / "b.jsonl", config, questions(5) + questions(5), cache)
    assert (exported.requests, exported.cached) == (2, 3 + 3)
    assert "about q3." in (tmp_path / "b.jsonl").read_text()
    nothing = export(tmp_path / "none.jsonl", config, questions(3), cache)
    assert (nothing.files, nothing.requests) == ([], 0)
    assert not (tmp_path / "none.jsonl").exists()


def test_replies_of_no_use_are_exported_again_changed(provider, config, cache, tmp_path):
    exported = export(tmp_path / "b.jsonl", config, questions(2), cache)
    results = answer(provider, exported.files[0])
    results[0]["response"]["body"]["choices"][0]["finish_reason"] = "length"
    imported = import_replies(write(tmp_path / "r.jsonl", results), cache)
    assert (imported.good, imported.rejected) == (1, 1)
    assert cache.waiting() == 0
    exported = export(tmp_path / "b2.jsonl", config, questions(2), cache)
    assert exported.requests == 1
    body = json.loads((tmp_path / "b2.jsonl").read_text())["body"]
    assert "cut off" in body["messages"][-1]["content"]
    assert cache.waiting() == 1


def test_every_fault_is_named_and_the_rest_is_kept(provider, config, cache, tmp_path):
    exported = export(tmp_path / "b.jsonl", config, questions(7), cache)
    results = sorted(answer(provider, exported.files[0]), key=lambda r: str(r["response"]))
    results[0]["response"] |= {"status_code": 429, "body": {"error": {"message": "slow down"}}}
    results[1] |= {"response": None, "error": {"code": "batch_expired", "message": "too late"}}
    results[2]["response"]["body"]["choices"] = []
    results[3]["custom_id"] = "elsewhere"
    results[4]["response"]["body"] = "no object"
    text = "".join(json.dumps(result) + "\n" for result in results)
    path = tmp_path / "r.jsonl"
    path.write_bytes(b"\n{}\n" + b"\xff\xfe\n" + text.encode()[:-30])
    imported = import_replies(path, cache)
    assert imported.good == 1
    expected = [
        (2, "custom_id"),
        (3, "cannot be read"),
        (4, "HTTP 429: slow down"),
        (5, "batch_expired: too late"),
        (6, "no choice"),
        (7, "unknown custom_id 'elsewhere'"),
        (8, "cannot be read"),
        (10, "cannot be read"),
    ]
    assert len(imported.faults) == len(expected)
    for fault, (number, words) in zip(imported.faults, expected, strict=True):
        assert fault.startswith(f"{path}:{number}: ")
        assert words in fault
    assert export(tmp_path / "b2.jsonl", config, questions(7), cache).requests == 6


def test_a_damaged_archive_keeps_what_could_be_read(provider, config, cache, tmp_path):
    exported = export(tmp_path / "b.jsonl", config, questions(50), cache)
    results = write(tmp_path / "r.jsonl", answer(provider, exported.files[0])).read_bytes()
    whole = gzip.compress(results)
    (tmp_path / "r.jsonl.gz").write_bytes(whole[: len(whole) // 2])
    imported = import_replies(tmp_path / "r.jsonl.gz", cache)
    assert 0 < imported.good < 50
    assert len(imported.faults) == 1
    assert "cannot read on" in imported.faults[0]
    (tmp_path / "r.jsonl.gz").write_bytes(whole)
    rest = import_replies(tmp_path / "r.jsonl.gz", cache)
    assert (rest.good, rest.repeated) == (50 - imported.good, imported.good)


def test_what_one_batch_may_not_hold_goes_on_in_another(config, cache, tmp_path, monkeypatch):
    monkeypatch.setattr(offline, "MOST_REQUESTS", 3)
    exported = export(tmp_path / "b.jsonl", config, questions(7), cache)
    assert [path.name for path in exported.files] == ["b.jsonl", "b.2.jsonl", "b.3.jsonl"]
    assert [len(path.read_text().splitlines()) for path in exported.files] == [3, 3, 1]
    monkeypatch.setattr(offline, "MOST_BYTES", 500)
    exported = export(tmp_path / "s.jsonl", config, questions(7), cache)
    assert all(path.stat().st_size <= 500 for path in exported.files)
    assert exported.requests == 7


def test_any_provider_can_be_answered_so(provider, config, cache, tmp_path):
    identity = Identity("gemini", "gemini-x")
    gemini = ModelConfig("g", "gemini", "gemini-x")
    export_requests(tmp_path / "b.jsonl", gemini, identity, questions(2), cache, text_of)
    import_replies(write(tmp_path / "r.jsonl", answer(provider, tmp_path / "b.jsonl")), cache)
    (count,) = cache.counts()
    assert (count.identity, count.good) == (identity, 2)
