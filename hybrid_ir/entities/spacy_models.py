"""Entities by spaCy pipelines: scispaCy's models, and any other that finds named entities.

A pipeline is the name of an installed package, which is imported, or a folder, from which no code
is imported or run: weights are msgpack and vectors NumPy arrays read without pickle
(``srsly.msgpack``, ``numpy.load``), the rest is JSON and ``config.cfg``. That configuration can do
no more than name functions that installed packages have registered with spaCy, or another pipeline
as the source of a component.

The released scispaCy models (0.5.4) were made for spaCy < 3.8: their configuration writes switches
as the strings "True" and "False", which spaCy 3.8 refuses. It is handed the booleans they mean;
the files stay as they are.

Source of the models: Neumann et al. 2019, https://allenai.github.io/scispacy/
"""

from __future__ import annotations

import logging
import re
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from importlib.metadata import version
from importlib.util import find_spec
from itertools import islice
from typing import TYPE_CHECKING, Any

from hybrid_ir.entities.pieces import pieces, plain_text
from hybrid_ir.entities.spacy_folders import (
    NO_FINDERS,
    ModelFolder,
    find_model,
    overrides_of,
    unneeded,
)
from hybrid_ir.entities.tagging import Identity, merged
from hybrid_ir.errors import InputError
from hybrid_ir.records import Entity

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.tokens import Doc, Span

log = logging.getLogger(__name__)

_MESH_ID = re.compile(r"(?:MESH:)?([CD]\d{6}(?:\d{3})?)", re.IGNORECASE)
_LONGEST = 20_000
"""Characters handed to a pipeline at once: ten abstracts, so that a batch fits into memory."""


def open_spacy_tagger(model: str, batch: int) -> SpacyTagger:
    """Open a spaCy pipeline; it is loaded once a process.

    Args:
        model: The name of an installed package, or a folder.
        batch: Texts tagged together.

    Raises:
        InputError: spaCy or the pipeline is not installed, or it cannot be loaded, or it finds no
            entities.
    """
    if find_spec("spacy") is None:
        raise InputError(
            f"the model of entities {model!r} needs spaCy, which is not installed:"
            " pip install 'hybrid-ir[spacy]'"
        )
    return SpacyTagger(find_model(model), batch)


class SpacyTagger:
    """A spaCy pipeline as a tagger; entities keep its own labels, and MeSH ids if it links them."""

    def __init__(self, folder: ModelFolder, batch: int) -> None:
        self._folder = folder
        self._pipeline = _loaded(folder)
        self._batch = batch
        self.labels = _labels(self._pipeline)

    def tag(self, texts: Iterable[str]) -> Iterator[tuple[Entity, ...]]:
        """See :meth:`hybrid_ir.entities.tagging.Tagger.tag`; a very long text goes in pieces."""
        remaining = iter(texts)
        while batch := list(islice(remaining, self._batch)):
            yield from self._of_batch(batch)

    @property
    def identity(self) -> Identity:
        """The pipeline's name, version and hash, and spaCy's version."""
        return {
            "name": self._folder.name,
            "version": self._folder.version,
            "sha256": self._folder.sha256,
            "spacy": version("spacy"),
        }

    def _of_batch(self, texts: Sequence[str]) -> list[tuple[Entity, ...]]:
        longest = min(_LONGEST, self._pipeline.max_length)
        parts = [
            (number, start, piece)
            for number, text in enumerate(texts)
            for start, piece in pieces(text, longest)
        ]
        documents = self._pipeline.pipe(
            (plain_text(piece) for _, _, piece in parts), batch_size=self._batch
        )
        found: list[list[Entity]] = [[] for _ in texts]
        for (number, start, _), document in zip(parts, documents, strict=True):
            found[number] += self._entities(texts[number], start, document)
        return [merged(entities) for entities in found]

    def _entities(self, text: str, start: int, document: Doc) -> Iterator[Entity]:
        for span in document.ents:
            begin, end = start + span.start_char, start + span.end_char
            yield Entity(text[begin:end], span.label_, begin, end, _linked(span))


@cache
def _loaded(folder: ModelFolder) -> Language:
    """Load a pipeline, of what it holds only what finding entities needs.

    Raises:
        InputError: spaCy cannot load it, or it finds no entities.
    """
    from spacy.util import load_config, load_model_from_package, load_model_from_path

    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            config = load_config(folder.data / "config.cfg", interpolate=True)
            mended = overrides_of(config)
            settings: dict[str, Any] = {"exclude": unneeded(config), "config": mended}
            pipeline = (
                load_model_from_package(folder.package, **settings)
                if folder.package
                else load_model_from_path(folder.data, **settings)
            )
    except (ImportError, LookupError, OSError, RuntimeError, TypeError, ValueError) as error:
        raise InputError(_unusable(folder, error)) from error
    _report(folder, mended, [str(warning.message) for warning in caught])
    if not _labels(pipeline):
        parts = ", ".join(pipeline.pipe_names) or "no component"
        raise InputError(f"{folder.data}: expected a pipeline that finds entities, it has {parts}")
    return pipeline


def _report(folder: ModelFolder, mended: Mapping[str, Any], warned: Iterable[str]) -> None:
    for message in dict.fromkeys(warned):
        log.warning("%s: %s", folder.name, message)
    if mended:
        log.warning(
            "%s: its config.cfg writes booleans as strings, as spaCy < 3.8 took them; taken as"
            " booleans, the file was not changed",
            folder.name,
        )


def _unusable(folder: ModelFolder, error: Exception) -> str:
    said = " ".join(str(error).split())[:300] or type(error).__name__
    return (
        f"{folder.data}: spaCy cannot load the pipeline {folder.name} {folder.version} ({said}):"
        " install what it names, or get the pipeline again"
    )


def _labels(pipeline: Language) -> frozenset[str]:
    """The labels of the components that find entities."""
    labels = pipeline.pipe_labels
    return frozenset(
        label
        for name in pipeline.pipe_names
        if pipeline.get_pipe_meta(name).factory not in NO_FINDERS
        for label in labels.get(name, ())
    )


def _linked(span: Span) -> str | None:
    """The MeSH id that the pipeline linked an entity to, by spaCy's or scispaCy's means."""
    candidates = [span.kb_id_, span.ent_id_]
    if span.has_extension("kb_ents"):
        candidates += [identifier for identifier, _ in span._.kb_ents[:1]]
    found = (_MESH_ID.fullmatch(candidate) for candidate in candidates)
    return next((match[1].upper() for match in found if match), None)
