"""The official program's own outputs, to the last digit."""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from hybrid_ir.bioasq.measures import Raw, official_line, read_gold, read_responses, score_phase_a
from hybrid_ir.bioasq.measures.java import double_to_string
from hybrid_ir.bioasq.raw import read_raw, url_of
from hybrid_ir.errors import InputError

pytestmark = pytest.mark.shared


@cache
def read(path: Path) -> list[dict[str, Any]]:
    return read_raw(path if path.exists() else path.with_name(f"{path.name}.gz"))


@cache
def read_normalised(path: Path) -> list[Raw]:
    return [normalised(question) for question in read(path)]


def normalised(question: Mapping[str, Any]) -> Raw:
    """Rewrite every document URL as the reference rows marked "normalised" had it."""
    changed = dict(question)
    if "documents" in question:
        changed["documents"] = [url_of(document) for document in question["documents"]]
    if "snippets" in question:
        changed["snippets"] = [
            snippet | {"document": url_of(snippet["document"])} for snippet in question["snippets"]
        ]
    return changed


def test_synthetic_fixtures_in_all_editions(shared: Path) -> None:
    folder = shared / "data" / "eval_reference" / "bioasq"
    expected = json.loads((folder / "expected.json").read_text())
    assert len(expected) == 20
    for key, values in expected.items():
        submission, phase, edition = key.split("/")
        arguments = read(folder / "gold.json"), read(folder / f"{submission}.json")
        if isinstance(values, str):
            with pytest.raises(InputError, match="missing"):
                official_line(*arguments, phase, int(edition[1:]))
        else:
            line = official_line(*arguments, phase, int(edition[1:]))
            assert line == " ".join(map(double_to_string, values)), key


def test_real_submissions(shared: Path) -> None:
    """Every row: the very line, or an error where the official program died."""
    data = shared / "data"
    path = data / "derived" / "official_evaluator_lines_dev.tsv"
    lines = 0
    with path.open(newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    for row in rows:
        load = read_normalised if row["urls"] == "normalised" else read
        gold = load(data / "bioasq_golden" / row["golden"])
        submission = load(data / "bioasq_submissions" / row["submission"])
        if row["official_line"]:
            line = official_line(gold, submission, row["phase"], int(row["edition"]))
            assert line == row["official_line"], row
            lines += 1
        else:
            with pytest.raises(InputError, match="dies on"):
                official_line(gold, submission, row["phase"], int(row["edition"]))
    assert (lines, len(rows) - lines) == (144, 64)


def test_the_official_sample_of_edition_2b(shared: Path) -> None:
    sample = shared / "data" / "bioasq_eval_sample"
    name = "BioASQ-task2bPhaseA-testset1.docs.concepts."
    gold = read(sample / f"{name}documents.gold.json")
    submission = read(sample / f"{name}multiple.json")
    documents = score_phase_a(read_gold(gold, 8), read_responses(submission, 8), 8).documents
    assert documents.values == (
        1.0, 0.20135549445790576, 0.29735091435201266, 0.2166031746031746, 0.1686519939404974,
    )  # fmt: skip
    older = score_phase_a(read_gold(gold, 5), read_responses(submission, 5), 5).documents
    assert older.map == 0.09999999999999981
