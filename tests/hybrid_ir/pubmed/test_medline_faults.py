"""Bad files: the good records are kept, everything else is reported with its place."""

from __future__ import annotations

import gzip
import random
import tracemalloc

import pytest

from hybrid_ir.pubmed.citation import Citation, Deletion
from hybrid_ir.pubmed.medline import Fault, read_citations
from hybrid_ir.pubmed.medline.window import LONGEST

EXPECTED = "expected a PMID and its version, numbers of 1 to 10 digits and no leading zero"
START, END = "<PubmedArticleSet>", "</PubmedArticleSet>"
GOOD = "<PubmedArticle><MedlineCitation><PMID>{}</PMID></MedlineCitation></PubmedArticle>"
ONE, TWO, THREE = (GOOD.format(number) for number in (1, 2, 3))
OF_ONE, OF_TWO, OF_THREE = (Citation(str(number)) for number in (1, 2, 3))


def read(path, content, chunk=1 << 18):
    """Give records and faults, the latter as (position, message)."""
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    faults = []
    records = list(read_citations(path, faults.append, chunk))
    assert all(fault.path == path for fault in faults)
    return records, [(fault.position, fault.message) for fault in faults]


@pytest.fixture
def path(tmp_path):
    return tmp_path / "a.xml"


def test_a_fault_is_one_clear_line(path):
    fault = Fault(path, 12, "expected this, got that")
    assert str(fault) == f"{path}: byte 12: expected this, got that"


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        (
            "<PubmedArticle><MedlineCitation><PMID>9</PMID></Medline></PubmedArticle>",
            "left out a PubmedArticle with PMID 9: not well-formed: Start-end tags mismatch",
        ),
        (
            "<PubmedArticle><MedlineCitation><Article/></MedlineCitation></PubmedArticle>",
            f"left out a PubmedArticle without PMID: {EXPECTED}, got '', '1'",
        ),
        (
            "<PubmedArticle></PubmedArticle>",
            f"left out a PubmedArticle without PMID: {EXPECTED}, got '', '1'",
        ),
        (
            '<PubmedArticle><MedlineCitation><PMID Version="x">9</PMID></MedlineCitation>'
            "</PubmedArticle>",
            f"left out a PubmedArticle with PMID 9: {EXPECTED}, got '9', 'x'",
        ),
        (
            GOOD.format("9a"),
            f"left out a PubmedArticle with PMID 9: {EXPECTED}, got '9a', '1'",
        ),
        (
            GOOD.format("0012"),
            f"left out a PubmedArticle with PMID 0012: {EXPECTED}, got '0012', '1'",
        ),
        (
            GOOD.format("12345678901"),
            f"left out a PubmedArticle with PMID 12345678901: {EXPECTED}, got '12345678901', '1'",
        ),
        (
            GOOD.format("9</PMID><X>&#x1F;</X><PMID>"),
            "left out a PubmedArticle with PMID 9: unknown entity &#x1F;",
        ),
        (
            GOOD.format("9</PMID><X>\x1f</X><PMID>"),
            "left out a PubmedArticle with PMID 9: a character that XML forbids, U+001F",
        ),
        (
            GOOD.format("9</PMID><X>&nbsp;</X><PMID>"),
            "left out a PubmedArticle with PMID 9: unknown entity &nbsp;",
        ),
        (
            GOOD.format("9</PMID><X>a & b</X><PMID>"),
            "left out a PubmedArticle with PMID 9: unknown entity &",
        ),
        (
            GOOD.format("9</PMID><X>&#0;</X><PMID>"),
            "left out a PubmedArticle with PMID 9: unknown entity &#0;",
        ),
        (GOOD.format("9\0"), "left out a PubmedArticle with PMID 9: a NUL byte"),
        ("<Strange>9</Strange>", "expected a record, got '<Strange>9</Strange>': it is left out"),
        ("stray words", "expected a record, got 'stray words': it is left out"),
    ],
)
def test_a_bad_record_among_good_ones(path, bad, message):
    records, faults = read(path, f"{START}{ONE}\n{bad}\n{TWO}{END}")
    assert records == [OF_ONE, OF_TWO]
    ((position, got),) = faults
    assert got == message
    assert 0 <= position - len(f"{START}{ONE}\n") < len(bad)


def test_bytes_that_are_no_utf_8(path):
    bad = GOOD.format("9</PMID><X>caf\xe9</X><PMID>").encode("latin-1")
    records, faults = read(path, f"{START}{ONE}".encode() + bad + f"{TWO}{END}".encode())
    assert records == [OF_ONE, OF_TWO]
    at = len(START) + len(ONE) + bad.index(b"\xe9")
    assert faults == [
        (at, "left out a PubmedArticle with PMID 9: expected UTF-8: invalid continuation byte")
    ]


