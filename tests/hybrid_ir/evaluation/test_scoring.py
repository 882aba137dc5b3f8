from __future__ import annotations

import csv
import json
import logging
import math
from pathlib import Path
from typing import Any

import pytest

from hybrid_ir.bioasq.raw import DOCUMENT_URL, read_raw
from hybrid_ir.errors import InputError
from hybrid_ir.evaluation.reference import reference
from hybrid_ir.evaluation.scores import Count, per_question_rows, scores_to_json
from hybrid_ir.evaluation.scoring import evaluate_run, evaluate_submission
from hybrid_ir.files import read_lines
from hybrid_ir.records import Ranked, Run
from hybrid_ir.trec import read_run


def gold(name: str, kind: str, documents: str, **more: Any) -> dict[str, Any]:
    return {
        "id": name,
        "type": kind,
        "body": "What?",
        "documents": [DOCUMENT_URL + document for document in documents.split()],
        **more,
    }


def run(**rankings: str) -> Run:
    return Run(
        "bm25",
        {
            name: tuple(Ranked(document, -float(i)) for i, document in enumerate(items.split()))
            for name, items in rankings.items()
        },
    )


TWO = [gold("q", "factoid", "1 2"), gold("r", "list", "3 4")]


def test_a_run_over_all_questions_and_by_type() -> None:
    scores = evaluate_run(reference(TWO), run(q="1 9", r="9 3 4 8"))
    ap_q, ap_r = (1 / 1) / 2, (1 / 2 + 2 / 3) / 2
    assert scores.measures == {
        "documents_precision": (1 / 2 + 2 / 4) / 2,
        "documents_recall": (1 / 2 + 2 / 2) / 2,
        "documents_f1": (1 / 2 + 2 * 0.5 * 1 / 1.5) / 2,
        "documents_map": (ap_q + ap_r) / 2,
        "documents_gmap": math.exp((math.log(ap_q + 1e-5) + math.log(ap_r + 1e-5)) / 2),
        "recall@10": (1 / 2 + 2 / 2) / 2,
    }
    assert scores.scored == {"documents": Count(2, 2), "recall": Count(2, 2)}
    assert scores.by_type["list"].measures["documents_map"] == ap_r
    assert list(scores.by_type) == ["factoid", "list"]
    assert scores.per_question["r"]["documents_map"] == ap_r
    assert (scores.mode, scores.edition, scores.questions) == ("official", 9, 2)


def test_a_run_is_cut_to_ten_documents_but_recall_looks_further() -> None:
    deep = run(q=" ".join(map(str, range(90, 101))) + " 1 2", r="3")
    scores = evaluate_run(reference(TWO), deep, cutoffs=[1, 10, 12, 13])
    assert scores.per_question["q"] == {
        "documents_precision": 0,
        "documents_recall": 0,
        "documents_f1": 0,
        "documents_map": 0,
        "recall@1": 0,
        "recall@10": 0,
        "recall@12": 1 / 2,
        "recall@13": 2 / 2,
    }


def test_cutoffs_go_as_deep_as_the_run() -> None:
    deep = run(q=" ".join(map(str, range(1, 101))))
    scores = evaluate_run(reference(TWO), deep)
    assert [key for key in scores.measures if "@" in key] == ["recall@10", "recall@100"]


@pytest.mark.parametrize("mode", ["official", "strict"])
def test_a_question_that_a_run_lacks_counts_as_submitted_empty(
    mode: Any, caplog: pytest.LogCaptureFixture
) -> None:
    scores = evaluate_run(reference(TWO), run(q="1 2", z="1"), mode)
    assert scores.measures["documents_map"] == (1 + 0) / 2
    assert "1 of 2 questions are missing" in caplog.text
    assert "1 questions are not in gold" in caplog.text


