"""Generated PubMed files, the same on every machine: to measure what a whole PubMed would take.

    python benchmarks/citations.py FOLDER 1000000 [--sums]

writes ``FOLDER/baseline/`` with files of 30,000 citations, as NLM's have, and, in
``FOLDER/updatefiles/``, new versions of 5 % of the citations and the deletion of another 1 %.
Titles have 14 words on average, abstracts 200; 30 % have no abstract, of the others a third is
structured; MeSH headings, authors, publication types, languages, dates and references are about as
frequent as in PubMed. A citation takes some 5,700 bytes of XML, 1,170 gzipped.
"""

from __future__ import annotations

import argparse
import gzip
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path

from citation_text import Writer

from hybrid_ir.files import replacing
from hybrid_ir.pubmed.sums import md5_of

A_FILE = 30_000
FIRST_PMID = 10_000_001
REVISED = (20, 7)  # 5 %: every twentieth citation, from the seventh
DELETED = (100, 3)  # 1 %: every hundredth, none of them revised

_HEAD = '<?xml version="1.0" encoding="utf-8"?>\n<PubmedArticleSet>\n'
_LABELS = (
    ("BACKGROUND", "BACKGROUND"), ("METHODS", "METHODS"),
    ("RESULTS", "RESULTS"), ("CONCLUSIONS", "CONCLUSIONS"),
)  # fmt: skip
_TYPES = (
    ("D016428", "Journal Article"), ("D016454", "Review"), ("D016422", "Letter"),
    ("D016420", "Comment"), ("D016421", "Editorial"), ("D002363", "Case Reports"),
    ("D016449", "Randomized Controlled Trial"), ("D003160", "Comparative Study"),
    ("D016433", "News"), ("D013485", "Research Support, Non-U.S. Gov't"),
)  # fmt: skip
_LANGUAGES = ("eng", "eng", "eng", "eng", "eng", "eng", "ger", "fre", "rus", "jpn", "chi", "spa")
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_QUALIFIERS = ("metabolism", "drug effects", "genetics", "therapy", "physiology", "pathology")


@dataclass(frozen=True, slots=True)
class FilePlan:
    """What a generated file holds: citations and deletions, by their number from 0."""

    path: Path
    number: int
    citations: range
    deletions: range
    revised: bool


def plan_baseline(folder: Path, citations: int, a_file: int = A_FILE) -> list[FilePlan]:
    """Cut a baseline into files of ``a_file`` citations."""
    starts = range(0, citations, a_file)
    return [
        FilePlan(
            folder / "baseline" / f"pubmed25n{number:04}.xml.gz", number,
            range(start, min(start + a_file, citations)), range(0), False,
        )
        for number, start in enumerate(starts, start=1)
    ]  # fmt: skip


