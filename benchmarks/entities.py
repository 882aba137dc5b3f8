"""How well and how fast entities are found: the lexicon tagger, and spaCy trained for the task.

    python benchmarks/entities.py            # 8 epochs of training: some minutes
    python benchmarks/entities.py --quick    # 1 epoch on 600 sentences: does it run?

Needs spaCy (``pip install spacy``) and BC5CDR in the shared data folder beside the checkout. Both
sides tag the 500 abstracts of the test part, on one thread; an entity counts when its start, end
and label (DISEASE or CHEMICAL) are those of the corpus. The lexicon's rules were chosen on the
training and development parts; spaCy learns from the training part, and the epoch that does best on
the development part is kept. In the last line, JSON:

- ``f1_..., precision_..., recall_...``: micro-averaged, and ``..._disease``, ``..._chemical``.
- ``f1_vs_spacy``, ``speed_vs_spacy``: ours over spaCy's, in the same run.
- ``sentences_per_second_...``: of the abstracts' 4,797 sentences; medians of the rounds, loading
  apart (``load_seconds_...``; spaCy's is from bytes in memory).
- ``mesh_id_accuracy``: of the lexicon's right entities whose gold is one MeSH id, those with it.
- ``missed_not_in_lexicon``: of the entities the lexicon tagger misses, those whose text alone it
  does not find as a whole, either, with the label.
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import argparse
import json
import time
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

import entities_spacy
import spacy
from entities_gold import LABELS, Annotated, blocks, read_pubtator, read_sentences
from processes import median, spread
from spacy.language import Language

from hybrid_ir.entities.lexicon import LexiconTagger, load_lexicon
from hybrid_ir.records import Entity

SHARED = Path(__file__).resolve().parents[2] / "shared" / "data" / "ner"
Tag = Callable[[Sequence[str]], list[tuple[Entity, ...]]]


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="hardly any training, one round")
    parser.add_argument("--epochs", type=int, help="of spaCy's training (default 8)")
    parser.add_argument("--ner", type=Path, default=SHARED, help="folder with the corpora")
    args = parser.parse_args()
    epochs = args.epochs or (1 if args.quick else 8)
    parts = {
        part: list(read_sentences(args.ner / "mtl2016" / "BC5CDR-IOB" / f"{part}.tsv.gz"))
        for part in ("train", "devel", "test")
    }
    gold = read_pubtator(args.ner / "bc5cdr_pubtator" / "CDR_TestSet.PubTator.txt.gz")
    start = time.perf_counter()
    lexicon = load_lexicon()
    figures = {"load_seconds_lexicon": time.perf_counter() - start}
    devel = list(blocks(parts["devel"]))
    training = parts["train"][: 600 if args.quick else None]
    start = time.perf_counter()
    nlp, scores = entities_spacy.train(training, epochs, lambda one: _f1(_spacy(one), devel))
    print(f"spaCy's F1 on the development part by epoch: {[round(score, 4) for score in scores]}")
    figures["training_seconds_spacy"] = time.perf_counter() - start
    packed, start = nlp.to_bytes(), time.perf_counter()
    again = spacy.blank("en")
    again.add_pipe("ner")
    again.from_bytes(packed)
    figures["load_seconds_spacy"] = time.perf_counter() - start
    sides: dict[str, Tag] = {"lexicon": _lexicon(lexicon), "spacy": _spacy(again)}
    rounds = 1 if args.quick else 5
    for side, (found, speeds) in _measure(sides, gold, len(parts["test"]), rounds).items():
        print(f"sentences_per_second_{side:10} {spread(speeds)}")
        figures[f"sentences_per_second_{side}"] = median(speeds)
        figures |= _scores(side, gold, found)
        if side == "lexicon":
            figures |= _ids(gold, found) | _unknown(lexicon, gold, found)
    figures["f1_lexicon_development"] = _f1(_lexicon(lexicon), devel)
    figures["f1_spacy_development"] = max(scores)
    report(figures)


def _lexicon(tagger: LexiconTagger) -> Tag:
    return lambda texts: list(tagger.tag(texts))


def _spacy(nlp: Language) -> Tag:
    def tag(texts: Sequence[str]) -> list[tuple[Entity, ...]]:
        return [
            tuple(Entity(e.text, e.label_, e.start_char, e.end_char) for e in doc.ents)
            for doc in nlp.pipe(texts, batch_size=128)
        ]

    return tag


def _measure(
    sides: dict[str, Tag], gold: list[Annotated], sentences: int, rounds: int
) -> dict[str, tuple[list[tuple[Entity, ...]], list[float]]]:
    """Tag the texts with each side by turns.

    Returns:
        side -> what it found, and the sentences a second of each round.
    """
    texts = [one.text for one in gold]
    speeds: dict[str, list[float]] = {side: [] for side in sides}
    found = {side: tag(texts[:50]) for side, tag in sides.items()}  # warms up
    for _ in range(rounds):
        for side, tag in sides.items():
            start = time.perf_counter()
            found[side] = tag(texts)
            speeds[side].append(sentences / (time.perf_counter() - start))
    return {side: (found[side], speeds[side]) for side in sides}


def _counts(
    gold: list[Annotated], found: list[tuple[Entity, ...]]
) -> dict[str, tuple[int, int, int]]:
    """Give (right, found, to be found) by label."""
    right, ours, theirs = (Counter[str]() for _ in range(3))
    for one, entities in zip(gold, found, strict=True):
        wanted = {(e.start, e.end, e.label) for e in one.entities}
        given = {(e.start, e.end, e.label) for e in entities if e.label in LABELS}
        right.update(label for *_, label in wanted & given)
        ours.update(label for *_, label in given)
        theirs.update(label for *_, label in wanted)
    return {label: (right[label], ours[label], theirs[label]) for label in LABELS}


def _f1(tag: Tag, gold: list[Annotated]) -> float:
    return _scores("", gold, tag([one.text for one in gold]))["f1_"]


def _scores(side: str, gold: list[Annotated], found: list[tuple[Entity, ...]]) -> dict[str, float]:
    by_label = _counts(gold, found)
    both = [sum(column) for column in zip(*by_label.values(), strict=True)]
    scores = {}
    rows = {f"_{label.lower()}": counts for label, counts in by_label.items()}
    for suffix, (right, ours, theirs) in ({"": both} | rows).items():
        scores[f"precision_{side}{suffix}"] = right / max(ours, 1)
        scores[f"recall_{side}{suffix}"] = right / max(theirs, 1)
        scores[f"f1_{side}{suffix}"] = 2 * right / max(ours + theirs, 1)
    return scores


def _ids(gold: list[Annotated], found: list[tuple[Entity, ...]]) -> dict[str, float]:
    """Compare MeSH ids where span and label are right and the gold has one descriptor."""
    same = some = compared = 0
    for one, entities in zip(gold, found, strict=True):
        wanted = {(e.start, e.end, e.label): e.mesh_id or "" for e in one.entities}
        for e in entities:
            mesh_id = wanted.get((e.start, e.end, e.label), "")
            if mesh_id[:1] in ("C", "D") and "|" not in mesh_id:
                compared += 1
                some += e.mesh_id is not None
                same += e.mesh_id == mesh_id
    return {
        "mesh_ids_compared": compared,
        "mesh_id_given": some / max(compared, 1),
        "mesh_id_accuracy": same / max(compared, 1),
    }


def _unknown(
    lexicon: LexiconTagger, gold: list[Annotated], found: list[tuple[Entity, ...]]
) -> dict[str, float]:
    """Give the share of missed entities whose text alone is not found, either."""
    missed = [
        entity
        for one, entities in zip(gold, found, strict=True)
        for entity in one.entities
        if not any(
            (e.start, e.end, e.label) == (entity.start, entity.end, entity.label) for e in entities
        )
    ]
    alone = lexicon.tag(entity.text for entity in missed)
    known = sum(
        any(e.text == entity.text and e.label == entity.label for e in entities)
        for entity, entities in zip(missed, alone, strict=True)
    )
    return {"missed": len(missed), "missed_not_in_lexicon": 1 - known / max(len(missed), 1)}


def report(figures: dict[str, float]) -> None:
    """Print a table and, last, JSON."""
    print(f"{'':24}" + "".join(f"{side:>12}" for side in ("lexicon", "spacy")))
    for suffix in ("", "_disease", "_chemical"):
        for measure in ("precision", "recall", "f1"):
            values = [figures[f"{measure}_{side}{suffix}"] for side in ("lexicon", "spacy")]
            print(f"{measure + suffix:24}" + "".join(f"{value:12.4f}" for value in values))
    for name in ("mesh_id_given", "mesh_id_accuracy", "missed_not_in_lexicon"):
        print(f"{name:24}{figures[name]:12.4f}")
    ratios = {
        "f1_vs_spacy": figures["f1_lexicon"] / figures["f1_spacy"],
        "speed_vs_spacy": figures["sentences_per_second_lexicon"]
        / figures["sentences_per_second_spacy"],
    }
    print(json.dumps({name: median([value]) for name, value in (ratios | figures).items()}))


if __name__ == "__main__":
    main()
