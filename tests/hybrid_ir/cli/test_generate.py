import gzip
import json
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest
from provider_server import Act, Call, openai_answer

from generation.pseudo_documents import PseudoConfig
from generation.synthetic import SyntheticConfig
from hybrid_ir.cli import main
from hybrid_ir.config import load_config
from hybrid_ir.files import read_jsonl
from hybrid_ir.manifests import read_manifest
from hybrid_ir.records import Document, PseudoDocument, SyntheticPair

ROOT = Path(__file__).parents[3]
KEY = "sk-very-secret-1234567890"
BODIES = [f"What is the role of gene{number} in disease{number}?" for number in range(12)]


@pytest.fixture(autouse=True)
def key(monkeypatch):
    monkeypatch.setenv("TEST_KEY", KEY)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    batch = [
        {"id": f"{number:024x}", "body": body, "type": "summary"}
        for number, body in enumerate(BODIES)
    ]
    (tmp_path / "batch.json").write_text(json.dumps({"questions": batch}))
    return tmp_path


def model(at, name="gpt", **settings):
    gemini = settings.get("provider") == "gemini"
    return name, {
        "provider": "openai",
        "model": f"{name}-1",
        "base_url": at.gemini_url if gemini else at.openai_url,
        "key_variable": "TEST_KEY",
        "timeout": 0.5,
        "prices": {"prompt": 1.0, "completion": 2.0},
    } | settings


def write_config(folder, *models, **settings):
    config = {
        "generators": dict(models),
        "cache": "replies.sqlite",
    } | settings
    (folder / "config.yaml").write_text(json.dumps(config))  # JSON is YAML


def pseudo(*arguments, output="pseudo.jsonl"):
    command = ["generate", "pseudo", "--questions", "batch.json", "--output", output]
    return main([*command, "--config", "config.yaml", *arguments])


def texts_in(name):
    return list(read_jsonl(Path(name), PseudoDocument))


def info_of(name):
    return read_manifest(Path(name)).info


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        (PseudoConfig, "generate"),
        (PseudoConfig, "generate-local"),
        (PseudoConfig, "generate-recorded"),
        (SyntheticConfig, "synthetic"),
        (SyntheticConfig, "synthetic-recorded"),
    ],
)
def test_the_configurations_can_be_read(kind, name):
    config = load_config(kind, ROOT / "configs" / f"{name}.yaml")
    assert all(model.name == name for name, model in config.generators.items())


def test_recorded_texts_become_pseudo_documents_without_a_key(mini, tmp_path, monkeypatch):
    monkeypatch.chdir(ROOT)
    output = tmp_path / "12B1.pseudo.jsonl"
    command = [
        "generate", "pseudo", "--questions", str(mini / "test" / "12B1.questions.json"),
        "--config", "configs/generate-recorded.yaml", "--output", str(output),
    ]  # fmt: skip
    assert main(command) == 0
    documents = texts_in(output)
    assert len(documents) == 85 * 2
    expected = {}
    for style in ("expert", "abstract"):
        with gzip.open(mini / "llm" / f"12B1.{style}.jsonl.gz") as file:
            rows = map(json.loads, file)
            expected |= {(row["id"], style): row["pseudo_document"] for row in rows}
    found = {(document.question_id, document.generator): document.text for document in documents}
    assert found == expected
    assert [document.generator for document in documents] == ["expert", "abstract"] * 85
    ids = [
        q["id"] for q in json.loads((mini / "test/12B1.questions.json").read_text())["questions"]
    ]
    assert [document.question_id for document in documents[::2]] == ids
    assert {(d.sample, d.prompt, d.weight) for d in documents} == {(0, "recorded", 1.0)}
    made = output.stat().st_mtime_ns
    assert main(command) == 0
    assert output.stat().st_mtime_ns == made


