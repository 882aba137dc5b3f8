"""Judging a model on a real run of a real batch while it learns."""

import json
import random

import pytest

from hybrid_ir.bioasq.gold import read_gold
from hybrid_ir.bioasq.questions import read_questions
from hybrid_ir.config import load_config
from hybrid_ir.errors import InputError
from hybrid_ir.files import read_jsonl, write_jsonl
from hybrid_ir.records import Document
from hybrid_ir.trec import read_run, write_run
from training.development import open_development
from training.settings import DevelopmentConfig, TrainConfig

DEPTH = 12


@pytest.fixture(scope="module")
def batch(mini, tmp_path_factory):
    """An index of the documents that batches 10B1 and 9B1 need, and BM25's run of 10B1."""
    from hybrid_ir.pipeline.retrieval import index, search
    from hybrid_ir.retrieval.bm25 import SearchConfig
    from hybrid_ir.retrieval.index import IndexConfig

    folder = tmp_path_factory.mktemp("batch")
    golds = [mini / "dev" / "10B1.golden.json.gz", mini / "train" / "9B1.golden.json.gz"]
    wanted = {
        name for path in golds for gold in read_gold(path, "enriched") for name in gold.documents
    }
    documents = read_jsonl(mini / "documents.jsonl.gz", Document)
    kept = [one for number, one in enumerate(documents) if one.id in wanted or number % 5 == 0]
    write_jsonl(folder / "documents.jsonl", kept)
    index([folder / "documents.jsonl"], folder / "index", IndexConfig())
    questions = mini / "dev" / "10B1.questions.json"
    search(folder / "index", questions, None, folder / "run.trec", "BM25", SearchConfig(hits=DEPTH))
    return folder


@pytest.fixture
def development(batch, mini):
    return DevelopmentConfig(
        batch / "run.trec", mini / "dev" / "10B1.golden.json.gz", batch / "index", depth=DEPTH
    )


@pytest.mark.slow
def test_scores_decide_the_order(development, batch, mini):
    opened = open_development(development)
    texts = {one.text: one.id for one in read_jsonl(batch / "documents.jsonl", Document)}
    golds = read_gold(development.gold, "enriched")
    bodies = {question.body: question.id for question in read_questions(development.gold)}
    relevant = {(gold.question_id, name) for gold in golds for name in gold.documents}

    def perfect(pairs):
        return [float((bodies[body], texts[text]) in relevant) for body, text in pairs]

    run = read_run(development.run)
    shares = []
    for gold in golds:
        found = sum(
            (gold.question_id, one.item) in relevant for one in run.rankings[gold.question_id]
        )
        shares.append(min(found, 10) / min(10, len(gold.documents)))
    best = opened.judge(perfect)
    assert best.map == pytest.approx(sum(shares) / len(shares))
    assert list(best.questions.values()) == pytest.approx(shares)
    worst = opened.judge(lambda pairs: [-score for score in perfect(pairs)])
    assert worst.map < 0.3 * best.map

    places = {
        (body, text): -place
        for name, ranking in opened.found.items()
        for place, ranked in enumerate(ranking)
        for body, text in [(opened.bodies[name], opened.texts[ranked.item])]
    }
    of_run = opened.judge_run()
    assert of_run == opened.judge(lambda pairs: [places[pair] for pair in pairs])
    table = opened.table(worst)
    assert [row[3] - row[2] for row in table] == sorted(row[3] - row[2] for row in table)
    for name, body, before, after in table:
        assert body == opened.bodies[name]
        assert (before, after) == (of_run.questions[name], worst.questions[name])


@pytest.mark.slow
def test_files_that_do_not_belong_together_are_refused(development, batch, mini, tmp_path):
    other = DevelopmentConfig(
        development.run, mini / "dev" / "10B2.golden.json.gz", development.index, depth=DEPTH
    )
    with pytest.raises(InputError, match=r"has none of the questions of .*10B2"):
        open_development(other)
    run = read_run(development.run)
    name = next(iter(run.rankings))
    write_run(tmp_path / "run.trec", [(name, ((("nowhere"), 1.0),))], "odd")
    odd = DevelopmentConfig(tmp_path / "run.trec", development.gold, development.index)
    with pytest.raises(InputError, match=r"1 of its documents are not in .* \(first: nowhere\)"):
        open_development(odd)


