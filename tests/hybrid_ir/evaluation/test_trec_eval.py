"""The measures shared with trec_eval, on its own test files and their expected output.

Its average precision divides by the number of relevant documents, as BioASQ's edition 2 does;
later editions divide by 10 or by the smaller of the two.
"""

import pytest

from hybrid_ir.bioasq.measures import Entry, score_phase_a
from hybrid_ir.evaluation.reference import reference
from hybrid_ir.evaluation.scoring import evaluate_run
from hybrid_ir.files import read_lines
from hybrid_ir.trec import read_qrels, read_run

pytestmark = pytest.mark.shared

CUTOFFS = (5, 10, 15, 20, 30, 100, 200, 500, 1000)


@pytest.fixture(scope="module")
def folder(shared):
    return shared / "data/eval_reference/trec_eval"


@pytest.fixture(scope="module")
def expected(folder):
    """Question -> measure -> value as printed; the means are those of question "all"."""
    table = {}
    for _, line in read_lines(folder / "out.test.aq"):
        measure, question, value = line.split()
        table.setdefault(question, {})[measure] = value
    assert table["all"]["num_q"] == "3"
    return table


@pytest.fixture(scope="module")
def gold(folder):
    return [
        {"id": id_, "documents": [document for document, grade in judged.items() if grade > 0]}
        for id_, judged in read_qrels(folder / "qrels.test").items()
    ]


@pytest.fixture(scope="module")
def run(folder):
    return read_run(folder / "results.test")


def test_recall_at_k(gold, run, expected):
    scores = evaluate_run(reference(gold), run, cutoffs=CUTOFFS)
    for k in CUTOFFS:
        assert f"{scores.measures[f'recall@{k}']:.4f}" == expected["all"][f"recall_{k}"]
        for id_, row in scores.per_question.items():
            assert f"{row[f'recall@{k}']:.4f}" == expected[id_][f"recall_{k}"]


def test_the_first_ten_documents(gold, run, expected):
    scores = evaluate_run(reference(gold, edition=2), run)
    shared_names = {"documents_precision": "P_10", "documents_map": "map_cut_10"}
    for ours, theirs in shared_names.items():
        assert f"{scores.measures[ours]:.4f}" == expected["all"][theirs]
        for id_, row in scores.per_question.items():
            assert f"{row[ours]:.4f}" == expected[id_][theirs]
    ninth = evaluate_run(reference(gold), run).per_question
    for id_, row in ninth.items():
        relevant = int(expected[id_]["num_rel"])
        other_divisor = row["documents_map"] * min(10, relevant) / relevant
        assert f"{other_divisor:.4f}" == expected[id_]["map_cut_10"]


def test_whole_rankings(gold, run, expected):
    """The official evaluator cuts nothing, so whole rankings can be scored by its functions."""
    questions = reference(gold, edition=2).questions
    responses = {
        id_: Entry(id_, None, tuple(document for document, _ in ranking), (), (), (), None)
        for id_, ranking in run.rankings.items()
    }
    documents = score_phase_a(questions, responses, 2).documents
    found = [f"{value:.4f}" for value in documents.values]
    names = ("set_P", "set_recall", "set_F", "map", "gm_map")
    assert found == [expected["all"][name] for name in names]
    for id_, row in documents.per_question.items():
        assert [f"{value:.4f}" for value in row] == [expected[id_][name] for name in names[:4]]
