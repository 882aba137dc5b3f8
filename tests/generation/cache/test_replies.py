"""The reply cache: what a key is made of, what is kept, and that nothing is lost."""

import sqlite3
import subprocess
import sys
from dataclasses import fields, replace
from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from generation.cache.replies import ReplyCache, key_of
from generation.llm import Identity, Message, Reply, Request, Sampling, Schema, Usage
from hybrid_ir.errors import InputError

IDENTITY = Identity("openai", "m", "2026-01-01", (("base_url", "http://x/v1"),))
REQUEST = Request("q1", (Message("system", "Be short."), Message("user", "What is BRCA1?")))
REPLY = Reply("A gene.", "stop", Usage(11, 3), "m-1", '{"choices": []}')

OTHER_SAMPLING = Sampling(
    max_tokens=7,
    temperature=0.5,
    top_p=0.5,
    top_k=5,
    seed=5,
    stop=("x",),
    frequency_penalty=0.5,
    presence_penalty=0.5,
    reasoning_effort="low",
)


@pytest.fixture
def cache(tmp_path):
    with ReplyCache(tmp_path / "replies.db") as opened:
        yield opened


def keep(cache, request=REQUEST, reply=REPLY, rejected=None):
    key = key_of(IDENTITY, request)
    return key, cache.store(key, IDENTITY, request, reply, rejected)


def test_the_day_of_a_reply_is_kept(cache):
    before = datetime.now(UTC).date().isoformat()
    key, _ = keep(cache)
    assert before <= cache.date_of(key) <= datetime.now(UTC).date().isoformat()
    assert cache.date_of("another") is None


@pytest.mark.parametrize("name", [field.name for field in fields(Sampling)])
def test_key_depends_on_every_sampling_parameter(name):
    sampling = replace(Sampling(), **{name: getattr(OTHER_SAMPLING, name)})
    assert key_of(IDENTITY, replace(REQUEST, sampling=sampling)) != key_of(IDENTITY, REQUEST)


@pytest.mark.parametrize(
    "request_",
    [
        replace(REQUEST, messages=REQUEST.messages[1:]),
        replace(REQUEST, messages=REQUEST.messages[::-1]),
        replace(REQUEST, messages=(Message("user", "Be short."), REQUEST.messages[1])),
        replace(REQUEST, schema=Schema("Answer", {"type": "object"})),
        replace(REQUEST, sample=1),
        replace(REQUEST, attempt=1),
    ],
)
def test_key_depends_on_what_is_asked(request_):
    assert key_of(IDENTITY, request_) != key_of(IDENTITY, REQUEST)


@pytest.mark.parametrize(
    ("name", "other"),
    [("provider", "gemini"), ("model", "n"), ("revision", ""), ("settings", ())],
)
def test_key_depends_on_the_model(name, other):
    assert key_of(replace(IDENTITY, **{name: other}), REQUEST) != key_of(IDENTITY, REQUEST)


def test_key_does_not_depend_on_whose_question_it_is_or_how_a_number_is_written():
    assert key_of(IDENTITY, replace(REQUEST, question_id="q2")) == key_of(IDENTITY, REQUEST)
    whole, point = (replace(REQUEST, sampling=Sampling(temperature=t)) for t in (1, 1.0))
    assert key_of(IDENTITY, whole) == key_of(IDENTITY, point)


def test_key_stays_the_same_from_version_to_version():
    assert (
        key_of(IDENTITY, REQUEST)
        == "413604e8d09ef39ada2ba5b7b28db085e95fc4eac362ccdf7868e79987010804"
    )


def test_what_is_kept_comes_back(cache):
    key, kept = keep(cache)
    assert kept is REPLY
    assert cache.find(key) == (REPLY, None)
    assert cache.find("0" * 64) is None
    (record,) = cache.replies()
    assert (record.key, record.identity, record.request, record.reply) == (
        key,
        IDENTITY,
        REQUEST,
        REPLY,
    )


