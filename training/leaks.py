"""The leak guard: nothing of the questions that are to be answered gets into the training data.

Three rules hold for whatever is trained on in stage 1:

- *time*: golden files of batches before a given one only, and never the target's own batches;
- *questions*: none with a target question's id, and none whose body has the same words (74 bodies
  recur in BioASQ's years under other ids);
- *texts*: a passage is made of what the admitted golden questions mark, or comes from a collection
  that the user vouches for (:mod:`training.passages`).

So no question-passage pair of a target question is in it either: there is no such question.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from hybrid_ir.bioasq.gold import gold_of
from hybrid_ir.bioasq.questions import questions_of
from hybrid_ir.bioasq.raw import read_raw
from hybrid_ir.errors import InputError
from hybrid_ir.records import Gold, Question
from training.batches import Batch, names_of

_WORD = re.compile(r"\w+")


class Golden(NamedTuple):
    """A golden question."""

    question: Question
    gold: Gold


@dataclass(frozen=True, slots=True)
class Guard:
    """What is not to be trained on.

    Attributes:
        ids: The target questions' ids.
        bodies: Their bodies, as :func:`body_key` gives them.
        before: Golden files of this batch and later are left out.
        batches: The target's own batches, left out, too.
    """

    ids: frozenset[str]
    bodies: frozenset[str]
    before: Batch
    batches: frozenset[Batch]

    def admits(self, batch: Batch) -> bool:
        """Whether a golden file of a batch may be trained on."""
        return batch < self.before and batch not in self.batches

    def leak(self, question_id: str, body: str) -> str | None:
        """Say why a question must not be trained on; None where it may."""
        if question_id in self.ids:
            return "has a target question's id"
        if body_key(body) in self.bodies:
            return "has a target question's body"
        return None


def body_key(body: str) -> str:
    """Give what equal questions have in common: their words in order, in one case and width."""
    plain = unicodedata.normalize("NFKC", body).casefold()
    return " ".join(_WORD.findall(plain)) or " ".join(plain.split())


def guard_of(
    targets: Iterable[Question], batches: Iterable[Batch | None], before: Batch | None
) -> Guard:
    """Make the guard of a target.

    Args:
        targets: The questions that are to be answered.
        batches: Their batches; None for one that is not known.
        before: The first batch that is not trained on; None for the target's first.

    Raises:
        InputError: neither is known.
    """
    found = list(batches)
    own = frozenset(batch for batch in found if batch is not None)
    if before is None and None in found:
        raise InputError(
            "cannot tell from the target's name which batch it is, nor then which golden files are"
            " older: say so, as in before=12B1"
        )
    questions = list(targets)
    return Guard(
        frozenset(question.id for question in questions),
        frozenset(body_key(question.body) for question in questions),
        min(own) if before is None else before,
        own,
    )


def admitted_files(batches: Mapping[Path, Batch], guard: Guard) -> list[Path]:
    """Give the golden files that may be trained on, oldest first.

    Raises:
        InputError: there is none.
    """
    admitted = sorted(
        (path for path, batch in batches.items() if guard.admits(batch)),
        key=lambda path: (batches[path], str(path)),
    )
    if not admitted:
        given = ", ".join(names_of(batches.values())) or "none"
        but = f" other than {', '.join(names_of(guard.batches))}" if guard.batches else ""
        raise InputError(
            f"expected golden files of batches before {guard.before}{but}, got {given}"
        )
    return admitted


def read_goldens(paths: Iterable[Path]) -> Iterator[Golden]:
    """Read the questions of golden or training files, file by file."""
    for path in paths:
        raw = read_raw(path)
        pairs = zip(questions_of(raw, path), gold_of(raw, "enriched", path), strict=True)
        yield from (Golden(question, gold) for question, gold in pairs)


def without_leaks(goldens: Iterable[Golden], guard: Guard, dropped: Counter[str]) -> list[Golden]:
    """Give the golden questions that may be trained on, each id once: its first.

    Args:
        goldens: Of files that are old enough.
        guard: What is left out.
        dropped: Counts why questions are left out.
    """
    kept: dict[str, Golden] = {}
    for golden in goldens:
        id_ = golden.question.id
        leak = guard.leak(id_, golden.question.body)
        if reason := leak or ("stands there already" if id_ in kept else None):
            dropped[f"golden question {reason}"] += 1
        else:
            kept[id_] = golden
    return list(kept.values())
