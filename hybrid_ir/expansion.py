"""Queries that hold a question and what language models wrote about it, weighted.

The paper's query (LLM-augmented hybrid retrieval, equation 3) is one text: the question n times,
then the entity set of the first generator, then that of the second. BM25 is a sum over the query's
words, each as often as it occurs, so a question with a boost of n scores the same as n questions
and costs as little as one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, groupby
from typing import Literal

from hybrid_ir.entities.tagging import EntityConfig
from hybrid_ir.errors import refuse
from hybrid_ir.records import (
    QUESTION_TYPES,
    Clause,
    Entity,
    PseudoDocument,
    Query,
    Question,
    QuestionType,
    Tagged,
)
from hybrid_ir.retrieval.fields import CONTENTS, MESH

Source = Literal["entities", "mentions", "text"]
Form = Literal["boosts", "repetition"]

QUESTION_KEY = ("", 0)
"""(generator, sample) of a question's own body, as in :class:`~hybrid_ir.records.Tagged`."""

QUESTION = "question"
"""The variant of a question's own query, where queries are to be fused."""

MAX_REPEAT = 1000


@dataclass(frozen=True, slots=True)
class Change:
    """What differs for one question type; None leaves it as it is.

    Attributes:
        repeat: As in :class:`ExpansionConfig`.
        source: As in :class:`ExpansionConfig`.
        generators: As in :class:`ExpansionConfig`.
    """

    repeat: float | None = None
    source: Source | None = None
    generators: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class ExpansionConfig:
    """How questions are expanded.

    Attributes:
        repeat: How much the question counts against what is added: the paper's n.
        source: What is taken from a pseudo-document: its ``entities``, each once a generator (the
            paper's sets), all ``mentions`` of entities, or its whole ``text``.
        generators: Whose pseudo-documents are used; empty uses all.
        by_type: What differs for a question type.
        weights: Whether a pseudo-document counts by its weight, or each as 1.
        fused: Whether there is a query of the question alone and, for each generator, one of the
            question and its texts, whose rankings the search fuses, instead of one query of all.
            ``repeat`` should then be small: else all of them are nearly the question alone.
        question_entities: Whether the question's own entities are added once more, as a set.
        mesh: The boost of a clause that looks the question's entities up in the field ``mesh``
            (MiBi); 0 makes none. The index must have the field.
        entities: What finds the entities.
        form: ``boosts``, or the very text with its ``repetition`` (``repeat`` is then whole, and
            weights are not used).
    """

    repeat: float = 8.0
    source: Source = "text"
    generators: tuple[str, ...] = ()
    by_type: dict[str, Change] = field(default_factory=dict)
    weights: bool = True
    fused: bool = False
    question_entities: bool = False
    mesh: float = 0.0
    entities: EntityConfig = field(default_factory=EntityConfig)
    form: Form = "boosts"

    def __post_init__(self) -> None:
        repeated = self.form == "repetition"
        repeats = [self.repeat, *(c.repeat for c in self.by_type.values() if c.repeat is not None)]
        refuse(
            "the expansion",
            *(("repeat", f"0 to {MAX_REPEAT:,}", n, 0 <= n <= MAX_REPEAT) for n in repeats),
            (
                "by_type",
                f"some of {', '.join(QUESTION_TYPES)}",
                ", ".join(self.by_type),
                set(self.by_type) <= {*QUESTION_TYPES},
            ),
            ("mesh", f"0 to {MAX_REPEAT:,}", self.mesh, 0 <= self.mesh <= MAX_REPEAT),
            (
                "repeat",
                "whole numbers with form=repetition",
                repeats,
                not repeated or all(float(n).is_integer() for n in repeats),
            ),
            (
                "entities",
                "no settings unless source, question_entities or mesh use them",
                self.entities,
                self.needs_entities or self.entities == EntityConfig(),
            ),
            (
                "weights",
                "false with form=repetition: a text cannot be repeated 0.7 times",
                self.weights,
                not (repeated and self.weights),
            ),
        )

    @property
    def named_generators(self) -> tuple[str, ...]:
        """The generators that are named, for any question type."""
        choices = [self.generators, *(change.generators for change in self.by_type.values())]
        return tuple(dict.fromkeys(name for choice in choices if choice for name in choice))

    @property
    def needs_entities(self) -> bool:
        """Whether entities are looked at."""
        sources = {self.source, *(change.source for change in self.by_type.values())}
        return self.question_entities or self.mesh > 0 or bool(sources - {"text", None})