def test_texts_can_be_weighed(mini, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(ROOT)
    output = tmp_path / "12B1.pseudo.jsonl"
    command = [
        "generate", "pseudo", "--questions", str(mini / "test" / "12B1.questions.json"),
        "--config", "configs/generate-recorded.yaml", "--output", str(output),
    ]  # fmt: skip
    assert main([*command, "quality={method: lexical, everything: 1.0}"]) == 0
    weights = [text.weight for text in texts_in(output)]
    assert len(weights) == 85 * 2
    assert len(set(weights)) > 50
    assert all(0 <= weight <= 1 for weight in weights)
    key = read_manifest(output).key
    assert main([*command, "quality={method: lexical, everything: 1.0}", "samples=1"]) == 0
    assert read_manifest(output).key == key
    assert main([*command, "quality={method: best}"]) == 2
    assert "expected one of" in capsys.readouterr().err


def test_misbehaviour_loses_nothing_and_changes_no_order(folder, provider):
    write_config(folder, model(provider), model(provider, "gem", provider="gemini"))
    assert pseudo(output="quiet.jsonl") == 0
    provider.calls.clear()
    acts = [
        Act("status", status=429, retry_after="0.1"), Act("status", status=500), Act("hang"),
        Act("reset"), Act("cut"), Act("malformed"), Act("truncated"), Act("wrong_shape"),
        Act("no_choices"),
    ]  # fmt: skip
    for act, body in zip(acts, BODIES, strict=False):
        provider.script(body, act)
    assert pseudo("cache=other.sqlite") == 0
    assert Path("pseudo.jsonl").read_bytes() == Path("quiet.jsonl").read_bytes()
    texts = texts_in("pseudo.jsonl")
    assert [(text.question_id, text.generator) for text in texts] == [
        (f"{number:024x}", name) for number in range(12) for name in ("gpt", "gem")
    ]
    assert len(provider.calls) == 12 * 2 + len(acts)
    for file in folder.iterdir():
        assert KEY.encode() not in file.read_bytes()


def test_refusals_are_asked_again_and_wrappings_cut(folder, provider):
    content = "Gene one is needed for disease one and its loss is harmful in mice and men."
    provider.script(BODIES[0], Act(text="As an AI language model, I cannot say."))
    provider.script(BODIES[0], Act(text=f"Sure! Here is a passage:\n\n{content}"))
    provider.script(BODIES[1], Act("refusal"))
    provider.script(BODIES[2], Act("length"))
    write_config(folder, model(provider), min_words=10)
    assert pseudo() == 0
    assert texts_in("pseudo.jsonl")[0].text == content
    info = info_of("pseudo.jsonl")["generators"]["gpt"]
    assert info["cut"] == {"opening": 2}
    assert info["unusable"] == {
        "it refuses": 1, "it was refused": 1, "it was cut off at the longest length": 1,
    }  # fmt: skip
    assert (info["texts"], info["calls"], info["asked_again"]) == (12, 12 + 3, 3)
    assert info["served_as"] == {"gpt-1-2026-01-01": 12}
    assert info["replied"] == [time.strftime("%Y-%m-%d", time.gmtime())]
    assert info["usd"] == pytest.approx(
        (info["prompt_tokens"] * 1.0 + info["completion_tokens"] * 2.0) / 1e6
    )


def test_a_failed_question_is_recorded_and_asked_alone_the_next_time(folder, provider, capsys):
    provider.script(BODIES[3], Act("status", status=400, message="no"), Act("status", status=400))
    write_config(folder, model(provider))
    assert pseudo() == 1
    said = capsys.readouterr().err
    assert "1 text is missing (request 1), see pseudo.failed.jsonl; 11 texts could be had" in said
    assert "same command asks for the missing ones alone" in said
    assert not Path("pseudo.jsonl").exists()
    assert read_manifest(Path("pseudo.jsonl")) is None
    assert len(texts_in("pseudo.incomplete.jsonl")) == 11
    (failed,) = map(json.loads, Path("pseudo.failed.jsonl").read_text().splitlines())
    assert (failed["question_id"], failed["generator"], failed["sample"]) == (f"{3:024x}", "gpt", 0)
    assert (failed["kind"], "no" in failed["message"]) == ("request", True)
    assert len(provider.calls) == 12
    assert pseudo() == 1
    assert len(provider.calls) == 13
    assert pseudo() == 0
    assert len(provider.calls) == 14
    assert [text.question_id for text in texts_in("pseudo.jsonl")] == [
        f"{number:024x}" for number in range(12)
    ]
    assert sorted(path.name for path in folder.glob("pseudo.*")) == [
        "pseudo.jsonl",
        "pseudo.jsonl.manifest.json",
    ]


def test_a_compressed_output_has_its_companions_named_alike(folder, provider):
    provider.script(BODIES[3], Act("status", status=400))
    write_config(folder, model(provider))
    assert pseudo(output="pseudo.jsonl.gz") == 1
    assert len(texts_in("pseudo.incomplete.jsonl.gz")) == 11
    assert Path("pseudo.failed.jsonl.gz").exists()
    assert pseudo(output="pseudo.jsonl.gz") == 0
    assert len(texts_in("pseudo.jsonl.gz")) == 12


def test_where_nothing_is_had_nothing_is_written(folder, provider, capsys):
    provider.script("", Act("status", status=401), forever=True)
    write_config(folder, model(provider))
    assert pseudo() == 1
    assert "no text could be had" in capsys.readouterr().err
    assert sorted(path.name for path in folder.glob("pseudo.*")) == ["pseudo.failed.jsonl"]
    lines = Path("pseudo.failed.jsonl").read_text().splitlines()
    kinds = [json.loads(line)["kind"] for line in lines]
    assert len(kinds) == 12
    assert set(kinds) <= {"key", "stopped"}


def test_an_incomplete_run_leaves_the_earlier_output_as_it_is(folder, provider):
    write_config(folder, model(provider))
    assert pseudo() == 0
    before = Path("pseudo.jsonl").read_bytes(), read_manifest(Path("pseudo.jsonl"))
    provider.script(BODIES[3], Act("status", status=400))
    assert pseudo("prompts=[simple]", "min_words=1") == 1
    assert (Path("pseudo.jsonl").read_bytes(), read_manifest(Path("pseudo.jsonl"))) == before


def test_what_is_never_of_use_needs_more_attempts(folder, provider, capsys):
    provider.script(BODIES[3], *[Act("refusal")] * 3)
    write_config(folder, model(provider))
    assert pseudo() == 1
    assert "more attempts (attempts=6)" in capsys.readouterr().err
    (failed,) = map(json.loads, Path("pseudo.failed.jsonl").read_text().splitlines())
    assert "it was refused; more attempts ask on (attempts=6)" in failed["message"]
    assert "`hybrid-ir cache forget-rejected replies.sqlite`" in failed["message"]
    assert failed["message"].startswith("no reply of 3 is of use")
    assert pseudo() == 1  # the cache knows that three were of no use
    assert len(provider.calls) == 12 + 2
    assert pseudo("attempts=6") == 0
    assert len(provider.calls) == 12 + 3


def test_a_budget_stops_cleanly_and_more_of_it_goes_on(folder, provider, capsys):
    write_config(folder, model(provider, concurrency=1, sampling={"max_tokens": 200}))
    assert pseudo("budget.tokens=1500") == 1
    assert "(budget " in capsys.readouterr().err
    asked = len(provider.calls)
    assert 0 < asked < 12
    assert len(texts_in("pseudo.incomplete.jsonl")) == asked
    assert pseudo("budget.tokens=100000") == 0
    assert len(provider.calls) == 12


def test_a_dry_run_spends_nothing(folder, provider, capsys):
    write_config(folder, model(provider, sampling={"max_tokens": 100}))
    assert pseudo("--dry-run") == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("gpt: 12 calls, at most ")
    assert "1,200 completion tokens" in lines[0]
    assert lines[-1].startswith("together at most 0.00")
    assert provider.calls == []
    assert sorted(path.name for path in folder.iterdir()) == ["batch.json", "config.yaml"]
    assert pseudo() == 0
    assert pseudo("--dry-run") == 0
    assert "gpt: 0 calls (12 more are cached)\n" in capsys.readouterr().out


def test_a_generator_is_summed_up_in_one_line(folder, provider, capsys):
    write_config(folder, model(provider), model(provider, "other", prices=None))
    assert pseudo() == 0
    lines = capsys.readouterr().err.splitlines()
    (gpt,) = [line for line in lines if line.startswith("gpt: ")]
    assert gpt.startswith("gpt: 12 texts, 12 calls, ")
    assert gpt.endswith(" USD")
    assert " 0 " not in gpt
    (other,) = [line for line in lines if line.startswith("other: ")]
    assert other.endswith("cost unknown (no prices set)")
    assert info_of("pseudo.jsonl")["generators"]["other"]["usd"] is None
    assert pseudo("--dry-run", "cache=null") == 0
    said = capsys.readouterr().out
    assert "other: 12 calls" in said
    assert "cost unknown (no prices set); retries" in said
    assert said.endswith(" USD, but for other: no prices set\n")


def test_a_generator_of_the_file_can_be_dropped(folder, provider):
    write_config(folder, model(provider), model(provider, "other"))
    assert pseudo("generators.other=null") == 0
    assert {text.generator for text in texts_in("pseudo.jsonl")} == {"gpt"}
    assert pseudo("generators.othr=null") == 2


def test_recorded_texts_of_another_batch_are_asked_about(folder, capsys):
    ids = [f"{number:024x}" for number in (0, 1, 77)]
    rows = [json.dumps({"id": id_, "text": "word " * 30}) for id_ in ids]
    Path("texts.jsonl").write_text("\n".join(rows))
    write_config(folder, ("old", {"provider": "recorded", "model": "texts.jsonl"}), cache=None)
    assert pseudo("prompts=[recorded]") == 1
    said = capsys.readouterr().err
    assert "10 texts are missing (missing 10)" in said
    assert "The recorded file of old has no text for 10 requests: is it of the same batch?" in said
    assert "same command" not in said


def answers_to(name):
    """Answer a batch file as the Batch API does."""
    for line in Path(name).read_text().splitlines():
        request = json.loads(line)
        prompt = "\n".join(turn["content"] for turn in request["body"]["messages"])
        call = Call("", request["body"], {}, prompt, Act())
        body = openai_answer(call, 0)
        yield {
            "custom_id": request["custom_id"],
            "response": {"status_code": 200, "body": body},
            "error": None,
        }


def test_an_offline_batch_needs_no_call(folder, provider, monkeypatch, capsys):
    write_config(folder, model(provider), model(provider, "other"))
    assert pseudo("cache=live.sqlite", output="live.jsonl") == 0
    provider.calls.clear()
    monkeypatch.delenv("TEST_KEY")
    assert pseudo("--export-requests", "ask.jsonl") == 0
    said = capsys.readouterr().out
    assert "gpt: 12 requests in ask.gpt.jsonl\n" in said
    results = [*answers_to("ask.gpt.jsonl"), *answers_to("ask.other.jsonl")][::-1]
    unanswered = results.pop()
    Path("results.jsonl").write_text("".join(json.dumps(line) + "\n" for line in results))
    Path("errors.jsonl").write_text(
        json.dumps(
            {"custom_id": unanswered["custom_id"], "error": {"code": "expired", "message": "late"}}
        )
    )
    assert pseudo("--import-replies", "results.jsonl", "errors.jsonl") == 1
    said = capsys.readouterr()
    assert "results.jsonl: 23 good replies, 0 of no use, 0 known before, 0 errors" in said.out
    assert "errors.jsonl:1" in said.err
    assert "late" in said.err
    assert pseudo("--import-replies", "results.jsonl") == 0
    assert not Path("pseudo.jsonl").exists()
    assert pseudo("--export-requests", "again.jsonl") == 0
    assert "gpt: 1 request in again.gpt.jsonl; 11 cached" in capsys.readouterr().out
    assert not Path("again.other.jsonl").exists()
    monkeypatch.setenv("TEST_KEY", KEY)
    assert provider.calls == []
    assert pseudo() == 0
    assert len(provider.calls) == 1
    assert Path("pseudo.jsonl").read_bytes() == Path("live.jsonl").read_bytes()


def test_batch_files_need_a_cache(folder, provider, capsys):
    write_config(folder, model(provider), cache=None)
    assert pseudo("--export-requests", "ask.jsonl") == 2
    assert "name one (cache=FILE)" in capsys.readouterr().err


def test_examples_come_from_earlier_batches_only(folder, provider):
    golden = [
        {
            "id": f"{number + 100:024x}", "body": body, "type": "summary",
            "ideal_answer": [f"The answer to {number}."],
        }
        for number, body in enumerate([BODIES[0], "What is old?", "What is older?"])
    ]  # fmt: skip
    Path("golden.json").write_text(json.dumps({"questions": golden}))
    write_config(
        folder,
        model(provider),
        prompts=["examples"],
        examples={"golds": ["golden.json"], "number": 2, "source": "ideal"},
    )
    assert pseudo() == 0
    for call in provider.calls:
        assert "The answer to 1." in call.prompt
        assert "The answer to 2." in call.prompt
        assert "The answer to 0." not in call.prompt
    assert "examples 1" in read_manifest(Path("pseudo.jsonl")).inputs
    assert pseudo("examples.number=3", output="more.jsonl") == 2


def test_another_prompt_makes_the_output_stale_and_more_concurrency_does_not(folder, provider):
    write_config(folder, model(provider))
    assert pseudo() == 0
    first = read_manifest(Path("pseudo.jsonl")).key
    assert pseudo("generators.gpt.concurrency=2", "budget.usd=5", "cache=null") == 0
    assert len(provider.calls) == 12
    assert pseudo("prompts=[abstract,simple]", "samples=2", "min_words=1") == 0
    assert read_manifest(Path("pseudo.jsonl")).key != first
    texts = texts_in("pseudo.jsonl")
    assert [(text.sample, text.prompt) for text in texts[:4]] == [
        (0, "abstract"), (1, "abstract"), (2, "simple"), (3, "simple"),
    ]  # fmt: skip
    assert len(texts) == 12 * 2 * 2
    assert len(provider.calls) == 12 * 2 * 2  # the first 12 were in the cache


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        (["prompts=[abstrct]"], "expected one of"),
        (["generators.gpt.modl=x"], "modl"),
        (["generators.gpt.key_variable=ABSENT"], "ABSENT"),
        (["generators.gpt.base_url=here"], "expected http://HOST"),
        (["generators.gpt.name=other"], "gpt.name: expected none, its key is its name"),
        (["samples=0"], "samples: expected 1 or more"),
        (["budget.usd=5", "generators.gpt.prices=null"], "generators.gpt.prices.prompt=0.75"),
        (["prompts=[examples]"], "none given (examples.golds)"),
    ],
)
def test_what_the_user_can_mend_is_one_message(folder, provider, capsys, arguments, part):
    write_config(folder, model(provider))
    assert pseudo(*arguments) == 2
    assert part in capsys.readouterr().err
    assert provider.calls == []
    assert not Path("pseudo.jsonl").exists()


