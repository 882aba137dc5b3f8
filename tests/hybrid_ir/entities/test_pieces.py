from hypothesis import given
from hypothesis import strategies as st

from hybrid_ir.entities.pieces import pieces, plain_text


def test_a_text_is_cut_behind_a_sentence():
    text = "One two. Three four. Five six"
    assert list(pieces(text, 25)) == [(0, "One two. Three four. "), (21, "Five six")]


def test_a_text_without_sentences_is_cut_behind_a_blank():
    assert list(pieces("one two three", 9)) == [(0, "one two "), (8, "three")]


def test_a_text_without_blanks_is_cut_anywhere():
    assert list(pieces("abcdefg", 3)) == [(0, "abc"), (3, "def"), (6, "g")]


def test_an_empty_text_has_no_piece():
    assert list(pieces("", 3)) == []


@given(text=st.text(st.sampled_from("ab. \n")), longest=st.integers(1, 12))
def test_the_pieces_are_the_text(text, longest):
    found = list(pieces(text, longest))
    assert "".join(piece for _, piece in found) == text
    assert all(text[start : start + len(piece)] == piece for start, piece in found)
    assert all(1 <= len(piece) <= longest for _, piece in found)


@given(st.text(st.characters(codec=None)))
def test_plain_text_can_be_encoded_and_keeps_offsets(text):
    plain = plain_text(text)
    plain.encode()
    assert len(plain) == len(text)
    assert all(new == old or old == "\0" or "\ud800" <= old <= "\udfff"
               for new, old in zip(plain, text, strict=True))  # fmt: skip
