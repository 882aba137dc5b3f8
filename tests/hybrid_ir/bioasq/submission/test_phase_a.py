from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hybrid_ir.bioasq.raw import read_raw
from hybrid_ir.bioasq.submission import faults_of_phase_a, phase_a_of, write_phase_a
from hybrid_ir.errors import InputError
from hybrid_ir.records import Question, Ranked, Run

URL = "http://www.ncbi.nlm.nih.gov/pubmed/"
BATCH = (Question("q1", "What?", "list"), Question("q2", "Is it?", "yesno"))


def run_of(**rankings):
    return Run(
        "bm25",
        {
            question: tuple(Ranked(document, -float(i)) for i, document in enumerate(documents))
            for question, documents in rankings.items()
        },
    )


def test_a_submission_holds_the_batch_best_documents_first(tmp_path, caplog):
    path = tmp_path / "sub.json"
    write_phase_a(path, BATCH, run_of(q2=["7", "30", "2"], q1=map(str, range(1, 15))), documents=3)
    assert read_raw(path) == [
        {
            "id": "q1",
            "type": "list",
            "body": "What?",
            "documents": [URL + "1", URL + "2", URL + "3"],
            "snippets": [],
        },
        {
            "id": "q2",
            "type": "yesno",
            "body": "Is it?",
            "documents": [URL + "7", URL + "30", URL + "2"],
            "snippets": [],
        },
    ]
    assert not caplog.records


def test_ten_documents_unless_fewer_are_asked_for():
    submission = phase_a_of(BATCH, run_of(q1=map(str, range(1, 1000))))
    assert [len(question["documents"]) for question in submission] == [10, 0]


def test_a_question_without_hits_is_there_and_counted(tmp_path, caplog):
    write_phase_a(tmp_path / "sub.json", BATCH, run_of(q1=["1"], q2=[]))
    assert [question["documents"] for question in read_raw(tmp_path / "sub.json")] == [
        [URL + "1"],
        [],
    ]
    assert "1 of 2 questions have no document (first: q2)" in caplog.text


def test_all_that_bioasq_would_refuse_is_named_and_nothing_written(tmp_path):
    run = run_of(q1=["1", "PMC7", "2", "1"], q2=["0123", "123"], q3=["4"], q4=["5"])
    with pytest.raises(InputError) as caught:
        write_phase_a(tmp_path / "sub.json", BATCH, run)
    lines = str(caught.value).splitlines()[1:]
    assert [line.partition(":")[0].strip() for line in lines] == [
        "$.questions (question q3)",
        "$.questions[0].documents[1] (question q1)",
        "$.questions[0].documents[3] (question q1)",
        "$.questions[1].documents[1] (question q2)",
    ]
    assert "2 of 4 ranked questions are not in the batch: 'q3', 'q4'" in lines[0]
    assert 'expected a PubMed address, got "PMC7"' in lines[1]
    assert "the same as [0]" in lines[2]
    assert list(tmp_path.iterdir()) == []


def test_faults_beyond_what_is_submitted_do_not_matter():
    documents = [*map(str, range(1, 11)), "PMC7", "1"]
    assert faults_of_phase_a(BATCH, run_of(q1=documents)) == ()
    assert len(faults_of_phase_a(BATCH, run_of(q1=documents[1:]))) == 1


@pytest.mark.parametrize(
    ("questions", "run", "problem"),
    [
        ((), run_of(), "the batch has no questions"),
        (BATCH, run_of(), "nothing to score in Phase A"),
        ((*BATCH, BATCH[0]), run_of(q1=["1"]), "stands there before"),
    ],
)
def test_batches_bioasq_could_not_score(tmp_path, questions, run, problem):
    with pytest.raises(InputError, match=problem):
        write_phase_a(tmp_path / "sub.json", questions, run)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("documents", [0, -1, 11])
def test_the_number_of_documents_is_limited(tmp_path, documents):
    with pytest.raises(InputError, match=f"1 to 10 documents a question, got {documents}"):
        write_phase_a(tmp_path / "sub.json", BATCH, run_of(q1=["1"]), documents)


def test_an_old_submission_stays_when_a_new_one_is_refused(tmp_path):
    path = tmp_path / "sub.json"
    write_phase_a(path, BATCH, run_of(q1=["1"]))
    before = path.read_bytes()
    with pytest.raises(InputError):
        write_phase_a(path, BATCH, run_of(q1=["x"]))
    assert path.read_bytes() == before


rankings = st.lists(st.integers(1, 10**8 - 1).map(str), min_size=1, max_size=15, unique=True)


@given(rankings, rankings, st.integers(1, 10))
def test_any_run_of_pmids_can_be_submitted(first, second, documents):
    run = run_of(q1=first, q2=second)
    assert faults_of_phase_a(BATCH, run, documents) == ()
    submitted = [question["documents"] for question in phase_a_of(BATCH, run, documents)]
    assert submitted == [[URL + pmid for pmid in pmids[:documents]] for pmids in (first, second)]


@pytest.mark.shared
def test_a_real_baseline_run_is_submitted(shared: Path, tmp_path):
    from hybrid_ir.bioasq.questions import read_questions
    from hybrid_ir.trec import read_run

    questions = read_questions(shared / "data/bioasq_golden/9B1_golden.json.gz")
    run = read_run(shared / "data/bioasq_runs_9b/rnd1__bm25-baseline.trec.gz")
    write_phase_a(tmp_path / "sub.json", questions, run)
    assert {len(question["documents"]) for question in read_raw(tmp_path / "sub.json")} == {10}
