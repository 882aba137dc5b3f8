"""What a system scored: one record for any phase, mode and gold, and its JSON."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from hybrid_ir.bioasq.measures.questions import Edition

Mode = Literal["official", "strict"]

RETRIEVAL = ("precision", "recall", "f1", "map", "gmap")
ROUGE = (
    "rouge2_recall", "rouge2_precision", "rouge2_f1",
    "rougesu4_recall", "rougesu4_precision", "rougesu4_f1",
)  # fmt: skip
BOOTSTRAP = "_bootstrap"
"""Ends the names of ROUGE's bootstrap means, which are what the organisers report."""

MEASURES: Mapping[str, tuple[str, ...]] = {
    "documents": RETRIEVAL,
    "snippets": RETRIEVAL,
    "concepts": RETRIEVAL,
    "triples": RETRIEVAL,
    "yesno": ("accuracy", "macro_f1", "f1_yes", "f1_no"),
    "factoid": ("strict", "lenient", "mrr"),
    "list": ("precision", "recall", "f1"),
    "ideal": (*ROUGE, *(name + BOOTSTRAP for name in ROUGE)),
    "ideal_best": (*ROUGE, *(name + BOOTSTRAP for name in ROUGE)),
    "ideal_text": (
        "words", "tokens", "gold_words", "gold_tokens", "cut", "golds_cut", "missing",
    ),
    "ideal_bertscore": ("precision", "recall", "f1", "cut", "golds_cut"),
}  # fmt: skip
"""Group -> its measures. Those in front are means over questions and have a value for each
(``map`` that of its average precision); GMAP, the F1 of labels and bootstrap means are of the whole
only. ``ideal`` takes the gold answers of a question together, ``ideal_best`` the one of highest
recall; ``cut``, ``golds_cut`` and ``missing`` are sums."""

HEADLINES = (
    "documents_map", "snippets_f1", "yesno_accuracy", "factoid_mrr", "list_f1",
    "ideal_rouge2_f1", "ideal_rougesu4_f1", "ideal_bertscore_f1",
)  # fmt: skip
"""What BioASQ ranks systems by, as far as a single question has a value of it, and BERTScore."""

EXACT = frozenset(("yesno", "factoid", "list"))
"""The groups that are about the questions of one type."""


class Count(NamedTuple):
    """How many of how many."""

    number: int
    of: int

    def __str__(self) -> str:
        return f"{self.number} of {self.of}"


@dataclass(frozen=True, slots=True)
class Scores:
    """What one system scored against one gold, in one mode.

    Attributes:
        questions: How many questions the gold has.
        measures: Measure -> value, such as ``documents_map``, ``recall@100``, ``yesno_macro_f1``.
        scored: Group of measures (``documents``, ``recall``, ``yesno``...) -> questions scored, of
            the gold's questions that the group is about.
        per_question: Question id -> measure -> value, for the measures that are means.
        by_type: Question type -> the same for its questions alone.
        documents: Gold documents in the collection, where the gold was restricted to one.
        bertscore: Model and setting of BERTScore, empty where there is none.
    """

    system: str
    gold: str
    mode: Mode
    edition: Edition
    questions: int
    measures: Mapping[str, float]
    scored: Mapping[str, Count]
    per_question: Mapping[str, Mapping[str, float]]
    by_type: Mapping[str, Scores] = field(default_factory=dict)
    documents: Count | None = None
    bertscore: str = ""


def scores_to_json(scores: Scores) -> dict[str, Any]:
    """Give scores as JSON can hold them: a measure that is not a number (NaN) is ``null``."""
    return {
        "system": scores.system,
        "gold": scores.gold,
        "mode": scores.mode,
        "edition": scores.edition,
        "questions": scores.questions,
        "gold_documents": scores.documents and scores.documents._asdict(),
        "scored": {group: count._asdict() for group, count in scores.scored.items()},
        "measures": _finite(scores.measures),
        "bertscore": scores.bertscore or None,
        "by_type": {kind: scores_to_json(part) for kind, part in scores.by_type.items()},
    }


def per_question_rows(scores: Scores) -> Iterator[dict[str, Any]]:
    """Give one JSON object for each question scored: system, gold, mode, id, type, measures."""
    types = {name: kind for kind, part in scores.by_type.items() for name in part.per_question}
    for question_id, measures in scores.per_question.items():
        yield {
            "system": scores.system,
            "gold": scores.gold,
            "mode": scores.mode,
            "edition": scores.edition,
            "id": question_id,
            "type": types.get(question_id),
            **_finite(measures),
        }


def _finite(measures: Mapping[str, float]) -> dict[str, float | None]:
    return {name: value if math.isfinite(value) else None for name, value in measures.items()}