def test_a_submission_that_lacks_a_question_is_scored_by_the_mode() -> None:
    submission = [{"id": "q", "documents": [DOCUMENT_URL + "1", DOCUMENT_URL + "2"]}]
    official, strict = (
        evaluate_submission(reference(TWO), submission, mode=mode)
        for mode in ("official", "strict")
    )
    assert official.measures["documents_map"] == 1 / 1
    assert official.scored["documents"] == Count(1, 2)
    assert strict.measures["documents_map"] == (1 + 0) / 2
    assert strict.scored["documents"] == Count(2, 2)
    assert official.measures["recall@10"] == strict.measures["recall@10"] == (1 + 0) / 2


def test_a_run_and_the_submission_made_of_it_score_the_same() -> None:
    submission = [
        {"id": "q", "documents": [DOCUMENT_URL + "9", DOCUMENT_URL + "2"]},
        {"id": "r", "documents": []},
    ]
    of_submission = evaluate_submission(reference(TWO), submission)
    assert evaluate_run(reference(TWO), run(q="9 2")).measures == of_submission.measures


def test_a_gold_restricted_to_a_collection() -> None:
    questions = [gold("q", "factoid", "1 2"), gold("r", "list", "3"), gold("s", "list", "4 5")]
    for mode, scored in (("official", 2), ("strict", 2)):
        whole = reference(questions, within={"1", "4", "5"})
        scores = evaluate_run(whole, run(q="1", r="3", s="4"), mode)
        assert scores.documents == Count(3, 5)
        assert scores.scored == {"documents": Count(scored, 3), "recall": Count(2, 3)}
        assert scores.measures["recall@10"] == (1 / 1 + 1 / 2) / 2


def test_a_submission_shows_what_its_contents_allow() -> None:
    snippet = {
        "document": DOCUMENT_URL + "1",
        "beginSection": "title",
        "endSection": "title",
        "offsetInBeginSection": 0,
        "offsetInEndSection": 4,
        "text": "text",
    }
    questions = [
        gold("q", "yesno", "1", snippets=[snippet], exact_answer="yes"),
        gold("r", "factoid", "2", snippets=[snippet], exact_answer=[["a"]]),
        gold("s", "summary", "3", snippets=[snippet]),
    ]
    answers = [
        {"id": "q", "snippets": [snippet], "exact_answer": "yes"},
        {"id": "r", "exact_answer": [["b"], ["a"]]},
        {"id": "s"},
    ]
    scores = evaluate_submission(reference(questions), answers)
    assert scores.scored == {
        "snippets": Count(3, 3),
        "yesno": Count(1, 1),
        "factoid": Count(1, 1),
    }
    assert scores.measures["factoid_mrr"] == 1 / 2
    assert scores.per_question["q"]["yesno_accuracy"] == 1
    assert scores.by_type["summary"].scored == {"snippets": Count(1, 1)}


def test_flat_factoid_golds_are_read_with_a_warning(caplog: pytest.LogCaptureFixture) -> None:
    training = [gold("q", "factoid", "1", exact_answer=["a", "b"])]
    scores = evaluate_submission(reference(training), [{"id": "q", "exact_answer": [["b"]]}])
    assert scores.measures["factoid_strict"] == 1
    assert "1 of 1 questions" in caplog.text


