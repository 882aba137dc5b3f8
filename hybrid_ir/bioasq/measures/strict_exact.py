"""Exact answers, scored strictly; see :mod:`hybrid_ir.bioasq.measures.strict`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from hybrid_ir.bioasq.limits import MAX_FACTOID_ENTRIES, MAX_LIST_ENTRIES
from hybrid_ir.bioasq.measures.documents import f_measure, mean_or_zero
from hybrid_ir.bioasq.measures.exact import (
    Entities,
    Factoid,
    Lists,
    ListScore,
    average_factoid,
    average_lists,
    factoid_answers,
    list_answers,
    rank_answers,
)
from hybrid_ir.bioasq.measures.questions import Entry
from hybrid_ir.bioasq.measures.strict_retrieval import STRICT_EDITION, answered_or_empty
from hybrid_ir.bioasq.measures.yesno import Label, YesNo, f1_of_label, gold_label, refuse_lists


def strict_yesno(gold: Sequence[Entry], responses: Mapping[str, Entry]) -> YesNo:
    """Score yes/no questions: only "yes" and "no" are answers, anything else is wrong.

    The macro-F1 is the mean over the labels that occur in the gold, so that a gold of yes only,
    answered perfectly, scores 1. A label that does not occur there has an F1 of 1 when it is never
    given, else 0.
    """
    pairs = list(
        answered_or_empty(gold, responses, lambda entry: entry.type == "yesno" and entry.exact)
    )
    refuse_lists(pairs)
    labels = {question.id: (gold_label(question), _label(given)) for question, given in pairs}
    right = {name: (float(expected == given),) for name, (expected, given) in labels.items()}
    f1 = {label: _label_f1(label, list(labels.values())) for label in ("yes", "no")}
    return YesNo(
        mean_or_zero(score for (score,) in right.values()),
        mean_or_zero(f1[label] for label in sorted({expected for expected, _ in labels.values()})),
        f1["yes"],
        f1["no"],
        right,
    )


def _label(response: Entry) -> Label | None:
    answer = response.exact.strip().lower() if isinstance(response.exact, str) else ""
    return "yes" if answer == "yes" else "no" if answer == "no" else None


def _label_f1(label: Label, labels: Sequence[tuple[Label, Label | None]]) -> float:
    occurs = any(label in pair for pair in labels)
    return f1_of_label(label, labels) if occurs else 1.0


def strict_factoid(gold: Sequence[Entry], responses: Mapping[str, Entry]) -> Factoid:
    """Score factoid questions: the first name of each of the first 5 answers."""
    return average_factoid(
        {
            question.id: rank_answers(
                set().union(*factoid_answers(question.exact, STRICT_EDITION)),
                _first_names(factoid_answers(response.exact, STRICT_EDITION)[:MAX_FACTOID_ENTRIES]),
            )
            for question, response in answered_or_empty(
                gold, responses, lambda entry: entry.type == "factoid" and entry.exact
            )
        }
    )


def strict_lists(gold: Sequence[Entry], responses: Mapping[str, Entry]) -> Lists:
    """Score list questions: the first name of each of the first 100 entries."""
    return average_lists(
        {
            question.id: match_lists(
                list_answers(question.exact),
                _first_names(list_answers(response.exact)[:MAX_LIST_ENTRIES]),
            )
            for question, response in answered_or_empty(
                gold, responses, lambda entry: entry.type == "list" and entry.exact
            )
        }
    )


def _first_names(answers: Entities) -> list[list[str]]:
    return [list(names)[:1] for names in answers]


def match_lists(gold: Entities, answers: Entities) -> ListScore:
    """Score one list: as many answers as can each have a gold entity of their own are right."""
    right = matching_size(
        [[i for i, e in enumerate(gold) if set(names) & set(e)] for names in answers]
    )
    if not right:
        return ListScore(0.0, 0.0, 0.0)
    precision, recall = right / len(answers), right / len(gold)
    return ListScore(precision, recall, f_measure(precision, recall))


def matching_size(choices: Sequence[Sequence[int]]) -> int:
    """Give the size of a maximum bipartite matching (augmenting paths, Kuhn 1955).

    Args:
        choices: For each answer the gold entities it may have.
    """
    owner: dict[int, int] = {}

    def place(answer: int, tried: set[int]) -> bool:
        for entity in choices[answer]:
            if entity not in tried:
                tried.add(entity)
                if entity not in owner or place(owner[entity], tried):
                    owner[entity] = answer
                    return True
        return False

    return sum(place(answer, set()) for answer in range(len(choices)))
