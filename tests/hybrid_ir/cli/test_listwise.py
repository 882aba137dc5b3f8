"""The command against a server of a language model that answers well, badly or not at all."""

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from provider_server import Act, Call, openai_answer

from generation.cache.replies import ReplyCache
from generation.listwise import ListwiseConfig
from hybrid_ir.cli import main
from hybrid_ir.config import load_config
from hybrid_ir.manifests import read_manifest
from hybrid_ir.pubmed.store import StoreWriter
from hybrid_ir.records import Document, Ranked
from hybrid_ir.trec import read_run, write_run

ROOT = Path(__file__).parents[3]
QUESTIONS = 6
DOCUMENTS = 8
WINDOWS = 3  # of 8 documents, 4 at once by 2
BODIES = [f"What is the role of gene{number} in disease?" for number in range(QUESTIONS)]
FIRST = [str(number) for number in range(DOCUMENTS)]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("TEST_KEY", "sk-very-secret-1234567890")
    monkeypatch.chdir(tmp_path)
    Path("index").mkdir()
    store = StoreWriter(Path("index/documents.sqlite"))
    store.add(Document(str(n), f"Document {n}.", "word " * n) for n in range(DOCUMENTS))
    store.close()
    ranking = tuple(Ranked(one, 9.0 - place) for place, one in enumerate(FIRST))
    write_run(Path("first.trec"), ((f"q{n}", ranking) for n in range(QUESTIONS)), "first")
    batch = [
        {"id": f"q{number}", "body": body, "type": "list"} for number, body in enumerate(BODIES)
    ]
    Path("batch.json").write_text(json.dumps({"questions": batch}))
    return tmp_path


def write_config(at, provider="openai", **settings):
    model = {
        "provider": provider, "model": "gpt-1", "key_variable": "TEST_KEY", "timeout": 60.0,
        "base_url": at.gemini_url if provider == "gemini" else at.openai_url,
        "prices": {"prompt": 1.0, "completion": 2.0}, "sampling": {"max_tokens": 100},
    }  # fmt: skip
    shape = {"depth": DOCUMENTS, "window": 4, "step": 2, "cache": "replies.sqlite"}
    config = {"generators": {"gpt": model}} | shape | settings
    Path("config.yaml").write_text(json.dumps(config))  # JSON is YAML


COMMAND = (
    "listwise", "--run", "first.trec", "--questions", "batch.json", "--index", "index",
    "--output", "new.trec", "--config", "config.yaml",
)  # fmt: skip


def listwise(*arguments):
    return main([*COMMAND, *arguments])


def order_in(path, question):
    return [item.item for item in read_run(Path(path)).rankings[question]]


def answer(*numbers):
    return Act(text=json.dumps({"order": numbers}))


def reversed_thrice():
    """Reverse the windows 4-7, 2-5, 0-3 of the ranking, one after the other."""
    order = list(FIRST)
    for start in (4, 2, 0):
        order[start : start + 4] = order[start : start + 4][::-1]
    return order


def test_the_configuration_can_be_read():
    config = load_config(ListwiseConfig, ROOT / "configs" / "listwise.yaml")
    assert config.generator.name == "gpt"
    assert config.generator.priced


@pytest.mark.parametrize("protocol", ["openai", "gemini"])
def test_questions_are_asked_side_by_side_and_their_windows_in_turn(folder, provider, protocol):
    provider.script("", answer(4, 3, 2, 1), forever=True)
    write_config(provider, protocol)
    assert listwise("--name", "LLM") == 0
    assert order_in("new.trec", "q3") == reversed_thrice()
    assert read_run(Path("new.trec")).name == "LLM"
    assert len(provider.calls) == QUESTIONS * WINDOWS
    for start in range(0, QUESTIONS * WINDOWS, QUESTIONS):  # a window of each question, any order
        prompts = [call.prompt for call in provider.calls[start : start + QUESTIONS]]
        assert all(sum(body in prompt for prompt in prompts) == 1 for body in BODIES)
    info = read_manifest(Path("new.trec")).info
    assert info["windows"] == info["replies"]["json"] == QUESTIONS * WINDOWS
    gpt = info["generators"]["gpt"]
    assert (gpt["calls"], gpt["cached"]) == (QUESTIONS * WINDOWS, 0)
    assert gpt["usd"] == pytest.approx(
        (gpt["prompt_tokens"] * 1.0 + gpt["completion_tokens"] * 2.0) / 1e6
    )
    first = next(call for call in provider.calls if BODIES[0] in call.prompt)
    assert '[1] "Document 4. word word word word"' in first.prompt
    if protocol == "openai":
        shape = first.body["response_format"]["json_schema"]
        assert (shape["name"], shape["schema"]["required"]) == ("PassageOrder", ["order"])
    assert listwise("--name", "LLM") == 0
    assert len(provider.calls) == QUESTIONS * WINDOWS


