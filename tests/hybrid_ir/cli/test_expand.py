"""entities, expand, and the whole way with texts: files, tables, exit codes."""

import itertools
import json
from pathlib import Path

import pytest

from hybrid_ir.cli import main
from hybrid_ir.config import load_config
from hybrid_ir.expansion import ExpansionConfig
from hybrid_ir.files import read_jsonl, write_jsonl
from hybrid_ir.records import Document, PseudoDocument, Query, Tagged
from hybrid_ir.trec import read_run

ROOT = Path(__file__).parents[3]
IDS = ["6" * 24, "7" * 24]


def call(*arguments):
    return main([str(argument) for argument in arguments])


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with a batch, texts about it and documents, which is the current one."""
    monkeypatch.chdir(tmp_path)
    batch = [
        {"id": IDS[0], "body": "What of aspirin?", "type": "summary"},
        {"id": IDS[1], "body": "Is it the lung?", "type": "yesno"},
    ]
    Path("batch.json").write_text(json.dumps({"questions": batch}))
    texts = [
        PseudoDocument(id_, name, 0, "p", "Aspirin prevents stroke.", weight)
        for id_ in IDS
        for name, weight in (("a", 1.0), ("b", 0.5))
    ]
    write_jsonl(Path("pseudo.jsonl"), texts)
    documents = [Document("1", "aspirin"), Document("2", "stroke"), Document("3", "lung")]
    write_jsonl(Path("documents.jsonl"), documents)
    return tmp_path


EXPAND = ("expand", "--questions", "batch.json", "--pseudo", "pseudo.jsonl", "--output", "q.jsonl")
PAPER = ("repeat=2", "source=entities")


def test_from_texts_to_a_run(folder, capsys):
    assert call("index", "--documents", "documents.jsonl", "--output", folder / "index") == 0
    tagged = ("entities", "--questions", "batch.json", "--pseudo", "pseudo.jsonl")
    assert call(*tagged, "--output", "e.jsonl", "labels=[DISEASE]") == 0
    found = list(read_jsonl(folder / "e.jsonl", Tagged))
    assert [text.generator for text in found] == ["", "a", "b"] * 2
    assert {entity.text for text in found for entity in text.entities} == {"stroke"}
    assert call(*EXPAND, *PAPER, "fused=true") == 0
    queries = list(read_jsonl(folder / "q.jsonl", Query))
    assert [query.variant for query in queries] == ["question", "a", "b"] * 2
    search = (
        "search",
        "--index",
        folder / "index",
        "--queries",
        "q.jsonl",
        "--output",
        "run",
        "rrf_k=0",
    )
    assert call(*search) == 0
    run = read_run(folder / "run").rankings[IDS[0]]
    # aspirin is first for the question and both generators; stroke is second for these two
    assert dict(run) == {"1": 1 / 1 + 1 / 1 + 1 / 1, "2": 1 / 2 + 1 / 2}
    assert capsys.readouterr().out == ""


def test_entities_of_questions_alone(folder):
    assert call("entities", "--questions", "batch.json", "--output", "e.jsonl") == 0
    assert [text.question_id for text in read_jsonl(folder / "e.jsonl", Tagged)] == IDS


def test_settings_come_from_a_file_and_the_command_line_wins(folder):
    Path("settings.yaml").write_text("repeat: 3\nsource: entities\nby_type:\n  yesno: {repeat: 5}")
    assert call(*EXPAND, "--config", "settings.yaml", "repeat=4", "weights=false") == 0
    first, second = read_jsonl(folder / "q.jsonl", Query)
    assert [clause.boost for clause in first.clauses] == [4.0, 1.0, 1.0]
    assert [clause.boost for clause in second.clauses] == [5.0, 1.0, 1.0]


def test_the_configuration_of_the_paper_is_the_one_it_recommends():
    """Section 5: the question twice, and the entities of both generators."""
    config = load_config(ExpansionConfig, ROOT / "configs" / "expand-paper.yaml")
    paper = ExpansionConfig(repeat=2, source="entities", form="repetition", weights=False)
    assert config == paper


@pytest.mark.parametrize(
    ("arguments", "parts"),
    [
        ([*EXPAND, "generators=[c]"], ["generators: expected some of a, b, got c"]),
        ([*EXPAND, "by_type.yesno.generators=[c]"], ["expected some of a, b, got c"]),
        ([*EXPAND, "by_type.yes.repeat=1"], ["some of yesno, factoid, list, summary, got yes"]),
        (
            [*EXPAND, "form=repetition", "repeat=1.5"],
            ["whole numbers with form=repetition, got [1.5]", "weights: expected false"],
        ),
        ([*EXPAND, "sorce=text"], ["unknown key 'sorce'; did you mean 'source'?"]),
        ([*EXPAND, "entities.models=[absent_model]", *PAPER], ["absent_model"]),
        ([*EXPAND[:-1], "pseudo.jsonl"], ["pseudo.jsonl: is an input; give another --output"]),
        ([*EXPAND[:-1], "batch.json"], ["batch.json: is an input; give another --output"]),
        ([*EXPAND[:4], "absent.jsonl", *EXPAND[5:]], ["absent.jsonl: expected a file"]),
        ([*EXPAND[:2], "absent.json", *EXPAND[3:]], ["absent.json: expected a file"]),
        ([*EXPAND[:4], "batch.json", *EXPAND[5:]], ["batch.json:1: not a PseudoDocument"]),
        (
            ["entities", "--questions", "batch.json", "--output", "q.jsonl", "labels=[DISEASES]"],
            ["got 'DISEASES'; did you mean DISEASE?"],
        ),
    ],
)
def test_what_the_user_can_mend_is_told_and_ends_with_2(folder, capsys, arguments, parts):
    before = {path: path.read_bytes() for path in folder.iterdir()}
    assert call(*arguments) == 2
    output = capsys.readouterr()
    assert output.out == ""
    assert "Traceback" not in output.err
    for part in parts:
        assert part in output.err
    assert not (folder / "q.jsonl").exists()
    assert all(path.read_bytes() == content for path, content in before.items())


def test_queries_that_cannot_be_told_apart_end_with_2(folder, capsys):
    assert call("index", "--documents", "documents.jsonl", "--output", folder / "index") == 0
    assert call(*EXPAND, *PAPER) == 0
    lines = Path("q.jsonl").read_text().splitlines(keepends=True)
    Path("twice.jsonl").write_text("".join([*lines, lines[0]]))
    capsys.readouterr()
    search = ("search", "--index", folder / "index", "--queries", "twice.jsonl", "--output", "run")
    assert call(*search) == 2
    message = capsys.readouterr().err
    assert f"question {IDS[0]}: its queries stand apart: sort the file" in message
    assert f"question {IDS[0]}: variant '' stands there several times" in message
    assert not (folder / "run").exists()


def test_recorded_replies_are_told_from_texts_in_one_line(folder, mini, capsys):
    replies = mini / "llm" / "12B1.expert.jsonl.gz"
    for verb in ("entities", "expand"):
        arguments = ("--questions", "batch.json", "--pseudo", replies, "--output", "q.jsonl")
        assert call(verb, *arguments) == 2
        message = capsys.readouterr().err
        assert len(message.splitlines()) == 1
        assert f"{replies}:1: not a PseudoDocument" in message
        assert "generate pseudo" in message
        assert "provider: recorded" in message


@pytest.mark.shared
def test_files_of_recorded_replies_are_refused(folder, shared, capsys):
    for replies in sorted((shared / "data" / "llm").glob("*.jsonl")):
        assert call(*EXPAND[:4], replies, *EXPAND[5:], *PAPER) == 2
        message = capsys.readouterr().err
        assert len(message.splitlines()) == 1
        assert f"{replies}:1: not a PseudoDocument" in message


@pytest.fixture
def chain(mini, tmp_path):
    """Arguments of the whole way on a thousand real documents."""
    documents = tmp_path / "documents.jsonl"
    real = read_jsonl(mini / "documents.jsonl.gz", Document)
    write_jsonl(documents, itertools.islice(real, 1000))
    return [
        "run", f"documents=[{documents}]", f"questions={mini}/test/12B1.questions.json",
        f"gold={mini}/test/12B1.golden.json.gz", f"work={tmp_path}/work", "search.hits=50",
        "evaluate.cutoffs=[10,50]", "evaluate.within_collection=true",
    ]  # fmt: skip


def test_the_whole_way_with_texts_shows_both_runs_and_compares_them(chain, mini, capsys):
    assert call(*chain) == 0
    alone = capsys.readouterr().out
    assert alone.startswith("BM25 against 12B1, official, edition 9\n")
    settings = [
        f"pseudo.generators.{name}.{key}={value}"
        for name in ("expert", "abstract")
        for key, value in {
            "provider": "recorded",
            "model": mini / "llm" / f"12B1.{name}.jsonl.gz",
            "text_field": "pseudo_document",
        }.items()
    ]
    settings += ["pseudo.prompts=[recorded]", "pseudo.cache=null", "expand.source=entities"]
    assert call(*chain, *settings) == 0
    overview, comparison = capsys.readouterr().out.split("\n\n", 1)
    lines = [line.split() for line in overview.splitlines()]
    assert lines[0][-5:] == ["all", "yesno", "factoid", "list", "summary"]
    assert lines[1] == ["questions", "85", "25", "21", "21", "18"]
    assert lines[2][:5] == ["gold", "documents", "in", "the", "collection"]
    heads = [line[0] for line in lines[3:] if len(line) == 1]
    assert heads == ["MAP@10", "GMAP", "recall@10", "recall@50"]
    assert [line[0] for line in lines[4:6]] == ["BM25", "BM25LLM"]
    row = next(line.split() for line in alone.splitlines() if line.startswith("  MAP@10"))
    assert lines[4][1:] == row[1:]
    assert comparison.startswith("BM25LLM against BM25\n")
    measured = [line.split()[0] for line in comparison.splitlines()[2:] if line[:1].isalnum()]
    assert measured[:2] == ["documents_map", "recall@50"]
    assert "corrected for all" in comparison
    assert "moved most" not in comparison
