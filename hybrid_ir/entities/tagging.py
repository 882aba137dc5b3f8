"""Taggers: what finds the entities of texts, several at once where wanted.

A tagger is the lexicon that comes with the toolkit, or a spaCy pipeline by its package name or
folder. Whatever library one needs is imported when it is opened, not with this module.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from difflib import get_close_matches
from itertools import islice
from typing import Any, Protocol, TypeAlias

from hybrid_ir.errors import InputError, refuse
from hybrid_ir.records import Entity

LEXICON = "lexicon"
"""The name, among ``EntityConfig.models``, of the lexicon that needs no download."""

Identity: TypeAlias = str | dict[str, Any]
"""What a tagger is, in JSON: its name, its version, the hash of what it knows."""


class Tagger(Protocol):
    """Finds the names of things in texts."""

    def tag(self, texts: Iterable[str]) -> Iterator[tuple[Entity, ...]]:
        """Give the entities of each text, in the order of the texts.

        They are ordered by start, then the longer first, then by label; ``text[start:end]`` is the
        entity's own text.
        """
        ...

    @property
    def labels(self) -> frozenset[str]:
        """The labels its entities may carry."""
        ...

    @property
    def identity(self) -> Identity:
        """What decides its answers, as it goes into the key of a stage's manifest."""
        ...


@dataclass(frozen=True, slots=True)
class EntityConfig:
    """What finds entities.

    Attributes:
        models: ``lexicon``, the package name of a spaCy pipeline (``en_ner_bc5cdr_md``) or its
            folder; of several, what any of them finds.
        labels: Only entities with these labels are kept; empty keeps all.
        abbreviations: Whether the long form of an entity that is an abbreviation becomes an entity,
            too; needs the extra [scispacy].
        batch: Texts tagged together.
    """

    models: tuple[str, ...] = (LEXICON,)
    labels: tuple[str, ...] = ()
    abbreviations: bool = False
    batch: int = 64

    def __post_init__(self) -> None:
        twice = len(set(self.models)) < len(self.models)
        named = bool(self.models) and all(map(str.strip, self.models)) and not twice
        refuse(
            "the entities",
            ("models", "one or more names, each once", self.models, named),
            ("batch", "1 to 100,000", self.batch, 1 <= self.batch <= 100_000),
        )


def open_tagger(config: EntityConfig) -> Tagger:
    """Open all that a configuration names, as one tagger.

    Raises:
        InputError: a library or a model is missing or cannot be used, or no model gives one of the
            labels; the faults of all models in one message.
    """
    faults: list[str] = []
    taggers: list[Tagger] = []
    for model in config.models:
        with _noting(faults):
            taggers.append(_opened(model, config.batch))
    tagger: Tagger = Union(taggers, config.batch)
    if config.abbreviations:
        with _noting(faults):
            tagger = _expanded(tagger)
    if len(faults) > 1:
        raise InputError.of_all("what is to find the entities cannot be used:", faults)
    if faults:
        raise InputError(faults[0])
    if set(config.models) != {LEXICON}:
        tagger = Identified(tagger, _opened(LEXICON, config.batch))
    return Kept(tagger, config.labels) if config.labels else tagger


@contextmanager
def _noting(faults: list[str]) -> Iterator[None]:
    """Note an InputError, so that all of them can be told at once."""
    try:
        yield
    except InputError as error:
        faults.append(str(error))


def _opened(model: str, batch: int) -> Tagger:
    if model == LEXICON:
        from hybrid_ir.entities.lexicon import load_lexicon

        return load_lexicon()
    from hybrid_ir.entities.spacy_models import open_spacy_tagger

    return open_spacy_tagger(model, batch)


def _expanded(tagger: Tagger) -> Tagger:
    from hybrid_ir.entities.abbreviations import open_expanded

    return open_expanded(tagger)


class Union:
    """All that any of several taggers finds; the same span with the same label counts once."""

    def __init__(self, taggers: Sequence[Tagger], batch: int) -> None:
        self._taggers = tuple(taggers)
        self._batch = batch

    def tag(self, texts: Iterable[str]) -> Iterator[tuple[Entity, ...]]:
        """See :meth:`Tagger.tag`; holds one batch of texts at a time."""
        remaining = iter(texts)
        while batch := list(islice(remaining, self._batch)):
            found = [tagger.tag(batch) for tagger in self._taggers]
            for of_text in zip(*found, strict=True):
                yield merged(entity for entities in of_text for entity in entities)

    @property
    def labels(self) -> frozenset[str]:
        """The labels of all of them."""
        return frozenset().union(*(tagger.labels for tagger in self._taggers))

    @property
    def identity(self) -> Identity:
        """Those of all of them, in the order of the configuration."""
        return {"union": [tagger.identity for tagger in self._taggers]}


class Identified:
    """What a tagger finds, with the MeSH ids that a lexicon knows for names without one."""

    def __init__(self, tagger: Tagger, lexicon: Tagger) -> None:
        self._tagger = tagger
        self._lexicon = lexicon

    def tag(self, texts: Iterable[str]) -> Iterator[tuple[Entity, ...]]:
        """See :meth:`Tagger.tag`."""
        for entities in self._tagger.tag(texts):
            known = self._lexicon.tag(entity.text for entity in entities)
            yield tuple(map(_identified, entities, known))

    @property
    def labels(self) -> frozenset[str]:
        """The tagger's."""
        return self._tagger.labels

    @property
    def identity(self) -> Identity:
        """The tagger's, and the lexicon's."""
        return {"mesh": self._lexicon.identity, "of": self._tagger.identity}


class Kept:
    """What a tagger finds with one of some labels."""

    def __init__(self, tagger: Tagger, labels: Iterable[str]) -> None:
        """Raises InputError for a label that the tagger never gives."""
        self._tagger = tagger
        self.labels = frozenset(labels)
        faults = [_no_such(label, tagger.labels) for label in sorted(self.labels - tagger.labels)]
        if faults:
            raise InputError.of_all("no model gives entities these labels:", faults)

    def tag(self, texts: Iterable[str]) -> Iterator[tuple[Entity, ...]]:
        """See :meth:`Tagger.tag`."""
        for entities in self._tagger.tag(texts):
            yield tuple(entity for entity in entities if entity.label in self.labels)

    @property
    def identity(self) -> Identity:
        """The tagger's, and which labels are kept."""
        return {"labels": sorted(self.labels), "of": self._tagger.identity}


def merged(entities: Iterable[Entity]) -> tuple[Entity, ...]:
    """Order entities, and keep each span with its label once: the one whose MeSH id is known."""
    found: dict[tuple[int, int, str], Entity] = {}
    for entity in entities:
        place = (entity.start, -entity.end, entity.label)
        known = found.get(place)
        if known is None or known.mesh_id is None:
            found[place] = entity
    return tuple(found[place] for place in sorted(found))


def _identified(entity: Entity, known: Iterable[Entity]) -> Entity:
    """Give an entity the MeSH id of what a lexicon finds in its whole text."""
    mesh_id = next((name.mesh_id for name in known if name.text == entity.text), None)
    return replace(entity, mesh_id=mesh_id) if mesh_id and not entity.mesh_id else entity


def _no_such(label: str, there: frozenset[str]) -> str:
    near = get_close_matches(label.upper(), there, n=1)
    hint = f"; did you mean {near[0]}?" if near else ""
    return f"labels: expected some of {', '.join(sorted(there))}, got {label!r}{hint}"
