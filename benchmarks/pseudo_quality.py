"""Does weighing pseudo-documents (``generation/quality.py``) help retrieval, and find bad texts?

    python benchmarks/pseudo_quality.py --embedding FOLDER    # a sentence-transformers model
    python benchmarks/pseudo_quality.py                       # the lexical weights alone

BM25 over the example collection; a query is the question (boost 4) and the texts of two generators
(each boost 1 times its weight). Batches 10B1 and 10B2 are for choosing settings, 11B2 shows what
was chosen; weights are computed batch by batch. Every way of weighing is compared with uniform
weights by MAP@10 and recall@800, by type, with paired randomisation tests, for three sets of texts:

* ``as written``,
* ``one of two``: for a third of the questions, one text is another question's of the batch,
* ``both``: for a third of the questions both are, each of another question,

and for the last two the AUC says how well agreement tells foreign texts from own ones. ``drop``
leaves out the tenth of texts, or for the mixed sets the share that is foreign, of the least
lexical agreement; ``uniform 0.7`` shows what a smaller weight alone does: ways with a like mean
weight are to be measured by it. The last line printed is JSON: ``SET.BATCHES.WAY`` -> measure.
"""

from __future__ import annotations

import argparse
import json
import random
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from generation.embedding import EmbeddingConfig, open_embedding
from generation.quality import Embed, Method, QualityConfig, agreements, weigh
from hybrid_ir.bioasq.questions import read_questions
from hybrid_ir.bioasq.raw import read_raw
from hybrid_ir.evaluation.comparison import CompareConfig, compare
from hybrid_ir.evaluation.comparison_table import comparison_table
from hybrid_ir.evaluation.reference import Reference, reference
from hybrid_ir.evaluation.scoring import evaluate_run
from hybrid_ir.files import read_jsonl, read_lines
from hybrid_ir.records import Clause, Document, PseudoDocument, Query, Question, Ranking, Run
from hybrid_ir.retrieval.bm25 import SearchConfig, Searcher
from hybrid_ir.retrieval.index import IndexConfig
from hybrid_ir.retrieval.indexing import build_index

MINI = Path(__file__).resolve().parents[1] / "examples" / "bioasq-mini"
STYLES = ("expert", "abstract")
SETS = {"dev": ("10B1", "10B2"), "11B2": ("11B2",)}
MEASURES = ("documents_map", "recall@800")
Spans = dict[Method, list[tuple[float, float]]]
LEXICAL: Spans = {"lexical": [(0.0, 1.0), (0.2, 0.4), (0.3, 0.6)]}
BY_EMBEDDING: Spans = {"embedding": [(0.0, 1.0)], "both": [(0.0, 1.0), (0.2, 0.4)]}
NOTE = (
    "The texts were written by a model (Claude, 2026) younger than the golds: it may have seen the"
    " answers.\nThe collection is made of gold snippets: differences count, absolute values do not."
)


@dataclass(frozen=True, slots=True)
class Batch:
    """A batch's questions, gold and texts."""

    questions: tuple[Question, ...]
    gold: Sequence[dict[str, object]]
    texts: list[PseudoDocument]
    foreign: np.ndarray


class Memory:
    """A searcher that knows the answers it gave: most ways leave most queries as they are."""

    def __init__(self, searcher: Searcher) -> None:
        self._searcher = searcher
        self._known: dict[Query, Ranking] = {}

    def search_all(self, queries: Sequence[Query]) -> dict[str, Ranking]:
        """Give the rankings of some questions."""
        new = [query for query in queries if query not in self._known]
        found = (ranking for _, ranking in self._searcher.search_all(new))
        self._known |= zip(new, found, strict=True)
        return {query.question_id: self._known[query] for query in queries}


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--embedding", help="a sentence-transformers folder or hub name")
    parser.add_argument("--seed", type=int, default=0, help="of the foreign texts")
    args = parser.parse_args()
    embed = once(open_embedding(EmbeddingConfig(args.embedding))) if args.embedding else None
    print(NOTE)
    documents = list(read_jsonl(MINI / "documents.jsonl.gz", Document))
    held = {document.id for document in documents}
    figures: dict[str, dict[str, float]] = {}
    with tempfile.TemporaryDirectory(prefix="hybrid-ir-quality-") as folder:
        index = Path(folder) / "index"
        build_index(documents, index, IndexConfig())
        with Searcher(index, SearchConfig(hits=800)) as opened:
            searcher = Memory(opened)
            for kind in ("as written", "one of two", "both"):
                for name, parts in SETS.items():
                    batches = [mixed(read_batch(part), kind, args.seed) for part in parts]
                    gold = reference([q for b in batches for q in b.gold], name, within=held)
                    found = measure(searcher, batches, gold, embed, f"{kind}, {name}")
                    figures |= {f"{kind}.{name}.{way}": values for way, values in found.items()}
    print(json.dumps(figures))


def once(embed: Embed) -> Embed:
    """Embed each text once."""
    known: dict[str, np.ndarray] = {}

    def remembering(texts: Sequence[str]) -> np.ndarray:
        if new := [text for text in dict.fromkeys(texts) if text not in known]:
            known.update(zip(new, embed(new), strict=True))
        return np.array([known[text] for text in texts])

    return remembering