def plan_updates(folder: Path, citations: int) -> list[FilePlan]:
    """Cut revisions and deletions into files, numbered after those of the baseline."""
    revised = range(REVISED[1], citations, REVISED[0])
    deleted = range(DELETED[1], citations, DELETED[0])
    count = max(1, -(-len(revised) // A_FILE))
    first = len(plan_baseline(folder, citations)) + 1
    return [
        FilePlan(
            folder / "updatefiles" / f"pubmed25n{first + part:04}.xml.gz", first + part,
            _part(revised, part, count), _part(deleted, part, count), True,
        )
        for part in range(count)
    ]  # fmt: skip


def _part(numbers: range, part: int, parts: int) -> range:
    return numbers[len(numbers) * part // parts : len(numbers) * (part + 1) // parts]


def write_all(plans: list[FilePlan], processes: int = 2) -> None:
    """Write files, several at the same time."""
    if processes == 1 or len(plans) == 1:
        for plan in plans:
            write_file(plan)
        return
    with ProcessPoolExecutor(processes, get_context("spawn")) as pool:
        for _ in pool.map(write_file, plans):
            pass


def write_file(plan: FilePlan) -> None:
    """Write one file; its content depends on its plan only."""
    writer = Writer(2025, plan.number)
    plan.path.parent.mkdir(parents=True, exist_ok=True)
    with (
        replacing(plan.path) as temporary,
        temporary.open("wb") as raw,
        gzip.GzipFile("", "wb", 1, raw, mtime=0) as file,
    ):
        file.write(_HEAD.encode())
        for number in plan.citations:
            file.write(citation_xml(writer, number, plan.revised).encode())
        if plan.deletions:
            file.write(_deletions(plan.deletions).encode())
        file.write(b"</PubmedArticleSet>\n")


def _deletions(numbers: range) -> str:
    pmids = (f'<PMID Version="1">{FIRST_PMID + number}</PMID>\n' for number in numbers)
    return f"<DeleteCitation>\n{''.join(pmids)}</DeleteCitation>\n"


def citation_xml(writer: Writer, number: int, revised: bool = False) -> str:
    """Write a citation as NLM's files have it."""
    chance = writer.chance.random()
    year, month, day = 2024 - int(74 * chance * chance), 1 + number % 12, 1 + number % 28
    date = f"<Year>{year}</Year><Month>{month:02}</Month><Day>{day:02}</Day>"
    changed = "<Year>2025</Year><Month>03</Month><Day>01</Day>" if revised else date
    pmid = FIRST_PMID + number
    return (
        '<PubmedArticle>\n<MedlineCitation Status="MEDLINE" Owner="NLM">\n'
        f'<PMID Version="1">{pmid}</PMID>\n<DateCompleted>{date}</DateCompleted>\n'
        f"<DateRevised>{changed}</DateRevised>\n{_article(writer, year, month)}"
        "<MedlineJournalInfo><Country>United States</Country><MedlineTA>J Gen</MedlineTA>"
        f"<NlmUniqueID>{1_000_000 + number % 4_000}</NlmUniqueID></MedlineJournalInfo>\n"
        f"<MeshHeadingList>\n{_headings(writer)}</MeshHeadingList>\n</MedlineCitation>\n"
        f"{_pubmed_data(writer, pmid, date)}</PubmedArticle>\n"
    )


def _article(writer: Writer, year: int, month: int) -> str:
    dated, titled, kept, length, structured, spoken, authors, kind, place = writer.chance.random(
        9
    ).tolist()
    words = 100 + int(201 * length)
    abstract = _abstract(writer, words, structured < 1 / 3) if kept >= 0.3 else ""
    journal = writer.name(int(4_000 * place))
    people = "".join(_author(writer, number) for number in range(1 + int(9 * authors)))
    return (
        f'<Article PubModel="Print">\n<Journal>\n<ISSN IssnType="Print">1234-5678</ISSN>\n'
        f'<JournalIssue CitedMedium="Print"><Volume>{month}</Volume><Issue>2</Issue>'
        f"<PubDate>{_published(year, month, dated)}</PubDate></JournalIssue>\n"
        f"<Title>Journal of {journal}</Title>\n<ISOAbbreviation>J {journal}</ISOAbbreviation>\n"
        f"</Journal>\n<ArticleTitle>{writer.sentence(6 + int(17 * titled))}</ArticleTitle>\n"
        f"<Pagination><MedlinePgn>1-9</MedlinePgn></Pagination>\n{abstract}"
        f'<AuthorList CompleteYN="Y">\n{people}</AuthorList>\n'
        f"<Language>{_LANGUAGES[int(len(_LANGUAGES) * spoken)]}</Language>\n"
        f"{_types(kind, bool(abstract))}</Article>\n"
    )


def _published(year: int, month: int, chance: float) -> str:
    name = _MONTHS[month - 1]
    if chance < 0.05:
        return f"<MedlineDate>{year} {name}-Dec</MedlineDate>"
    return f"<Year>{year}</Year><Month>{name}</Month>"


def _types(chance: float, with_abstract: bool) -> str:
    """Give one of the types, and Journal Article where there is an abstract."""
    chosen = dict([*_TYPES[:with_abstract], _TYPES[int(len(_TYPES) * chance * chance)]])
    kinds = (
        f'<PublicationType UI="{ui}">{name}</PublicationType>\n' for ui, name in chosen.items()
    )
    return f"<PublicationTypeList>\n{''.join(kinds)}</PublicationTypeList>\n"


def _abstract(writer: Writer, words: int, structured: bool) -> str:
    if not structured:
        return f"<Abstract>\n<AbstractText>{writer.prose(words)}</AbstractText>\n</Abstract>\n"
    parts = "".join(
        f'<AbstractText Label="{label}" NlmCategory="{category}">{writer.prose(words // 4)}'
        "</AbstractText>\n"
        for label, category in _LABELS
    )
    return f"<Abstract>\n{parts}</Abstract>\n"


def _author(writer: Writer, place: int) -> str:
    last, first = map(writer.name, writer.ranks(2))
    where = f"<Affiliation>{writer.sentence(8)}</Affiliation>" if not place else ""
    affiliation = f"<AffiliationInfo>{where}</AffiliationInfo>" if where else ""
    return (
        f'<Author ValidYN="Y"><LastName>{last}</LastName><ForeName>{first}</ForeName>'
        f"<Initials>{first[0]}</Initials>{affiliation}</Author>\n"
    )


def _headings(writer: Writer) -> str:
    """Give 0 to 22 headings, every third with a qualifier."""
    count = int(23 * writer.chance.random())
    return "".join(_heading(writer, rank) for rank in dict.fromkeys(writer.ranks(count)))


def _heading(writer: Writer, rank: int) -> str:
    name = f"{writer.name(rank)} {writer.name(7 * rank)}"
    heading = f'<DescriptorName UI="D{rank:06}" MajorTopicYN="N">{name}</DescriptorName>'
    if rank % 3 == 0:
        ui, qualifier = f"Q{rank % 6:06}", _QUALIFIERS[rank % 6]
        heading += f'<QualifierName UI="{ui}" MajorTopicYN="Y">{qualifier}</QualifierName>'
    return f"<MeshHeading>{heading}</MeshHeading>\n"


def _pubmed_data(writer: Writer, pmid: int, date: str) -> str:
    history = "".join(
        f'<PubMedPubDate PubStatus="{status}">{date}</PubMedPubDate>\n'
        for status in ("pubmed", "medline", "entrez")
    )
    chance = writer.chance.random()
    count = int(40 * chance / 0.3) if chance < 0.3 else 0
    references = "".join(_reference(writer, pmid) for _ in range(count))
    listed = f"<ReferenceList>\n{references}</ReferenceList>\n" if count else ""
    return (
        f"<PubmedData>\n<History>\n{history}</History>\n"
        "<PublicationStatus>ppublish</PublicationStatus>\n<ArticleIdList>"
        f'<ArticleId IdType="pubmed">{pmid}</ArticleId><ArticleId IdType="doi">10.1000/{pmid}'
        f"</ArticleId></ArticleIdList>\n{listed}</PubmedData>\n"
    )


def _reference(writer: Writer, pmid: int) -> str:
    return (
        f"<Reference><Citation>{writer.sentence(8)} 2001;12(3):45-67</Citation><ArticleIdList>"
        f'<ArticleId IdType="pubmed">{pmid - 1}</ArticleId></ArticleIdList></Reference>\n'
    )


def make_questions(count: int, terms: int = 10) -> Iterator[str]:
    """Give questions of so many words that the generated citations hold."""
    writer = Writer(2025, 0)
    return (" ".join(writer.rare_words(terms)) for _ in range(count))


def main() -> None:
    """Write a baseline and its updates."""
    parser = argparse.ArgumentParser(description="Generate PubMed files, the same everywhere.")
    parser.add_argument("folder", type=Path, help="gets baseline/ and updatefiles/")
    parser.add_argument("citations", type=int, help="citations of the baseline")
    parser.add_argument(
        "--sums", action="store_true", help="write NAME.md5 beside each file, as NLM does"
    )
    arguments = parser.parse_args()
    folder, citations = arguments.folder, arguments.citations
    plans = plan_baseline(folder, citations) + plan_updates(folder, citations)
    write_all(plans)
    if arguments.sums:
        for plan in plans:
            line = f"MD5({plan.path.name})= {md5_of(plan.path)}\n"
            plan.path.with_name(f"{plan.path.name}.md5").write_text(line)


if __name__ == "__main__":
    main()
