"""Submissions and runs for the benchmarks: golds of the example collection with seeded noise.

An answer keeps half of its gold documents and snippets among others, moves the snippets' offsets,
and drops or swaps words and names. What it scores means nothing; its size and shape are those of
what teams submit: 10 documents, 10 snippets, an exact answer and an ideal one for every question.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from hybrid_ir.bioasq.gold import gold_of
from hybrid_ir.bioasq.raw import address_of, read_raw
from hybrid_ir.records import Gold, Ranked, Ranking, Snippet
from hybrid_ir.trec import rank

MINI = Path(__file__).resolve().parents[1] / "examples/bioasq-mini"
_BATCHES = (
    "test/11B2 test/12B1 dev/10B1 dev/10B2 train/9B1 train/9B2 train/9B3 train/9B4 train/9B5 "
    "train/10B3 train/10B4 train/10B5 train/10B6"
)
GOLDENS = tuple(MINI / f"{batch}.golden.json.gz" for batch in _BATCHES.split())
"""13 batches."""

_LENGTH = 10


class Batch(NamedTuple):
    """A golden file, verbatim and as records, in one order."""

    raw: list[dict[str, Any]]
    golds: tuple[Gold, ...]


def read_batch(golden: Path) -> Batch:
    """Read a golden file."""
    raw = read_raw(golden)
    return Batch(raw, gold_of(raw, "enriched", golden))


def make_submission(batch: Batch, seed: int) -> list[dict[str, Any]]:
    """Answer every question of a batch, in all that Phases A and B ask for."""
    chance = random.Random(seed)
    return [
        {key: question[key] for key in ("id", "type", "body")}
        | _answer(gold, chance.choice(batch.golds), chance)
        for question, gold in zip(batch.raw, batch.golds, strict=True)
    ]


def make_run(batch: Batch, depth: int, seed: int) -> dict[str, Ranking]:
    """Rank ``depth`` documents a question: its gold documents among others, at random."""
    chance = random.Random(seed)
    rankings = {}
    for gold in batch.golds:
        documents = dict.fromkeys(gold.documents[: depth // 2])
        while len(documents) < depth:
            documents[str(chance.randrange(10_000_000, 40_000_000))] = None
        rankings[gold.question_id] = rank(
            [Ranked(document, round(chance.expovariate(1), 6)) for document in documents]
        )
    return rankings


def _answer(gold: Gold, other: Gold, chance: random.Random) -> dict[str, Any]:
    documents = _mixed(gold.documents, other.documents, chance)
    snippets = _mixed(gold.snippets, other.snippets, chance)
    return {
        "documents": [address_of(document) for document in documents],
        "snippets": [_snippet(snippet, chance) for snippet in snippets],
        "ideal_answer": _ideal(gold, other, chance),
    } | _exact(gold, chance)


def _mixed(right: Sequence[Any], wrong: Sequence[Any], chance: random.Random) -> list[Any]:
    kept = chance.sample(right, min(len(right), _LENGTH // 2))
    others = chance.sample(wrong, min(len(wrong), _LENGTH - len(kept)))
    mixed = list(dict.fromkeys([*kept, *others]))
    chance.shuffle(mixed)
    return mixed


def _snippet(snippet: Snippet, chance: random.Random) -> dict[str, Any]:
    begin = max(0, snippet.begin + chance.randrange(-40, 40))
    return {
        "document": address_of(snippet.document_id),
        "text": snippet.text,
        "beginSection": snippet.section,
        "endSection": snippet.section,
        "offsetInBeginSection": begin,
        "offsetInEndSection": begin + max(1, len(snippet.text)),
    }


def _ideal(gold: Gold, other: Gold, chance: random.Random) -> str:
    words = chance.choice(gold.ideal or ("nothing",)).split()
    noise = " ".join(other.ideal).split() or ["nothing"]
    return " ".join(word if chance.random() < 0.7 else chance.choice(noise) for word in words)


def _exact(gold: Gold, chance: random.Random) -> dict[str, Any]:
    if gold.exact is None:
        return {}
    if isinstance(gold.exact, str):
        return {"exact_answer": gold.exact if chance.random() < 0.8 else "no"}
    names = [[chance.choice(entity)] for entity in gold.exact if chance.random() < 0.7]
    return {"exact_answer": [["nothing"], *names][:5]}