def test_a_character_that_is_none(path):
    inside = "9</PMID><Article><ArticleTitle>&#xD800;</ArticleTitle></Article><PMID>"
    records, faults = read(path, f"{START}{ONE}{GOOD.format(inside)}{TWO}{END}")
    assert records == [OF_ONE, OF_TWO]
    assert [message for _, message in faults] == [
        "left out a PubmedArticle with PMID 9: "
        "a character reference beyond Unicode: invalid continuation byte"
    ]


@pytest.mark.parametrize(
    "start",
    [
        "<PubmedArticle><MedlineCitation><PMID>9</PMID>",
        "<PubmedArticle>",
        "<PubmedBookArticle><PMID>9</PMID>",
        "<PubmedArticle><!-- ",
        "<PubmedArticle><![CDATA[",
    ],
)
def test_a_record_without_its_end(path, start):
    records, faults = read(path, f"{START}{ONE}{start}{TWO}{THREE}{END}")
    assert records == [OF_ONE, OF_TWO, OF_THREE]
    assert len(faults) == 1
    assert len(START) + len(ONE) <= faults[0][0] < len(START) + len(ONE) + len(start) + len(TWO)


def test_the_last_record_without_its_end(path):
    unfinished = "<PubmedArticle><MedlineCitation><PMID>9</PMID>"
    records, faults = read(path, f"{START}{ONE}{unfinished}{END}")
    assert records == [OF_ONE]
    assert faults == [
        (
            len(START) + len(ONE),
            "left out a PubmedArticle with PMID 9: "
            "expected </PubmedArticle>, got </PubmedArticleSet>",
        )
    ]


def test_a_file_cut_within_a_record(path):
    records, faults = read(path, f"{START}{ONE}{TWO[:50]}")
    assert records == [OF_ONE]
    at = len(START) + len(ONE)
    assert faults == [
        (
            at,
            "left out a PubmedArticle with PMID 2: expected </PubmedArticle>, got the file's end",
        ),
        (at + 50, "expected </PubmedArticleSet>, got the file's end"),
    ]


def test_a_file_cut_between_records(path):
    records, faults = read(path, f"{START}{ONE}\n")
    assert records == [OF_ONE]
    assert [message for _, message in faults] == [
        "expected </PubmedArticleSet>, got the file's end"
    ]


def test_a_gzip_file_that_ends_early_keeps_what_was_unpacked(path):
    noise = random.Random(0)
    many = [
        GOOD.format(f"{number}</PMID><X>{noise.getrandbits(4000):x}</X><PMID>")
        for number in range(1, 200)
    ]
    packed = gzip.compress(f"{START}{''.join(many)}{END}".encode())
    for share in (0.02, 0.5, 0.99):
        cut = packed[: int(share * len(packed))]
        records, faults = read(path, cut)
        whole = len(gzip.compress(many[0].encode())) * 1.2  # bytes a record at most
        assert share * len(many) - 3 - whole / 100 <= len(records) < len(many)
        assert records == [Citation(str(number)) for number in range(1, len(records) + 1)]
        assert faults[-1][1] == "cannot read on: the gzip data ends too early"


def test_a_gzip_file_with_a_flipped_byte(path):
    packed = bytearray(gzip.compress(f"{START}{ONE}{END}".encode()))
    packed[-6] ^= 1  # its check sum
    records, faults = read(path, bytes(packed))
    assert records == [OF_ONE]
    assert len(faults) == 1
    assert faults[0][1].startswith("cannot read on: damaged gzip data: its check sum")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "expected <PubmedArticleSet> or <MedlineCitationSet>, got the file's end"),
        ("\n \n", "expected <PubmedArticleSet> or <MedlineCitationSet>, got the file's end"),
        (
            '<?xml version="1.0"?>',
            "expected <PubmedArticleSet> or <MedlineCitationSet>, got the file's end",
        ),
        (
            f"<eSummaryResult>{ONE}</eSummaryResult>",
            "expected <PubmedArticleSet> or <MedlineCitationSet>, got <eSummaryResult>: "
            "nothing of it is read",
        ),
        (
            "<html><body>Not found</body></html>",
            "expected <PubmedArticleSet> or <MedlineCitationSet>, got <html>: "
            "nothing of it is read",
        ),
        (
            f"<?xml version='1.0' encoding='ISO-8859-1'?>{START}{END}",
            "expected UTF-8, got encoding ISO-8859-1: nothing is read",
        ),
    ],
)
def test_a_file_of_another_kind(path, content, message):
    records, faults = read(path, content)
    assert records == []
    assert [got for _, got in faults] == [message]


