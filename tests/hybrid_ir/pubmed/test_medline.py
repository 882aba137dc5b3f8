"""What is read of a record, on small ones written for it."""

from __future__ import annotations

import gzip

import pytest

from hybrid_ir.errors import InputError
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

WHOLE = """<PubmedArticle>
  <MedlineCitation Status="MEDLINE" Owner="NLM">
    <PMID Version="2">123</PMID>
    <DateCompleted><Year>2002</Year><Month>03</Month><Day>04</Day></DateCompleted>
    <DateRevised><Year>2019</Year><Month>11</Month><Day>05</Day></DateRevised>
    <Article PubModel="Print">
      <Journal>
        <JournalIssue CitedMedium="Print">
          <PubDate><Year>2001</Year><Month>Dec</Month></PubDate>
        </JournalIssue>
        <Title>Bone &amp; joint</Title>
      </Journal>
      <ArticleTitle>[CO<sub>2</sub> and <i>E. coli</i> <b>now</b>].</ArticleTitle>
      <Abstract>
        <AbstractText Label="AIM" NlmCategory="OBJECTIVE">One &lt; two.</AbstractText>
        <AbstractText Label="Odd">10<sup>3</sup>&#x2009;km. </AbstractText>
        <CopyrightInformation>Copyright.</CopyrightInformation>
      </Abstract>
      <Language>ger</Language>
      <Language>eng</Language>
      <PublicationTypeList>
        <PublicationType UI="D016428">Journal Article</PublicationType>
        <PublicationType UI="D016441">Retracted Publication</PublicationType>
      </PublicationTypeList>
      <VernacularTitle>Über <i>E. coli</i></VernacularTitle>
      <ArticleDate DateType="Electronic"><Year>2000</Year><Month>1</Month></ArticleDate>
    </Article>
    <CommentsCorrectionsList>
      <CommentsCorrections RefType="RetractionIn">
        <RefSource>J. 2003;1:1</RefSource><PMID Version="1">456</PMID>
      </CommentsCorrections>
      <CommentsCorrections RefType="Cites"><RefSource>K.</RefSource><PMID>1</PMID>
      </CommentsCorrections>
      <CommentsCorrections RefType="CommentIn"><RefSource>L. 2004</RefSource></CommentsCorrections>
    </CommentsCorrectionsList>
    <MeshHeadingList>
      <MeshHeading>
        <DescriptorName UI="D001" MajorTopicYN="N">Bone and Bones</DescriptorName>
        <QualifierName UI="Q1" MajorTopicYN="Y">drug effects</QualifierName>
        <QualifierName UI="Q2" MajorTopicYN="N">pathology</QualifierName>
      </MeshHeading>
      <MeshHeading>
        <DescriptorName UI="D002" MajorTopicYN="Y">Joints</DescriptorName>
      </MeshHeading>
    </MeshHeadingList>
    <OtherAbstract Type="plain-language-summary" Language="eng">
      <AbstractText Label="SUM">In plain words.</AbstractText>
    </OtherAbstract>
  </MedlineCitation>
  <PubmedData>
    <History>
      <PubMedPubDate PubStatus="pubmed"><Year>2002</Year><Month>2</Month><Day>3</Day>
      </PubMedPubDate>
      <PubMedPubDate PubStatus="entrez"><Year>2002</Year><Month>2</Month><Day>1</Day>
      </PubMedPubDate>
    </History>
  </PubmedData>
</PubmedArticle>"""

CITATION = Citation(
    pmid="123",
    version=2,
    title="[CO2 and E. coli now].",
    vernacular_title="Über E. coli",
    abstract=(
        AbstractPart("One < two.", "AIM", "OBJECTIVE"),
        AbstractPart("103\N{THIN SPACE}km. ", "Odd"),
    ),
    other_abstracts=(
        OtherAbstract("plain-language-summary", "eng", (AbstractPart("In plain words.", "SUM"),)),
    ),
    year=2001,
    journal="Bone & joint",
    languages=("ger", "eng"),
    mesh=(
        MeshHeading(
            "Bone and Bones",
            "D001",
            False,
            (MeshQualifier("drug effects", "Q1", True), MeshQualifier("pathology", "Q2", False)),
        ),
        MeshHeading("Joints", "D002", True),
    ),
    publication_types=("Journal Article", "Retracted Publication"),
    relations=(
        Relation("RetractionIn", "456", "J. 2003;1:1"),
        Relation("CommentIn", "", "L. 2004"),
    ),
    entered="2002-02-01",
    revised="2019-11-05",
)


