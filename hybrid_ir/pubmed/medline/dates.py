"""Years and days out of the several ways PubMed writes them."""

from __future__ import annotations

import re
from functools import lru_cache

_YEAR = re.compile(r"(?<!\d)\d{4}(?!\d)")
_MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]


def year_of(issue_year: str, medline_date: str, article_year: str) -> int | None:
    """Give the year of publication: the first that has four digits.

    The issue comes first: it is the year PubMed shows, sorts by and searches as the date of
    publication, and files give it in one of two ways. The electronic date differs by up to some
    years and stands in only where the issue's date names no year.

    Args:
        issue_year: JournalIssue/PubDate/Year.
        medline_date: JournalIssue/PubDate/MedlineDate: ``1998-1999``, ``Winter 2001``,
            ``2000 Dec-2001 Jan``; its first year counts.
        article_year: ArticleDate/Year.
    """
    for text in (issue_year, medline_date, article_year):
        if match := _YEAR.search(text):
            return int(match[0])
    return None


@lru_cache(1 << 14)  # as many days as 44 years have
def iso_date(year: str, month: str = "", day: str = "") -> str:
    """Give an ISO 8601 date, or as much of it as there is: ``2002-09``, ``2002`` or nothing.

    Args:
        year: Four digits.
        month: 1 to 12, or an English name (``Sep``).
        day: 1 to 31.
    """
    year, month, day = year.strip(), month.strip().lower()[:3], day.strip()
    if not _YEAR.fullmatch(year):
        return ""
    if month in _MONTHS:
        month = str(_MONTHS.index(month) + 1)
    if not _is_between(month, 12):
        return year
    if not _is_between(day, 31):
        return f"{year}-{month:0>2}"
    return f"{year}-{month:0>2}-{day:0>2}"


def _is_between(number: str, largest: int) -> bool:
    return number.isascii() and number.isdigit() and len(number) < 3 and 0 < int(number) <= largest
