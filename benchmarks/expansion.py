"""What do pseudo-documents bring to the first stage? The table that the configuration is chosen by.

    python benchmarks/expansion.py              # the development batches, minutes
    python benchmarks/expansion.py --quick      # one batch, a part of the table: does it run?
    python benchmarks/expansion.py --look 12B1  # score the committed configuration once more
    python benchmarks/expansion.py --table FILE # write the values by type, too, tab-separated
    python benchmarks/expansion.py --abstracts FILE    # the committed configuration on 11B2, over
        # other documents: JSONL of id or pmid, title and abstract

BM25 over the example collection. Batches 10B1, 10B2 and 11B2 are for choosing; 12B1 is scored with
what ``configs/quickstart.yaml`` says and with nothing else, and each look is counted in the README.

1. The table: the question n times (1, 2, 4, 8) and the entity set of the first generator
   (``expert``), of the second (``abstract``), of both, or the full text of one or both, each
   with and without the weights of the quality filter; by question type.
2. Further ways, one change at a time, and the committed configuration.
3. Paired tests of the committed configuration against BM25 with the same settings of the search.
4. Its gain where a gold answer string stands in one of the texts, and where none does.

The last line printed is JSON: way -> measure -> value.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path

from expansion_batches import Batch, has_answer, read_abstracts, read_batch

from generation.quality import QualityConfig, weigh
from hybrid_ir.config import load_config
from hybrid_ir.entities.tagging import EntityConfig, open_tagger
from hybrid_ir.evaluation.columns import columns
from hybrid_ir.evaluation.comparison import CompareConfig, compare
from hybrid_ir.evaluation.comparison_table import comparison_table
from hybrid_ir.evaluation.reference import Reference, reference
from hybrid_ir.evaluation.scores import Scores
from hybrid_ir.evaluation.scoring import evaluate_run
from hybrid_ir.expansion import QUESTION_KEY, ExpansionConfig, expanded
from hybrid_ir.files import read_jsonl
from hybrid_ir.pipeline.chain import RunConfig
from hybrid_ir.pipeline.retrieval import fused
from hybrid_ir.records import QUESTION_TYPES, Document, Entity, Query, Run
from hybrid_ir.retrieval.bm25 import SearchConfig, Searcher
from hybrid_ir.retrieval.index import IndexConfig
from hybrid_ir.retrieval.indexing import build_index
from hybrid_ir.retrieval.rm3 import Rm3Config

ROOT = Path(__file__).resolve().parents[1]
MINI = ROOT / "examples" / "bioasq-mini"
CONFIG = ROOT / "configs" / "quickstart.yaml"
DEVELOPMENT = ("10B1", "10B2", "11B2")
REPEATS = (1.0, 2.0, 4.0, 8.0)
SOURCES: Mapping[str, ExpansionConfig] = {
    "entities, expert": ExpansionConfig(source="entities", generators=("expert",)),
    "entities, abstract": ExpansionConfig(source="entities", generators=("abstract",)),
    "entities, both": ExpansionConfig(source="entities"),
    "text, expert": ExpansionConfig(source="text", generators=("expert",)),
    "text, abstract": ExpansionConfig(source="text", generators=("abstract",)),
    "text, both": ExpansionConfig(source="text"),
}
MEASURES = {"documents_map": "MAP@10", "recall@800": "R@800"}
NOTE = (
    "The texts were written zero-shot in 2026 by a model (Claude) younger than the golds (BioASQ 10"
    " to 12, 2022 to 2024): it may have seen the answers.\nThe collection is made of gold snippets:"
    " differences count, absolute values do not."
)
Values = Mapping[str, Mapping[str, float]]


@dataclass(frozen=True, slots=True)
class Way:
    """One way to expand and search."""

    name: str
    expansion: ExpansionConfig | None
    search: SearchConfig = field(default_factory=SearchConfig)
    filtered: bool = False


class Bench:
    """An index, batches, their entities and gold, and searchers opened as they are needed."""

    def __init__(self, index: Path, batches: Sequence[Batch], gold: Reference) -> None:
        self.batches, self.gold = batches, gold
        self.types = {q.id: q.type for batch in batches for q in batch.questions}
        self._index = index
        self._opened = ExitStack()
        self._searchers: dict[str, Searcher] = {}
        tagger = open_tagger(EntityConfig())
        self._entities: dict[str, dict[tuple[str, int], tuple[Entity, ...]]] = {}
        for batch in batches:
            for question, found in zip(
                batch.questions, tagger.tag(q.body for q in batch.questions), strict=True
            ):
                self._entities[question.id] = {QUESTION_KEY: found}
            texts = batch.texts
            for text, found in zip(texts, tagger.tag(t.text for t in texts), strict=True):
                self._entities[text.question_id][text.generator, text.sample] = found

    def __enter__(self) -> Bench:
        return self

    def __exit__(self, *_: object) -> None:
        self._opened.close()

    def score(self, way: Way) -> Scores:
        """Search all questions in one way, and score the run."""
        search = replace(way.search, hits=800)
        if str(search) not in self._searchers:
            opened = self._opened.enter_context(Searcher(self._index, search))
            self._searchers[str(search)] = opened
        results = self._searchers[str(search)].search_all(self._queries(way))
        run = Run(way.name, dict(fused(results, search)))
        return evaluate_run(self.gold, run, "strict", (800,))

    def _queries(self, way: Way) -> Iterator[Query]:
        for batch in self.batches:
            texts = batch.texts
            if way.filtered:
                texts = weigh(batch.questions, texts, QualityConfig())
            for question in batch.questions:
                mine = [text for text in texts if text.question_id == question.id]
                config = way.expansion or ExpansionConfig(repeat=1.0, source="text")
                entities = self._entities[question.id]
                yield from expanded(question, mine if way.expansion else [], entities, config)


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--quick", action="store_true", help="one batch, a part of the table")
    what.add_argument("--abstracts", type=Path, metavar="FILE", help="other documents, for 11B2")
    parser.add_argument("--table", type=Path, metavar="FILE", help="write all values, TSV")
    what.add_argument("--look", metavar="BATCH", help="score the committed configuration only")
    args = parser.parse_args()
    names = (args.look,) if args.look else DEVELOPMENT[:1] if args.quick else DEVELOPMENT
    names = ("11B2",) if args.abstracts else names
    print(NOTE)
    documents = (
        list(read_abstracts(args.abstracts))
        if args.abstracts
        else list(read_jsonl(MINI / "documents.jsonl.gz", Document))
    )
    batches = [read_batch(MINI, name) for name in names]
    held = {document.id for document in documents}
    gold = reference([q for b in batches for q in b.gold], " ".join(names), within=held)
    with tempfile.TemporaryDirectory(prefix="hybrid-ir-expansion-") as folder:
        index = Path(folder) / "index"
        build_index(documents, index, IndexConfig())
        with Bench(index, batches, gold) as bench:
            figures = measure(bench, args.quick, only_committed=bool(args.look or args.abstracts))
    if args.table:
        write_table(args.table, figures)
    print(json.dumps(figures))


def measure(bench: Bench, quick: bool, only_committed: bool) -> dict[str, dict[str, float]]:
    """Print the tables and the tests, and give the means."""
    committed, plain = committed_ways()
    figures: dict[str, dict[str, float]] = {}
    if not only_committed:
        default = Way("BM25", None)
        print_table("The table (k1 0.9, b 0.4)", bench, [default, *table_ways(quick)], figures)
        print_table("Further ways", bench, list(further_ways(quick)), figures)
    scores = print_table("Committed", bench, [plain, committed], figures)
    values = {name: dict(found.per_question) for name, found in scores.items()}
    config = CompareConfig(plain.name, tuple(MEASURES), moved=0)
    print(comparison_table(compare(values, bench.types, config)))
    figures |= by_answer(bench, values[plain.name], values[committed.name])
    return figures


def committed_ways() -> tuple[Way, Way]:
    """Give what the quickstart does, and the same search of the questions alone."""
    config = load_config(RunConfig, CONFIG, [])
    filtered = bool(config.pseudo and config.pseudo.quality)
    plain = Way("BM25, search as committed", None, config.search)
    return Way("BM25LLM, committed", config.expand, config.search, filtered), plain


def table_ways(quick: bool) -> Iterator[Way]:
    """Yield the ways of the table."""
    for source, expansion in SOURCES.items():
        for repeat in REPEATS[1:3] if quick else REPEATS:
            for filtered in (False, True):
                name = f"{source}, n={repeat:g}{', filter' if filtered else ''}"
                yield Way(name, replace(expansion, repeat=repeat), SearchConfig(), filtered)


def further_ways(quick: bool) -> Iterator[Way]:
    """Yield ways beyond the table."""
    text = ExpansionConfig(repeat=8.0, source="text")
    long = SearchConfig(b=0.75)
    cut = SearchConfig(b=0.75, words=40)
    yield Way("BM25, b=0.75", None, long)
    yield Way("text, both, n=8, b=0.75", text, long)
    yield Way("text, both, n=8, b=0.75, 40 words", text, cut)
    if quick:
        return
    for b in (0.4, 0.6, 0.9, 1.0):
        yield Way(f"text, both, n=8, b={b:g}, 40 words", text, SearchConfig(b=b, words=40))
    for words in (10, 20, 30, 60, 100):
        config = SearchConfig(b=0.75, words=words)
        yield Way(f"text, both, n=8, b=0.75, {words} words", text, config)
    for repeat in (2.0, 4.0, 12.0, 16.0):
        name = f"text, both, n={repeat:g}, b=0.75, 40 words"
        yield Way(name, replace(text, repeat=repeat), cut)
    yield Way("text, both, n=8, b=0.75, 40 words, filter", text, cut, filtered=True)
    yield Way("text, abstract, n=8, b=0.75, 40 words", replace(text, generators=("abstract",)), cut)
    yield Way("text, expert, n=8, b=0.75, 40 words", replace(text, generators=("expert",)), cut)
    for source in ("mentions", "entities"):
        yield Way(f"{source}, both, n=8, b=0.75", replace(text, source=source), long)
    own = replace(text, question_entities=True)
    yield Way("text, both, n=8, b=0.75, 40 words, question's entities", own, cut)
    for k in (10.0, 60.0):
        each = replace(text, repeat=2.0, fused=True)
        name = f"a query a text, n=2, fused (RRF, k={k:g}), b=0.75"
        yield Way(name, each, replace(long, rrf_k=k))
    feedback = Rm3Config(10, 20, 0.8)
    yield Way("BM25, RM3", None, SearchConfig(rm3=feedback))
    yield Way("text, both, n=8, b=0.75, RM3", text, replace(long, rm3=feedback))


def print_table(
    title: str, bench: Bench, ways: Sequence[Way], figures: dict[str, dict[str, float]]
) -> dict[str, Scores]:
    """Score ways, print a line for each, and add their means to the figures."""
    types = [kind for kind in QUESTION_TYPES if kind in bench.types.values()]
    heads = [f"{label} {group}" for group in ("all", *types) for label in MEASURES.values()]
    rows = [[title, *heads]]
    scored = {}
    for way in ways:
        scores = scored[way.name] = bench.score(way)
        parts = [scores, *(scores.by_type[kind] for kind in types)]
        found = [part.measures[key] for part in parts for key in MEASURES]
        rows.append([way.name, *(f"{value:.4f}" for value in found)])
        groups = ["", *(f"_{kind}" for kind in types)]
        names = [f"{key}{group}" for group in groups for key in MEASURES]
        figures[way.name] = dict(zip(names, (round(value, 4) for value in found), strict=True))
    print(f"\n{columns(rows)}", flush=True)
    return scored


def write_table(path: Path, figures: Mapping[str, Mapping[str, float]]) -> None:
    """Write the values of each way, by question type."""
    ways = {name: values for name, values in figures.items() if "n" not in values}
    heads = list(next(iter(ways.values())))
    lines = [[name, *(f"{values[head]:.4f}" for head in heads)] for name, values in ways.items()]
    path.write_text("".join("\t".join(line) + "\n" for line in [["way", *heads], *lines]))


def by_answer(bench: Bench, plain: Values, committed: Values) -> dict[str, dict[str, float]]:
    """Print the gain apart for questions whose gold answer stands in a text, and for the others."""
    groups: dict[str, list[str]] = {}
    for batch in bench.batches:
        answers = {i: known for i, known in has_answer(batch).items() if i in plain}
        for question_id, known in answers.items():
            kind = "no answer string (yes/no, summary)" if known is None else (
                "gold answer in a text" if known else "gold answer in no text"
            )  # fmt: skip
            groups.setdefault(kind, []).append(question_id)
    figures = {}
    rows = [["gain", "n", *MEASURES.values()]]
    for kind, ids in sorted(groups.items()):
        gains = {
            key: sum(committed[i][key] - plain[i][key] for i in ids) / len(ids) for key in MEASURES
        }
        rows.append([kind, str(len(ids)), *(f"{gain:+.4f}" for gain in gains.values())])
        figures[f"gain, {kind}"] = {"n": len(ids), **{k: round(g, 4) for k, g in gains.items()}}
    print(columns(rows))
    return figures


if __name__ == "__main__":
    main()
