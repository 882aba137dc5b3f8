"""Any citation comes back from XML as it was, however the file is cut into chunks."""

from __future__ import annotations

import gzip
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from xml.sax.saxutils import escape, quoteattr

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hybrid_ir.pubmed.citation import (
    AbstractPart,
    Citation,
    Deletion,
    MeshHeading,
    MeshQualifier,
    OtherAbstract,
    Relation,
)
from hybrid_ir.pubmed.medline import read_citations

# characters XML can hold; U+0085 and the like are left alone by XML 1.0
characters = st.characters(codec="utf-8", exclude_categories=["Cs", "Cc", "Cn"])
texts = st.text(characters | st.sampled_from("<>&\"'"), min_size=1, max_size=30).filter(
    lambda text: not text.isspace()
)
names = texts.map(str.strip).filter(bool)
labels = st.just("") | names
pmids = st.integers(1, 99_999_999).map(str)
versions = st.integers(1, 9)
days = st.just("") | st.dates().map(lambda day: f"{day.year:04}-{day.month:02}-{day.day:02}")
parts = st.lists(st.builds(AbstractPart, texts, labels, labels), max_size=3).map(tuple)
qualifiers = st.lists(st.builds(MeshQualifier, texts, names, st.booleans()), max_size=2).map(tuple)
headings = st.lists(st.builds(MeshHeading, texts, names, st.booleans(), qualifiers), max_size=3)
citations = st.builds(
    Citation,
    pmid=pmids,
    version=versions,
    title=st.just("") | texts,
    vernacular_title=st.just("") | texts,
    abstract=parts,
    other_abstracts=st.lists(st.builds(OtherAbstract, names, names, parts), max_size=2).map(tuple),
    year=st.none() | st.integers(1000, 2999),
    journal=st.just("") | names,
    languages=st.lists(names, max_size=2).map(tuple),
    mesh=headings.map(tuple),
    publication_types=st.lists(texts, max_size=2).map(tuple),
    relations=st.lists(
        st.builds(Relation, st.sampled_from(["CommentIn", "RetractionOf"]), pmids, texts),
        max_size=2,
    ).map(tuple),
    entered=days,
    revised=days,
)
records = st.lists(citations | st.builds(Deletion, pmids, versions), max_size=5)


def xml_of(record):
    if isinstance(record, Deletion):
        return f"<DeleteCitation>{_pmid(record)}</DeleteCitation>"
    return f"""<PubmedArticle>
    <MedlineCitation>{_pmid(record)}{_date("DateRevised", record.revised)}
    <Article><Journal><JournalIssue><PubDate>{_element("Year", record.year or "")}</PubDate>
    </JournalIssue>{_element("Title", record.journal)}</Journal>
    {_element("ArticleTitle", record.title)}<Abstract>{_parts(record.abstract)}</Abstract>
    {"".join(_element("Language", one) for one in record.languages)}
    <PublicationTypeList>
    {"".join(_element("PublicationType", one) for one in record.publication_types)}
    </PublicationTypeList>{_element("VernacularTitle", record.vernacular_title)}</Article>
    <CommentsCorrectionsList>{"".join(map(_relation, record.relations))}</CommentsCorrectionsList>
    <MeshHeadingList>{"".join(map(_heading, record.mesh))}</MeshHeadingList>
    {"".join(map(_other, record.other_abstracts))}</MedlineCitation>
    <PubmedData><History>{_date("PubMedPubDate", record.entered, PubStatus="entrez")}</History>
    </PubmedData></PubmedArticle>"""


def _element(name, content, **attributes):
    given = "".join(f" {key}={quoteattr(value)}" for key, value in attributes.items())
    return f"<{name}{given}>{escape(str(content))}</{name}>"


def _pmid(record):
    return _element("PMID", record.pmid, Version=str(record.version))


def _date(name, day, **attributes):
    if not day:
        return ""
    given = "".join(f" {key}={quoteattr(value)}" for key, value in attributes.items())
    year, month, of_month = day.split("-")
    return (
        f"<{name}{given}>{_element('Year', year)}{_element('Month', int(month))}"
        f"{_element('Day', of_month)}</{name}>"
    )


