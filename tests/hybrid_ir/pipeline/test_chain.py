import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from generation.pseudo_documents import PseudoConfig
from hybrid_ir.bioasq.questions import read_questions
from hybrid_ir.config import load_config
from hybrid_ir.entities.tagging import EntityConfig
from hybrid_ir.errors import IncompleteError, InputError
from hybrid_ir.expansion import Change, ExpansionConfig
from hybrid_ir.files import read_jsonl
from hybrid_ir.manifests import manifest_path, read_manifest
from hybrid_ir.pipeline import chain
from hybrid_ir.pipeline.evaluation import EvaluateConfig
from hybrid_ir.records import Query
from hybrid_ir.rerank.settings import RerankConfig, ScorerConfig
from hybrid_ir.rerank.settings import StageConfig as RerankStage
from hybrid_ir.retrieval.bm25 import SearchConfig
from hybrid_ir.retrieval.rm3 import Rm3Config
from hybrid_ir.trec import read_run
from training.settings import StageConfig, TrainConfig


def plain_config(mini: Path, documents: Path, work: Path) -> chain.RunConfig:
    return chain.RunConfig(
        documents=(documents,),
        questions=mini / "test" / "12B1.questions.json",
        gold=mini / "test" / "12B1.golden.json.gz",
        work=work,
        search=SearchConfig(hits=20),
        evaluate=EvaluateConfig(cutoffs=(10, 20)),
    )


def with_texts(config: chain.RunConfig, mini: Path) -> chain.RunConfig:
    """Expand with what two generators wrote: the texts that lie in the repository."""
    models = [f"generators.{n}.model={mini}/llm/12B1.{n}.jsonl.gz" for n in ("expert", "abstract")]
    file = mini.parents[1] / "configs" / "generate-recorded.yaml"
    sets = ExpansionConfig(repeat=2.0, source="entities")
    return replace(config, pseudo=load_config(PseudoConfig, file, models), expand=sets)


@pytest.fixture
def config(mini, documents, tmp_path):
    return plain_config(mini, documents, tmp_path / "work")


@pytest.fixture(scope="module")
def finished(mini, documents, tmp_path_factory):
    """A work folder whose chain has run, and what it scored."""
    config = plain_config(mini, documents, tmp_path_factory.mktemp("finished") / "work")
    return config.work, chain.run(with_texts(config, mini))


@pytest.fixture
def begun(config, finished):
    """The plain configuration, nothing done but the index."""
    index = finished[0] / "index"
    shutil.copytree(index, config.work / "index")  # time stamps stay, so that it is up to date
    shutil.copy2(manifest_path(index), config.work)
    return config


@pytest.fixture
def expanding(config, finished, mini):
    """The configuration with texts, all of it done."""
    shutil.copytree(finished[0], config.work)
    return with_texts(config, mini)


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


def changed(config: chain.RunConfig, before: dict[str, int]) -> set[str]:
    """Run the chain and give the artefacts that were made anew, manifests aside."""
    chain.run(config)
    after = times(config.work)
    assert before.keys() <= after.keys()
    names = {name for name, time in after.items() if time != before.get(name)}
    return {name for name in names if not name.endswith("manifest.json")}


def test_a_changed_setting_redoes_what_hangs_on_it_and_no_more(begun):
    chain.run(begun)
    before = times(begun.work)
    made = changed(replace(begun, search=SearchConfig(hits=20, k1=2.0)), before)
    assert made == {"12B1.BM25.trec", "12B1.BM25.phaseA.json"}


def test_without_gold_no_older_scores_are_left_beside_a_run(expanding):
    scores = [expanding.work / f"12B1.{name}.scores.json" for name in ("BM25", "BM25LLM")]
    assert all(path.exists() for path in scores)
    assert chain.run(replace(expanding, gold=None, search=SearchConfig(hits=5))) == []
    assert not any(path.exists() for path in scores)


def test_expanded_queries_are_a_second_run_beside_that_of_the_questions(expanding, finished):
    plain, expanded = finished[1]
    assert (plain.system, expanded.system) == ("BM25", "BM25LLM")
    assert (plain.gold, plain.mode) == (expanded.gold, expanded.mode)
    for name, scores in (("BM25", plain), ("BM25LLM", expanded)):
        stem = expanding.work / f"12B1.{name}"
        run = read_run(stem.with_name(f"{stem.name}.trec"))
        assert run.name == name
        submission = json.loads(stem.with_name(f"{stem.name}.phaseA.json").read_text())
        assert len(submission["questions"]) == 85
        written = json.loads(stem.with_name(f"{stem.name}.scores.json").read_text())
        assert written["measures"]["documents_map"] == scores.measures["documents_map"]
    queries = list(read_jsonl(expanding.work / "12B1.BM25LLM.queries.jsonl", Query))
    questions = read_questions(expanding.questions)
    assert [query.question_id for query in queries] == [question.id for question in questions]
    assert [query.clauses[0].text for query in queries] == [question.body for question in questions]
    assert {len(query.clauses) for query in queries} == {3}  # the question and two sets
    assert expanded.measures["recall@20"] > plain.measures["recall@20"]


def test_its_settings_are_written_and_can_be_run_again(expanding):
    before = times(expanding.work)
    assert changed(expanding, before) == set()
    written = load_config(chain.RunConfig, expanding.work / "12B1.BM25.config.yaml")
    assert written == expanding
    assert [scores.system for scores in chain.run(written)] == ["BM25", "BM25LLM"]
    assert times(expanding.work) == before


LLM = {"12B1.BM25LLM.trec", "12B1.BM25LLM.phaseA.json"}


