"""Tokens and the forms they are compared by."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hybrid_ir.entities.tokens import key_of, tokenise


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("L-dopa", "L dopa"),
        ("Parkinson's disease", "Parkinson disease"),
        ("5'-AMP", "5 ' AMP"),
        ("1,2-dimethyl", "1 , 2 dimethyl"),
        ("TNF-α", "TNF alpha"),
        ("Ω-3", "omega 3"),
        ("Sjögren and Sjo\u0308gren", "Sjogren and Sjogren"),
        ("anaemia Oedema tumours our four", "anemia Edema tumors our four"),
        ("sulphate", "sulfate"),
        ("AEDs aeds", "AEDs aeds"),  # too short to be anything but a short form
        ("", ""),
        (" -\t\n ", ""),
        ("日本", "日本"),
    ],
)
def test_forms_agree_across_spellings(text, key):
    assert key_of(text) == key


def test_spans_are_those_of_the_text():
    text = "Ménière’s disease"
    forms, spans = tokenise(text)
    assert forms == ["Meniere", "disease"]
    assert [text[start:end] for start, end in spans] == ["Ménière", "disease"]


@given(st.text())
def test_tokens_follow_one_another_and_none_is_empty(text):
    forms, spans = tokenise(text)
    assert len(forms) == len(spans)
    assert all(forms)
    assert all(start < end for start, end in spans)
    assert all(one[1] <= other[0] for one, other in pairwise(spans))


@given(st.text(alphabet=st.characters(max_codepoint=127)))
def test_plain_text_is_cut_the_same_beside_other_text(text):
    assert tokenise(f"{text} é")[1][:-1] == tokenise(text)[1]
