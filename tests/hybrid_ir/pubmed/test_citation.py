"""Citations -> documents."""

from __future__ import annotations

import json

import pytest

from hybrid_ir.files import read_lines
from hybrid_ir.pubmed.citation import (
    AbstractPart,
    Citation,
    MeshHeading,
    MeshQualifier,
    document_of,
)
from hybrid_ir.records import Document

STRUCTURED = Citation(
    pmid="1",
    title="A title.",
    abstract=(
        AbstractPart("Why.", "BACKGROUND", "BACKGROUND"),
        AbstractPart("How.", "Study Design"),
        AbstractPart("No label."),
    ),
    year=2001,
    mesh=(
        MeshHeading("Asthma", "D001249", True, (MeshQualifier("therapy", "Q000628", False),)),
        MeshHeading("Humans", "D006801", False),
    ),
    publication_types=("Journal Article", "Review"),
)


def test_labels_stand_where_the_gold_has_them():
    assert document_of(STRUCTURED) == Document(
        id="1",
        title="A title.",
        abstract="BACKGROUND: Why.Study Design: How.No label.",
        year=2001,
        mesh=("Asthma", "Humans"),
        publication_types=("Journal Article", "Review"),
    )


def test_labels_can_be_left_out():
    assert document_of(STRUCTURED, labels=False).abstract == "Why. How. No label."


def test_what_stands_between_sections_can_be_chosen():
    spaced = document_of(STRUCTURED, between=" ").abstract
    assert spaced == "BACKGROUND: Why. Study Design: How. No label."
    assert document_of(STRUCTURED, labels=False, between="\n").abstract == "Why.\nHow.\nNo label."


def test_a_citation_with_a_number_only():
    assert document_of(Citation(pmid="7")) == Document(id="7")


@pytest.mark.shared
def test_a_gold_snippet_across_two_sections(shared):
    """BioASQ 12B's snippets 1615 and 2339 of PMID 33961795 each hold the seam of two sections."""
    lines = read_lines(shared / "data" / "derived" / "gold_snippet_docs_dev.jsonl.gz")
    (entry,) = (json.loads(line) for _, line in lines if '"33961795"' in line)
    (snippet,) = (one["text"] for one in entry["snippets"] if one["begin"] == 1615)
    methods, findings = snippet.split("FINDINGS: ")
    parts = (AbstractPart(methods, "METHODS"), AbstractPart(findings, "FINDINGS"))
    abstract = document_of(Citation("33961795", abstract=parts)).abstract
    assert abstract == f"METHODS: {snippet}"
    assert methods.endswith("number NCT03384940.")
