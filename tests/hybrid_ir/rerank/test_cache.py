import math
import sqlite3
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hybrid_ir.errors import InputError
from hybrid_ir.rerank.cache import cached, keys_of, open_scores
from hybrid_ir.rerank.candidates import Candidates


def question(query, *texts):
    documents = tuple(str(number) for number in range(len(texts)))
    return Candidates(f"id of {query}", query, documents, texts)


def value(query, text):
    """A pair's score in these tests: by both, with a fraction that has no end in binary."""
    return len(query) / 3 + 7 * len(text) + sum(map(ord, text)) / 11


def scorer_of(seen, ahead=1):
    """Make a scorer that looks ``ahead`` questions ahead and says what it was given."""

    def score(candidates):
        held = []
        for item in candidates:
            seen.append(item)
            held.append(np.array([value(item.query, text) for text in item.texts]))
            if len(held) == ahead:
                yield from held
                held = []
        yield from held

    return score


TEXTS = st.lists(st.sampled_from(["", "a", "b", "ab", "é\ud800", "longer text"]), max_size=5)
QUESTIONS = st.lists(st.tuples(st.sampled_from(["", "q", "qa", "other"]), TEXTS), max_size=8)


@settings(max_examples=40)
@given(runs=st.lists(QUESTIONS, max_size=3), ahead=st.integers(1, 4))
def test_a_cached_scorer_gives_what_the_scorer_gives(runs, ahead):
    with TemporaryDirectory() as folder, open_scores(Path(folder) / "scores.sqlite") as cache:
        for run in runs:
            seen = []
            asked = [question(query, *texts) for query, texts in run]
            expected = list(scorer_of([])(asked))
            got = list(cached(scorer_of(seen, ahead), "model", cache)(asked))
            assert len(got) == len(expected)
            for new, old in zip(got, expected, strict=True):
                assert new.tolist() == old.tolist()
                assert new.dtype == np.float64
            assert all(item.documents for item in seen)
        pairs = {(query, text) for run in runs for query, texts in run for text in texts}
        assert cache.computed >= len(pairs)  # a pair that is asked again ahead is scored again
        if ahead == 1:
            assert cache.computed == len(pairs)


def test_only_what_is_missing_is_scored(tmp_path):
    seen = []
    with open_scores(tmp_path / "scores.sqlite") as cache:
        score = cached(scorer_of(seen), "model", cache)
        list(score([question("q", "a", "b"), question("r", "a")]))
        seen.clear()
        list(score([question("q", "b", "c", "a", "c"), question("r", "a"), question("s", "a")]))
        assert seen == [
            Candidates("id of q", "q", ("1",), ("c",)),
            Candidates("id of s", "s", ("0",), ("a",)),
        ]
        # q: b and a were known and c was not; r: a was known; s: a was not
        assert (cache.known, cache.computed) == (2 + 1, 3 + 1 + 1)
        assert cache.counts() == {"scored_pairs": 5, "known_pairs": 3}


def test_scores_outlive_the_command_to_the_last_bit(tmp_path):
    values = {
        bytes([number]) * 16: value for number, value in enumerate((1 / 3, -1e-300, math.inf))
    }
    with open_scores(tmp_path / "new" / "scores.sqlite") as cache:
        cache.put_many(values)
        cache.put_many({b"\0" * 16: 5.0})  # the first one stays
    with open_scores(tmp_path / "new" / "scores.sqlite") as cache:
        assert cache.get_many([*values, b"?" * 16]) == values


def test_many_keys_at_once(tmp_path):
    keys = keys_of("model", "q", [str(number) for number in range(2_345)])
    with open_scores(tmp_path / "scores.sqlite") as cache:
        cache.put_many({key: float(number) for number, key in enumerate(keys)})
        assert cache.get_many(keys) == {key: float(number) for number, key in enumerate(keys)}


def test_scores_that_are_no_numbers_are_given_on_but_not_kept(tmp_path):
    seen = []

    def broken(candidates):
        for item in candidates:
            seen.append(item.texts)
            yield np.array([math.nan if text == "bad" else 1.0 for text in item.texts])

    with open_scores(tmp_path / "scores.sqlite") as cache:
        for _ in range(2):
            (scores,) = cached(broken, "model", cache)([question("q", "bad", "good")])
            assert np.isnan(scores).tolist() == [True, False]
    assert seen == [("bad", "good"), ("bad",)]


def test_every_part_of_a_key_counts():
    parts = [("m", "q", "t"), ("m2", "q", "t"), ("m", "q2", "t"), ("m", "q", "t2")]
    parts += [("mq", "", "t"), ("m", "", "qt"), ("", "mq", "t"), ("m", "qt", "")]
    keys = {keys_of(identity, query, [text])[0] for identity, query, text in parts}
    assert len(keys) == len(parts)
    assert {len(key) for key in keys} == {16}