def test_bad_replies_are_mended_or_asked_again_and_each_is_counted(folder, provider, capsys):
    good = answer(4, 3, 2, 1)
    provider.script(BODIES[0], answer(4, 3, 3, 4), good, good)  # two missing: 1, 2
    provider.script(BODIES[1], answer(4, 9, 3, 2, 1), good, good)
    provider.script(BODIES[2], Act(text='Surely: {"order": [4, 3, 2, 1]}. Enjoy!'), good, good)
    provider.script(BODIES[3], Act(text='{"order": [4, 3, 2, 1'), good, good, good)  # asked again
    provider.script(BODIES[4], Act(text=""), Act("refusal"), Act("length"), good, good)  # left
    provider.script(BODIES[5], Act("status", status=429, retry_after="0.1"), good, good, good)
    write_config(provider)
    assert listwise() == 0
    for question in ("q1", "q2", "q3", "q5"):
        assert order_in("new.trec", question) == reversed_thrice()
    # 7 6 4 5, then 2 3 7 6 -> 6 7 3 2, then 0 1 6 7 -> 7 6 1 0
    assert order_in("new.trec", "q0") == ["7", "6", "1", "0", "3", "2", "4", "5"]
    # the lowest window stays: 2 3 4 5 -> 5 4 3 2, then 0 1 5 4 -> 4 5 1 0
    assert order_in("new.trec", "q4") == ["4", "5", "1", "0", "3", "2", "6", "7"]
    info = read_manifest(Path("new.trec")).info
    assert info["mended"] == {"out_of_range": 1, "repeated": 2, "missing": 2}
    assert info["replies"] == {"json": 16, "extracted": 1, "repaired": 0, "text": 0}
    assert (info["windows"], info["windows_mended"], info["windows_left"]) == (18, 2, 1)
    gpt = info["generators"]["gpt"]
    assert gpt["calls"] == 18 + 1 + 2 + 1  # of q3, q4, q5
    assert gpt["unusable"] == {
        "it holds no order of passages": 1, "it is empty": 1, "it was refused": 1,
        "it was cut off at the longest length": 1,
    }  # fmt: skip
    said = capsys.readouterr().err
    assert (
        "2 of 18 windows mended: 1 number out of range and 2 repeated left out, 2 missing" in said
    )
    assert "1 of 18 windows are left as they were" in said


def test_a_question_that_fails_stays_as_it_was_and_is_asked_alone_next_time(
    folder, provider, capsys
):
    provider.script(BODIES[2], answer(4, 3, 2, 1), *[Act("status", status=500)] * 2)
    provider.script("", answer(4, 3, 2, 1), forever=True)
    write_config(provider)
    assert listwise("generators.gpt.retries=1") == 1
    said = capsys.readouterr().err
    assert "1 question of 6 could not be re-ranked (server 1), see new.trec.failed.jsonl" in said
    assert not Path("new.trec").exists()
    assert read_manifest(Path("new.trec")) is None
    assert order_in("new.incomplete.trec", "q2") == FIRST
    assert order_in("new.incomplete.trec", "q1") == reversed_thrice()
    (failed,) = map(json.loads, Path("new.trec.failed.jsonl").read_text().splitlines())
    assert (failed["question_id"], failed["sample"], failed["kind"]) == ("q2", 1, "server")
    assert len(provider.calls) == 5 * WINDOWS + 1 + 2
    assert listwise() == 0
    assert len(provider.calls) == 5 * WINDOWS + 1 + 2 + 2  # the second and third window of q2
    assert order_in("new.trec", "q2") == reversed_thrice()
    assert not list(folder.glob("new.*incomplete*")) + list(folder.glob("new.*failed*"))


def test_a_refused_key_stops_all_and_says_so(folder, provider, capsys):
    provider.script("", Act("status", status=401), forever=True)
    write_config(provider)
    assert listwise("generators.gpt.concurrency=1") == 1
    assert len(provider.calls) == 1
    assert "6 questions of 6 could not be re-ranked (key 1, stopped 5)" in capsys.readouterr().err