def test_two_documents_in_one_file(path):
    document = f'<?xml version="1.0" encoding="utf-8"?>\n<!DOCTYPE PubmedArticleSet>{START}'
    first = f"{document}{ONE}{END}"
    records, faults = read(path, f"{first}\n{document}{TWO}{END}\n")
    assert records == [OF_ONE, OF_TWO]
    assert faults == [
        (
            len(first) + 1 + document.index(START),
            "expected one root element, got another: its records are read too",
        )
    ]


def test_two_gzip_members(path):
    packed = gzip.compress(f"{START}{ONE}".encode()) + gzip.compress(f"{TWO}{END}".encode())
    assert read(path, packed) == ([OF_ONE, OF_TWO], [])


def test_words_after_the_root(path):
    records, faults = read(path, f"{START}{ONE}{END}and more")
    assert records == [OF_ONE]
    assert faults == [
        (
            len(START) + len(ONE) + len(END),
            "expected nothing after the root element, got 'and more'",
        )
    ]


def test_entities_are_neither_opened_nor_grown(path):
    secret = path.with_name("secret")
    secret.write_text("secret")
    laughs = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10 if n else "ha"}">' for n in range(10))
    types = f'<!DOCTYPE PubmedArticleSet [{laughs}<!ENTITY s SYSTEM "file://{secret}">]>'
    titled = "9</PMID><Article><ArticleTitle>{}</ArticleTitle></Article><PMID>"
    tracemalloc.start()
    records, faults = read(
        path,
        f"{types}{START}{GOOD.format(titled.format('&l9;'))}"
        f"{GOOD.format(titled.format('&s;'))}{ONE}{END}",
    )
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert records == [OF_ONE]
    assert [message for _, message in faults] == [
        "left out a PubmedArticle with PMID 9: unknown entity &l9;",
        "left out a PubmedArticle with PMID 9: unknown entity &s;",
    ]
    assert peak < 1e6  # the entity would have 2e9 characters


def test_a_bad_deletion_list(path):
    bad = "<DeleteCitation><PMID>5</PMID><PMID/></DeleteCitation>"
    good = "<DeleteCitation><PMID>6</PMID></DeleteCitation>"
    records, faults = read(path, f"{START}{bad}{good}{END}")
    assert records == [Deletion("6")]
    assert [message for _, message in faults] == [
        f"left out a DeleteCitation with PMID 5: {EXPECTED}, got '', '1'"
    ]


def test_a_very_long_record(path):
    words = "word " * 400_000
    inside = f"1</PMID><Article><ArticleTitle>{words}</ArticleTitle></Article><X>"
    long = GOOD.replace("</PMID>", "</X>").format(inside)
    records, faults = read(path, f"{START}{long}{TWO}{END}", chunk=1000)
    assert records == [Citation("1", title=words), OF_TWO]
    assert faults == []


@pytest.mark.slow
def test_a_record_beyond_all_measure(path):
    endless = "<PubmedArticle><PMID>9</PMID>" + "x" * (3 * LONGEST)
    records, faults = read(path, f"{START}{ONE}{endless}{TWO}{END}")
    assert records == [OF_ONE, OF_TWO]
    assert faults[0] == (
        len(START) + len(ONE),
        "left out a PubmedArticle with PMID 9: "
        "expected </PubmedArticle>, got none in 67,108,864 bytes",
    )


def test_deep_nesting_is_no_danger(path):
    depth = 200_000
    nested = GOOD.format(f"9</PMID>{'<a>' * depth}{'</a>' * depth}<PMID>")
    records, faults = read(path, f"{START}{nested}{ONE}{END}")
    assert records == [Citation("9"), OF_ONE]
    assert faults == []


@pytest.mark.parametrize("mark", ["", "<!-- unfinished", "<?unfinished", "<"])
def test_memory_does_not_grow_with_the_file(path, mark):
    record = GOOD.format(f"1</PMID><X>{'x' * 10_000}</X><PMID>")
    path.write_bytes(f"{START}{record * 200}{mark}".encode())
    tracemalloc.start()
    read = sum(1 for _ in read_citations(path, lambda fault: None, 1 << 14))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert read == 200
    assert peak < 3e5  # of 2e6 bytes


def test_nul_anywhere_in_a_record_is_found(path):
    whole = GOOD.format("9</PMID><X y='z'>a&amp;<?note?></X><PMID>")
    for at in range(len("<PubmedArticle>"), whole.index("</PubmedArticle>")):
        records, faults = read(path, f"{START}{whole[:at]}\0{whole[at:]}{TWO}{END}")
        assert records == [OF_TWO]
        ((position, message),) = faults
        if "&" in whole[at - 4 : at]:  # within an entity
            assert "unknown entity &" in message
        else:
            assert position == len(START) + at
            assert message.endswith("a NUL byte")
