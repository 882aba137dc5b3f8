import pytest

from hybrid_ir.errors import InputError
from hybrid_ir.evaluation.leaderboard import read_leaderboard


def test_best_median_and_worst_of_each_measure(tmp_path):
    path = tmp_path / "board.tsv"
    path.write_text(
        "# from a page\nsystem\tMAP\tsnippets_f1\na\t0.3\t0.1\nb\t0.1\t0.4\nc\t0.2\t0.2\n"
    )
    best, median, worst = read_leaderboard(path)
    assert best.measures == {"documents_map": 0.3, "snippets_f1": 0.4}
    assert median.measures == {"documents_map": 0.2, "snippets_f1": 0.2}
    assert worst.measures == {"documents_map": 0.1, "snippets_f1": 0.1}
    assert best.system == "best of 3 systems"


def test_headings_of_result_pages(tmp_path):
    path = tmp_path / "board.tsv"
    path.write_text("System\tStrict Acc.\tMRR\tR-2 (Rec)\tR-SU4 (F1)\na\t0.1\t0.2\t0.3\t0.4\n")
    assert read_leaderboard(path)[0].measures == {
        "factoid_strict": 0.1,
        "factoid_mrr": 0.2,
        "ideal_rouge2_recall_bootstrap": 0.3,
        "ideal_rougesu4_f1_bootstrap": 0.4,
    }


@pytest.mark.parametrize(
    ("content", "part"),
    [
        ("", "expected a heading"),
        ("system\tMAP\n", "expected a heading"),
        ("system\tMPA\nx\t1\n", "unknown headings MPA"),
        ("system\tMAP\nx\tn/a\n", ":2: expected a name and 1 numbers"),
        ("system\tMAP\nx\n", ":2: expected a name and 1 numbers"),
        ("#\nsystem\tMAP\nx\tnan\n", ":3: expected a name and 1 numbers"),
    ],
)
def test_what_is_no_table_of_measures_is_refused(tmp_path, content, part):
    path = tmp_path / "board.tsv"
    path.write_text(content)
    with pytest.raises(InputError, match=part):
        read_leaderboard(path)


@pytest.mark.shared
def test_the_published_results_of_9b_are_read(shared):
    board = "official_results_9b_phaseA_batch1_documents.tsv"
    best, _, worst = read_leaderboard(shared / "data" / "derived" / board)
    assert best.system == "best of 16 systems"
    assert (best.measures["documents_map"], worst.measures["documents_map"]) == (0.4764, 0.3607)
