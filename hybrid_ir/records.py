"""The record types every stage speaks. Nothing else lives here.

Records are frozen and carry no behaviour beyond knowing their own text. Identifiers are strings
throughout: a question id is 24 hexadecimal characters in BioASQ, a document id a PMID in PubMed,
but nothing here depends on either.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Generic, Literal, NamedTuple, TypeAlias, TypeVar

QuestionType = Literal["yesno", "factoid", "list", "summary"]
QUESTION_TYPES: tuple[QuestionType, ...] = ("yesno", "factoid", "list", "summary")

GoldKind = Literal["preliminary", "enriched"]
Written = Literal["passage", "question"]
Operator = Literal["should", "must", "filter", "must_not"]

ExactAnswer: TypeAlias = str | tuple[tuple[str, ...], ...] | None
"""Yes/no: the string; factoid, list: a tuple of synonyms an entity; summary or unknown: None."""


@dataclass(frozen=True, slots=True)
class Question:
    """A question as BioASQ hands it out."""

    id: str
    body: str
    type: QuestionType


@dataclass(frozen=True, slots=True)
class Snippet:
    """A passage of one section of a document.

    ``begin`` and ``end`` are 0-based characters of that section's text, end exclusive, as BioASQ
    counts them. They are taken over from where the snippet was born and never recomputed.
    """

    document_id: str
    section: str
    begin: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class Gold:
    """What BioASQ's experts found and answered for one question."""

    question_id: str
    kind: GoldKind
    documents: tuple[str, ...]
    snippets: tuple[Snippet, ...]
    ideal: tuple[str, ...]
    exact: ExactAnswer


@dataclass(frozen=True, slots=True)
class Document:
    """A citation: what is searched, re-ranked and cut into snippets."""

    id: str
    title: str = ""
    abstract: str = ""
    year: int | None = None
    mesh: tuple[str, ...] = ()
    publication_types: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """Title and abstract, joined by a blank where both are there."""
        return " ".join(part for part in (self.title, self.abstract) if part)


@dataclass(frozen=True, slots=True)
class Entity:
    """A name found in a text: ``text`` stands at characters ``start`` to ``end`` (exclusive).

    ``label`` says what kind of thing it names, in the words of the tagger that found it.
    ``mesh_id`` is the MeSH descriptor or supplementary concept (``D003920``), None where unknown.
    """

    text: str
    label: str
    start: int
    end: int
    mesh_id: str | None = None


@dataclass(frozen=True, slots=True)
class PseudoDocument:
    """What a language model wrote in answer to a question: words to search and to train with.

    ``generator`` names the model, ``sample`` counts its texts for one question from 0, ``prompt``
    names the prompt. ``weight`` in [0, 1] says how far the text is to be trusted.
    """

    question_id: str
    generator: str
    sample: int
    prompt: str
    text: str
    weight: float = 1.0


@dataclass(frozen=True, slots=True)
class Tagged:
    """The entities of one text of a question.

    ``generator`` and ``sample`` name a pseudo-document; the question's own body has the generator
    ``""`` and the sample 0.
    """

    question_id: str
    generator: str
    sample: int
    entities: tuple[Entity, ...]


@dataclass(frozen=True, slots=True)
class SyntheticPair:
    """A question and a passage to train with, one of them written by a language model.

    ``label`` is 1 for a relevant passage. ``source`` says which half is synthetic, ``generator``
    who wrote it.
    """

    question_id: str
    question: str
    type: QuestionType
    document_id: str
    text: str
    label: int
    source: Written
    generator: str


PairSource = Literal["gold", "snippet", "synthetic", "pseudo", "random", "bm25", "run"]


@dataclass(frozen=True, slots=True)
class TrainingPair:
    """A question and a passage, and what a cross-encoder is to learn about them.

    ``label`` is 1 for relevant, 0 for not; ``weight`` in [0, 1] how much it counts. ``source`` says
    where the passage comes from: the positives' ``gold`` (whole documents), ``snippet``,
    ``synthetic`` and ``pseudo``, the negatives' ``random``, ``bm25`` and ``run``. ``teacher`` is
    the score that another model gave the pair, None where there is none. ``document_id`` is empty
    for a text that is no document. ``stage`` is the training stage it is for.
    """

    question_id: str
    question: str
    document_id: str
    text: str
    label: float
    weight: float
    source: PairSource
    stage: Literal[1, 2]
    teacher: float | None = None


@dataclass(frozen=True, slots=True)
class Clause:
    """One weighted piece of a query: a bag of words looked up in one field of the index.

    ``boost`` multiplies the score of every word, so a boost of n equals the text repeated n times.
    ``should`` adds to the score, ``must`` adds and is required, ``filter`` is required and adds
    nothing, ``must_not`` leaves out what matches; a clause matches when any of its words does.

    In the fields ``publication_type`` and ``year`` the text is not words but exact values, in any
    case, separated by ``;``: ``Review`` does not match a Systematic Review, ``Review; Letter``
    matches either. Years may be windows: ``2019``, ``2010-2020``, ``2010-``, ``-2020``. A match
    adds the boost itself.
    """

    text: str
    field: str = "contents"
    boost: float = 1.0
    operator: Operator = "should"


@dataclass(frozen=True, slots=True)
class Query:
    """What a lexical backend sees for a question; several variants of a question may be fused."""

    question_id: str
    clauses: tuple[Clause, ...]
    variant: str = ""


T_co = TypeVar("T_co", covariant=True)


class Ranked(NamedTuple, Generic[T_co]):
    """An item and the score it was ranked by."""

    item: T_co
    score: float


Ranking: TypeAlias = tuple[Ranked[str], ...]
"""Document ids with their scores, best first."""

Rankings: TypeAlias = Iterable[tuple[str, Ranking]]
"""A run streamed question by question."""


@dataclass(frozen=True, slots=True)
class Run:
    """What retrieval, re-ranking and fusion all return: a ranking for every question."""

    name: str
    rankings: Mapping[str, Ranking]


Qrels: TypeAlias = Mapping[str, Mapping[str, int]]
"""Question id -> document id -> grade, as in TREC; a grade above 0 is relevant."""