def test_a_golden_file_is_read_without_a_warning(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        reference([gold("q", "factoid", "1", exact_answer=[["a", "b"]])])
    assert not caplog.records


def test_what_cannot_be_scored_is_refused() -> None:
    whole = reference(TWO, "12B1")
    with pytest.raises(InputError, match="bm25: has none of the 2 questions of 12B1"):
        evaluate_run(whole, run(z="1"))
    with pytest.raises(InputError, match="nothing to score"):
        evaluate_submission(whole, [{"id": "q", "ideal_answer": "text"}])
    with pytest.raises(InputError, match="recall@100: a submission holds 10"):
        evaluate_submission(whole, [{"id": "q", "documents": []}], cutoffs=[10, 100])
    with pytest.raises(InputError, match="recall@0"):
        evaluate_run(whole, run(q="1"), cutoffs=[0])
    with pytest.raises(InputError, match="edition 3 or later"):
        evaluate_run(reference(TWO, edition=2), run(q="1"), "strict")


@pytest.mark.parametrize("mode", ["official", "strict"])
def test_answers_are_no_matter_where_none_are_scored(mode: Any) -> None:
    questions = [gold("q", "yesno", "1", exact_answer="maybe")]
    assert evaluate_run(reference(questions), run(q="1"), mode).measures["documents_map"] == 1
    with pytest.raises(InputError, match="expected yes or no"):
        evaluate_submission(reference(questions), [{"id": "q", "exact_answer": "yes"}], mode=mode)


def test_json_and_rows() -> None:
    scores = evaluate_run(reference(TWO, "12B1", within={"1", "2"}), run(q="1 9"))
    content = json.loads(json.dumps(scores_to_json(scores), allow_nan=False))
    assert content["gold_documents"] == {"number": 2, "of": 4}
    assert content["scored"]["documents"] == {"number": 1, "of": 2}
    assert content["measures"]["recall@10"] == 1 / 2
    assert content["by_type"]["factoid"]["measures"]["documents_map"] == 1 / 2
    (row,) = per_question_rows(scores)
    assert (row["system"], row["gold"], row["id"], row["type"]) == ("bm25", "12B1", "q", "factoid")
    assert row["documents_precision"] == 1 / 2


def test_what_is_no_number_is_null_in_json() -> None:
    questions = [gold("q", "list", "", snippets=[])]
    scores = evaluate_submission(reference(questions, edition=8), [{"id": "q", "snippets": []}])
    (row,) = per_question_rows(scores)
    assert row["snippets_map"] is None


@pytest.mark.shared
def test_runs_of_9b_score_what_bioasq_published(shared: Path) -> None:
    """bioinfo-N of the published table is run BIT.UA-0(N+1)."""
    data = shared / "data"
    batch = reference(read_raw(data / "bioasq_golden" / "9B1_golden.json.gz"))
    with (data / "derived" / "official_results_9b_phaseA_batch1_documents.tsv").open() as file:
        rows = csv.DictReader((line for line in file if line[0] != "#"), delimiter="\t")
        published = {row["system"]: row for row in rows}
    for number in (1, 4, 5):
        path = data / "bioasq_runs_9b" / f"rnd1__BIT.UA-0{number}.trec.gz"
        measures = evaluate_run(batch, read_run(path)).measures
        row = published[f"bioinfo-{number - 1}"]
        names = ("precision", "recall", "f1", "map", "gmap")
        columns = ("mean_precision", "recall", "f_measure", "MAP", "GMAP")
        for name, column in zip(names, columns, strict=True):
            assert f"{measures[f'documents_{name}']:.4f}" == row[column]


def in_order_of_ranks(path: Path) -> Run:
    """Read a run by its ranks: two baselines tie at rank 10, where read_run goes by document id."""
    rankings: dict[str, list[tuple[int, str]]] = {}
    for _, line in read_lines(path):
        question, _, document, rank, _, _ = line.split()
        rankings.setdefault(question, []).append((int(rank), document))
    return run(**{name: " ".join(d for _, d in sorted(found)) for name, found in rankings.items()})


@pytest.mark.shared
def test_all_runs_of_9b_score_what_the_official_program_printed(shared: Path) -> None:
    data = shared / "data"
    runs = data / "bioasq_runs_9b"
    checked = 0
    with (data / "derived" / "official_evaluator_scores_9b_runs_top10.tsv").open() as file:
        for row in csv.DictReader(file, delimiter="\t"):
            if not (runs / row["run"]).exists():
                continue
            batch = reference(read_raw(data / "bioasq_golden" / f"{row['golden']}.gz"), edition=8)
            measures = evaluate_run(batch, in_order_of_ranks(runs / row["run"])).measures
            expected = json.loads(row["doc_measures_top10_e8"])
            for ours, theirs in zip(
                ("precision", "recall", "f1", "map", "gmap"), ("mp", "r", "f1", "map", "gmap"),
                strict=True,
            ):  # fmt: skip
                assert round(measures[f"documents_{ours}"], 6) == expected[f"docs_{theirs}"]
            checked += 1
    assert checked == len(list(runs.iterdir())) == 15