def read(path, content):
    """Read what a file would hold; any fault is an error."""
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    faults = []
    records = list(read_citations(path, faults.append))
    assert not faults
    return records


def article(inside, pmid="1"):
    citation = f"<MedlineCitation><PMID>{pmid}</PMID>{inside}</MedlineCitation>"
    return f"<PubmedArticle>{citation}</PubmedArticle>"


def articles(*records):
    return f"<PubmedArticleSet>{''.join(records)}</PubmedArticleSet>"


def test_every_field(tmp_path):
    assert read(tmp_path / "a.xml", articles(WHOLE)) == [CITATION]


def test_gzip_and_byte_order_mark_and_line_ends(tmp_path):
    text = '\ufeff<?xml version="1.0" encoding="UTF-8"?>\n' + articles(WHOLE) + "\n"
    packed = gzip.compress(text.replace("\n", "\r\n").encode())
    assert read(tmp_path / "a.xml", packed) == [CITATION]


def test_the_elder_root_holds_citations_themselves(tmp_path):
    old = WHOLE[WHOLE.index("<MedlineCitation ") : WHOLE.index("<PubmedData>")]
    old = old.replace(
        "<DateCompleted>", "<DateCreated><Year>2000</Year></DateCreated><DateCompleted>"
    )
    (record,) = read(tmp_path / "a.xml", f"<MedlineCitationSet>{old}</MedlineCitationSet>")
    assert record.entered == "2000"
    assert record.revised == "2019-11-05"
    assert record.mesh == CITATION.mesh


@pytest.mark.parametrize(
    ("dates", "entered"),
    [
        ("<DateCompleted><Year>2002</Year></DateCompleted>", "2002"),
        ("", ""),
    ],
)
def test_day_of_entry_without_history(tmp_path, dates, entered):
    (record,) = read(tmp_path / "a.xml", articles(article(dates)))
    assert record.entered == entered


def test_pubmed_date_where_there_is_no_entrez_date(tmp_path):
    (record,) = read(tmp_path / "a.xml", articles(WHOLE.replace('"entrez"', '"medline"')))
    assert record.entered == "2002-02-03"


def test_deletions_in_their_place(tmp_path):
    deleted = (
        '<DeleteCitation><PMID Version="1">8</PMID>\n<PMID Version="3">9</PMID></DeleteCitation>'
    )
    records = read(tmp_path / "a.xml", articles(article("", "1"), deleted, article("", "2")))
    assert records == [Citation("1"), Deletion("8", 1), Deletion("9", 3), Citation("2")]


def test_a_book_chapter(tmp_path):
    book = """<PubmedBookArticle><BookDocument><PMID Version="1">20301295</PMID>
      <Book><BookTitle book="gene">GeneReviews<sup>®</sup></BookTitle>
      <PubDate><Year>1993</Year></PubDate></Book>
      <ArticleTitle book="gene">Marfan <i>syndrome</i></ArticleTitle><Language>eng</Language>
      <PublicationType UI="D016454">Review</PublicationType>
      <Abstract><AbstractText Label="CHARACTERISTICS">Long.</AbstractText></Abstract>
      <ContributionDate><Year>2001</Year></ContributionDate>
      <DateRevised><Year>2022</Year><Month>2</Month><Day>17</Day></DateRevised>
      </BookDocument><PubmedBookData><History><PubMedPubDate PubStatus="entrez">
      <Year>2001</Year><Month>04</Month><Day>18</Day></PubMedPubDate></History></PubmedBookData>
      </PubmedBookArticle>"""
    assert read(tmp_path / "a.xml", articles(book)) == [
        Citation(
            pmid="20301295",
            title="Marfan syndrome",
            abstract=(AbstractPart("Long.", "CHARACTERISTICS"),),
            year=1993,
            journal="GeneReviews®",
            languages=("eng",),
            publication_types=("Review",),
            entered="2001-04-18",
            revised="2022-02-17",
        )
    ]


