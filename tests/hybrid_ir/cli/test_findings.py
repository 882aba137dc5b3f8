"""Faults and changes summed up: nothing goes uncounted."""

import re

from hypothesis import given
from hypothesis import strategies as st

from hybrid_ir.bioasq.submission import Change, Fault
from hybrid_ir.cli.findings import SHOWN, changes_text, faults_text, note, verdict


def fault(problem, path="$.questions[0].a[1]", question_id="q", severity="error"):
    return Fault(question_id, path, problem, "mend it", severity)


def test_what_differs_only_in_values_is_one_kind():
    problems = [
        'expected 1, got "x \\" y"', 'expected 12.5, got "z"', 'expected 3, got "cut...',
        "expected 4, got [[1]]", 'expected 5, got ["a", {}]', "expected 6, got {}",
    ]  # fmt: skip
    text = faults_text([fault(problem) for problem in problems] * 2)
    lines = text.splitlines()
    assert lines[1] == "12 errors:"
    assert lines[2] == '  6 in 1 question: $.questions[*].a[*]: expected N, got "…"'
    assert lines[3] == "    first: $.questions[0].a[1] (question q): " + problems[0] + (
        "; cure: mend it"
    )
    assert lines[4] == "  6 in 1 question: $.questions[*].a[*]: expected N, got […]"
    assert note(text)


def test_what_differs_in_place_is_another_kind_and_few_are_all_shown():
    text = faults_text([fault("x", f"$.{key}[{n}]") for n in range(SHOWN) for key in "ab"])
    assert len(re.findall(r"^  \$\.[ab]\[\d\] ", text, re.MULTILINE)) == 2 * SHOWN
    assert note(text) == ""


def test_a_question_s_own_id_is_no_difference():
    faults = [fault(f"'{id_}' is there twice", question_id=id_) for id_ in "wxyz"]
    assert "  4 in 4 questions: $.questions[*].a[*]: '…' is there twice" in faults_text(faults)


def test_the_end_of_a_long_answer_is_no_difference_and_breaks_no_line():
    ends = ["one.\nTwo.", "three", '"four"', "five"]
    changes = [Change("q", "$.a", f"cut from 201 to 9 words; left out {end}") for end in ends]
    lines = changes_text(changes).splitlines()
    assert lines[2:] == [
        "  4 in 1 question: $.a: cut from N to N words; left out …",
        "    first: $.a (question q): cut from 201 to 9 words; left out one.\\nTwo.",
    ]


def test_how_a_submission_stands():
    warning = fault("x", severity="warning")
    assert verdict([]) == "no fault found"
    assert verdict([warning]) == "0 errors, 1 warning: BioASQ takes and scores it"
    assert verdict([warning, fault("x")]) == "1 error, 1 warning"
    assert changes_text([]) == faults_text([]) == ""


texts = st.text('ab[]{}"\\01. \n\r', max_size=8)
paths = st.builds("$.questions[{}].{}".format, st.integers(0, 20), st.sampled_from("ab"))


@given(st.lists(st.builds(Change, st.sampled_from(["", "q", "0"]), paths, texts), max_size=30))
def test_every_change_is_counted(changes):
    lines = changes_text(changes).splitlines()[2:]
    summed = [line for line in lines if re.match(r"  \d+ in ", line)]
    shown = [line for line in lines if line.startswith("  $")]
    first = [line for line in lines if line.startswith("    first: ")]
    assert len(summed) == len(first)
    assert sum(int(line.split()[0]) for line in summed) + len(shown) == len(changes)
