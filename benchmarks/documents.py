"""Documents and queries for the benchmarks, made from the example collection, the same every time.

The example collection holds 39,357 passages, too few and too short to time an index with. Here its
sentences are recombined at random (seeded) into documents as long as PubMed's: a title and 8 to 10
sentences, some 180 words. They read as nonsense, but words, their frequencies and the lengths of
sentences and documents are real, and those are what an index works with.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import msgspec

from hybrid_ir.files import read_jsonl, write_jsonl
from hybrid_ir.records import Document, Question
from hybrid_ir.retrieval.fields import words_of

COLLECTION = Path(__file__).resolve().parents[1] / "examples/bioasq-mini/documents.jsonl.gz"

_FIRST_ID = 10_000_000  # eight digits, as PMIDs have
_PARTS = 8  # files for Anserini, which gives each of its threads whole files
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+(?=[A-Z])")
_STOP_WORDS = (  # Lucene's, as far as they have 3 letters
    "and|are|but|for|into|not|such|that|the|their|then|there|these|they|this|was|will|with"
)
_WORD = re.compile(rf"\b(?!(?:{_STOP_WORDS})\b)[a-z][a-z0-9]{{2,}}")


def read_sentences() -> list[str]:
    """Give the collection's distinct sentences of 8 to 30 words, in its order."""
    texts = (document.text for document in read_jsonl(COLLECTION, Document))
    sentences = (sentence for text in texts for sentence in _SENTENCE_END.split(text))
    return list(dict.fromkeys(s for s in sentences if 8 <= len(s.split()) <= 30))


def make_documents(sentences: list[str], count: int) -> Iterator[Document]:
    """Stream ``count`` documents with integer ids, no two of the same sentences."""
    chance = random.Random(1)
    seen: set[tuple[int, ...]] = set()
    while len(seen) < count:
        chosen = tuple(chance.choices(range(len(sentences)), k=1 + chance.choice((8, 9, 10))))
        if chosen not in seen:
            title, *abstract = (sentences[number] for number in chosen)
            yield Document(str(_FIRST_ID + len(seen)), title, " ".join(abstract))
            seen.add(chosen)


def make_queries(sentences: list[str], count: int, terms: int, seed: int) -> list[Question]:
    """Make queries of ``terms`` different words that the collection's sentences hold.

    A word is drawn as often as it occurs; stop words, which no index here has, are left out.
    """
    chance = random.Random(seed)
    return [
        Question(f"{terms}-{seed}-{number}", " ".join(_draw(sentences, terms, chance)), "summary")
        for number in range(count)
    ]


def _draw(sentences: list[str], terms: int, chance: random.Random) -> list[str]:
    words: dict[str, None] = {}
    while len(words) < terms:
        words[chance.choice(_WORD.findall(chance.choice(sentences).lower()))] = None
    return list(words)


def write_documents(sentences: list[str], count: int, folder: Path) -> tuple[Path, Path]:
    """Write the documents twice: a JSONL file of records for us, a folder as Anserini wants it.

    Anserini's documentation asks for a folder of JSONL files with the keys ``id`` and ``contents``.

    Returns:
        The file and the folder.
    """
    records, collection = folder / "documents.jsonl", folder / "collection"
    write_jsonl(records, make_documents(sentences, count))
    collection.mkdir()
    documents = make_documents(sentences, count)
    for part in range(_PARTS):
        size = count * (part + 1) // _PARTS - count * part // _PARTS
        with (collection / f"part-{part}.jsonl").open("wb") as file:
            for document in islice(documents, size):
                line = {"id": document.id, "contents": words_of(document.text)}
                file.write(msgspec.json.encode(line) + b"\n")
    return records, collection
