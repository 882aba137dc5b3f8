import copy
import csv

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hybrid_ir.bioasq.measures import official
from hybrid_ir.bioasq.questions import read_questions
from hybrid_ir.bioasq.raw import read_raw, write_raw
from hybrid_ir.bioasq.submission.answer_repair import cut_at_sentence_end
from hybrid_ir.bioasq.submission.faults import DIES
from hybrid_ir.bioasq.submission.repair import repair
from hybrid_ir.bioasq.submission.validation import validate
from hybrid_ir.records import Question

URL = "http://www.ncbi.nlm.nih.gov/pubmed/"
KINDS = ("yesno", "factoid", "list", "summary")
BATCH = {kind: Question(kind, "Why?", kind) for kind in KINDS}


def snippet(**members):
    return {
        "document": URL + "1",
        "text": "text",
        "offsetInBeginSection": 10,
        "offsetInEndSection": 14,
        "beginSection": "abstract",
        "endSection": "abstract",
    } | members


def mended(phase, kind="summary", **members):
    """One repaired question without its id, and the paths of the changes."""
    raw = {"id": kind} | members
    given = copy.deepcopy(raw)
    repaired, changes, _ = repair([raw], [BATCH[kind]], phase)
    assert raw == given
    assert repaired[0].pop("id") == kind
    return repaired[0], [change.path.removeprefix("$.questions[0].") for change in changes]


def test_a_plain_submission_stays_as_it_is():
    documents = [URL + str(number) for number in range(1, 11)]
    snippets = [snippet(document=document) for document in documents]
    raw = [
        {"id": kind, "documents": documents, "snippets": snippets, "score": None} for kind in KINDS
    ]
    repaired, changes, faults = repair(raw, list(BATCH.values()), "A")
    assert repaired == raw
    assert (changes, faults) == ((), ())


def test_documents_are_respelled_deduplicated_and_cut():
    spelled = ["https://pubmed.ncbi.nlm.nih.gov/1/", URL + "2", 1, None, "http://x.org/3"]
    spelled += [URL + str(number) for number in range(4, 13)]
    question, paths = mended("A", documents=spelled)
    expected = [URL + "1", URL + "2", "http://x.org/3"]
    assert question["documents"] == expected + [URL + str(number) for number in range(4, 11)]
    assert paths == ["documents[0]", "documents[2]", "documents[3]", "documents"]
    question, paths = mended("B", documents=spelled)
    assert question["documents"] == spelled[:3] + spelled[4:]  # only the null is unreadable
    assert paths == ["documents[3]"]


def test_what_is_no_list_goes():
    question, paths = mended("A", documents=None, snippets="x", concepts=None, triples={})
    assert question == {}
    assert sorted(paths) == ["concepts", "documents", "snippets", "triples"]
    triples = [{"s": "a", "p": "b", "o": "c"}, {"s": "a"}, None]
    question, paths = mended("B", concepts=["c", None], triples=triples)
    assert question == {"concepts": ["c"], "triples": triples[:1]}
    assert paths == ["concepts[1]", "triples[1]", "triples[2]"]
    assert mended("A", documents="1") == ({"documents": [URL + "1"]}, ["documents", "documents[0]"])


def test_snippet_keys_are_renamed_and_dropped():
    raw = {
        "document": "1",
        "text": "text",
        "offset_in_begin_section": 10.0,
        "offsetInEndSection": "14",
        "begin_section": ["abstract"],
        "endSection": "Abstract",
        "end_section": "title",
        "score": 0.5,
    }
    question, paths = mended("A", snippets=[raw])
    assert question["snippets"] == [snippet()]
    assert [path.removeprefix("snippets[0].") for path in paths] == [
        "begin_section",  # renamed
        "end_section",  # endSection is there too
        "offset_in_begin_section",  # renamed
        "score",
        "document",
        "offsetInEndSection",
        "endSection",
        "beginSection",
        "offsetInBeginSection",
    ]


def test_in_phase_b_snippets_are_only_made_readable():
    raw = snippet(document="1", offsetInEndSection="14", endSection="Abstract")
    assert mended("B", snippets=[raw, raw]) == ({"snippets": [raw, raw]}, [])
    assert mended("A", snippets=[raw, raw])[0] == {"snippets": [snippet()]}


def test_a_snippet_that_stays_unreadable_is_left_out():
    bad = [snippet(text=None), snippet(offsetInEndSection=14.5), "text", {"document": "1"}]
    question, paths = mended("B", snippets=[*bad, snippet()])
    assert question["snippets"] == [snippet()]
    assert paths == ["snippets[0]", "snippets[1]", "snippets[2]", "snippets[3]"]


