"""What a question's right passages are."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from random import Random
from typing import Literal, NamedTuple

from hybrid_ir.records import Gold, PairSource, PseudoDocument, SyntheticPair
from training.passages import Passages

GoldPart = Literal["documents", "snippets"]
GOLD_PARTS: tuple[GoldPart, ...] = ("documents", "snippets")


class Passage(NamedTuple):
    """A passage with the label it teaches; ``document_id`` is empty for a text of no document."""

    document_id: str
    text: str
    source: PairSource
    weight: float = 1.0


def gold_positives(
    gold: Gold, parts: Sequence[GoldPart], passages: Passages, dropped: Counter[str]
) -> list[Passage]:
    """Give a golden question's documents and snippets, each text once.

    Args:
        gold: The gold.
        parts: Which of both.
        passages: Where documents' texts come from.
        dropped: Counts what is left out.
    """
    found: list[Passage] = []
    if "documents" in parts:
        for document in gold.documents:
            if text := passages.text_of(document):
                found.append(Passage(document, text, "gold"))
            else:
                dropped["gold document without a text"] += 1
    if "snippets" in parts:
        for snippet in gold.snippets:
            if text := " ".join(snippet.text.split()):
                found.append(Passage(snippet.document_id, text, "snippet"))
            else:
                dropped["gold snippet without a text"] += 1
    return list(_each_once(found, dropped))


def synthetic_positives(
    pairs: Iterable[SyntheticPair], passages: Passages, dropped: Counter[str]
) -> list[Passage]:
    """Give the passages of a question's synthetic pairs.

    A passage that a model wrote is taken as it is. One that a question was written for is a
    document's, so its text comes from where all documents' texts come from.
    """
    found: list[Passage] = []
    for pair in pairs:
        written = pair.source == "passage"
        text = pair.text.strip() if written else passages.text_of(pair.document_id)
        if text:
            found.append(Passage("" if written else pair.document_id, text, "synthetic"))
        else:
            dropped["synthetic pair without a text of the passage"] += 1
    return list(_each_once(found, dropped))


def pseudo_positives(
    texts: Iterable[PseudoDocument], least_weight: float, dropped: Counter[str]
) -> list[Passage]:
    """Give a target question's pseudo-documents with their weights."""
    found: list[Passage] = []
    for text in texts:
        if not text.text.strip():
            dropped["pseudo-document without a text"] += 1
        elif text.weight <= 0 or text.weight < least_weight:
            dropped["pseudo-document of too little weight"] += 1
        else:
            found.append(Passage("", text.text.strip(), "pseudo", text.weight))
    return list(_each_once(found, dropped))


def at_most(
    passages: Sequence[Passage], most: int | None, chance: Random, what: str, dropped: Counter[str]
) -> list[Passage]:
    """Draw ``most`` of a question's passages, in their order; all where it is None."""
    if most is None or len(passages) <= most:
        return list(passages)
    dropped[f"{what} above the cap"] += len(passages) - most
    return [passages[place] for place in sorted(chance.sample(range(len(passages)), most))]


def _each_once(passages: Iterable[Passage], dropped: Counter[str]) -> Iterator[Passage]:
    seen: set[str] = set()
    for passage in passages:
        if passage.text in seen:
            dropped["passage that the question has already"] += 1
        else:
            seen.add(passage.text)
            yield passage
