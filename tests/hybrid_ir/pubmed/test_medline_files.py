"""Real files: how often each oddity occurs, and single values looked up in them by hand."""

from __future__ import annotations

from collections import Counter
from xml.etree import ElementTree

import pytest

from hybrid_ir.files import open_binary
from hybrid_ir.pubmed.citation import AbstractPart, Citation, Deletion, OtherAbstract, document_of
from hybrid_ir.pubmed.medline import read_citations

pytestmark = pytest.mark.shared
BASELINE = "medline16n0902.xml.gz"


@pytest.fixture(scope="module")
def by_file(shared):
    """All records of all files; one file is of another kind, and nothing else is wrong."""
    folder = shared / "data" / "pubmed_xml"
    faults = []
    paths = sorted(folder.rglob("*.xml*"))
    found = {path.name: list(read_citations(path, faults.append)) for path in paths}
    assert [(fault.path.name, fault.message) for fault in faults] == [
        (
            "sample_related_pmids_result.xml",
            "expected <PubmedArticleSet> or <MedlineCitationSet>, got <eLinkResult>: "
            "nothing of it is read",
        )
    ]
    return found


@pytest.fixture(scope="module")
def citations(by_file):
    return [one for records in by_file.values() for one in records if isinstance(one, Citation)]


@pytest.fixture(scope="module")
def baseline(by_file):
    return {one.pmid: one for one in by_file[BASELINE]}


def test_counts_of_records(by_file, citations):
    assert len(by_file) == 137
    assert len(by_file[BASELINE]) == 604 + 1
    assert len(by_file["test_current_medline.xml.gz"]) == 4
    assert [len(by_file[f"pubmed{number}.xml"]) for number in (1, 2, 4, 5, 6, 7)] == [
        2, 2, 1, 1, 1, 1,
    ]  # fmt: skip
    assert by_file["37909814.xml"] == []
    assert len(citations) == 743 == 604 + 4 + 8 + 1 + 126


def test_the_one_deletion_stands_last(by_file):
    assert by_file[BASELINE][-1] == Deletion("26432306")
    everything = [one for records in by_file.values() for one in records]
    assert sum(isinstance(one, Deletion) for one in everything) == 1


def test_both_roots(by_file):
    assert by_file[BASELINE][0].pmid == "17942999"  # MedlineCitationSet
    assert by_file["pubmed-29768149.xml"][0].pmid == "29768149"  # PubmedArticleSet


def test_html_is_no_citation(shared):
    faults = []
    page = shared / "data" / "pubmed_xml" / "biopython" / "pubmed3.html"
    assert list(read_citations(page, faults.append)) == []
    assert [(fault.position, fault.message) for fault in faults] == [
        (
            0,
            "expected <PubmedArticleSet> or <MedlineCitationSet>, got <html>: "
            "nothing of it is read",
        )
    ]


def test_structured_abstracts(citations, baseline):
    assert sum(any(part.label for part in one.abstract) for one in citations) == 238
    assert sum(bool(one.abstract) for one in citations) == 648 == 743 - 95
    assert [(part.label, part.category) for part in baseline["26702272"].abstract] == [
        ("INTRODUCTION", "BACKGROUND"),
        ("MATERIAL AND METHODS", "METHODS"),
        ("RESULTS", "RESULTS"),
        ("CONCLUSIONS", "CONCLUSIONS"),
    ]
    document = document_of(baseline["17942999"])
    assert document.abstract.startswith("PURPOSE: An auditory electrophysiological study was")
    assert "underlying cortical pitch processing.METHODS: Mismatch negativity" in document.abstract
    plain = document_of(baseline["17942999"], labels=False).abstract
    assert "underlying cortical pitch processing. Mismatch negativity" in plain
    four_labels = sum(map(len, ("PURPOSE: ", "METHODS: ", "RESULTS: ", "CONCLUSIONS: ")))
    assert len(document.abstract) - len(plain) == four_labels - 3


def test_labels_without_category(citations, baseline):
    without = [
        part for one in citations for part in one.abstract if part.label and not part.category
    ]
    assert len(without) == 50
    some = [one for one in citations if any(p.label and not p.category for p in one.abstract)]
    assert len(some) == 21
    first, second = baseline["26432110"].abstract
    assert (first.label, first.category) == ("UNLABELLED", "")
    assert (second.label, second.category) == ("FINANCIAL DISCLOSURE", "BACKGROUND")
    assert second.text == (
        "Dr. Scharioth is a consultant to Alcon Laboratories, Inc., and Medicontur Ltd. He is "
        "the inventor of the Scharioth Macula Lens and receives royalties."
    )


def test_markup_in_abstracts(by_file):
    (skin,) = by_file["26568896.xml"]
    assert "titanium dioxide (TiO2) nanoparticles in industrial" in skin.abstract[0].text
    assert "10, 50 and 100 μg/cm2 induced 97.8" in skin.abstract[0].text
    (runners,) = by_file["pubmed6.xml"]
    (part,) = runners.abstract
    assert "velocity at MLSS (VMLSS) more accurate" in part.text
    assert "67.6 ± 4.1 ml·kg-1·min-1] homogeneous" in part.text
    formula = part.text[part.text.index("oxygen uptake (") : part.text.index(" ) 67.6")]
    assert formula.split() == ["oxygen", "uptake", "(", "V", ".", "O", "2", "m", "a", "x"]