def test_a_changed_expansion_redoes_what_hangs_on_it_and_no_more(expanding):
    queries = "12B1.BM25LLM.queries.jsonl"
    for change in (
        {"repeat": 4.0},
        {"repeat": 4.0, "by_type": {"list": Change(source="text")}},
        {"repeat": 4.0, "fused": True},
    ):
        before = times(expanding.work)
        sets = replace(expanding.expand, **change)
        assert changed(replace(expanding, expand=sets), before) == {queries, *LLM}
    before = times(expanding.work)
    other = replace(sets.entities, labels=("DISEASE",))
    made = changed(replace(expanding, expand=replace(sets, entities=other)), before)
    assert made == {"12B1.BM25LLM.queries.entities.jsonl", queries, *LLM}


def test_other_texts_redo_the_expanded_run_alone(expanding):
    before = times(expanding.work)
    one = {"expert": expanding.pseudo.generators["expert"]}
    made = changed(replace(expanding, pseudo=replace(expanding.pseudo, generators=one)), before)
    parts = ("queries.jsonl", "queries.entities.jsonl")
    assert made == {"12B1.pseudo.jsonl", *(f"12B1.BM25LLM.{part}" for part in parts), *LLM}


def test_without_generators_there_is_one_run(begun):
    (scores,) = chain.run(begun)
    assert scores.system == "BM25"
    assert not [
        path for path in begun.work.iterdir() if "LLM" in path.name or "pseudo" in path.name
    ]


def test_a_run_of_another_name_stands_beside(expanding):
    before = times(expanding.work)
    sets = replace(expanding.expand, generators=("expert",))
    plain, expanded = chain.run(replace(expanding, name="mine", expand=sets))
    assert (plain.system, expanded.system) == ("mine", "mineLLM")
    after = times(expanding.work)
    assert all(after[name] == time for name, time in before.items())


def test_the_gold_of_another_batch_is_refused_before_any_work(config, mini):
    gold = mini / "test" / "11B2.golden.json.gz"
    with pytest.raises(InputError, match="is it the same batch"):
        chain.run(replace(config, gold=gold))
    assert not config.work.exists()


def test_what_a_language_model_does_not_write_costs_no_other_run(config, mini):
    lacking = with_texts(config, mini)
    lacking = replace(lacking, pseudo=replace(lacking.pseudo, min_words=10_000))
    with pytest.raises(IncompleteError):
        chain.run(lacking)
    assert (config.work / "12B1.BM25.phaseA.json").exists()
    assert not list(config.work.glob("*LLM*"))


def test_what_expanded_queries_cannot_have_is_refused_before_anything_is_paid_for(config, mini):
    with pytest.raises(InputError) as refused:
        replace(
            with_texts(config, mini),
            search=SearchConfig(fields={"title": 1.0}, rm3=Rm3Config()),
            expand=ExpansionConfig(mesh=0.5, generators=("expret",)),
        )
    for part in ("search.fields", "index.fields", "search.rm3", "expand.generators"):
        assert f"{part}: expected" in str(refused.value)
    assert "some of expert, abstract, got ('expret',)" in str(refused.value)


def test_a_missing_model_of_entities_is_found_out_before_any_work(config, mini):
    sets = ExpansionConfig(source="entities", entities=EntityConfig(models=("nowhere",)))
    with pytest.raises(InputError, match="nowhere"):
        chain.run(replace(with_texts(config, mini), expand=sets))
    assert not config.work.exists()


def with_reranker(config: chain.RunConfig, mini: Path, **changes) -> chain.RunConfig:
    """Train a tiny model for three steps on one older batch, and re-rank with it."""
    train = TrainConfig(
        data=config.work / "pairs",
        output=config.work / "model",
        model="package:cognition/model",
        max_length=64,
        device="cpu",
        stage1=StageConfig(max_steps=3),
        stage2=StageConfig(epochs=0),
    )
    scorer = ScorerConfig(model=str(config.work / "model"))
    stages = {"first": RerankStage(5, {"ce": scorer})}
    again = RerankConfig(stages, cache=config.work / "scores.sqlite")
    older = (mini / "train" / "9B5.golden.json.gz", mini / "test")
    settings = {"train": train, "rerank": again, "older": older, **changes}
    return replace(config, **settings)


@pytest.mark.slow
def test_every_run_is_re_ranked_by_a_model_trained_on_older_batches(expanding, mini):
    scores = chain.run(with_reranker(expanding, mini))
    runs = ["BM25", "BM25LLM", "BM25/re-ranker", "BM25LLM/re-ranker"]
    assert [run.system for run in scores] == runs
    work = expanding.work
    for name in ("BM25", "BM25LLM"):
        first = read_run(work / f"12B1.{name}.trec", 5).rankings
        second = read_run(work / f"12B1.{name}.re-ranker.trec").rankings
        assert {q: {item.item for item in r} for q, r in second.items()} == {
            q: {item.item for item in r} for q, r in first.items()
        }
        assert (work / f"12B1.{name}.re-ranker.phaseA.json").exists()
    # of the folder of golden files 12B1 itself, the target, is left out
    info = read_manifest(work / "pairs").info
    assert info["golden_files_left_out"] == ["12B1.golden.json.gz"]
    assert "11B2" in info["batches"]

    before = times(work)
    chain.run(with_reranker(expanding, mini))
    assert times(work) == before


def test_a_training_without_older_batches_is_refused(config, mini):
    with pytest.raises(InputError, match="older: expected golden files to train on, got none"):
        with_reranker(config, mini, older=())
