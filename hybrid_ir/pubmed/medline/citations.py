"""One record's XML -> a citation or deletions."""

from __future__ import annotations

import re
from typing import NamedTuple

from pugixml import pugi

from hybrid_ir.pubmed.citation import AbstractPart, Citation, Deletion, OtherAbstract, Relation
from hybrid_ir.pubmed.medline.dates import iso_date, year_of
from hybrid_ir.pubmed.medline.mesh import mesh_headings, publication_types
from hybrid_ir.pubmed.medline.records import BadRecordError
from hybrid_ir.pubmed.medline.xml import ask, children, found, load, query, without_hidden

_NUMBER = re.compile(r"[1-9][0-9]{0,9}")
_WHOLE = query(".")
_PART = query(".", "@Label", "@NlmCategory")
_OTHER = query("@Type", "@Language")
_RELATIONS = "CommentsCorrectionsList[1]/CommentsCorrections[not(@RefType='Cites')]"
_RELATION = query("@RefType", "PMID", "RefSource")


class _Fields(NamedTuple):
    """What is asked of a record at once: the paths, and then the texts that stand there."""

    pmid: str
    version: str
    title: str
    vernacular_title: str
    journal: str
    issue_year: str
    issue_date: str
    article_year: str
    language: str
    languages: str
    other_abstracts: str
    relations: str
    year_entered: str
    month_entered: str
    day_entered: str
    year_revised: str
    month_revised: str
    day_revised: str


def _history(data: str, status: str) -> tuple[str, str, str]:
    return _day(f"../{data}/History/PubMedPubDate[@PubStatus='{status}']")


def _day(path: str) -> tuple[str, str, str]:
    return f"{path}/Year", f"{path}/Month", f"{path}/Day"


def _paths(article: str, journal: str, issue: str, electronic: str, data: str) -> _Fields:
    """Give a kind of record's paths, from the element that holds the PMID."""
    return _Fields(
        "PMID",
        "PMID/@Version",
        f"{article}ArticleTitle",
        f"{article}VernacularTitle",
        journal,
        f"{issue}/PubDate/Year",
        f"{issue}/PubDate/MedlineDate",
        f"{electronic}/Year",
        f"{article}Language",
        f"count({article}Language)",
        "count(OtherAbstract)",
        f"count({_RELATIONS})",
        *_history(data, "entrez"),
        *_day("DateRevised"),
    )


_ARTICLE, _BOOK = "Article[1]/", ""
_JOURNAL = f"{_ARTICLE}Journal/"
_ARTICLE_PATHS = _paths(
    _ARTICLE,
    f"{_JOURNAL}Title",
    f"{_JOURNAL}JournalIssue",
    f"{_ARTICLE}ArticleDate",
    "PubmedData",
)
_ASK_ARTICLE = query(*_ARTICLE_PATHS)
_ASK_BOOK = query(*_paths(_BOOK, "Book/BookTitle", "Book", "ContributionDate", "PubmedBookData"))
_ASK_ENTERED = query(
    *_history("*", "pubmed"),
    *_day("DateCreated"),
    *_day("DateCompleted"),
)
_ARTICLE_PARTS = pugi.XPathQuery(f"{_ARTICLE}Abstract[1]/AbstractText")
_BOOK_PARTS = pugi.XPathQuery("Abstract[1]/AbstractText")
_OTHER_PARTS = pugi.XPathQuery("AbstractText")
_EACH_RELATION = pugi.XPathQuery(_RELATIONS)
_ASK_PMID = query(".", "@Version")


def parse_record(data: bytes) -> tuple[Citation | Deletion, ...]:
    """Read one element: a citation, a book's citation, or a list of deletions.

    Args:
        data: The element, in UTF-8.

    Raises:
        BadRecordError: not well-formed, or without a PMID.
    """
    plain = without_hidden(data)
    try:
        return _read(plain)
    except BadRecordError as error:
        if plain is not data:
            error.offset = 0
        raise
    except UnicodeDecodeError as error:
        raise BadRecordError(f"a character reference beyond Unicode: {error.reason}") from error


def _read(data: bytes) -> tuple[Citation | Deletion, ...]:
    document = load(data)
    record = document.first_child()
    name = record.name()
    if name == "DeleteCitation":
        pmids = (ask(one, _ASK_PMID) for one in children(record, "PMID"))
        return tuple(Deletion(*_pmid(*pmid)) for pmid in pmids)
    is_book = name == "PubmedBookArticle"
    node = record if name == "MedlineCitation" else record.child("MedlineCitation")
    if is_book:
        node = record.child("BookDocument")
    fields = _Fields(*ask(node, _ASK_BOOK if is_book else _ASK_ARTICLE))
    return (_book(node, fields) if is_book else _citation(node, fields, data),)