def expanded(
    question: Question,
    texts: Sequence[PseudoDocument],
    entities: Mapping[tuple[str, int], Sequence[Entity]],
    config: ExpansionConfig,
) -> tuple[Query, ...]:
    """Give the query of a question, or several to be fused.

    Args:
        question: The question.
        texts: Its pseudo-documents.
        entities: The entities by (generator, sample), the question's own under ``("", 0)``; may be
            empty where ``config.needs_entities`` is false.
        config: Settings.

    Returns:
        One query; with ``config.fused`` the question's, then one a generator, each a variant.
    """
    own = config_of(question.type, config)
    asked = _question_clauses(question, entities.get(QUESTION_KEY, ()), own)
    new = added(question, texts, entities, config)
    if not own.fused:
        return (_query(question, [*asked, *chain.from_iterable(new.values())], own),)
    queries = [_query(question, asked, own, QUESTION)]
    queries += [
        _query(question, [*asked, *clauses], own, name) for name, clauses in new.items() if clauses
    ]
    return tuple(queries)


def added(
    question: Question,
    texts: Sequence[PseudoDocument],
    entities: Mapping[tuple[str, int], Sequence[Entity]],
    config: ExpansionConfig,
) -> dict[str, list[Clause]]:
    """Give what each generator's texts add to a question, no clause where that is nothing.

    Args:
        question: The question.
        texts: Its pseudo-documents.
        entities: As for :func:`expanded`.
        config: Settings.
    """
    own = config_of(question.type, config)
    names = own.generators or tuple(dict.fromkeys(text.generator for text in texts))
    return {
        name: _added_clauses([text for text in texts if text.generator == name], entities, own)
        for name in names
    }


def config_of(kind: QuestionType, config: ExpansionConfig) -> ExpansionConfig:
    """Give the settings for a question type."""
    change = config.by_type.get(kind, Change())
    return replace(
        config,
        repeat=config.repeat if change.repeat is None else change.repeat,
        source=change.source or config.source,
        generators=config.generators if change.generators is None else change.generators,
        by_type={},
    )


def by_text(tagged: Iterable[Tagged]) -> dict[str, dict[tuple[str, int], tuple[Entity, ...]]]:
    """Give entities by question, then by (generator, sample)."""
    found: dict[str, dict[tuple[str, int], tuple[Entity, ...]]] = {}
    for text in tagged:
        found.setdefault(text.question_id, {})[text.generator, text.sample] = text.entities
    return found


def entity_set(entities: Iterable[Entity]) -> tuple[str, ...]:
    """Give each name once, whatever its case, in the order of the text."""
    names: dict[str, str] = {}
    for entity in entities:
        names.setdefault(entity.text.casefold(), entity.text)
    return tuple(names.values())


def _question_clauses(
    question: Question, entities: Sequence[Entity], config: ExpansionConfig
) -> list[Clause]:
    names = " ".join(entity_set(entities))
    clauses = [Clause(question.body, boost=config.repeat)]
    if config.question_entities:
        clauses.append(Clause(names))
    if config.mesh:
        clauses.append(Clause(names, MESH, config.mesh))
    return _not_empty(clauses)


def _added_clauses(
    texts: Sequence[PseudoDocument],
    entities: Mapping[tuple[str, int], Sequence[Entity]],
    config: ExpansionConfig,
) -> list[Clause]:
    """Give what one generator's texts add."""
    weighed = [(text, text.weight if config.weights else 1.0) for text in texts]
    if config.source == "text":
        return _not_empty(Clause(text.text, boost=weight) for text, weight in weighed)
    found = [(entities[text.generator, text.sample], weight) for text, weight in weighed]
    if config.source == "mentions":
        return _not_empty(
            Clause(" ".join(entity.text for entity in names), boost=weight)
            for names, weight in found
        )
    return _not_empty(
        Clause(" ".join(names), boost=weight) for weight, names in _sets_by_weight(found).items()
    )


def _sets_by_weight(
    found: Iterable[tuple[Sequence[Entity], float]],
) -> dict[float, tuple[str, ...]]:
    """Part a generator's entity set by weight: a name has that of its heaviest text."""
    sets: dict[float, tuple[str, ...]] = {}
    seen: set[str] = set()
    heaviest_first = sorted(found, key=lambda pair: -pair[1])
    for weight, same in groupby(heaviest_first, key=lambda pair: pair[1]):
        names = entity_set(entity for entities, _ in same for entity in entities)
        sets[weight] = tuple(name for name in names if name.casefold() not in seen)
        seen.update(map(str.casefold, names))
    return sets


def _not_empty(clauses: Iterable[Clause]) -> list[Clause]:
    """Leave out clauses that ask for nothing."""
    return [clause for clause in clauses if clause.text.strip() and clause.boost > 0]


def _query(
    question: Question, clauses: Sequence[Clause], config: ExpansionConfig, variant: str = ""
) -> Query:
    if config.form == "boosts":
        return Query(question.id, tuple(clauses), variant)
    words = [clause for clause in clauses if clause.field == CONTENTS]
    others = [clause for clause in clauses if clause.field != CONTENTS]
    text = " ".join(clause.text for clause in words for _ in range(int(clause.boost)))
    return Query(question.id, (*_not_empty([Clause(text)]), *others), variant)