def synthetic(*arguments, source=("--questions", "batch.json")):
    command = ["generate", "synthetic", *source, "--output", "pairs.jsonl"]
    return main([*command, "--config", "config.yaml", *arguments])


def test_passages_are_checked_and_near_duplicates_left_out(folder, provider):
    for number, body in enumerate(BODIES):
        text = " ".join(f"word{number}x{place}" for place in range(40))
        if number == 1:  # says the question again, and is asked again
            provider.script(body, Act(text=f"{body} {text}"))
        if number == 5:
            text = " ".join(f"word4x{place}" for place in range(40)) + " and one more"
        provider.script(body, Act(text=text))
    write_config(folder, model(provider))
    assert synthetic() == 0
    pairs = list(read_jsonl(Path("pairs.jsonl"), SyntheticPair))
    assert [pair.question for pair in pairs] == [b for n, b in enumerate(BODIES) if n != 5]
    assert {(pair.label, pair.source, pair.generator) for pair in pairs} == {(1, "passage", "gpt")}
    assert pairs[1].document_id == f"{1:024x}.gpt.0"
    assert pairs[1].text.startswith("word1x0")
    info = info_of("pairs.jsonl")
    assert (info["pairs"], info["left_out"]) == (11, 1)
    assert info["generators"]["gpt"]["unusable"] == {"it repeats the question": 1}
    (left,) = map(json.loads, Path("pairs.left_out.jsonl").read_text().splitlines())
    assert (left["pair"]["question"], left["repeats"]) == (BODIES[5], f"{4:024x}.gpt.0")
    assert len(provider.calls) == 12 + 1
    again = [call.prompt for call in provider.calls if "cannot be used" in call.prompt]
    assert len(again) == 1
    assert BODIES[1] in again[0]
    assert "it repeats the question: 100% of it" in again[0]