@pytest.mark.slow
def test_training_on_real_questions_raises_the_map(
    development, batch, mini, settings, save_rows, tmp_path, monkeypatch
):
    """Gold documents of 9B1 against random ones."""
    monkeypatch.setenv("WANDB_MODE", "offline")
    from training.cross_encoder import train

    save_rows(_pairs(batch, mini / "train" / "9B1.golden.json.gz"), tmp_path / "real" / "stage1")
    more = [
        f"data={tmp_path / 'real'}",
        *(f"development.{key}={getattr(development, key)}" for key in ("run", "gold", "index")),
        f"development.depth={DEPTH}",
        "max_length=96",
        "stage1.loss=infonce",
        "stage1.list_size=4",
        "batch_size=16",
        "stage1.epochs=3",
        "evaluate_every=60",
        "patience=2",
        "tracking.wandb=true",
        "tracking.texts=true",
    ]
    manifest = train(load_config(TrainConfig, None, [*settings, *more]))
    facts = manifest.info["stages"]["stage1"]
    lines = [
        json.loads(line) for line in (tmp_path / "model" / "metrics.jsonl").read_text().splitlines()
    ]
    values = {
        line["step"]: line["stage1/development_map"]
        for line in lines
        if "stage1/development_map" in line
    }
    assert values[0] == facts["map_before"]
    assert facts["map"] == max(value for step, value in values.items() if step)
    assert values[facts["kept_step"]] == facts["map"]
    assert facts["map"] > facts["map_before"] + 0.05
    assert facts["map_of_run"] == open_development(development).judge_run().map
    after = [step for step in values if step > facts["kept_step"]]
    assert len(after) <= 2  # patience
    card = (tmp_path / "model" / "README.md").read_text()
    assert f"{facts['map']:.4f}" in card
    assert str(tmp_path) not in card
    (table,) = tmp_path.glob("wandb/offline-run-*/files/media/table/stage1/*.json")
    rows = json.loads(table.read_text())["data"]
    assert sum(row[3] for row in rows) / len(rows) == pytest.approx(facts["map"])


@pytest.mark.slow
def test_what_is_killed_after_an_early_stop_does_not_train_on(
    development, batch, settings, tmp_path, monkeypatch
):
    """The kill comes when the stage has ended and before that is written down."""
    from training import cross_encoder

    more = [
        *(f"development.{key}={getattr(development, key)}" for key in ("run", "gold", "index")),
        f"development.depth={DEPTH}",
        "stage1.learning_rate=1e-9",  # nothing is learnt: the first judgement stays the best
        "evaluate_every=2",
        "patience=1",
    ]
    config = load_config(TrainConfig, None, [*settings, *more])

    def kill(model):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(cross_encoder, "agreed_fingerprint", kill)
        with pytest.raises(KeyboardInterrupt):
            cross_encoder.train(config)
    facts = cross_encoder.train(config).info["stages"]["stage1"]
    assert (facts["kept_step"], facts["steps"]) == (2, 4)
    lines = (tmp_path / "model" / "metrics.jsonl").read_text().splitlines()
    maps = [line for line in lines if "stage1/development_map" in line]
    assert [json.loads(line)["step"] for line in maps] == [0, 2, 4]


def _pairs(batch, path):
    documents = {one.id: one.text for one in read_jsonl(batch / "documents.jsonl", Document)}
    bodies = {question.id: question.body for question in read_questions(path)}
    chance = random.Random(0)
    rows = []
    for gold in read_gold(path, "enriched"):
        positives = [name for name in gold.documents if name in documents][:4]
        negatives = chance.sample(
            sorted(documents.keys() - set(gold.documents)), 3 * len(positives)
        )
        for name in [*positives, *negatives]:
            rows.append(
                {
                    "question_id": gold.question_id,
                    "question": bodies[gold.question_id],
                    "document_id": name,
                    "text": documents[name],
                    "label": float(name in positives),
                    "weight": 1.0,
                    "source": "gold" if name in positives else "random",
                    "teacher": None,
                }
            )
    return rows
