from hybrid_ir.wording import counted, size_text


def test_one_is_singular():
    assert [counted(number, "file") for number in (0, 1, 2)] == ["0 files", "1 file", "2 files"]
    assert counted(1_000, "reply", "replies") == "1,000 replies"


def test_a_size_is_never_nothing():
    assert [size_text(size) for size in (0, 2**20 - 1, 2**20, 2**31)] == [
        "under 1 MB", "under 1 MB", "1 MB", "2,048 MB",
    ]  # fmt: skip