def _pmid(pmid: str, version: str) -> tuple[str, int]:
    """Give a PMID element's number and version."""
    pmid, version = pmid.strip(), version or "1"
    if not (_NUMBER.fullmatch(pmid) and _NUMBER.fullmatch(version)):
        raise BadRecordError(
            "expected a PMID and its version, numbers of 1 to 10 digits and no leading zero, "
            f"got {pmid!r}, {version!r}"
        )
    return pmid, int(version)


def _citation(node: pugi.XMLNode, fields: _Fields, data: bytes) -> Citation:
    """Read a MedlineCitation, and its dates in the PubmedData beside it."""
    pmid, version = _pmid(fields.pmid, fields.version)
    article = node.child("Article")
    return Citation(
        pmid=pmid,
        version=version,
        title=_text(fields.title),
        vernacular_title=_text(fields.vernacular_title),
        abstract=_parts(node, _ARTICLE_PARTS),
        other_abstracts=_other_abstracts(node, fields),
        year=year_of(fields.issue_year, fields.issue_date, fields.article_year),
        journal=fields.journal.strip(),
        languages=_languages(article, fields),
        mesh=mesh_headings(node.child("MeshHeadingList"), data),
        publication_types=publication_types(article.child("PublicationTypeList"), data),
        relations=_relations(node, fields),
        entered=_entered(node, fields),
        revised=iso_date(fields.year_revised, fields.month_revised, fields.day_revised),
    )


def _book(node: pugi.XMLNode, fields: _Fields) -> Citation:
    """Read a BookDocument: a book's chapter, or a book whose title stands in."""
    pmid, version = _pmid(fields.pmid, fields.version)
    types = (ask(one, _WHOLE)[0] for one in children(node, "PublicationType"))
    return Citation(
        pmid=pmid,
        version=version,
        title=_text(fields.title) or _text(fields.journal),
        vernacular_title=_text(fields.vernacular_title),
        abstract=_parts(node, _BOOK_PARTS),
        year=year_of(fields.issue_year, fields.issue_date, fields.article_year),
        journal=_text(fields.journal),
        languages=_languages(node, fields),
        publication_types=tuple(map(_text, types)),
        entered=_entered(node, fields),
        revised=iso_date(fields.year_revised, fields.month_revised, fields.day_revised),
    )


def _text(text: str) -> str:
    """Take white space over as it is; blank is empty."""
    return "" if text.isspace() else text


def _languages(article: pugi.XMLNode, fields: _Fields) -> tuple[str, ...]:
    if fields.languages == "1":
        return (fields.language.strip(),)
    return tuple(ask(one, _WHOLE)[0].strip() for one in children(article, "Language"))


def _parts(node: pugi.XMLNode, parts: pugi.XPathQuery) -> tuple[AbstractPart, ...]:
    texts = (ask(part, _PART) for part in found(node, parts))
    return tuple(AbstractPart(*part) for part in texts if _text(part[0]))


def _other_abstracts(node: pugi.XMLNode, fields: _Fields) -> tuple[OtherAbstract, ...]:
    if fields.other_abstracts == "0":
        return ()
    others = ((other, *ask(other, _OTHER)) for other in children(node, "OtherAbstract"))
    return tuple(
        OtherAbstract(kind, language, _parts(other, _OTHER_PARTS))
        for other, kind, language in others
    )


def _relations(node: pugi.XMLNode, fields: _Fields) -> tuple[Relation, ...]:
    if fields.relations == "0":
        return ()
    relations = (ask(one, _RELATION) for one in found(node, _EACH_RELATION))
    return tuple(Relation(kind, pmid.strip(), _text(source)) for kind, pmid, source in relations)


def _entered(node: pugi.XMLNode, fields: _Fields) -> str:
    """Give the day a record came to PubMed; old files say when it was made or completed."""
    if day := iso_date(fields.year_entered, fields.month_entered, fields.day_entered):
        return day
    dates = ask(node, _ASK_ENTERED)
    days = (iso_date(*dates[at : at + 3]) for at in range(0, len(dates), 3))
    return next(filter(None, days), "")