def test_markup_in_titles(by_file):
    titles = {name: records[0].title for name, records in by_file.items() if records}
    assert titles["38914053.xml"] == (
        "Doped SnO2thin films fabricated at low temperature by atomic layer deposition with a "
        "precise incorporation of niobium atoms."
    )
    assert titles["38988993.xml"] == "Prey size preference in the tokay gecko (Gekko gecko)."
    assert titles["pmid_28731372.xml"] == (
        "Exploring the effect of vitamin D3 supplementation on the anti-EBV antibody response in "
        "relapsing-remitting multiple sclerosis."
    )
    assert titles["pubmed6.xml"].startswith('A "Blood Relationship" Between the Overlooked')


def test_no_markup_is_left(citations):
    texts = [one.title for one in citations]
    texts += [part.text for one in citations for part in one.abstract]
    assert not [text for text in texts if "</" in text or "&lt;" in text or "&amp;" in text]


def test_years(citations, baseline):
    assert all(one.year for one in citations)
    assert baseline["18621939"].year == 2008  # 2008 Jul-Aug
    assert baseline["21784659"].year == 2012  # 2012 Jan-Feb; electronic in 2011
    assert baseline["26702503"].year == 2016  # 2016 Jan-Feb
    assert baseline["26407462"].year == 2015


def test_other_abstracts(citations, baseline):
    others = [other for one in citations for other in one.other_abstracts]
    assert Counter((other.kind, other.language) for other in others) == {
        ("Publisher", "pol"): 20,
        ("Publisher", "fre"): 1,
    }
    parts = (AbstractPart("Abstract available from the publisher."),)
    assert baseline["26702360"].other_abstracts == (OtherAbstract("Publisher", "fre", parts),)


def test_vernacular_titles(by_file, citations, baseline):
    assert sum(bool(one.vernacular_title) for one in citations) == 20
    assert baseline["26407462"].title == "[Vaccines are drugs]."
    assert baseline["26407462"].vernacular_title == "I vaccini sono farmaci."
    assert baseline["26407462"].languages == ("ita",)
    (burns,) = by_file["36987902.xml"]
    assert burns.title == (
        "Patients over 75 years admitted to the National Burn Centre, Haukeland University "
        "Hospital, 2000-19."
    )
    assert burns.languages == ("eng", "nor")


def test_subject_headings_and_publication_types(by_file, citations):
    assert sum(len(one.mesh) for one in citations) == 2169
    assert sum(heading.major for one in citations for heading in one.mesh) == 278
    assert sum(len(heading.qualifiers) for one in citations for heading in one.mesh) == 1141
    assert sum(len(one.publication_types) for one in citations) == 1163
    (asthma,) = by_file["pubmed-29768149.xml"]
    heading = asthma.mesh[4]
    assert (heading.name, heading.id, heading.major) == ("Asthma", "D001249", False)
    assert [(one.name, one.id, one.major) for one in heading.qualifiers] == [
        ("drug therapy", "Q000188", True)
    ]
    assert asthma.publication_types[:2] == ("Clinical Trial, Phase III", "Comparative Study")
    assert document_of(asthma).mesh[:3] == ("Administration, Inhalation", "Adolescent", "Adult")


def test_comments_and_corrections(by_file, citations):
    kinds = Counter(relation.kind for one in citations for relation in one.relations)
    assert kinds == {
        "CommentIn": 52, "CommentOn": 30, "ErratumFor": 2, "ErratumIn": 3, "UpdateOf": 2,
    }  # fmt: skip
    (lipids,) = by_file["35649368.xml"]
    (erratum,) = lipids.relations
    assert (erratum.kind, erratum.pmid) == ("ErratumIn", "35767954")
    assert erratum.source.startswith("Cell Rep. 2022 Jun 28;39(13):111044.")


def test_days(by_file, baseline):
    assert (baseline["17942999"].entered, baseline["17942999"].revised) == (
        "2007-10-18",
        "2015-12-26",
    )
    (lipids,) = by_file["35649368.xml"]
    assert (lipids.entered, lipids.revised) == ("2022-06-01", "2025-07-28")
    assert baseline["26407462"].revised == ""


def test_another_xml_library_reads_the_same(shared, by_file):
    seen = 0
    for path in (shared / "data" / "pubmed_xml").rglob("*.xml*"):
        with open_binary(path) as file:
            root = ElementTree.parse(file).getroot()
        for node, one in zip(root.iter("MedlineCitation"), by_file[path.name], strict=False):
            article = node.find("Article")
            assert one.pmid == node.findtext("PMID")
            assert one.title == "".join(article.find("ArticleTitle").itertext())
            assert [(part.text, part.label, part.category) for part in one.abstract] == [
                ("".join(part.itertext()), part.get("Label", ""), part.get("NlmCategory", ""))
                for part in article.iterfind("Abstract/AbstractText")
            ]
            assert [heading.name for heading in one.mesh] == [
                name.text for name in node.iterfind("MeshHeadingList/MeshHeading/DescriptorName")
            ]
            assert [one.name for heading in one.mesh for one in heading.qualifiers] == [
                name.text for name in node.iterfind("MeshHeadingList/MeshHeading/QualifierName")
            ]
            date = "Journal/JournalIssue/PubDate"
            year = article.findtext(f"{date}/Year") or article.findtext(f"{date}/MedlineDate")[:4]
            assert one.year == int(year)
            seen += 1
    assert seen == 743
