"""Aligned columns."""

from hybrid_ir.evaluation.columns import columns


def test_the_first_column_is_aligned_left_the_others_right():
    assert columns([["", "n"], ["map", "10"], ["f", "9"]]) == "      n\nmap  10\nf     9\n"
    assert columns([["a", "b"], ["ccc", "ddd"]], left=2) == "a    b\nccc  ddd\n"
    assert columns([]) == ""
