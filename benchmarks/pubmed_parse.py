"""How fast PubMed's XML becomes records: this project against ``pubmed_parser``.

    python benchmarks/pubmed_parse.py            # 5,944 citations, three rounds
    python benchmarks/pubmed_parse.py --quick    # 743 citations

Needs ``pubmed_parser`` and the shared data folder beside the checkout: the 743 citations of its
``pubmed_xml``, written again and again into one gzipped PubmedArticleSet. One process a side, the
sides by turns; counted are processor seconds from opening the file to its last citation.

Both sides give: PMID, title, vernacular title, abstract with section labels, year, journal,
languages, MeSH headings with identifiers, qualifiers and their major flags, publication types.
Ours alone gives: version, NLM's section categories, other abstracts, major flags of headings,
comments, corrections and retractions, days of entry and revision, deletions. ``pubmed_parser``
(``parse_medline_xml``, with ``parse_downto_mesh_subterms``, else the headings lack qualifiers)
alone gives: authors, affiliations, references, chemicals, keywords, DOI, grants, issue, pages,
further ids and codes of the journal. Neither has an option to leave these out. Three ratios, of
the least processor time that a side took for the file in any round: what else runs on the machine
can only add to it. Each process first reads the file once unmeasured.

``parse_vs_pubmed_parser``: at equal fields: both sides without the work for what they alone give.
``parse_vs_pubmed_parser_all_ours``: all our fields against pubmed_parser without its own.
``parse_vs_pubmed_parser_whole``: both sides as they are shipped, which is what users run.
``..._distinct``: the same on the real update file that pubmed_parser brings along (20,788
different citations; ours keeps MeSH headings that recur, so that repetition flatters it), in one
round; left out with --quick.
``peak_mb_...x``: largest resident memory at 1, 4 and 16 times the 743 citations; nothing but the
generator holds them.

The values that both give are compared on the 743 citations first, and a difference is an error.
"""

from __future__ import annotations

import argparse
import gzip
import json
import re
import tempfile
from collections.abc import Iterator
from importlib.metadata import files
from pathlib import Path

from processes import Finished, median, run, spread
from pubmed_parser.medline_parser import parse_medline_xml

from hybrid_ir.pubmed.citation import Citation, MeshHeading
from hybrid_ir.pubmed.medline import read_citations
from hybrid_ir.pubmed.medline.records import read_records

SHARED = Path(__file__).resolve().parents[2] / "shared" / "data" / "pubmed_xml"
OURS, THEIRS = "pubmed_parse_ours.py", "pubmed_parse_theirs.py"
TEXTS = ("title", "abstract", "vernacular_title")
SIDES: dict[str, tuple[str, tuple[str, ...]]] = {
    "ours": (OURS, ("shared",)),
    "ours_whole": (OURS, ()),
    "pubmed_parser": (THEIRS, ("shared",)),
    "pubmed_parser_whole": (THEIRS, ()),
}


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="743 citations")
    parser.add_argument("--copies", type=int, help="of the 743 citations (default 8)")
    parser.add_argument("--rounds", type=int, help="repetitions, the sides by turns (default 3)")
    args = parser.parse_args()
    copies = args.copies or (1 if args.quick else 8)
    rounds = args.rounds or 3
    with tempfile.TemporaryDirectory(prefix="hybrid-ir-pubmed-") as folder:
        once = write_file(Path(folder, "once.xml.gz"), 1)
        print(f"equal values of {compare(once):,} citations")
        many = write_file(Path(folder, "many.xml.gz"), copies)
        figures = measure(many, rounds, "")
        if not args.quick:
            figures |= measure(distinct_file(), 1, "_distinct")
        for times in (1, 4, 16):
            file = write_file(Path(folder, "grown.xml.gz"), times)
            for side in ("ours_whole", "pubmed_parser")[: 1 if args.quick else 2]:
                program, options = SIDES[side]
                figures[f"peak_mb_{side}_{times}x"] = median(
                    [float(run(program, file, *options).lines[2])]
                )
    for name, figure in figures.items():
        print(f"{name:48} {figure:>12,.4g}")
    print(json.dumps(figures))


