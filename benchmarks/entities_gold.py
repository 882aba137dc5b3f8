"""BC5CDR, the corpus of the benchmark of entities: texts with the chemicals and diseases in them.

Training and development parts are the token lines of MTL-Bioinformatics-2016, whose texts are put
together again here (which blanks there were is not told); the test part is the PubTator file, with
its real texts, offsets and MeSH ids.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from hybrid_ir.files import read_lines, read_text
from hybrid_ir.records import Entity

LABELS = ("DISEASE", "CHEMICAL")
_NO_BLANK_BEFORE = set(",.;:)]?!%'/-")
_NO_BLANK_AFTER = set("([/-'")


@dataclass(frozen=True, slots=True)
class Annotated:
    """A text and the entities that people found in it."""

    text: str
    entities: tuple[Entity, ...]


def read_sentences(path: Path) -> Iterator[Annotated]:
    """Read the sentences of token lines: token, tab, tag; a blank line ends a sentence."""
    tokens: list[tuple[str, str]] = []
    for line in [*read_text(path).split("\n"), ""]:
        if line.strip():
            token, _, tag = line.partition("\t")
            tokens.append((token, tag.strip()))
        elif tokens:
            yield _join(tokens)
            tokens = []


def _join(tokens: list[tuple[str, str]]) -> Annotated:
    text, previous = "", ""
    spans: list[tuple[int, int, str]] = []
    for token, tag in tokens:
        if text and token[0] not in _NO_BLANK_BEFORE and previous not in _NO_BLANK_AFTER:
            text += " "
        start, text, previous = len(text), text + token, token
        if tag.startswith("B-"):
            spans.append((start, len(text), tag[2:].upper()))
        elif tag.startswith("I-"):
            spans[-1] = (spans[-1][0], len(text), spans[-1][2])
    return Annotated(text, tuple(Entity(text[s:e], label, s, e) for s, e, label in spans))


def blocks(sentences: list[Annotated], size: int = 10) -> Iterator[Annotated]:
    """Join every ten sentences, about an abstract: the token lines tell no documents."""
    for first in range(0, len(sentences), size):
        text, entities = "", []
        for one in sentences[first : first + size]:
            shift = len(text)
            text += f"{one.text} "
            entities += [
                Entity(e.text, e.label, e.start + shift, e.end + shift) for e in one.entities
            ]
        yield Annotated(text, tuple(entities))


def read_pubtator(path: Path) -> list[Annotated]:
    """Read the abstracts of a PubTator file: title, blank, abstract."""
    found: list[Annotated] = []
    title = ""
    for _, line in read_lines(path):
        fields = line.split("\t")
        if line.split("|")[1:2] == ["t"]:
            title = line.split("|", 2)[2]
        elif line.split("|")[1:2] == ["a"]:
            found.append(Annotated(f"{title} {line.split('|', 2)[2]}", ()))
        elif len(fields) >= 6:
            text, entities = found[-1].text, found[-1].entities
            start, end = int(fields[1]), int(fields[2])
            one = Entity(text[start:end], fields[4].upper(), start, end, fields[5])
            found[-1] = Annotated(text, (*entities, one))
    return found
