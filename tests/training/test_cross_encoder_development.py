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
    judge = open_development(development)
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
    assert judge(perfect) == pytest.approx(sum(shares) / len(shares))
    assert judge(lambda pairs: [-score for score in perfect(pairs)]) < 0.3 * judge(perfect)


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
    development, batch, mini, settings, save_rows, tmp_path
):
    """Gold documents of 9B1 against random ones."""
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
    after = [step for step in values if step > facts["kept_step"]]
    assert len(after) <= 2  # patience
    assert f"{facts['map']:.4f}" in (tmp_path / "model" / "README.md").read_text()


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
