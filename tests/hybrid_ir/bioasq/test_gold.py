import json
import logging
from pathlib import Path

import pytest

from hybrid_ir.bioasq.gold import gold_of, qrels, read_gold
from hybrid_ir.bioasq.raw import read_raw
from hybrid_ir.errors import InputError
from hybrid_ir.records import Gold, Snippet

HERE = Path("golden.json")
URL = "http://www.ncbi.nlm.nih.gov/pubmed/"


def raw_snippet(document=URL + "1", begin=0, end=4, text="text", section="abstract"):
    return {
        "document": document,
        "text": text,
        "offsetInBeginSection": begin,
        "offsetInEndSection": end,
        "beginSection": section,
        "endSection": section,
    }


def one(**members):
    question = {"id": "q1", "type": "summary", "body": "b", "documents": [URL + "1"]} | members
    return gold_of([question], "enriched", HERE)[0]


def test_documents_become_pmids_each_once_in_order():
    spelled = [
        URL + "2",
        "https://pubmed.ncbi.nlm.nih.gov/1/",
        URL + "1",
        "2",
        3,
        "http://www.ncbi.nlm.nih.gov/pmc/articles/PMC7",
    ]
    assert one(documents=spelled).documents == (
        "2", "1", "3", "http://www.ncbi.nlm.nih.gov/pmc/articles/PMC7",
    )  # fmt: skip


def test_snippets_are_all_kept_as_given():
    raw = [
        raw_snippet(
            "https://pubmed.ncbi.nlm.nih.gov/9/", -1, 5, " <i>p</i>&lt;0.05\n", "sections.0"
        ),
        raw_snippet("9", "3", "7"),
        raw_snippet("9", "3", "7"),
        raw_snippet(section="title"),
    ]
    assert one(snippets=raw).snippets == (
        Snippet("9", "sections.0", -1, 5, " <i>p</i>&lt;0.05\n"),
        Snippet("9", "abstract", 3, 7, "text"),
        Snippet("9", "abstract", 3, 7, "text"),
        Snippet("1", "title", 0, 4, "text"),
    )


@pytest.mark.parametrize(
    ("answer", "ideal"),
    [
        ("one", ("one",)),
        (["one", " ", "", "two "], ("one", "two ")),
        ([], ()),
        ("", ()),
        (None, ()),
    ],
)
def test_ideal_answers_of_all_years(answer, ideal):
    assert one(ideal_answer=answer).ideal == ideal
    assert one().ideal == ()


@pytest.mark.parametrize(
    ("kind", "answer", "exact"),
    [
        ("yesno", "yes", "yes"),
        ("yesno", "Yes.", "yes"),
        ("yesno", " No ", "no"),
        ("yesno", ["No"], "no"),
        ("yesno", "", None),
        ("yesno", None, None),
        ("factoid", ["a", "b"], (("a", "b"),)),  # flat, as in training files: synonyms
        ("factoid", [["a", "b"]], (("a", "b"),)),
        ("factoid", [["a", "", " "], ["c"], []], (("a",), ("c",))),
        ("factoid", "a", (("a",),)),
        ("factoid", [[9]], (("9",),)),
        ("factoid", [["", " "]], None),
        ("list", [["a", "b"], ["c"]], (("a", "b"), ("c",))),
        ("list", ["a", "b"], (("a",), ("b",))),  # flat: every text an entity
        ("list", [[" a "]], ((" a ",),)),
        ("list", [], None),
        ("summary", None, None),
        ("summary", "n/a", None),
        ("Factoid", ["a"], (("a",),)),
    ],
)
def test_exact_answers_of_all_years(kind, answer, exact):
    assert one(type=kind, exact_answer=answer).exact == exact


@pytest.mark.parametrize(
    ("members", "reason"),
    [
        ({"documents": "x"}, "documents: expected a list, got 'x'"),
        ({"documents": [URL + "1", {"id": "x"}]}, r"documents\[1\]: expected the address"),
        ({"documents": [" "]}, r"documents\[0\]: expected the address"),
        ({"documents": [True]}, r"documents\[0\]: expected the address"),
        ({"snippets": ["text"]}, r"snippets\[0\]: expected an object"),
        ({"snippets": [raw_snippet() | {"text": None}]}, r"snippets\[0\].text: expected text"),
        ({"snippets": [raw_snippet(begin=1.5)]}, "offsetInBeginSection: expected a whole number"),
        ({"snippets": [raw_snippet(end="x")]}, "offsetInEndSection: expected a whole number"),
        ({"snippets": [raw_snippet() | {"endSection": "title"}]}, "'abstract' to 'title'"),
        ({"ideal_answer": [["a"]]}, "ideal_answer: expected text or a list of texts"),
        ({"type": "yesno", "exact_answer": "maybe"}, "exact_answer: expected yes or no"),
        ({"type": "yesno", "exact_answer": ["yes", "no"]}, "exact_answer: expected yes or no"),
        ({"type": "list", "exact_answer": [["a"], "b"]}, "expected a list of lists of texts"),
        ({"type": "factoid", "exact_answer": [[["a"]]]}, "expected a list of lists of texts"),
        ({"type": None, "exact_answer": "yes"}, "no known type"),
    ],
)
def test_what_cannot_be_kept_is_refused(members, reason):
    with pytest.raises(InputError, match=f"(?s)golden.json.*question q1: .*{reason}"):
        one(**members)


