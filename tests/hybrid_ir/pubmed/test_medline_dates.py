"""Years and days."""

from __future__ import annotations

import pytest

from hybrid_ir.pubmed.medline.dates import iso_date, year_of


@pytest.mark.parametrize(
    ("medline_date", "year"),
    [
        ("1998-1999", 1998),
        ("Winter 2001", 2001),
        ("2000 Dec-2001 Jan", 2000),
        ("2015 Oct-Dec", 2015),
        ("1976-1977 Winter", 1976),
        ("Spring", None),
        ("12345", None),
        ("", None),
    ],
)
def test_first_year_of_a_medline_date(medline_date, year):
    assert year_of("", medline_date, "") == year


def test_the_issue_comes_before_the_electronic_date():
    assert year_of("2005", "", "2004") == 2005
    assert year_of("", "2012 Jan-Feb", "2011") == 2012
    assert year_of("", "", "2011") == 2011
    assert year_of("", "Spring", "2011") == 2011
    assert year_of("n.d.", "", "2011") == 2011


@pytest.mark.parametrize(
    ("parts", "date"),
    [
        (("2002", "9", "16"), "2002-09-16"),
        (("2002", "09", "06"), "2002-09-06"),
        (("2002", "Sep", "6"), "2002-09-06"),
        (("2002", "September"), "2002-09"),
        (("2002", "Sep"), "2002-09"),
        (("2002",), "2002"),
        (("2002", "13", "1"), "2002"),
        (("2002", "0", "1"), "2002"),
        (("2002", "2", "32"), "2002-02"),
        (("2002", "", "16"), "2002"),
        (("", "9", "16"), ""),
        (("02", "9", "16"), ""),
        ((" 2002\n", " 9 ", " 16 "), "2002-09-16"),
    ],
)
def test_iso_date(parts, date):
    assert iso_date(*parts) == date