def test_questions_are_written_for_passages_by_type_in_turn(folder, provider):
    documents = [
        Document(str(number), f"Title{number}.", f"Abstract{number} of some words.")
        for number in range(4)
    ]
    lines = [json.dumps({"id": d.id, "title": d.title, "abstract": d.abstract}) for d in documents]
    Path("passages.jsonl").write_text("\n".join([*lines, '{"id": "empty"}']))
    provider.script("Title0", Act(text="What does this study show about it?"), forever=True)
    for number in range(1, 4):
        provider.script(f"Title{number}", Act(text=f'"Is protein{number} of use{number}?"'))
    write_config(folder, model(provider))
    assert synthetic(source=("--passages", "passages.jsonl")) == 1
    (failed,) = map(json.loads, Path("pairs.failed.jsonl").read_text().splitlines())
    assert (failed["question_id"], failed["kind"]) == ("0", "unusable")
    assert "speaks of its source" in failed["message"]
    pairs = list(read_jsonl(Path("pairs.incomplete.jsonl"), SyntheticPair))
    assert [(pair.type, pair.question) for pair in pairs] == [
        ("factoid", "Is protein1 of use1?"),
        ("list", "Is protein2 of use2?"),
        ("summary", "Is protein3 of use3?"),
    ]
    assert (pairs[0].document_id, pairs[0].text) == ("1", "Title1. Abstract1 of some words.")
    assert len(provider.calls) == 4 + 2  # attempts: two more for the first
    assert synthetic(source=("--passages", "passages.jsonl")) == 1
    assert len(provider.calls) == 4 + 2


