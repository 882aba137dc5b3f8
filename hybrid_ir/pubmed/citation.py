"""A citation with all that is read of it, and the document that is made of it.

The records are msgspec's: made in a seventh of a frozen dataclass's time, of which reading PubMed
took a tenth. They hold texts and one another only, no cycles: the collector need not see them.
"""

from __future__ import annotations

import msgspec

from hybrid_ir.records import Document


class AbstractPart(msgspec.Struct, frozen=True, gc=False):
    """A part of an abstract: the whole of it, or one section of a structured one.

    ``label`` is what the journal calls the section (``METHODS``), ``category`` what NLM does.
    """

    text: str
    label: str = ""
    category: str = ""


class OtherAbstract(msgspec.Struct, frozen=True, gc=False):
    """An abstract beside the journal's own: another language's, or one in plain words."""

    kind: str
    language: str
    parts: tuple[AbstractPart, ...]


class MeshQualifier(msgspec.Struct, frozen=True, gc=False):
    """A MeSH subheading; ``major``: a main topic of the article."""

    name: str
    id: str
    major: bool


class MeshHeading(msgspec.Struct, frozen=True, gc=False):
    """A MeSH descriptor; ``major``: itself a main topic of the article, qualifiers apart."""

    name: str
    id: str
    major: bool
    qualifiers: tuple[MeshQualifier, ...] = ()


class Relation(msgspec.Struct, frozen=True, gc=False):
    """A comment, a correction or a retraction: ``kind`` is NLM's RefType (``RetractionIn``).

    ``Cites``, the article's references in some files, is no relation of this sort and not read.
    """

    kind: str
    pmid: str
    source: str


class Citation(msgspec.Struct, frozen=True, gc=False):
    """One PubMed citation, its text as it stands in the file, markup flattened.

    A title wholly in brackets is a translation, as PubMed shows it; ``vernacular_title`` is the
    original. ``journal`` is the full name (a book's title for its chapters). ``entered`` is the
    day the record came to PubMed, ``revised`` that of its last change, both ISO 8601, shortened
    or empty where the file says no more.
    """

    pmid: str
    version: int = 1
    title: str = ""
    vernacular_title: str = ""
    abstract: tuple[AbstractPart, ...] = ()
    other_abstracts: tuple[OtherAbstract, ...] = ()
    year: int | None = None
    journal: str = ""
    languages: tuple[str, ...] = ()
    mesh: tuple[MeshHeading, ...] = ()
    publication_types: tuple[str, ...] = ()
    relations: tuple[Relation, ...] = ()
    entered: str = ""
    revised: str = ""


class Deletion(msgspec.Struct, frozen=True, gc=False):
    """A citation that PubMed took back."""

    pmid: str
    version: int = 1


def document_of(citation: Citation, labels: bool = True, between: str | None = None) -> Document:
    """Give the document that is searched and cut into snippets.

    The abstract's parts are joined as in BioASQ's gold since 2016 (task 4B), by whose characters
    snippets are counted: with nothing between the end of a section and the next one's label.
    ``benchmarks/offsets.py`` measures this. Words are told apart better with a blank.

    Args:
        citation: What was read.
        labels: Keep the labels of a structured abstract's sections in its text.
        between: What stands between sections; None: nothing where there are labels, a blank where
            they are left out.
    """
    if between is None:
        between = "" if labels else " "
    parts = (
        f"{part.label}: {part.text}" if labels and part.label else part.text
        for part in citation.abstract
    )
    return Document(
        id=citation.pmid,
        title=citation.title,
        abstract=between.join(parts),
        year=citation.year,
        mesh=tuple(heading.name for heading in citation.mesh),
        publication_types=citation.publication_types,
    )
