from dataclasses import asdict
from pathlib import Path

import pytest

from hybrid_ir.bioasq.gold import gold_of
from hybrid_ir.bioasq.oddities import oddities_of
from hybrid_ir.bioasq.raw import read_raw

URL = "http://www.ncbi.nlm.nih.gov/pubmed/"


def snippet(document, text="text", end=4):
    return {
        "document": document,
        "text": text,
        "offsetInBeginSection": 0,
        "offsetInEndSection": end,
        "beginSection": "title",
        "endSection": "title",
    }


def counts(raw):
    found = oddities_of(raw, gold_of(raw, "enriched", Path("golden.json")))
    return {name: count for name, count in asdict(found).items() if count}


def test_a_plain_question_shows_only_its_sizes():
    raw = [
        {
            "id": "q1",
            "type": "yesno",
            "documents": [URL + "1"],
            "snippets": [snippet(URL + "1")],
            "ideal_answer": ["a"],
            "exact_answer": "yes",
        }
    ]
    assert counts(raw) == {"questions": 1, "documents": 1, "snippets": 1}


def test_every_oddity_is_counted():
    raw = [
        {
            "id": "q1",
            "type": "list",
            "documents": [URL + "1", "https://pubmed.ncbi.nlm.nih.gov/1/", 2, "http://x.org/3"],
            "snippets": [snippet(URL + "1"), snippet("1"), snippet(URL + "9", end=7)],
            "ideal_answer": ["a", " "],
            "exact_answer": [["a", ""], [""]],
        },
        {"id": "q2", "type": "summary", "exact_answer": "n/a", "ideal_answer": ""},
        {"id": "q3", "type": "factoid", "documents": [URL + "1"]},
        {"id": "q4", "type": "yesno", "exact_answer": "", "ideal_answer": "a"},
    ]
    assert counts(raw) == {
        "questions": 4,
        "documents": 3 + 0 + 1 + 0,
        "duplicate_documents": 1,  # the second spelling of 1
        "respelled_documents": 2,  # that spelling and the bare 2
        "documents_elsewhere": 1,
        "documents_without_snippet": 2 + 1,  # 2 and x.org of q1, 1 of q3
        "snippets": 3,
        "duplicate_snippets": 1,
        "stray_snippets": 1,
        "snippets_of_odd_length": 1,
        "blank_answers": 1 + 2 + 1 + 1,  # ideal and two synonyms of q1, ideal of q2, exact of q4
        "summary_exact_answers": 1,
        "without_documents": 2,
        "without_ideal_answer": 2,
        "without_exact_answer": 2,
    }


@pytest.mark.shared
def test_oddities_of_real_files(shared: Path):
    found = counts(read_raw(shared / "data/bioasq_golden/9B3_golden.json.gz"))
    assert found == {
        "questions": 97,
        "documents": 679,
        "documents_without_snippet": 4,
        "snippets": 1083,
        "stray_snippets": 39,
        "blank_answers": 1,
    }
    found = counts(read_raw(shared / "data/bioasq_golden/7B2_golden.json.gz"))
    assert (found["snippets"], found["snippets_of_odd_length"]) == (774, 84)