def _parts(parts):
    return "".join(
        _element("AbstractText", one.text, Label=one.label, NlmCategory=one.category)
        for one in parts
    )


def _other(other):
    given = f"Type={quoteattr(other.kind)} Language={quoteattr(other.language)}"
    return f"<OtherAbstract {given}>{_parts(other.parts)}</OtherAbstract>"


def _relation(relation):
    inside = _element("RefSource", relation.source) + _element("PMID", relation.pmid)
    return f'<CommentsCorrections RefType="{relation.kind}">{inside}</CommentsCorrections>'


def _heading(heading):
    named = [("DescriptorName", heading), *(("QualifierName", one) for one in heading.qualifiers)]
    inside = "".join(
        _element(name, one.name, UI=one.id, MajorTopicYN="YN"[not one.major]) for name, one in named
    )
    return f"<MeshHeading>{inside}</MeshHeading>"


def read(content, chunk):
    with TemporaryDirectory() as folder:
        path = Path(folder, "a.xml")
        path.write_bytes(content)
        faults = []
        records = list(read_citations(path, faults.append, chunk))
        return records, [replace(fault, path=Path("a.xml")) for fault in faults]


def document(records):
    head = '<?xml version="1.0" encoding="utf-8"?>\n<!DOCTYPE PubmedArticleSet [ ] >\n'
    return f"{head}<PubmedArticleSet>{''.join(map(xml_of, records))}</PubmedArticleSet>".encode()


@settings(max_examples=50)
@given(records, st.integers(1, 5000), st.booleans())
def test_there_and_back(records, chunk, packed):
    content = document(records)
    assert read(gzip.compress(content) if packed else content, chunk) == (records, [])


@settings(max_examples=20)
@given(st.lists(citations, min_size=1, max_size=3), st.integers(0, 10**6))
def test_a_cut_file_keeps_every_whole_record(records, at):
    content = document(records)
    cut = content[: at % len(content)]
    whole = cut.count(b"</PubmedArticle>")
    assert read(cut, 1 << 18)[0] == records[:whole]
    assert read(cut, 1 << 18)[1]


BAD = b"""\xef\xbb\xbf<?xml version="1.0"?><!-- c --><!DOCTYPE PubmedArticleSet [<!ENTITY a "]>">]>
<PubmedArticleSet><PubmedArticle><MedlineCitation><PMID>1</PMID></MedlineCitation></PubmedArticle>
junk <PubmedArticle><MedlineCitation><PMID>2</PMID></PubmedArticle><!-- </PubmedArticleSet> -->
<PubmedArticle><PMID>3<PubmedArticle><MedlineCitation><PMID>4</PMID><!-- </PubmedArticle> -->
</MedlineCitation></PubmedArticle><? ?><PubmedArticle><![CDATA[</PubmedArticle>]]></PubmedArticle>
</PubmedArticleSet ><?xml version="1.0"?><MedlineCitationSet><MedlineCitation><PMID>\xff</PMID>
</MedlineCitation><MedlineCitation><PMID>5</PMID></MedlineCitation><DeleteCitation><PMID>6</PMID>
</DeleteCitation></MedlineCitationSet>trailing"""


@pytest.mark.parametrize("chunk", [*range(1, 60), 100, 150, 250, 500, 10_000])
def test_every_chunk_size_gives_the_same_records_and_faults(chunk):
    found, faults = read(BAD, chunk)
    assert found == [Citation("1"), Citation("4"), Citation("5"), Deletion("6")]
    assert [fault.position for fault in faults] == [
        BAD.index(b"junk"),
        BAD.index(b"</PubmedArticle><!-- </PubmedArticleSet>") + 2,
        BAD.index(b"<PubmedArticle><PMID>3"),
        BAD.index(b"<PubmedArticle><![CDATA["),
        BAD.index(b"<MedlineCitationSet>"),
        BAD.index(b"\xff"),
        BAD.index(b"trailing"),
    ]