def test_all_faults_of_a_file_come_at_once():
    raw = [
        {"id": "q1", "documents": "x"},
        {"id": "q2", "documents": [URL + "1"]},
        {"id": "q2", "documents": [URL + "1"]},
        {"id": "q3", "ideal_answer": 4},
    ]
    with pytest.raises(InputError) as caught:
        gold_of(raw, "enriched", HERE)
    message = str(caught.value)
    assert "question q1: documents" in message
    assert "question q2: stands 2 times" in message
    assert "question q3: ideal_answer" in message


def test_a_question_file_is_no_gold():
    with pytest.raises(InputError, match="a Phase A test set does not"):
        gold_of([{"id": "q1", "type": "list", "body": "b"}], "enriched", HERE)


def test_qrels_have_grade_one_and_keep_empty_questions():
    golds = [
        Gold("q1", "enriched", ("2", "1"), (), (), None),
        Gold("q2", "enriched", (), (), (), None),
    ]
    assert qrels(golds) == {"q1": {"2": 1, "1": 1}, "q2": {}}


def test_reading_logs_what_was_made_alike(tmp_path, caplog):
    path = tmp_path / "gold.json"
    questions = [{"id": "q1", "type": "summary", "documents": [URL + "1", "1"], "ideal_answer": ""}]
    path.write_text(json.dumps({"questions": questions}))
    with caplog.at_level(logging.INFO):
        golds = read_gold(path, "preliminary")
    assert golds == (Gold("q1", "preliminary", ("1",), (), (), None),)
    assert "duplicate_documents 1, respelled_documents 1" in caplog.text


@pytest.mark.shared
def test_nothing_is_lost_from_the_goldens(shared: Path):
    for path in sorted((shared / "data/bioasq_golden").glob("*.json.gz")):
        for raw, gold in zip(read_raw(path), read_gold(path, "enriched"), strict=True):
            assert [URL + pmid for pmid in gold.documents] == raw["documents"]
            assert [
                raw_snippet(URL + s.document_id, s.begin, s.end, s.text, s.section)
                for s in gold.snippets
            ] == raw["snippets"]
            assert list(gold.ideal) == raw["ideal_answer"]
            assert _same_exact(raw, gold)


def _same_exact(raw, gold):
    answer = raw.get("exact_answer")
    if raw["type"] in ("factoid", "list"):
        given = [[text for text in group if text.strip()] for group in answer]
        return [list(group) for group in gold.exact] == given
    return gold.exact == (answer.lower() if answer else None)


@pytest.mark.shared
def test_a_flat_factoid_of_the_training_sample_is_one_entity(shared: Path):
    path = shared / "data/bioasq_training/BioASQ-SampleDataB.json"
    pairs = zip(read_raw(path), read_gold(path, "enriched"), strict=True)
    factoids = [
        (raw["exact_answer"], gold.exact) for raw, gold in pairs if raw["type"] == "factoid"
    ]
    assert len(factoids) == 2
    for flat, exact in factoids:
        assert exact == (tuple(flat),)


@pytest.mark.shared
def test_the_official_sample_gold_is_read_without_types(shared: Path):
    name = "BioASQ-task2bPhaseA-testset1.docs.concepts.documents.gold.json"
    golds = read_gold(shared / "data/bioasq_eval_sample" / name, "enriched")
    assert (len(golds), sum(len(gold.documents) for gold in golds)) == (100, 1031)


@pytest.mark.shared
def test_phase_b_files_hold_the_preliminary_gold(shared: Path):
    paths = list((shared / "data/bioasq_testsets").glob("*PhaseB*"))
    sizes = {path.name: len(read_gold(path, "preliminary")) for path in paths}
    assert len(sizes) == 9
    assert sizes["BioASQ-task4bPhaseB-testset4.json.gz"] == 100