def test_snippets_are_deduplicated_and_cut_in_phase_a():
    snippets = [snippet(offsetInEndSection=14 + number) for number in range(12)]
    question, paths = mended("A", snippets=[snippets[0], *snippets])
    assert question["snippets"] == snippets[:10]
    assert paths == ["snippets[1]", "snippets"]


@pytest.mark.parametrize(
    ("kind", "answer", "repaired"),
    [
        ("yesno", "Yes.", "yes"),
        ("yesno", True, "yes"),
        ("yesno", ["No"], "no"),
        ("yesno", [["no"]], "no"),
        ("yesno", "maybe", "maybe"),
        ("yesno", ["yes", "no"], None),
        ("factoid", ["a", "b"], [["a"], ["b"]]),
        ("factoid", "a", [["a"]]),
        ("factoid", [[["a"]]], [["a"]]),
        ("factoid", [[["a"], ["b"]]], [["a"], ["b"]]),
        ("factoid", [[["a"]], [["b"]]], [["a"], ["b"]]),
        ("factoid", [[9]], [["9"]]),
        ("factoid", 9, [["9"]]),
        ("factoid", [["a", "b"], [" c\n"], [], [""], ["A"], [None]], [["a"], ["c"]]),
        ("factoid", [[c] for c in "abcdefg"], [[c] for c in "abcde"]),
        ("factoid", [["a"], [{"b": 1}]], [["a"]]),
        ("factoid", None, None),
        ("factoid", {"a": 1}, None),
        ("list", [[str(i)] for i in range(102)], [[str(i)] for i in range(100)]),
        ("list", [["x" * 101]], [["x" * 101]]),  # shortening it would be a guess
        ("summary", "n/a", None),
    ],
)
def test_exact_answers_take_the_shape_of_their_type(kind, answer, repaired):
    question, paths = mended("B", kind, exact_answer=answer)
    assert question == ({} if repaired is None else {"exact_answer": repaired})
    assert bool(paths) == (answer != repaired or answer is None)


@pytest.mark.parametrize(
    ("kind", "answer", "repaired"),
    [
        ("yesno", "Yes.", "Yes."),
        ("yesno", ["Yes."], "yes"),
        ("factoid", "a", "a"),
        ("factoid", ["a", "a"], [["a"], ["a"]]),
        ("factoid", [["a", "b"]], [["a", "b"]]),
        ("summary", "n/a", "n/a"),
    ],
)
def test_in_phase_a_answers_are_only_made_readable(kind, answer, repaired):
    assert mended("A", kind, exact_answer=answer)[0] == {"exact_answer": repaired}


def test_ideal_answers_leave_their_list_and_are_cut_at_a_sentence_end():
    assert mended("B", ideal_answer=["One."])[0] == {"ideal_answer": "One."}
    assert mended("B", ideal_answer=["One.", "Two."])[0] == {"ideal_answer": ["One.", "Two."]}
    sentence = "Nine words are in this sentence about E. coli."  # 9 words
    text = " ".join([sentence] * 23)  # 207 words; 22 * 9 = 198
    assert mended("B", ideal_answer=text)[0] == {"ideal_answer": " ".join([sentence] * 22)}
    longest = " ".join([sentence] * 22) + " and more"  # 198 + 2 words
    assert mended("B", ideal_answer=longest) == ({"ideal_answer": longest}, [])
    assert mended("A", ideal_answer=text) == ({"ideal_answer": text}, [])
    endless = " ".join(["word"] * 201) + "."
    question, paths = mended("B", ideal_answer=endless)
    assert (question, paths) == ({"ideal_answer": endless}, [])


@pytest.mark.parametrize(
    ("text", "words", "cut"),
    [
        ("One two. Three four.", 3, "One two."),
        ("One two. Three four.", 4, "One two. Three four."),
        ("One two three.", 2, ""),
        ("In E. coli and Fig. 3 of Smith et al. (2010) it grew! Then it died.", 14,
         "In E. coli and Fig. 3 of Smith et al. (2010) it grew!"),
        ("It grew by 1.5 mm e.g. Monday. Then it died.", 8, "It grew by 1.5 mm e.g. Monday."),
        ('He said "no." She left (at once.) They stayed.', 7, 'He said "no." She left (at once.)'),
        ("There are:\n1. Tea.\n12. Coffee and milk.", 5, "There are:\n1. Tea."),
        ("What? Nothing at all", 3, "What?"),
        ("They grew. In A. Thaliana too.", 4, "They grew."),
    ],
)  # fmt: skip
def test_where_a_sentence_ends(text, words, cut):
    assert cut_at_sentence_end(text, words) == cut