def read_batch(name: str) -> Batch:
    """Read a batch of the example collection."""
    folder = MINI / ("dev" if name.startswith("10") else "test")
    questions = read_questions(folder / f"{name}.questions.json")
    texts = []
    for style in STYLES:
        for _, line in read_lines(MINI / "llm" / f"{name}.{style}.jsonl.gz"):
            row = json.loads(line)
            texts.append(PseudoDocument(row["id"], style, 0, style, row["pseudo_document"]))
    gold = read_raw(folder / f"{name}.golden.json.gz")
    return Batch(questions, gold, texts, np.zeros(len(texts), bool))


def mixed(batch: Batch, kind: str, seed: int) -> Batch:
    """Give a third of the questions texts of other questions, in one style or in both."""
    if kind == "as written":
        return batch
    draw = random.Random(seed)
    ids = [question.id for question in batch.questions]
    victims = {id_: draw.choice(STYLES) for id_ in draw.sample(ids, len(ids) // 3)}
    text_of = {(text.question_id, text.generator): text.text for text in batch.texts}
    texts, foreign = [], []
    for text in batch.texts:
        victim = victims.get(text.question_id)
        foreign.append(victim is not None and (kind == "both" or victim == text.generator))
        if foreign[-1]:
            other = draw.choice([id_ for id_ in ids if id_ != text.question_id])
            text = replace(text, text=text_of[other, text.generator])
        texts.append(text)
    return replace(batch, texts=texts, foreign=np.array(foreign))


def measure(
    searcher: Memory, batches: Sequence[Batch], gold: Reference, embed: Embed | None, title: str
) -> dict[str, dict[str, float]]:
    """Search with every way of weighing; print the comparison and give the means."""
    print(f"\n== {title}")
    values, types, means = {}, {}, {}
    for way, texts in ways(batches, embed):
        questions = [question for batch in batches for question in batch.questions]
        rankings = searcher.search_all(list(queries(questions, texts)))
        scores = evaluate_run(gold, Run(way, rankings), "strict", (800,))
        values[way] = {id_: dict(row) for id_, row in scores.per_question.items()}
        types = {question.id: question.type for question in questions}
        means[way] = {name: round(scores.measures[name], 4) for name in MEASURES}
        weights = [text.weight for text in texts]
        means[way]["mean_weight"] = round(float(np.mean(weights)), 4) if weights else 0.0
        print(f"{way:24} {means[way]}", flush=True)
    means |= auc_of(batches, embed)
    config = CompareConfig(baseline="uniform", measures=MEASURES, moved=0)
    print(comparison_table(compare(values, types, config)))
    return means


def ways(
    batches: Sequence[Batch], embed: Embed | None
) -> Iterator[tuple[str, list[PseudoDocument]]]:
    """Yield the ways of weighing: name and all texts with their weights."""
    every = [text for batch in batches for text in batch.texts]
    yield "uniform", every
    yield "uniform 0.7", [replace(text, weight=0.7) for text in every]
    yield "question alone", []
    for method, spans in (LEXICAL | BY_EMBEDDING if embed else LEXICAL).items():
        for nothing, everything in spans:
            config = QualityConfig(method, nothing, everything)
            weighed = [weigh(b.questions, b.texts, config, embed) for b in batches]
            name = f"{method} {nothing:g}-{everything:g}"
            yield name, [text for texts in weighed for text in texts]
    yield "drop", [text for batch in batches for text in _cut(batch)]


def _cut(batch: Batch) -> list[PseudoDocument]:
    """Leave out the texts of the least lexical agreement."""
    agreement = agreements(batch.questions, batch.texts, "lexical")
    share = float(batch.foreign.mean()) or 0.1
    least = np.quantile(agreement, share)
    return [text for text, a in zip(batch.texts, agreement, strict=True) if a > least]


def auc_of(batches: Sequence[Batch], embed: Embed | None) -> dict[str, dict[str, float]]:
    """Give, for each method, the share of (own, foreign) pairs whose own text agrees more."""
    foreign = np.concatenate([batch.foreign for batch in batches])
    if not foreign.any():
        return {}
    found = {}
    for method in ("lexical", "embedding", "both") if embed else ("lexical",):
        parts = [agreements(b.questions, b.texts, method, embed) for b in batches]
        agreement = np.concatenate(parts)
        own, other = agreement[~foreign, None], agreement[foreign]
        auc = float(np.mean((own > other) + 0.5 * (own == other)))
        found[f"auc {method}"] = {"auc": round(auc, 4)}
        print(f"auc {method}: {auc:.4f} ({foreign.sum()} foreign of {len(foreign)} texts)")
    return found


def queries(questions: Sequence[Question], texts: Sequence[PseudoDocument]) -> Iterator[Query]:
    """Give each question's query."""
    of_question: Mapping[str, list[Clause]] = {question.id: [] for question in questions}
    for text in texts:
        if text.weight > 0:
            of_question[text.question_id].append(Clause(text.text, boost=text.weight))
    for question in questions:
        clauses = (Clause(question.body, boost=4.0), *of_question[question.id])
        yield Query(question.id, clauses)


if __name__ == "__main__":
    main()
