import json
from dataclasses import replace
from pathlib import Path

import pytest

from hybrid_ir.bioasq.questions import read_questions
from hybrid_ir.errors import InputError
from hybrid_ir.pipeline import chain
from hybrid_ir.pipeline.evaluation import EvaluateConfig
from hybrid_ir.retrieval.bm25 import SearchConfig
from hybrid_ir.trec import read_run


@pytest.fixture
def config(mini, documents, tmp_path):
    return chain.RunConfig(
        documents=(documents,),
        questions=mini / "test" / "12B1.questions.json",
        gold=mini / "test" / "12B1.golden.json.gz",
        work=tmp_path / "work",
        search=SearchConfig(hits=20),
        evaluate=EvaluateConfig(cutoffs=(10, 20)),
    )


def times(folder: Path) -> dict[str, int]:
    """Time stamps of all artefacts but scores and settings, which are written each time."""
    each_time = ("scores.json", "config.yaml")
    files = (p for p in folder.rglob("*") if p.is_file() and not p.name.endswith(each_time))
    return {p.name: p.stat().st_mtime_ns for p in files}


def test_the_chain_goes_from_documents_to_a_submission_and_only_once(config):
    chain.run(config)
    run = read_run(config.work / "12B1.BM25.trec")
    submission = json.loads((config.work / "12B1.BM25.phaseA.json").read_text())["questions"]
    questions = read_questions(config.questions)
    assert [question["id"] for question in submission] == [question.id for question in questions]
    for question in submission:
        best = [document for document, _ in run.rankings.get(question["id"], ())[:10]]
        assert question["documents"] == [f"http://www.ncbi.nlm.nih.gov/pubmed/{d}" for d in best]
    before = times(config.work)
    chain.run(config)
    chain.run(replace(config, search=replace(config.search, threads=1)))
    assert times(config.work) == before


def test_a_changed_setting_redoes_what_hangs_on_it_and_no_more(config):
    chain.run(config)
    before = times(config.work)
    chain.run(replace(config, search=SearchConfig(hits=20, k1=2.0)))
    after = times(config.work)
    changed = {name for name in after if after[name] != before.get(name)}
    assert {"12B1.BM25.trec", "12B1.BM25.phaseA.json"} <= changed
    assert not changed & {"index.manifest.json", "documents.sqlite", "ids.npy"}


def test_without_gold_no_older_scores_are_left_beside_a_run(config):
    chain.run(config)
    scores = config.work / "12B1.BM25.scores.json"
    assert scores.exists()
    assert chain.run(replace(config, gold=None, search=SearchConfig(hits=5))) is None
    assert not scores.exists()


def test_the_gold_of_another_batch_is_refused_before_any_work(config, mini):
    gold = mini / "test" / "11B2.golden.json.gz"
    with pytest.raises(InputError, match="is it the same batch"):
        chain.run(replace(config, gold=gold))
    assert not config.work.exists()
