import pytest
from hypothesis import given
from hypothesis import strategies as st

from hybrid_ir.pubmed.listing import FileName, files_listed, sum_in


@given(st.text(), st.text())
def test_no_page_leads_out_of_the_folder(before, after):
    page = f'<a href="{before}pubmed25n0001.xml.gz{after}">x</a> <a href="{after}">y</a>'
    for listed in files_listed(page):
        assert listed.file == FileName(25, 1, "pubmed25n0001.xml.gz")


@pytest.mark.parametrize(
    "link",
    [
        "../../etc/passwd", "pubmed25n0001.xml.gz/../../x", "pubmed25n0001.xml", "..%2fx.xml.gz",
        "pubmed25n0001.xml.gz.md5", "pubmed25n1.xml.gz", "PUBMED25n0001.xml.gz", "http://[",
        "pubmed25n0001.xml.gz%00", "pubmed٢٥n0001.xml.gz", "pubmed25n0001.xml.gz\n",
    ],
)  # fmt: skip
def test_other_links_are_passed_over(link):
    listed = files_listed(f'<a href="{link}">x</a>')
    assert [one.file.name for one in listed] in ([], ["pubmed25n0001.xml.gz"])
    if not link.endswith("\n"):
        assert listed == []


def test_date_and_size_are_read_from_pages_of_apache_and_nginx():
    page = (
        '<a href="pubmed25n0002.xml.gz">pubmed25n..&gt;</a>   2025-01-10 12:52   19M  \n'
        '<a href="/x/pubmed25n0001.xml.gz">pubmed25n0001.xml.gz</a> 10-Jan-2025 12:52   20133\n'
        '<td><a href="pubmed25n0003.xml.gz">x</a></td><td>2025-01-10 12:52</td><td>1.5K</td>'
    )
    first, second, third = files_listed(page)
    assert (first.file.number, first.detail, first.size) == (1, "10-Jan-2025 12:52 20133", 20133)
    assert (second.detail, second.size) == ("2025-01-10 12:52 19M", 19 * 2**20)
    assert (third.detail, third.size) == ("2025-01-10 12:52 1.5K", 1536)


@pytest.mark.parametrize(
    "line",
    [
        "MD5 (a.gz) = {}",
        "MD5(a.gz)= {}",
        "{}  a.gz",
        "{} *a.gz",
        "MD5 (/pub/a.gz) = {}",
        "{}  a.gz\r",
    ],
)
def test_both_forms_of_a_sum_are_read(line):
    digest = "0123456789abcdef" * 2
    assert sum_in(line.format(digest.upper()) + "\n", "a.gz") == digest
    assert sum_in(line.format(digest), "b.gz") is None
    assert sum_in(line.format(digest[:-1]), "a.gz") is None
