import csv
from pathlib import Path

import pytest

from hybrid_ir.bioasq.questions import read_questions
from hybrid_ir.bioasq.raw import read_raw
from hybrid_ir.bioasq.submission.validation import validate
from hybrid_ir.records import Document, Question

URL = "http://www.ncbi.nlm.nih.gov/pubmed/"
KINDS = ("yesno", "factoid", "list", "summary")
BATCH = {kind: Question(kind, "Why?", kind) for kind in KINDS}
DIES = "the official evaluator dies of it"


def snippet(**members):
    return {
        "document": URL + "1",
        "text": "text",
        "offsetInBeginSection": 10,
        "offsetInEndSection": 14,
        "beginSection": "abstract",
        "endSection": "abstract",
    } | members


def found(phase, kind="summary", document_of=None, **members):
    """The faults of one question, as (severity, path below the question, problem)."""
    plain = {"A": {"documents": [URL + "1"]}, "B": {"ideal_answer": "Because."}}[phase]
    exact = {"yesno": "yes", "factoid": [["a"]], "list": [["a"]]}.get(kind)
    if phase == "B" and exact:
        plain["exact_answer"] = exact
    raw = {"id": kind, "type": kind, "body": "Why?"} | plain | members
    faults = validate([raw], [BATCH[kind]], phase, document_of)
    assert all(fault.cure and fault.problem for fault in faults)
    assert all(fault.question_id == kind or fault.path == "$.questions" for fault in faults)
    return [
        (fault.severity, fault.path.removeprefix("$.questions[0]."), fault.problem)
        for fault in faults
    ]


def test_a_plain_submission_has_no_fault():
    documents = [URL + str(number) for number in range(1, 11)]
    snippets = [snippet(document=document) for document in documents]
    assert found("A", documents=documents, snippets=snippets, concepts=[], score=1.5) == []
    answers = {
        "yesno": "no",
        "factoid": [[letter] for letter in "abcde"],
        "list": [[str(number)] for number in range(99)] + [["x" * 100]],
    }
    for kind, answer in answers.items():
        ideal = " ".join(["word"] * 200)
        assert found("B", kind, exact_answer=answer, ideal_answer=ideal, documents=[]) == []


@pytest.mark.parametrize("phase", ["A", "B"])
@pytest.mark.parametrize(
    ("kind", "members", "path"),
    [
        ("summary", {"documents": None}, "documents"),
        ("summary", {"documents": [URL + "1", None]}, "documents[1]"),
        ("summary", {"documents": [[URL + "1"]]}, "documents[0]"),
        ("summary", {"snippets": None}, "snippets"),
        ("summary", {"snippets": ["text"]}, "snippets[0]"),
        ("summary", {"snippets": [snippet(score=1)]}, "snippets[0].score"),
        ("summary", {"snippets": [snippet(text=None)]}, "snippets[0].text"),
        ("summary", {"snippets": [snippet(beginSection=["abstract"])]}, "snippets[0].beginSection"),
        ("summary", {"snippets": [snippet() | {"document": None}]}, "snippets[0].document"),
        ("summary", {"snippets": [snippet(endSection=True)]}, "snippets[0].endSection"),
        ("summary", {"snippets": [snippet(document="/")]}, "snippets[0].document"),
        ("summary", {"concepts": ["c", None]}, "concepts[1]"),
        ("summary", {"triples": [{"s": "a", "p": "b"}]}, "triples[0]"),
        ("factoid", {"exact_answer": 9}, "exact_answer"),
        ("yesno", {"exact_answer": None}, "exact_answer"),
        ("yesno", {"exact_answer": True}, "exact_answer"),
        ("yesno", {"exact_answer": ["yes"]}, "exact_answer"),
        ("factoid", {"exact_answer": None}, "exact_answer"),
        ("factoid", {"exact_answer": ["a", "b"]}, "exact_answer"),
        ("list", {"exact_answer": ["a", "b"]}, "exact_answer"),
        ("list", {"exact_answer": [["a"], "b"]}, "exact_answer"),
        ("factoid", {"exact_answer": [[["a"]]]}, "exact_answer[0]"),
        ("factoid", {"exact_answer": [["a"], [None]]}, "exact_answer[1]"),
        ("summary", {"exact_answer": ["a"]}, "exact_answer"),
    ],
)  # fmt: skip
def test_what_the_official_evaluator_dies_of_is_an_error_in_every_phase(phase, kind, members, path):
    deadly = [fault for fault in found(phase, kind, **members) if DIES in fault[2]]
    assert [fault[:2] for fault in deadly] == [("error", path)]


@pytest.mark.parametrize(
    ("kind", "members"),
    [
        ("summary", {"documents": [15829955]}),
        ("summary", {"snippets": [snippet(offsetInBeginSection="10")]}),
        ("factoid", {"exact_answer": []}),
        ("factoid", {"exact_answer": [[]]}),
        ("factoid", {"exact_answer": "a"}),
        ("factoid", {"exact_answer": [[9]]}),
        ("summary", {"exact_answer": "n/a"}),
        ("summary", {"_body": None, "concepts": []}),
    ],
)
def test_what_the_official_evaluator_reads_kills_nothing(kind, members):
    assert not any(DIES in fault[2] for fault in found("A", kind, **members))