def test_a_budget_holds_over_all_windows_and_more_of_it_goes_on(folder, provider, capsys):
    provider.script("", answer(4, 3, 2, 1), forever=True)
    write_config(provider)
    assert listwise("generators.gpt.concurrency=1", "budget.tokens=2500") == 1
    assert "budget " in capsys.readouterr().err
    asked = len(provider.calls)
    assert QUESTIONS < asked < QUESTIONS * WINDOWS
    with ReplyCache(Path("replies.sqlite")) as cache:
        (account,) = cache.ledger.accounts()
    assert account.stage == "listwise new.trec"
    assert account.tokens <= 2500
    assert listwise("budget.usd=1") == 0
    assert len(provider.calls) == QUESTIONS * WINDOWS
    assert order_in("new.trec", "q5") == reversed_thrice()


def test_a_dry_run_is_an_upper_bound_and_follows_the_cache(folder, provider, capsys):
    provider.script(BODIES[1], answer(4, 3, 2, 1), Act("status", status=400))
    provider.script("", answer(4, 3, 2, 1), forever=True)
    write_config(provider)
    assert listwise("--dry-run") == 0
    said = capsys.readouterr().out
    assert said.startswith("gpt: 18 calls, at most ")
    assert "1,800 completion tokens" in said
    most = int(said.split("at most ")[1].split()[0].replace(",", ""))
    assert provider.calls == []
    assert not Path("replies.sqlite").exists()
    assert listwise() == 1
    capsys.readouterr()
    assert listwise("--dry-run") == 0
    assert capsys.readouterr().out.startswith("gpt: 2 calls (16 more are cached), at most ")
    assert listwise() == 0
    assert read_manifest(Path("new.trec")).info["generators"]["gpt"]["prompt_tokens"] < most
    capsys.readouterr()
    assert listwise("--dry-run") == 0
    assert capsys.readouterr().out.startswith("gpt: 0 calls (18 more are cached)\n")


def answers_to(name):
    """Answer a batch file as the Batch API does."""
    for line in Path(name).read_text().splitlines():
        request = json.loads(line)
        call = Call("", request["body"], {}, "", answer(4, 3, 2, 1))
        body = {"status_code": 200, "body": openai_answer(call, 0)}
        yield json.dumps({"custom_id": request["custom_id"], "response": body, "error": None})


def test_offline_batches_go_window_by_window(folder, provider, capsys):
    write_config(provider)
    for window in range(WINDOWS):
        assert listwise("--export-requests", "ask.jsonl") == 0
        cached = f"; {QUESTIONS * window} cached" if window else ""
        assert f"gpt: 6 requests in ask.jsonl{cached}\n" in capsys.readouterr().out
        Path("results.jsonl").write_text("\n".join(answers_to("ask.jsonl")))
        assert listwise("--import-replies", "results.jsonl") == 0
        capsys.readouterr()
    assert listwise() == 0
    assert provider.calls == []
    assert order_in("new.trec", "q0") == reversed_thrice()


@pytest.mark.slow
def test_killed_in_the_midst_it_pays_for_no_window_twice(folder, provider):
    provider.latency = 0.1
    provider.script("", answer(4, 3, 2, 1), forever=True)
    write_config(provider)
    command = [sys.executable, "-m", "hybrid_ir.cli", *COMMAND, "generators.gpt.concurrency=2"]
    process = subprocess.Popen(command, stderr=subprocess.DEVNULL)
    while len(provider.calls) < QUESTIONS + 3 and process.poll() is None:
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    assert process.wait(30) == 130
    asked = len(provider.calls)
    assert QUESTIONS + 3 <= asked < QUESTIONS * WINDOWS
    assert listwise() == 0
    assert len(provider.calls) == QUESTIONS * WINDOWS
    assert order_in("new.trec", "q4") == reversed_thrice()


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        (["step=4"], "step: expected 1 or more, less than window"),
        (["form=jsn"], "form"),
        (["cache=null", "budget.usd=1"], "cache: expected a file, with a budget"),
        (["generators.gpt.key_variable=ABSENT"], "ABSENT"),
        (["--name", "two words"], "no white space"),
        (["--output", "first.trec"], "is an input"),
    ],
)
def test_what_cannot_be_used_is_said_and_costs_nothing(folder, provider, capsys, arguments, part):
    write_config(provider)
    assert listwise(*arguments) == 2
    assert part in capsys.readouterr().err
    assert provider.calls == []
