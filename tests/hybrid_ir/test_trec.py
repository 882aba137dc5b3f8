import logging

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hybrid_ir.errors import InputError
from hybrid_ir.records import Ranked, Run
from hybrid_ir.trec import completed, rank, read_qrels, read_run, write_qrels, write_run

tokens = st.text(
    st.characters(exclude_categories=["Cs", "Cc", "Z"]), min_size=1, max_size=8
).filter(lambda text: text.split() == [text])
scores = st.floats(allow_nan=False, allow_infinity=False)
rankings = st.dictionaries(tokens, scores, min_size=1, max_size=6).map(rank)
runs = st.dictionaries(tokens, rankings, max_size=4)


@given(runs, tokens)
def test_a_run_comes_back_just_as_it_was_written(tmp_path_factory, run, name):
    path = tmp_path_factory.mktemp("trec") / "run.trec"
    assert write_run(path, run.items(), name) == len(run)
    read = read_run(path)
    assert read.rankings == run
    assert list(read.rankings) == list(run)
    assert not run or read.name == name


@given(st.dictionaries(tokens, st.dictionaries(tokens, st.integers(-1, 3), min_size=1)))
def test_qrels_come_back_just_as_they_were_written(tmp_path_factory, qrels):
    path = tmp_path_factory.mktemp("trec") / "qrels.txt"
    write_qrels(path, qrels)
    assert read_qrels(path) == qrels


def test_ties_go_by_id_and_integers_by_value():
    ranking = rank({"10": 1.0, "9": 1.0, "b": 1.0, "a": 1.0, "2": 2.0})
    assert [document for document, _ in ranking] == ["2", "9", "10", "a", "b"]


def test_equal_scores_of_a_file_are_ordered_by_the_one_tie_rule(tmp_path):
    path = tmp_path / "run.trec"
    path.write_text("q Q0 10 0 1.5 n\nq Q0 9 1 1.5 n\nq Q0 7 2 2 n\n")
    assert read_run(path) == Run(
        "n", {"q": (Ranked("7", 2.0), Ranked("9", 1.5), Ranked("10", 1.5))}
    )


def test_ranks_that_disagree_with_scores_are_reported(tmp_path, caplog):
    path = tmp_path / "run.trec"
    path.write_text("q Q0 10 1 1 n\nq Q0 9 2 2 n\nr Q0 9 1 2 n\nr Q0 8 2 1 n\n")
    with caplog.at_level(logging.WARNING):
        read_run(path)
    assert "disagree for 1 of 2 questions (first: q)" in caplog.text


@pytest.mark.parametrize(
    ("line", "part"),
    [
        ("q Q0 d 1 1.0", "expected 'question Q0 document rank score name'"),
        ("q Q0 d one 1.0 n", "expected 'question Q0 document rank score name'"),
        ("q Q0 d 2 nan n", "finite number, got nan"),
        ("q Q0 c 2 1.0 n", "c occurs twice for question q"),
    ],
)
def test_a_wrong_run_line_is_named(tmp_path, line, part):
    path = tmp_path / "run.trec"
    path.write_text(f"q Q0 c 1 2.0 n\n{line}\n")
    with pytest.raises(InputError) as caught:
        read_run(path)
    assert str(caught.value).startswith(f"{path}:2: ")
    assert part in str(caught.value)


@pytest.mark.parametrize(
    ("name", "question", "document"),
    [("a b", "q", "d"), ("", "q", "d"), ("n", "q\t", "d"), ("n", "q", "d e"), ("n", "q", "")],
)
def test_what_the_format_cannot_hold_is_refused_and_nothing_written(
    tmp_path, name, question, document
):
    path = tmp_path / "run.trec"
    with pytest.raises(InputError, match="cannot hold"):
        write_run(path, [(question, (Ranked(document, 1.0),))], name)
    assert not path.exists()


@pytest.mark.parametrize("grade", ["2", "x"])
def test_qrels_that_contradict_themselves_or_hold_no_grade_are_refused(tmp_path, grade):
    path = tmp_path / "qrels.txt"
    path.write_text(f"q 0 d 1\nq 0 d {grade}\n")
    with pytest.raises(InputError, match=":2: "):
        read_qrels(path)


@given(runs, st.integers(1, 4))
def test_a_run_can_be_read_to_a_depth(tmp_path_factory, run, depth):
    path = tmp_path_factory.mktemp("trec") / "run.trec"
    write_run(path, run.items(), "n")
    assert read_run(path, depth).rankings == {q: ranking[:depth] for q, ranking in run.items()}


def test_lines_that_stand_apart_are_read_whole_or_refused(tmp_path):
    path = tmp_path / "run.trec"
    path.write_text("q Q0 a 1 3 n\nr Q0 a 1 2 n\nq Q0 b 2 1 n\n")
    assert len(read_run(path).rankings["q"]) == 2
    with pytest.raises(InputError, match=":3: lines of q stand apart"):
        read_run(path, 1)


def test_an_interrupted_run_keeps_whole_questions_only(tmp_path):
    path = tmp_path / "partial"
    assert completed(path) == set()
    whole = "q1 Q0 d 1 2.0 n\nq1 Q0 e 2 1.0 n\nq2 Q0 d 1 2.0 n\n"
    path.write_text(whole + "q3 Q0 d 1 2.0 n\nq3 Q0 e 2 1.")
    assert completed(path) == {"q1", "q2"}
    assert path.read_text() == whole
    assert completed(path) == {"q1"}


@pytest.mark.shared
def test_the_runs_of_task_9b_are_read_without_loss(shared):
    files = sorted((shared / "data" / "bioasq_runs_9b").glob("*.trec.gz"))
    assert len(files) == 15
    for path in files:
        run = read_run(path)
        assert len(run.rankings) in (99, 100)
        assert max(len(ranking) for ranking in run.rankings.values()) == 100


@pytest.mark.shared
def test_judgements_keep_their_negative_grade(shared):
    qrels = read_qrels(shared / "data" / "eval_reference" / "trec_eval" / "qrels.rel_level")
    grades = [grade for judged in qrels.values() for grade in judged.values()]
    assert grades.count(-1) == 304
