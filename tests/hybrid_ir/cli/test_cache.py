"""hybrid-ir cache: what it prints, and its exit codes."""

import json

import pytest

from generation.budget import Budget
from generation.cache.ledger import Reservation, Settlement
from generation.cache.replies import ReplyCache, key_of
from generation.llm import Identity, Message, Reply, Request, Usage
from hybrid_ir.cli import main

IDENTITY = Identity("openai", "vendor/m", "r1", (("base_url", "http://x"),))


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "replies.db"
    with ReplyCache(path) as cache:
        for number, rejected in enumerate((None, None, "it is empty")):
            request = Request(f"q{number}", (Message("user", str(number)),))
            reply = Reply("é" if not rejected else "", "stop", Usage(1_000, 10), "m", "{}")
            cache.store(key_of(IDENTITY, request), IDENTITY, request, reply, rejected)
        calls, _ = cache.ledger.begin("pseudo", [Reservation("k", 50, 2 * 10**12)] * 2, Budget())
        settled = [Settlement(call, "possible", 50, 2 * 10**12) for call in calls]
        cache.ledger.settle("pseudo", settled)
    return path


def test_inspect_says_what_is_there_and_what_it_cost(path, capsys):
    assert main(["cache", "inspect", str(path)]) == 0
    assert capsys.readouterr().out == (
        f"{path}: 2 good replies\n"
        "  openai vendor/m r1 base_url=http://x: 2 good, 1 rejected, 3,000 prompt tokens,"
        " 30 completion tokens\n"
        "stage pseudo: 2 calls, 100 tokens, 4.0000 USD; 2 of them without a reply and possibly"
        " charged (4.0000 USD at most)\n"
    )
    assert main(["cache", "inspect", "--json", str(path)]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["replies"][0]["good"], told["accounts"][0]["usd"]) == (2, 4.0)


def test_export_writes_every_reply(path, tmp_path, capsys):
    output = tmp_path / "replies.jsonl"
    assert main(["cache", "export", str(path), "--output", str(output)]) == 0
    lines = [json.loads(line) for line in output.read_text().splitlines()]
    assert sorted((line["request"]["question_id"], line["rejected"]) for line in lines) == [
        ("q0", None),
        ("q1", None),
        ("q2", "it is empty"),
    ]
    assert {line["identity"]["model"] for line in lines} == {"vendor/m"}
    assert main(["cache", "export", str(path), "--output", str(path)]) == 2
    assert "is an input" in capsys.readouterr().err


def test_forgetting_what_was_rejected(path, capsys):
    assert main(["cache", "forget-rejected", str(path)]) == 0
    assert capsys.readouterr().out == f"{path}: 1 rejected reply removed\n"
    main(["cache", "inspect", str(path)])
    assert "2 good, 0 rejected" in capsys.readouterr().out


def test_import_takes_the_good_and_ends_with_1_for_the_rest(path, tmp_path, capsys):
    request = Request("q9", (Message("user", "9"),))
    with ReplyCache(path) as cache:
        cache.export(key_of(IDENTITY, request), IDENTITY, request)
    choice = {"message": {"role": "assistant", "content": "nine"}, "finish_reason": "stop"}
    body = {"choices": [choice], "model": "m", "usage": {"prompt_tokens": 1}}
    good = {
        "custom_id": key_of(IDENTITY, request),
        "response": {"status_code": 200, "body": body},
    }
    results = tmp_path / "results.jsonl"
    results.write_text(json.dumps(good) + "\n" + json.dumps(good | {"custom_id": "x"}) + "\n")
    assert main(["cache", "import", str(path), str(results)]) == 1
    told = capsys.readouterr()
    assert told.out == f"{results}: 1 good reply, 0 of no use, 0 known before, 1 error\n"
    assert f"{results}:2: unknown custom_id 'x'" in told.err


def test_a_cache_that_is_not_there_is_not_made(tmp_path, capsys):
    assert main(["cache", "inspect", str(tmp_path / "none.db")]) == 2
    assert "there is no such file" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []
