"""A gold, read for scoring; if need be without what a collection does not hold."""

from __future__ import annotations

import logging
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, field, replace

from hybrid_ir.bioasq.measures import Edition, Entry, Raw, read_gold, readable_gold
from hybrid_ir.bioasq.measures.strict_retrieval import document_ids
from hybrid_ir.bioasq.raw import document_id_of
from hybrid_ir.evaluation.scores import Count
from hybrid_ir.records import QUESTION_TYPES

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Reference:
    """A gold, read once for any number of systems.

    Attributes:
        name: What to call it: "preliminary", "enriched", a batch...
        edition: The official program's ``-e``. Strict measures are those of edition 9.
        documents: Gold documents in the collection, of all, where the gold was restricted to one.
        ideal: Question id -> ideal answers, verbatim: the official program does not read them.
    """

    name: str
    edition: Edition
    questions: tuple[Entry, ...]
    documents: Count | None = None
    ideal: Mapping[str, object] = field(default_factory=dict)


def reference(
    gold: Sequence[Raw],
    name: str = "gold",
    edition: Edition = 9,
    within: Container[str] | None = None,
) -> Reference:
    """Read a gold for scoring.

    A training file will do: its flat factoid answers, on which the official program dies, are read
    as the synonyms they are, with a warning.

    Args:
        gold: The questions of the gold file, verbatim.
        name: What to call the gold in tables.
        edition: The official program's ``-e``.
        within: Ids of the documents in the collection. Gold documents that are not there, and their
            snippets, are taken out, since nothing could find them.

    Raises:
        InputError: the gold cannot be read.
    """
    readable = readable_gold(gold, edition)
    changed = sum(before is not after for before, after in zip(gold, readable, strict=True))
    if changed:
        log.warning(
            "%s: %d of %d questions have a form the official program dies on (as training files "
            "do); read as golden files write it", name, changed, len(gold),
        )  # fmt: skip
    entries = read_gold(readable, edition)
    if other := [entry.id for entry in entries if entry.type not in QUESTION_TYPES]:
        log.warning(
            "%s: %d of %d questions have none of the types %s, spelled so (first: %s); they count "
            "among all questions only", name, len(other), len(entries), "/".join(QUESTION_TYPES),
            other[0],
        )  # fmt: skip
    ideal = {str(question["id"]): question.get("ideal_answer") for question in gold}
    if within is None:
        return Reference(name, edition, entries, ideal=ideal)
    kept = tuple(_restrict(entry, within) for entry in entries)
    left, before = (sum(len(document_ids(entry)) for entry in side) for side in (kept, entries))
    return Reference(name, edition, kept, Count(left, before), ideal)


def _restrict(entry: Entry, within: Container[str]) -> Entry:
    return replace(
        entry,
        documents=tuple(d for d in entry.documents if document_id_of(d) in within),
        snippets=tuple(s for s in entry.snippets if document_id_of(s.document) in within),
    )