def test_offsets_must_be_whole_numbers():
    floats = snippet(offsetInBeginSection=10.0, offsetInEndSection="x")
    assert [fault[:2] for fault in found("B", snippets=[floats])] == [
        ("error", "snippets[0].offsetInBeginSection"),
        ("error", "snippets[0].offsetInEndSection"),
    ]


def test_misspelled_snippet_keys_are_named_once_each():
    raw = snippet()
    raw["begin_section"] = raw.pop("beginSection")
    assert [fault[:2] for fault in found("A", snippets=[raw])] == [
        ("error", "snippets[0].begin_section")
    ]
    del raw["begin_section"]
    assert found("A", snippets=[raw]) == [
        ("error", "snippets[0]", "the key 'beginSection' is missing")
    ]


@pytest.mark.parametrize(
    ("spelling", "faulty"),
    [
        (URL + "1", False),
        ("https://pubmed.ncbi.nlm.nih.gov/1/", True),
        (URL + "1/", True),
        ("1", True),
        ("http://example.org/1", True),
    ],
)
def test_addresses_must_be_spelled_as_the_evaluator_compares_them(spelling, faulty):
    for members in (
        {"documents": [spelling]},
        {"snippets": [snippet(document=spelling)]},
    ):
        assert [fault[0] for fault in found("A", **members)] == ["error"] * faulty
    assert found("B", documents=[spelling]) == []


def test_the_limits_of_phase_a():
    documents = [URL + str(number) for number in range(1, 12)]
    assert found("A", documents=documents) == [
        ("error", "documents", "expected at most 10, got 11")
    ]
    snippets = [snippet(document=document) for document in documents]
    assert found("A", snippets=snippets) == [("error", "snippets", "expected at most 10, got 11")]
    assert found("B", documents=documents, snippets=snippets) == []  # copied from the test set


def test_duplicates_in_any_spelling_are_warned_of():
    assert found("A", documents=[URL + "1", URL + "2", URL + "1"]) == [
        ("warning", "documents[2]", "the same as [0]")
    ]
    assert ("warning", "documents[1]", "the same as [0]") in found("A", documents=[URL + "1", 1])
    twice = [snippet(), snippet(text="Text"), snippet(offsetInBeginSection=9, text="a text")]
    assert [fault[:2] for fault in found("A", snippets=twice)] == [
        ("warning", "snippets[2]"),  # 14 - 9 = 5 characters, the text has 6
        ("warning", "snippets[1]"),
    ]


@pytest.mark.parametrize(
    ("members", "severity", "path"),
    [
        ({"endSection": "title"}, "error", "endSection"),
        ({"beginSection": "body", "endSection": "body"}, "error", "beginSection"),
        ({"beginSection": "sections.0", "endSection": "sections.0"}, "warning", "beginSection"),
        ({"offsetInBeginSection": -1, "offsetInEndSection": 3}, "error", "offsetInBeginSection"),
        ({"offsetInEndSection": 10}, "error", "offsetInEndSection"),
        ({"offsetInEndSection": 15}, "warning", ""),
        ({"text": "    "}, "error", "text"),
        ({"offsetInBeginSection": "10"}, "warning", "offsetInBeginSection"),
    ],
)
def test_snippets_that_cannot_be_right(members, severity, path):
    spot = f"snippets[0].{path}" if path else "snippets[0]"
    assert [fault[:2] for fault in found("A", snippets=[snippet(**members)])] == [(severity, spot)]
    assert found("B", snippets=[snippet(**members)]) == []


def test_snippets_are_compared_with_the_document():
    documents = {"1": Document("1", "A text", "0123456789text")}
    assert found("A", document_of=documents.get, snippets=[snippet()]) == []
    shifted = snippet(offsetInBeginSection=5, offsetInEndSection=9)
    strange = snippet(text="else")
    title = snippet(
        beginSection="title", endSection="title", offsetInBeginSection=2, offsetInEndSection=6
    )
    elsewhere = snippet(document=URL + "2")
    snippets = [shifted, strange, title, elsewhere]
    assert found("A", document_of=documents.get, snippets=snippets) == [
        (
            "warning",
            "$.questions",
            "1 snippets lie in 1 documents that are not at hand (first: "
            "2): their text was not compared",
        ),
        ("warning", "snippets[0]", "the text stands at 10 to 14, not at 5 to 9"),
        ("warning", "snippets[1]", "the text is not in the abstract of 1 as it is at hand"),
    ]