def test_questions_are_pulled_as_the_scorer_pulls_them(tmp_path):
    pulled = []

    def source():
        for number in range(10):
            pulled.append(number)
            yield question(f"q{number}", "text")

    with open_scores(tmp_path / "scores.sqlite") as cache:
        list(cached(scorer_of([]), "model", cache)([question(f"q{n}", "text") for n in (0, 1)]))
        scores = cached(scorer_of([], ahead=3), "model", cache)(source())
        assert pulled == []
        next(scores)
        assert pulled == [0]  # known: the scorer was not asked
        next(scores)
        next(scores)
        assert pulled == [0, 1, 2, 3, 4]  # 2 was not, and it looks three ahead
        next(scores)
        next(scores)
        assert pulled == [0, 1, 2, 3, 4]
        assert len(list(scores)) == 5


def test_what_was_scored_is_kept_when_the_rest_is_given_up(tmp_path):
    asked = [question("q", "a"), question("r", "b"), question("s", "c")]
    with open_scores(tmp_path / "scores.sqlite") as cache:
        scores = cached(scorer_of([]), "model", cache)(asked)
        next(scores)
        scores.close()
        (key,) = keys_of("model", "q", ["a"])
        assert cache.get_many([key]) == {key: value("q", "a")}


def test_a_scorer_ends_what_it_began(tmp_path):
    ended = []

    def score(candidates):
        for item in candidates:
            yield np.ones(len(item.texts))
        ended.append(True)

    with open_scores(tmp_path / "scores.sqlite") as cache:
        list(cached(score, "model", cache)([question("q", "a")]))
    assert ended


def test_files_that_hold_something_else_are_refused_and_left_alone(tmp_path):
    text, foreign, newer = (tmp_path / name for name in ("text", "foreign.db", "newer.db"))
    text.write_text("no database, " * 100)
    with sqlite3.connect(foreign) as connection:
        connection.execute("CREATE TABLE theirs (x)")
    connection.close()
    with open_scores(newer):
        pass
    with sqlite3.connect(newer) as connection:
        connection.execute("PRAGMA user_version = 99")
    connection.close()
    contents = [path.read_bytes() for path in (text, foreign, newer)]
    for path, words in (
        (text, "text: the cache of scores fails: file is not a database; name another file"),
        (foreign, "foreign.db: expected a cache of scores of version 1, it is another database;"),
        (newer, r"newer.db: expected a cache of scores of version 1, .* version \(99\); name"),
        (tmp_path, "unable to open database file; it must be a file, in a folder"),
        (text / "scores.sqlite", "needs a folder that can be made and written: .*; name another"),
    ):
        with pytest.raises(InputError, match=words), open_scores(path):
            pass
    assert contents == [path.read_bytes() for path in (text, foreign, newer)]


def test_a_damaged_file_says_what_may_save_it(tmp_path):
    path = tmp_path / "scores.sqlite"
    keys = keys_of("model", "q", [str(number) for number in range(3_000)])
    with open_scores(path) as cache:
        cache.put_many(dict.fromkeys(keys, 1.0))
    content = bytearray(path.read_bytes())
    content[4096:] = b"\xff" * (len(content) - 4096)
    path.write_bytes(content)
    with (
        pytest.raises(InputError, match=r"malformed; name another file; .*recover"),
        open_scores(path) as cache,
    ):
        cache.get_many(keys)


STORE = """
import sys
from pathlib import Path
from hybrid_ir.rerank.cache import keys_of, open_scores
path, count, worth = sys.argv[1:]
with open_scores(Path(path)) as cache:
    for number in range(int(count)):
        keys = keys_of("model", str(number), "abc")
        cache.put_many(dict.fromkeys(keys, float(worth)))
        print(number, flush=True)
"""


def store_elsewhere(path, count, worth):
    command = [sys.executable, "-c", STORE, str(path), str(count), str(worth)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def test_processes_share_a_file_that_none_of_them_made_first(tmp_path):
    path = tmp_path / "scores.sqlite"
    children = [store_elsewhere(path, 100, worth) for worth in (1, 2)]
    for child in children:
        child.communicate()
    assert [child.returncode for child in children] == [0, 0]
    with open_scores(path) as cache:
        for number in range(100):
            found = cache.get_many(keys_of("model", str(number), "abc"))
            assert len(found) == 3
            assert set(found.values()) in ({1.0}, {2.0})  # all of one transaction


def test_what_was_stored_survives_kill_9(tmp_path):
    path = tmp_path / "scores.sqlite"
    child = store_elsewhere(path, 10**9, 1)
    stored = [int(child.stdout.readline()) for _ in range(300)]
    child.kill()
    stored += [int(line) for line in child.stdout.read().split("\n")[:-1]]
    child.wait()
    child.stdout.close()
    with open_scores(path) as cache:
        for number in stored:
            assert len(cache.get_many(keys_of("model", str(number), "abc"))) == 3
    with sqlite3.connect(path) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    connection.close()
