import pytest
from hypothesis import given
from hypothesis import strategies as st

from generation.texts.copies import NearDuplicates, longest_run, repeated_share, shingles, words

LETTERS = st.lists(st.sampled_from("abcd"), max_size=12).map(" ".join)


def test_words_are_of_one_case_with_inner_hyphens():
    assert words("The IL-6/STAT3 axis, β2-microglobulin.") == [
        "the", "il-6", "stat3", "axis", "β2-microglobulin",
    ]  # fmt: skip


def test_shingles_of_short_texts():
    assert shingles("") == frozenset()
    assert shingles("a b") == {("a", "b")}
    assert shingles("a b c d") == {("a", "b", "c"), ("b", "c", "d")}


def test_the_share_that_is_repeated():
    # a b c, b c d, c d e: the first two stand in the other text
    assert repeated_share("a b c d e", "x A, B c d y") == 2 / 3
    assert repeated_share("", "a b c") == 0.0


@pytest.mark.parametrize(
    ("text", "other", "length"),
    [("a b c d", "x b c y b c d", 3), ("a b", "b a", 1), ("", "a", 0), ("a", "b", 0)],
)
def test_the_longest_run(text, other, length):
    assert longest_run(text, other) == length


@given(LETTERS, LETTERS)
def test_the_longest_run_is_the_longest_common_piece(text, other):
    pieces = {
        tuple(words(text)[start:end])
        for start in range(len(words(text)))
        for end in range(start + 1, len(words(text)) + 1)
    }
    found = words(other)
    fits = [
        len(piece)
        for piece in pieces
        if any(tuple(found[i : i + len(piece)]) == piece for i in range(len(found)))
    ]
    assert longest_run(text, other) == longest_run(other, text) == max(fits, default=0)


def test_a_near_duplicate_is_found_by_name_and_not_kept():
    seen = NearDuplicates(0.7)
    text = " ".join(f"word{n}" for n in range(100))  # 98 runs of three words
    changed = text.replace("word50", "other")  # 3 of them differ: 95 / 101 = 0.94
    assert seen.add("first", text) is None
    assert seen.add("second", changed) == "first"
    assert seen.add("third", text.replace("word50", "another")) == "first"
    assert seen.add("fourth", "quite another text") is None


def test_what_is_just_below_the_threshold_is_no_duplicate():
    # 4 of 6 runs are common: "a b c d e f" and "a b c d e x" have abc bcd cde; of def, dex: 3 / 5
    assert NearDuplicates(0.61).add("a", "a b c d e f") is None
    near, far = NearDuplicates(0.6), NearDuplicates(0.61)
    for seen in (near, far):
        seen.add("first", "a b c d e f")
    assert far.add("second", "a b c d e x") is None


def test_texts_without_words_are_alike():
    seen = NearDuplicates(0.7)
    assert seen.add("a", "") is None
    assert seen.add("b", "...") == "a"


@given(st.lists(LETTERS, max_size=8))
def test_what_is_called_near_is_near(texts):
    seen = NearDuplicates(0.5)
    for number, text in enumerate(texts):
        if found := seen.add(str(number), text):
            one, other = shingles(text), shingles(texts[int(found)])
            assert int(found) < number
            assert 2 * len(one & other) >= len(one | other)


def test_few_are_overlooked():
    # pairs of 40 runs in common and 8 + 8 different: 40 / 56 = 0.71
    found = 0
    seen = NearDuplicates(0.7)
    for pair in range(300):
        shared = [f"p{pair}w{n}" for n in range(42)]
        seen.add(f"{pair}", " ".join([*shared, *(f"p{pair}l{n}" for n in range(8))]))
        again = " ".join([*shared, *(f"p{pair}r{n}" for n in range(8))])
        found += seen.add(f"{pair} again", again) == f"{pair}"
    # one in 900 is overlooked on average: (1 - 0.714 ** 3) ** 16
    assert found >= 297