@pytest.mark.parametrize(
    ("kind", "answer", "faults"),
    [
        ("yesno", "Yes", [("error", "exact_answer")]),
        ("yesno", "", [("error", "exact_answer")]),
        ("yesno", "unknown", [("error", "exact_answer")]),
        ("factoid", [[c] for c in "abcdef"], [("error", "exact_answer")]),
        ("factoid", "a", [("error", "exact_answer")]),
        ("factoid", [["a", "b"]], [("error", "exact_answer[0]")]),
        ("factoid", [["a"], ["A"]], [("warning", "exact_answer[1]")]),
        ("factoid", [["a"], []], [("warning", "exact_answer[1]")]),
        ("factoid", [[9]], [("warning", "exact_answer[0]")]),
        ("factoid", [["a "]], [("warning", "exact_answer[0]")]),
        ("factoid", [["x" * 101]], []),
        ("factoid", [], [("warning", "exact_answer")]),
        ("factoid", [[" "]], [("warning", "exact_answer"), ("warning", "exact_answer[0]")]),
        ("list", [[str(i)] for i in range(101)], [("error", "exact_answer")]),
        ("list", [["x" * 101]], [("error", "exact_answer[0]")]),
        ("list", [[10**100]], [("warning", "exact_answer[0]"), ("error", "exact_answer[0]")]),
        ("list", [["a"], ["b", "c"]], [("error", "exact_answer[1]")]),
        ("summary", "n/a", [("warning", "exact_answer")]),
    ],
)
def test_exact_answers_by_type(kind, answer, faults):
    assert [fault[:2] for fault in found("B", kind, exact_answer=answer)] == faults


def test_a_missing_exact_answer_is_a_warning():
    raw = {"id": "yesno", "ideal_answer": "Because."}
    faults = validate([raw], [BATCH["yesno"]], "A+")
    assert [(fault.severity, fault.path) for fault in faults] == [
        ("warning", "$.questions[0].exact_answer")
    ]


@pytest.mark.parametrize(
    ("answer", "severities"),
    [
        (" ".join(["word"] * 201), ["error"]),
        (["Because."], ["error"]),
        (" ", ["warning", "error"]),  # the error: no question has an answer
        ("p<0.05", ["warning"]),
        ("one\ntwo", ["warning"]),
        ("one\n", []),
        ("a < " + " ".join(["word"] * 199), ["error", "warning"]),  # 2 + 199 words
    ],
)
def test_ideal_answers(answer, severities):
    given = [fault[0] for fault in found("B", ideal_answer=answer)]
    assert sorted(given) == sorted(severities)


def test_the_batch_must_be_there_and_nothing_else():
    raw = [
        {"id": "list", "documents": [URL + "1"]},
        {"id": "list", "documents": [URL + "2"]},
        {"id": "stranger", "documents": [URL + "3"], "type": "yesno", "exact_answer": [["yes"]]},
        {"documents": [URL + "4"]},
    ]
    faults = validate(raw, [BATCH["list"], BATCH["yesno"]], "A")
    assert [(fault.question_id, fault.path) for fault in faults] == [
        ("yesno", "$.questions"),
        ("list", "$.questions[1].id"),
        ("stranger", "$.questions[2].id"),
        ("stranger", "$.questions[2].exact_answer"),
        ("", "$.questions[3].id"),
    ]
    assert {fault.severity for fault in faults} == {"error"}


def test_keys_and_values_beside_the_answers():
    assert [fault[:2] for fault in found("A", idealAnswer="x")] == [("error", "idealAnswer")]
    assert [fault[:2] for fault in found("A", type="list")] == [("warning", "type")]
    assert [fault[:2] for fault in found("A", body=None)] == [("error", "body")]
    assert [fault[:2] for fault in found("A", triples=None)] == [("error", "triples")]


def test_a_file_of_the_wrong_phase_is_an_error():
    raw = [{"id": "list", "documents": [URL + "1"]}]
    errors = [fault for fault in validate(raw, [BATCH["list"]], "B") if fault.severity == "error"]
    assert [fault.path for fault in errors] == ["$.questions"]
    assert "nothing to score in Phase B" in errors[0].problem


def official_rows(shared: Path):
    path = shared / "data/derived/official_evaluator_lines_dev.tsv"
    with path.open() as file:
        return list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))


@pytest.mark.shared
def test_the_official_program_died_exactly_where_validation_says(shared: Path):
    """208 rows: 26 files, two phases, two editions, two spellings; 64 of them without a line."""
    verdicts: dict[tuple[str, str], set[bool]] = {}
    rows = official_rows(shared)
    for row in rows:
        verdicts.setdefault((row["submission"], row["phase"]), set()).add(bool(row["error"]))
    assert (len(rows), sum(bool(row["error"]) for row in rows)) == (208, 64)
    goldens = {row["submission"]: row["golden"] for row in rows}
    for (name, phase), died in verdicts.items():
        path = shared / "data/bioasq_submissions" / name
        raw = read_raw(path if path.exists() else path.with_name(path.name + ".gz"))
        batch = read_questions(shared / "data/bioasq_golden" / f"{goldens[name]}.gz")
        faults = validate(raw, batch, phase)
        assert {any(DIES in fault.problem for fault in faults)} == died, (name, phase)
