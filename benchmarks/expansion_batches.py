"""Batches of the example collection with the texts that were written for their questions."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from hybrid_ir.bioasq.gold import read_gold
from hybrid_ir.bioasq.questions import read_questions
from hybrid_ir.bioasq.raw import read_raw
from hybrid_ir.files import read_lines
from hybrid_ir.records import Document, Gold, PseudoDocument, Question

STYLES = ("expert", "abstract")


@dataclass(frozen=True, slots=True)
class Batch:
    """A batch's questions, gold (verbatim and as records) and texts."""

    questions: tuple[Question, ...]
    gold: Sequence[dict[str, object]]
    answers: tuple[Gold, ...]
    texts: list[PseudoDocument]


def read_batch(collection: Path, name: str) -> Batch:
    """Read a batch of the example collection."""
    folder = collection / ("dev" if name.startswith("10") else "test")
    texts = []
    for style in STYLES:
        for _, line in read_lines(collection / "llm" / f"{name}.{style}.jsonl.gz"):
            row = json.loads(line)
            texts.append(PseudoDocument(row["id"], style, 0, style, row["pseudo_document"]))
    golden = folder / f"{name}.golden.json.gz"
    questions = tuple(read_questions(folder / f"{name}.questions.json"))
    return Batch(questions, read_raw(golden), tuple(read_gold(golden, "enriched")), texts)


def read_abstracts(path: Path) -> Iterator[Document]:
    """Read documents with an abstract."""
    for _, line in read_lines(path):
        row = json.loads(line)
        if row.get("abstract"):
            yield Document(
                str(row.get("pmid") or row["id"]), row.get("title") or "", row["abstract"]
            )


def has_answer(batch: Batch) -> dict[str, bool | None]:
    """Say for each question whether a gold answer stands in one of its texts.

    One name of one gold answer is enough, as words, in any case. None where the gold answer is no
    name: yes/no and summary questions.
    """
    texts: dict[str, str] = {}
    for text in batch.texts:
        texts[text.question_id] = f"{texts.get(text.question_id, '')} {text.text}"
    return {
        gold.question_id: _stands_in(gold.exact, texts.get(gold.question_id, ""))
        for gold in batch.answers
    }


def _stands_in(exact: object, text: str) -> bool | None:
    if not isinstance(exact, tuple):
        return None
    names = [name for synonyms in exact for name in synonyms if name.strip()]
    return any(re.search(rf"(?<!\w){re.escape(name.strip())}(?!\w)", text, re.I) for name in names)
