"""Files are told apart by what they hold; headline measures unless others are named."""

import json
from pathlib import Path

import pytest

from hybrid_ir.errors import InputError
from hybrid_ir.evaluation.compare_files import CompareRequest, compare_files
from hybrid_ir.evaluation.comparison import CompareConfig

URL = "http://www.ncbi.nlm.nih.gov/pubmed/"
IDS = [f"{number:024x}" for number in range(6)]


@pytest.fixture
def gold(tmp_path):
    path = tmp_path / "gold.json"
    questions = [{"id": id_, "type": "summary", "documents": [URL + "1"]} for id_ in IDS]
    path.write_text(json.dumps({"questions": questions}))
    return path


@pytest.fixture
def run(tmp_path):
    path = tmp_path / "run"
    path.write_text("".join(f"{id_} Q0 1 1 1.0 run\n" for id_ in IDS))
    return path


def submission(path: Path, indent: int | None, mark: str = "") -> Path:
    questions = [{"id": id_, "documents": [URL + "2", URL + "1"]} for id_ in IDS]
    content = {"system": "of ours", "questions": questions}
    path.write_text(mark + json.dumps(content, indent=indent))
    return path


@pytest.mark.parametrize(("indent", "mark"), [(None, ""), (1, ""), (None, "\ufeff"), (1, "\ufeff")])
def test_a_submission_in_one_line_or_many(gold, run, tmp_path, indent, mark):
    ours = submission(tmp_path / "ours", indent, mark)
    compared = compare_files(CompareRequest((run, ours), gold))
    (comparison,) = compared.report.comparisons
    assert (comparison.measure, comparison.difference) == ("documents_map", 1 / 2 - 1)
    assert (compared.gold, compared.mode, compared.edition) == ("gold", "strict", 9)


def test_values_without_a_headline_measure_are_compared_in_all_they_have(tmp_path):
    rows = [
        {"system": name, "gold": "g", "mode": "official", "edition": 8, "id": id_,
         "type": "list", "concepts_map": number / 8}
        for name in ("a", "b") for number, id_ in enumerate(IDS)
    ]  # fmt: skip
    path = tmp_path / "values"
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    compared = compare_files(CompareRequest((path,), mode="official"))
    assert [row.measure for row in compared.report.comparisons] == ["concepts_map"]
    assert (compared.gold, compared.edition) == ("g", 8)
    with pytest.raises(InputError, match="only official"):
        compare_files(CompareRequest((path,)))


def test_measures_that_are_named_are_the_ones(gold, run, tmp_path):
    ours = submission(tmp_path / "ours", None)
    config = CompareConfig(measures=("documents_recall", "recall@10"))
    compared = compare_files(CompareRequest((run, ours), gold, config=config))
    assert {row.measure for row in compared.report.comparisons} == set(config.measures)


def test_an_empty_file_is_a_run_without_questions(gold, run, tmp_path):
    (tmp_path / "empty").touch()
    with pytest.raises(InputError, match="has none of the 6 questions"):
        compare_files(CompareRequest((run, tmp_path / "empty"), gold))