def test_questions_are_brought_to_the_batch():
    raw = [
        {"id": "list", "documents": [URL + "1"], "type": "List", "body": None},
        {"id": "list", "documents": [URL + "2"]},
        {"id": "stranger"},
        {"id": ["list"]},
    ]
    repaired, changes, faults = repair(raw, [BATCH["list"], BATCH["yesno"]], "A")
    assert repaired == [
        {"id": "list", "documents": [URL + "1"], "type": "list", "body": "Why?"},
        {"id": "yesno", "type": "yesno", "body": "Why?", "documents": [], "snippets": []},
    ]
    assert [change.path for change in changes] == [
        "$.questions[0].type",
        "$.questions[0].body",
        "$.questions[1]",
        "$.questions[2]",
        "$.questions[3]",
        "$.questions",
    ]
    assert [(fault.severity, fault.question_id) for fault in faults] == [("warning", "yesno")]


def test_misspelled_keys_are_renamed_unless_the_right_one_is_there():
    question, paths = mended("B", "yesno", exactAnswer="yes", idealAnswer="x", ideal_answer="y")
    assert question == {"exact_answer": "yes", "ideal_answer": "y"}
    assert paths == ["exactAnswer", "idealAnswer"]


def test_what_only_the_author_can_mend_is_named():
    raw = [
        {"id": "yesno", "exact_answer": "maybe", "ideal_answer": "x"},
        {"id": "list", "exact_answer": [["x" * 101]], "ideal_answer": ["x", "y"]},
    ]
    _, changes, faults = repair(raw, [BATCH["yesno"], BATCH["list"]], "B")
    assert changes == ()
    assert [fault.path for fault in faults] == [
        "$.questions[0].exact_answer",
        "$.questions[1].exact_answer[0]",
        "$.questions[1].ideal_answer",
    ]


texts = st.text("aA b.<\n", max_size=8) | st.sampled_from(["Yes.", "no", "word " * 201, "x" * 101])
leaves = st.none() | st.booleans() | st.integers(-2, 20) | st.sampled_from([1.0, 2.5]) | texts
values = st.recursive(
    leaves,
    lambda inner: (
        st.lists(inner, max_size=7)
        | st.dictionaries(st.sampled_from(["a", "text"]), inner, max_size=2)
    ),
    max_leaves=12,
)
references = (
    st.sampled_from([URL + "1", "https://pubmed.ncbi.nlm.nih.gov/1/", "2", 3, "x"]) | leaves
)
sections = st.sampled_from(["title", "Abstract", ["abstract"], "sections.0", "body", None])
snippets = st.fixed_dictionaries(
    {},
    optional={
        "document": references,
        "text": leaves,
        "beginSection": sections,
        "begin_section": sections,
        "endSection": sections,
        "offsetInBeginSection": st.sampled_from([0, -1, "0", "x", 3.0, 1.5, None]),
        "offset_in_end_section": st.sampled_from([4, "9"]),
        "offsetInEndSection": st.sampled_from([4, "9", 9.0]),
        "score": leaves,
    },
)
raw_questions = st.fixed_dictionaries(
    {"id": st.sampled_from([*KINDS, "stranger", 7, None])},
    optional={
        "type": st.sampled_from([*KINDS, "List", None]),
        "body": leaves,
        "documents": st.lists(references, max_size=12) | values,
        "snippets": st.lists(snippets | values, max_size=12) | values,
        "exact_answer": values,
        "exactAnswer": values,
        "ideal_answer": values,
        "concepts": values,
        "triples": values | st.lists(st.just({"s": "a", "p": "b", "o": "c"}) | values, max_size=2),
        "other": values,
    },
)


AUTHORS = (  # what a repair must leave to the author
    "expected a PubMed address",
    "expected an end after",
    "expected an offset from 0",
    "expected one section",
    "expected title or abstract",
    "the text is empty",
    'expected "yes" or "no", exactly',
    "expected at most 100 characters",
    "expected at most 200 words",
    "expected one text, got",
    "expected one text an entry, got",
    "nothing to score",
)


@settings(max_examples=150, deadline=None)
@given(st.lists(raw_questions, max_size=4), st.sampled_from(["A", "A+", "B"]))
def test_any_submission_becomes_readable_and_stays_so(raw, phase):
    batch = list(BATCH.values())
    repaired, changes, faults = repair(raw, batch, phase)
    assert repair(repaired, batch, phase) == (repaired, (), faults)
    assert bool(changes) == (repr(repaired) != repr(raw))
    assert sorted(question["id"] for question in repaired) == sorted(KINDS)
    assert faults == validate(repaired, batch, phase)
    official.read_responses(repaired, 9)
    for fault in faults:
        assert DIES not in fault.problem
        assert fault.severity == "warning" or any(text in fault.problem for text in AUTHORS)