def test_white_space_is_taken_over(tmp_path):
    inside = (
        "<Article><ArticleTitle> <i>a</i> <b>b</b>\n c  d </ArticleTitle>"
        "<Abstract><AbstractText> \n </AbstractText></Abstract></Article>"
    )
    (record,) = read(tmp_path / "a.xml", articles(article(inside)))
    assert record.title == " a b\n c  d "
    assert record.abstract == ()


def test_formulas_give_their_characters(tmp_path):
    inside = (
        '<Article><ArticleTitle>At <mml:math xmlns:mml="m"><mml:msup><mml:mi>T</mml:mi>'
        "<mml:mn>2</mml:mn></mml:msup></mml:math> now</ArticleTitle></Article>"
    )
    (record,) = read(tmp_path / "a.xml", articles(article(inside)))
    assert record.title == "At T2 now"


def test_comments_hide_and_sections_show_what_looks_like_markup(tmp_path):
    inside = (
        "<!-- </PubmedArticle> --><Article><ArticleTitle>a<!-- b -->c"
        "<![CDATA[ </PubmedArticle> & <i> ]]>!</ArticleTitle></Article>"
        "<MeshHeadingList><!-- </MeshHeading> --><MeshHeading><DescriptorName>M</DescriptorName>"
        "</MeshHeading ></MeshHeadingList >"
    )
    between = "<!-- <PubmedArticle> --><?note <PubmedArticleSet> ?>"
    records = read(tmp_path / "a.xml", articles(between, article(inside), between))
    assert records == [
        Citation("1", title="ac </PubmedArticle> & <i> !", mesh=(MeshHeading("M", "", False),))
    ]


def test_empty_lists_and_sets(tmp_path):
    inside = "<Article><PublicationTypeList/></Article><MeshHeadingList/>"
    assert read(tmp_path / "a.xml", articles(article(inside))) == [Citation("1")]
    assert read(tmp_path / "a.xml", articles("\n")) == []
    assert read(tmp_path / "a.xml", "<PubmedArticleSet/>") == []


def test_attributes_in_any_order_and_quotes(tmp_path):
    inside = (
        "<MeshHeadingList><MeshHeading Type='Geographic'>"
        "<DescriptorName MajorTopicYN = 'Y' UI = 'D1' >A &amp; B</DescriptorName>"
        "</MeshHeading></MeshHeadingList>"
    )
    (record,) = read(tmp_path / "a.xml", articles(article(inside)))
    assert record.mesh == (MeshHeading("A & B", "D1", True),)


@pytest.mark.parametrize("content", [b"PMID- 1\nTI  - A title", b"{}", b"\xff\xfe<\0P\0", b"\0"])
def test_no_xml_at_all(tmp_path, content):
    path = tmp_path / "a.xml"
    path.write_bytes(content)
    with pytest.raises(InputError, match=r"a\.xml: expected PubMed's XML in UTF-8"):
        list(read_citations(path, pytest.fail))


def test_no_file(tmp_path):
    with pytest.raises(InputError, match="expected a readable file"):
        list(read_citations(tmp_path / "none.xml", pytest.fail))


def test_processing_instructions_are_no_text(tmp_path):
    inside = "<Article><ArticleTitle>a <?x y?> <?z?><i>b</i></ArticleTitle></Article>"
    (record,) = read(tmp_path / "a.xml", articles(article(inside)))
    assert record.title == "a  b"


def test_more_elements_of_a_kind(tmp_path):
    parts = tuple(AbstractPart(f"Part {number}.") for number in range(100))
    texts = "".join(f"<AbstractText>{part.text}</AbstractText>" for part in parts)
    others = "<CommentsCorrections><RefSource>J.</RefSource></CommentsCorrections>" * 50
    inside = (
        f"<Article><Abstract>{texts}</Abstract></Article>"
        f"<CommentsCorrectionsList>{others}</CommentsCorrectionsList>"
    )
    (record,) = read(tmp_path / "a.xml", articles(article(inside)))
    assert record.abstract == parts
    assert record.relations == (Relation("", "", "J."),) * 50