def write_file(path: Path, copies: int) -> Path:
    """Write the real citations several times over into one gzipped file."""
    records = list(real_records())
    with gzip.open(path, "wb", 6) as file:
        file.write(b'<?xml version="1.0" encoding="utf-8"?>\n<PubmedArticleSet>\n')
        for _ in range(copies):
            file.writelines(record + b"\n" for record in records)
        file.write(b"</PubmedArticleSet>\n")
    return path


def real_records() -> Iterator[bytes]:
    """Give the shared folder's citations, each as a PubmedArticle."""
    for path in sorted(SHARED.rglob("*.xml*")):
        for record in read_records(path, lambda _: None, lambda data: (data,), 1 << 20):
            if record.startswith(b"<MedlineCitation"):
                yield b"<PubmedArticle>" + record + b"</PubmedArticle>"
            elif record.startswith(b"<PubmedArticle"):
                yield record


def distinct_file() -> Path:
    """Find the update file that comes with pubmed_parser."""
    (found,) = (file for file in files("pubmed_parser") or () if file.name.startswith("pubmed21n"))
    return Path(str(found.locate()))


def compare(path: Path) -> int:
    """Hold what both sides give against each other; say for how many citations.

    White space is left out: pubmed_parser lays abstracts out its own way. And it loses the
    characters of markup within markup, formulas above all, so its text may lack some of ours.

    Raises:
        RuntimeError: they differ.
    """
    count = 0
    peer = parse_medline_xml(str(path), parse_downto_mesh_subterms=True)
    for ours, other in zip(read_citations(path, print), peer, strict=True):
        assert isinstance(ours, Citation)
        mine = shared_values(ours)
        other["publication_types"] = re.sub(r"(^|; )D\d+:", r"\1", other["publication_types"])
        pairs = {name: (value, str(other[name])) for name, value in mine.items()}
        differing = {
            name: (value, theirs)
            for name, (value, theirs) in pairs.items()
            if (not _holds(value, theirs) if name in TEXTS else value != theirs)
        }
        if differing:
            raise RuntimeError(f"PMID {ours.pmid}: {differing}")
        count += 1
    return count


def _holds(ours: str, theirs: str) -> bool:
    """Say whether all their characters are ours, in order, and ours are theirs but for formulas."""
    short, long = "".join(theirs.split()), "".join(ours.split())
    rest = iter(long)
    return len(short) >= 0.9 * len(long) and all(character in rest for character in short)


def shared_values(citation: Citation) -> dict[str, str]:
    """Write a citation's values the way pubmed_parser does."""
    labelled = len(citation.abstract) > 1
    parts = (f"{part.label} {part.text}" if labelled else part.text for part in citation.abstract)
    return {
        "pmid": citation.pmid,
        "title": citation.title,
        "vernacular_title": citation.vernacular_title,
        "abstract": " ".join(parts),
        "pubdate": str(citation.year or ""),
        "journal": citation.journal,
        "languages": ";".join(citation.languages),
        "mesh_terms": "; ".join(map(_heading, citation.mesh)),
        "publication_types": "; ".join(citation.publication_types),
    }


def _heading(heading: MeshHeading) -> str:
    stars = {True: "*", False: ""}
    qualifiers = (f" / {one.id}:{one.name}{stars[one.major]}" for one in heading.qualifiers)
    return f"{heading.id}:{heading.name}{''.join(qualifiers)}"


def measure(path: Path, rounds: int, suffix: str) -> dict[str, float]:
    """Let every side read a file, by turns, and compare their speeds."""
    finished: dict[str, list[Finished]] = {side: [] for side in SIDES}
    for _ in range(rounds):
        for side, (program, options) in SIDES.items():
            finished[side].append(run(program, path, *options))
    speeds = {
        side: [int(one.lines[1]) / float(one.lines[0]) for one in all_]
        for side, all_ in finished.items()
    }
    for side, values in speeds.items():
        print(f"{side + suffix:32} {spread(values):>32} citations/s")
    ours, ours_whole, shared, whole = (max(values) for values in speeds.values())
    return {
        f"parse_vs_pubmed_parser{suffix}": median([ours / shared]),
        f"parse_vs_pubmed_parser_all_ours{suffix}": median([ours_whole / shared]),
        f"parse_vs_pubmed_parser_whole{suffix}": median([ours_whole / whole]),
        **{
            f"citations_per_second_{side}{suffix}": median([max(all_)])
            for side, all_ in speeds.items()
        },
    }


if __name__ == "__main__":
    main()