def test_a_document_that_comes_twice_is_refused(folder, provider, capsys):
    Path("passages.jsonl").write_text('{"id": "7", "title": "T."}\n' * 2)
    write_config(folder, model(provider))
    assert synthetic(source=("--passages", "passages.jsonl")) == 2
    assert "passages.jsonl: document '7' comes twice" in capsys.readouterr().err
    assert provider.calls == []


def test_a_dry_run_of_pairs(folder, provider, capsys):
    write_config(folder, model(provider), samples=2)
    assert synthetic("--dry-run") == 0
    assert "gpt: 24 calls" in capsys.readouterr().out
    assert provider.calls == []
    assert synthetic("attempts=1", "samples=1") == 1  # the server's own replies are too short
    assert synthetic("--dry-run", "attempts=1", "samples=1") == 0
    assert "gpt: 0 calls (12 have no usable reply)\n" in capsys.readouterr().out


@pytest.mark.slow
def test_killed_in_the_midst_it_goes_on_where_it_was(folder, provider):
    bodies = [f"What is the role of gene{number} in disease{number}?" for number in range(200)]
    batch = [
        {"id": f"{number:024x}", "body": body, "type": "summary"}
        for number, body in enumerate(bodies)
    ]
    Path("batch.json").write_text(json.dumps({"questions": batch}))
    write_config(folder, model(provider, concurrency=8))
    assert pseudo("cache=whole.sqlite", output="whole.jsonl") == 0
    provider.calls.clear()
    provider.latency = 0.05
    command = [sys.executable, "-m", "hybrid_ir.cli", "generate", "pseudo"]
    command += ["--questions", "batch.json", "--output", "pseudo.jsonl", "--config", "config.yaml"]
    process = subprocess.Popen(command, stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + 60
    while len(provider.calls) < 80 and time.monotonic() < deadline:
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.wait()
    time.sleep(0.2)
    asked = len(provider.calls)
    assert 80 <= asked < 200
    assert not Path("pseudo.jsonl").exists()
    assert subprocess.run(command, stderr=subprocess.DEVNULL, check=False).returncode == 0
    assert Path("pseudo.jsonl").read_bytes() == Path("whole.jsonl").read_bytes()
    assert len(provider.calls) <= 200 + 8


def test_what_cannot_be_written_is_known_before_anything_is_asked(folder, provider, capsys):
    write_config(folder, model(provider))
    Path("file").touch()
    for output, part in [
        (".", "it is a folder"),
        ("file/pseudo.jsonl", "expected a folder that can be written"),
        ("replies.sqlite", "it is the cache"),
    ]:
        assert pseudo(output=output) == 2
        assert part in capsys.readouterr().err
    assert pseudo("--export-requests", "batch.json") == 2
    assert json.loads(Path("batch.json").read_text())["questions"]
    assert provider.calls == []


def test_missing_embeddings_are_known_before_anything_is_asked(
    folder, provider, capsys, monkeypatch
):
    write_config(folder, model(provider))
    monkeypatch.setattr("generation.embedding.find_spec", lambda _: None)
    assert pseudo("quality.method=both") == 2
    assert "pip install 'sentence-transformers" in capsys.readouterr().err
    assert provider.calls == []


@pytest.mark.parametrize("name", ["pseudo.gz", "pseudo.json.gz", "pseudo.jsonl.gz"])
def test_any_name_that_ends_in_gz_is_compressed(folder, provider, name):
    write_config(folder, model(provider))
    assert pseudo(output=name) == 0
    assert Path(name).read_bytes().startswith(b"\x1f\x8b")


def test_a_link_stays_a_link_to_another_file_system(folder, provider):
    other = Path("/dev/shm")
    if not other.is_dir() or other.stat().st_dev == folder.stat().st_dev:
        pytest.skip("no second file system")
    with tempfile.TemporaryDirectory(dir=other) as there:
        Path("pseudo.jsonl").symlink_to(Path(there) / "texts.jsonl")
        write_config(folder, model(provider))
        assert pseudo() == 0
        assert Path("pseudo.jsonl").is_symlink()
        assert len(texts_in("pseudo.jsonl")) == len(BODIES)


def test_half_a_character_in_a_question_is_named(folder, provider, capsys):
    body = {"id": "7" * 24, "body": "half \ud800", "type": "list"}
    Path("batch.json").write_text(json.dumps({"questions": [body]}))
    write_config(folder, model(provider))
    for option in ([], ["--dry-run"]):
        assert pseudo(*option) == 2
        assert f"question {'7' * 24}" in capsys.readouterr().err


def test_limits_hold_from_one_part_of_the_tasks_to_the_next(folder, provider, monkeypatch):
    monkeypatch.setattr("hybrid_ir.pipeline.synthetic._TOGETHER", 4)
    write_config(folder, model(provider, limits={"requests_per_second": 4}), attempts=1)
    started = time.monotonic()
    synthetic()
    assert len(provider.calls) == 12
    assert time.monotonic() - started >= 2 * 1.0  # 4 in the first second, 4 in the next