@settings(max_examples=30, deadline=None)
@given(st.text(st.characters(exclude_categories=["Cs"])), st.text())
def test_any_text_comes_back(tmp_path_factory, text, raw):
    path = tmp_path_factory.mktemp("any", numbered=True) / "replies.db"
    with ReplyCache(path) as cache:
        key, _ = keep(cache, reply=replace(REPLY, text=text, raw=raw))
        found, _ = cache.find(key)
    assert found.text == text
    assert found.raw == raw.encode(errors="backslashreplace").decode()


def test_a_good_reply_stays_and_a_rejected_one_gives_way(cache):
    bad, later = replace(REPLY, text="?"), replace(REPLY, text="Another.")
    key, _ = keep(cache, reply=bad, rejected="too short")
    assert cache.find(key) == (bad, "too short")
    _, kept = keep(cache)
    assert (kept, cache.find(key)) == (REPLY, (REPLY, None))
    _, kept = keep(cache, reply=later)
    assert kept == REPLY
    _, kept = keep(cache, reply=bad, rejected="too short")
    assert kept == REPLY
    assert cache.find(key) == (REPLY, None)


def test_another_verdict_is_written_down(cache):
    key, _ = keep(cache, rejected="no JSON")
    cache.judge(key, None)
    assert cache.find(key) == (REPLY, None)


def test_counts_and_forgetting(cache):
    keep(cache)
    keep(cache, replace(REQUEST, sample=1), rejected="empty")
    (count,) = cache.counts()
    assert (count.good, count.rejected) == (1, 1)
    assert (count.prompt_tokens, count.completion_tokens) == (11 + 11, 3 + 3)
    assert cache.forget_rejected() == 1
    (count,) = cache.counts()
    assert (count.good, count.rejected) == (1, 0)


def test_other_files_are_refused(tmp_path):
    text, foreign, newer = (tmp_path / name for name in ("text", "foreign.db", "newer.db"))
    text.write_text("no database, " * 100)
    with sqlite3.connect(foreign) as connection:
        connection.execute("CREATE TABLE theirs (x)")
    connection.close()
    ReplyCache(newer).close()
    with sqlite3.connect(newer) as connection:
        connection.execute("PRAGMA user_version = 99")
    connection.close()
    for path, words in ((text, "not a database"), (foreign, "another"), (newer, "version")):
        with pytest.raises(InputError, match=words):
            ReplyCache(path)
    with sqlite3.connect(foreign) as connection:
        assert connection.execute("SELECT name FROM sqlite_master").fetchall() == [("theirs",)]
    connection.close()


STORE = """
import sys
from pathlib import Path
from generation.cache.replies import ReplyCache, key_of
from generation.llm import *
identity = Identity("openai", "m")
cache = ReplyCache(Path(sys.argv[1]))
number = 0
while number < int(sys.argv[2]):
    request = Request("q", (Message("user", str(number)),))
    key = key_of(identity, request)
    cache.store(key, identity, request, Reply(sys.argv[3], "stop", Usage(1, 1), "m", "{}"), None)
    print(key, flush=True)
    number += 1
"""


def store_elsewhere(path, count, text):
    command = [sys.executable, "-c", STORE, str(path), str(count), text]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def test_processes_share_a_file_that_none_of_them_made_first(tmp_path):
    path = tmp_path / "replies.db"
    children = [store_elsewhere(path, 100, text) for text in ("a", "b", "c")]
    printed = [child.communicate()[0].split() for child in children]
    assert [child.returncode for child in children] == [0, 0, 0]
    with ReplyCache(path) as cache:
        (count,) = cache.counts()
        assert count.good == 100  # the same keys from all
        assert {record.key for record in cache.replies()} == set(printed[0]) == set(printed[2])


def test_what_was_stored_survives_kill_9(tmp_path):
    path = tmp_path / "replies.db"
    child = store_elsewhere(path, 10**9, "a")
    known = [child.stdout.readline().strip() for _ in range(300)]
    child.kill()
    known += [line for line in child.stdout.read().split() if len(line) == 64]
    child.wait()
    child.stdout.close()
    with ReplyCache(path) as cache:
        assert set(known) <= {record.key for record in cache.replies()}
        assert cache.database.connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
