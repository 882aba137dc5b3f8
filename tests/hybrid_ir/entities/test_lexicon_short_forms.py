"""Short forms that a text introduces."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hybrid_ir.entities.short_forms import find_short_forms


def pairs(text):
    return [(one.short, text[one.start : one.end]) for one in find_short_forms(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("respiratory distress syndrome (RDS)", [("RDS", "respiratory distress syndrome")]),
        ("the drug methotrexate (MTX) [or MTX]", [("MTX", "methotrexate")]),
        ("MTX (methotrexate) was given", [("MTX", "methotrexate")]),
        ("cyclosporine A (CsA; 5 mg)", [("CsA", "cyclosporine A")]),
        ("alpha-tocopherol (alpha-TC)", [("alpha-TC", "alpha-tocopherol")]),
        ("heart failure [HF]", [("HF", "heart failure")]),
        ("levodopa-induced dyskinesia (LID)", [("LID", "levodopa-induced dyskinesia")]),
        ("five patients (50)", []),
        ("aspirin (daily)", []),
        ("aspirin (Table 1)", []),
        ("aspirin (XYZ)", []),
        ("RDS (RDS)", []),
        ("()", []),
        ("(RDS)", []),
    ],
)
def test_short_forms_and_their_long_forms(text, expected):
    assert pairs(text) == expected


@pytest.mark.parametrize("text", ["heart failure (HF), HF", "in HF (heart failure)"])
def test_a_short_form_says_where_it_stands(text):
    (short,) = find_short_forms(text)
    assert short.place == text.index("HF")


@given(st.text(alphabet="aBc 1-()[];é'"))
def test_long_forms_lie_in_the_text_and_are_longer(text):
    for short, long in pairs(text):
        assert short in text
        assert len(long) > len(short)
        assert long[0].lower() == short[0].lower()
