"""Yes/no questions as the official evaluator scores them."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from hybrid_ir.bioasq.measures.documents import mean_or_zero
from hybrid_ir.bioasq.measures.questions import Entry
from hybrid_ir.errors import InputError

Label = Literal["yes", "no"]
OPPOSITE: Mapping[Label, Label] = {"yes": "no", "no": "yes"}


@dataclass(frozen=True, slots=True)
class YesNo:
    """Yes/no questions: accuracy, F1 of either label and their mean; (1,) or (0,) a question."""

    accuracy: float
    macro_f1: float
    f1_yes: float
    f1_no: float
    per_question: Mapping[str, tuple[float]] = field(default_factory=dict)

    @property
    def values(self) -> tuple[float, float, float, float]:
        """The four numbers."""
        return self.accuracy, self.macro_f1, self.f1_yes, self.f1_no


def score_yesno(pairs: Sequence[tuple[Entry, Entry]]) -> YesNo:
    """Score the yes/no questions among the pairs of gold and response.

    Raises:
        InputError: a list for an answer, or a gold that is neither yes nor no; names them all.
    """
    asked = [(gold, response) for gold, response in pairs if gold.type == "yesno"]
    refuse_lists(asked)
    labels: dict[str, tuple[Label, Label]] = {}
    for gold, response in asked:
        expected = gold_label(gold)
        labels[gold.id] = expected, label_in(_text(response)) or OPPOSITE[expected]
    right = {name: (float(expected == given),) for name, (expected, given) in labels.items()}
    f1_yes, f1_no = (f1_of_label(label, labels.values()) for label in OPPOSITE)
    accuracy = mean_or_zero(score for (score,) in right.values())
    return YesNo(accuracy, (f1_yes + f1_no) / 2, f1_yes, f1_no, right)


def label_in(answer: str) -> Label | None:
    """Find the label in an answer: "yes" anywhere wins, then "no" anywhere, in any case.

    So "Yes, it is unknown" is a yes and "unknown" or "not sure" a no. A response without either
    counts as the wrong label.
    """
    lowered = answer.lower()
    return "yes" if "yes" in lowered else "no" if "no" in lowered else None


def gold_label(gold: Entry) -> Label:
    """Give the label of a gold yes/no question.

    Raises:
        InputError: it has none.
    """
    if label := label_in(_text(gold)):
        return label
    raise InputError(
        f"gold: question {gold.id}: exact_answer: expected yes or no, got {gold.exact!r}"
    )


def _text(entry: Entry) -> str:
    return entry.exact if isinstance(entry.exact, str) else ""


def refuse_lists(pairs: Sequence[tuple[Entry, Entry]]) -> None:
    """Refuse yes/no questions with a list for an answer, on either side.

    Raises:
        InputError: there are any; names them all.
    """
    if faults := [
        f"{source}: question {entry.id}: exact_answer: expected text, got a list"
        for pair in pairs
        for source, entry in zip(("gold", "submission"), pair, strict=True)
        if isinstance(entry.exact, tuple)
    ]:
        raise InputError.of_all(
            'the official program dies on a list for a yes/no question; give "yes" or "no"', faults
        )


def f1_of_label(label: Label, labels: Collection[tuple[Label, Label | None]]) -> float:
    """Give the F1 of one label over (gold, given) pairs: 2TP / (2TP + FP + FN).

    It is 0 for a label that occurs on neither side: a gold of yes only, answered perfectly, has a
    macro-F1 of 0.5.
    """
    found = sum(gold == given == label for gold, given in labels)
    wrong = sum((gold == label) != (given == label) for gold, given in labels)
    return 2 * found / (2 * found + wrong) if found else 0.0