@settings(max_examples=150, deadline=None)
@given(st.lists(raw_questions, max_size=3), st.sampled_from(["A", "A+", "B"]))
def test_what_validation_lets_pass_is_readable(raw, phase):
    faults = validate(raw, list(BATCH.values()), phase)
    deadly = [f for f in faults if DIES in f.problem or f.problem.endswith("is missing")]
    if not deadly and all(isinstance(question["id"], str) for question in raw):
        official.read_responses(raw, 9)


@pytest.mark.shared
def test_the_repaired_files_score_where_the_official_program_died(shared):
    with (shared / "data/derived/official_evaluator_lines_dev.tsv").open() as file:
        rows = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    died = {(row["submission"], row["golden"], row["phase"]) for row in rows if row["error"]}
    assert len(died) == 64 // 4  # two editions, two spellings of addresses each
    for name, golden_name, phase in died:
        raw = read_raw(shared / "data/bioasq_submissions" / f"{name}.gz")
        golden = shared / "data/bioasq_golden" / f"{golden_name}.gz"
        repaired, _, _ = repair(raw, read_questions(golden), phase)
        for edition in (8, 9):
            line = official.official_line(read_raw(golden), repaired, phase, edition)
            assert len(line.split()) == {"A": 20, "B": 10}[phase]


@pytest.mark.slow
@pytest.mark.shared
def test_every_real_submission_becomes_readable(shared, tmp_path):
    paths = sorted((shared / "data/bioasq_submissions").rglob("*.json*"))
    for path in paths:
        raw = read_raw(path)
        batch = [Question(q["id"], q["body"], q["type"]) for q in raw]
        for phase in ("A", "B"):
            repaired, changes, faults = repair(raw, batch, phase)
            assert not any(DIES in fault.problem for fault in faults)
            assert repair(repaired, batch, phase) == (repaired, (), faults)
            assert bool(changes) == (repaired != raw)
    write_raw(tmp_path / "repaired.json", repaired)
    assert read_raw(tmp_path / "repaired.json") == repaired


@pytest.mark.shared
def test_real_snake_case_snippets_keep_their_values(shared):
    name = "12b_webis_mibi/bioasq_task_12b_phase_a_batch_2_mibi_rag_abstract.json.gz"
    raw = read_raw(shared / "data/bioasq_submissions" / name)
    batch = read_questions(shared / "data/bioasq_golden/12B2_golden.json.gz")
    repaired, _, faults = repair(raw, batch, "A")
    assert {fault.severity for fault in faults} == {"warning"}  # lengths that only hold so-so
    first, given = repaired[0]["snippets"][0], raw[0]["snippets"][0]
    assert first["beginSection"] == given["begin_section"]
    assert first["offsetInEndSection"] == given["offset_in_end_section"]
    assert first["document"].startswith(URL)


def test_an_entry_of_a_list_keeps_all_its_texts_and_is_named():
    raw = [{"id": "list", "exact_answer": [["ASA ", "aspirin"], ["x"], ["x"]]}]
    repaired, _, faults = repair(raw, [BATCH["list"]], "B")
    assert repaired[0]["exact_answer"] == [["ASA", "aspirin"], ["x"]]
    assert [fault.path for fault in faults if fault.severity == "error"] == [
        "$.questions[0].exact_answer[0]"
    ]


def test_an_entry_of_a_factoid_keeps_its_first_text_as_the_official_evaluator_does():
    question, paths = mended("B", "factoid", exact_answer=[["ASA", "aspirin"]])
    assert question["exact_answer"] == [["ASA"]]
    assert paths == ["exact_answer[0]"]


def test_blanks_at_the_edge_of_an_id_are_cut_and_the_answer_is_kept():
    raw = [{"id": " summary ", "ideal_answer": "Because."}]
    repaired, changes, faults = repair(raw, [BATCH["summary"]], "B")
    assert repaired == [{"id": "summary", "ideal_answer": "Because."}]
    assert [change.path for change in changes] == ["$.questions[0].id"]
    assert faults == ()


def test_a_filled_misspelled_key_wins_over_an_empty_one():
    question, paths = mended("B", idealAnswer="Real.", ideal_answer="")
    assert question["ideal_answer"] == "Real."
    assert paths == ["idealAnswer"]


@pytest.mark.parametrize("offset", [2**31, -(2**31) - 1, "9" * 5000, 10**400])
def test_an_offset_the_official_evaluator_dies_of_is_named_and_goes(offset):
    raw = [{"id": "summary", "snippets": [snippet(offsetInEndSection=offset)]}]
    for phase in ("A", "B"):
        faults = validate(raw, [BATCH["summary"]], phase)
        assert any(DIES in fault.problem for fault in faults)
        repaired, _, left = repair(raw, [BATCH["summary"]], phase)
        assert not any(DIES in fault.problem for fault in left)
        official.read_responses(repaired, 9)
