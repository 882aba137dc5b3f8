"""Which training data and which loss make the better re-ranker? Trains, re-ranks, compares.

    python benchmarks/rerankers.py             # hours on two cores; goes on where it was stopped
    python benchmarks/rerankers.py --quick     # tiny trainings, one batch, depth 5: does it run?
    python benchmarks/rerankers.py --only base mined    # some of the ways
    python benchmarks/rerankers.py --table FILE         # write all values, tab-separated

Every way is a MiniLM cross-encoder (22 million parameters) trained on 3,200 pairs in float32 on
CPUs: questions of 6B to 9B and 10B3 to 10B6, texts that those batches marked, nothing of the
development batches 10B1, 10B2 and 11B2. It re-ranks the first 60 documents of BM25 and of BM25LLM
(``configs/quickstart.yaml``) for these batches. The synthetic passages at hand were written for the
questions of 10B1 and 10B2, so ``synthetic`` is judged on 11B2 alone, against ``more-gold``, which
has the gold of 10B1 and 10B2 as well. Nothing is ever scored on 12B1 here.

``base`` is the paper's first stage: gold documents and snippets, as many random negatives, binary
cross-entropy. Every other way changes one thing. Each way is trained with ``--seeds`` seeds, the
mean is printed; paired tests compare the seeds' mean of each question. The work lies in ``--work``
and is not done again; the last line printed is JSON: way -> run -> measure -> value.
"""

from __future__ import annotations

import argparse
import json
import statistics
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from small_model import minilm

from generation.synthetic import SyntheticConfig
from hybrid_ir.bioasq.questions import read_questions
from hybrid_ir.bioasq.raw import read_raw, write_raw
from hybrid_ir.config import load_config
from hybrid_ir.evaluation.columns import columns
from hybrid_ir.evaluation.comparison import CompareConfig, compare
from hybrid_ir.evaluation.comparison_table import comparison_table
from hybrid_ir.evaluation.reference import reference
from hybrid_ir.evaluation.scoring import evaluate_run
from hybrid_ir.pipeline.chain import RunConfig
from hybrid_ir.pipeline.chain import run as run_chain
from hybrid_ir.pipeline.rerank import RerankFiles, rerank
from hybrid_ir.pipeline.synthetic import synthetic
from hybrid_ir.pipeline.training_data import Sources, train_data
from hybrid_ir.records import QUESTION_TYPES, QuestionType
from hybrid_ir.rerank.settings import RerankConfig
from hybrid_ir.retrieval.index import open_store
from hybrid_ir.trec import read_run
from training.cross_encoder import train
from training.data_config import TrainDataConfig
from training.settings import TrainConfig

ROOT = Path(__file__).resolve().parents[1]
MINI = ROOT / "examples" / "bioasq-mini"
DEVELOPMENT = ("10B1", "10B2", "11B2")
FIRST = ("BM25", "BM25LLM")
MEASURES = {"documents_map": "MAP@10", "recall@10": "R@10"}
TRAIN = (
    "max_length=128", "precision=float32", "dropout=0", "batch_size=16", "micro_batch=4",
    "evaluate_every=50", "log_every=25", "stage1.max_steps=200", "stage1.learning_rate=2e-4",
    "stage2.max_steps=60", "stage2.learning_rate=5e-5",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Way:
    """One way to train.

    Attributes:
        name: Of it.
        data: Settings of the training data.
        train: Settings of the training.
        after: The way whose model it goes on from, with stage 2.
        target: The batches nothing of which is trained on, and which are judged.
        synthetic: Whether synthetic pairs are added.
    """

    name: str
    data: tuple[str, ...] = ()
    train: tuple[str, ...] = ()
    after: str = ""
    target: tuple[str, ...] = DEVELOPMENT
    synthetic: bool = False


MINED = "negatives.bm25.first=10", "negatives.bm25.last=100", "negatives.bm25.b=0.75"
WAYS = (
    Way("base"),
    Way("mined", ("negatives.random.count=0", "negatives.bm25.count=1", *MINED)),
    Way("both", ("negatives.bm25.count=1", *MINED)),
    Way("listnet", train=("stage1.loss=listnet", "micro_batch=8")),
    Way("stage2", ("stage2.other_texts.count=1",), after="base"),
    Way("more-gold", target=("11B2",)),
    Way("synthetic", train=("stage1.mix.synthetic=5",), target=("11B2",), synthetic=True),
)


Values = dict[str, dict[str, float]]
"""Question -> measure -> value."""


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="tiny trainings, one batch")
    parser.add_argument("--only", nargs="+", metavar="WAY", help=", ".join(w.name for w in WAYS))
    parser.add_argument("--seeds", type=int, default=1, help="trainings of each way (default 1)")
    parser.add_argument("--work", type=Path, default=ROOT / "work" / "rerankers")
    parser.add_argument("--model", type=Path, help="a folder (default: the installed MiniLM)")
    parser.add_argument("--table", type=Path, metavar="FILE", help="write all values, TSV")
    args = parser.parse_args()
    work = args.work / "quick" if args.quick else args.work
    bench = Bench(work, args.model or minilm(), args.quick)
    ways = [way for way in WAYS if not args.only or way.name in args.only]
    bench.first_stages()
    found = {name: bench.judged_first(name) for name in FIRST}
    for way in ways:
        for name in FIRST:
            seeds = [bench.judged(way, seed, name) for seed in range(args.seeds)]
            found[f"{name}/{way.name}"] = mean_of(seeds)
    report(found, bench.types, args.table)


@dataclass(frozen=True, slots=True)
class Bench:
    """Where the work lies, which model is trained, and whether this is a try."""

    work: Path
    model: Path
    quick: bool

    @property
    def batches(self) -> Sequence[str]:
        """The batches that are judged."""
        return DEVELOPMENT[2:] if self.quick else DEVELOPMENT

    @property
    def depth(self) -> int:
        """Documents of a question that are re-ranked."""
        return 5 if self.quick else 60

    @property
    def types(self) -> dict[str, QuestionType]:
        """Question id -> type."""
        every = chain.from_iterable(read_questions(questions_of(name)) for name in self.batches)
        return {question.id: question.type for question in every}

    def first_stages(self) -> None:
        """Make the runs of BM25 and BM25LLM of every batch."""
        for name in self.batches:
            texts = (MINI / "llm" / f"{name}.{style}.jsonl.gz" for style in ("expert", "abstract"))
            settings = [
                f"questions={questions_of(name)}", "gold=null", f"work={self.work / name}",
                *(f"pseudo.generators.{path.name.split('.')[1]}.model={path}" for path in texts),
                "train=null", "rerank=null",
            ]  # fmt: skip
            run_chain(load_config(RunConfig, ROOT / "configs" / "quickstart.yaml", settings))

    @property
    def index(self) -> Path:
        """The index; all batches have the same."""
        return self.work / self.batches[0] / "index"

    def data(self, way: Way) -> Path:
        """Make a way's training data."""
        output = self.work / f"{way.name}.data"
        sources = Sources(
            [
                *sorted((MINI / "train").glob("*.golden.json.gz")),
                *(gold_of(name) for name in DEVELOPMENT if name not in way.target),
            ],
            [questions_of(name) for name in way.target],
            [self.synthetic_pairs()] if way.synthetic else [],
            [self.work / name / f"{name}.pseudo.jsonl" for name in self.batches]
            if way.after
            else [],
            self.index,
        )
        train_data(sources, output, load_config(TrainDataConfig, None, ["before=11B2", *way.data]))
        return output

    def synthetic_pairs(self) -> Path:
        """Read the passages that were written for the questions of 10B1 and 10B2."""
        output = self.work / "10B.synthetic.jsonl"
        config = load_config(SyntheticConfig, ROOT / "configs" / "synthetic-recorded.yaml", [])
        questions = self.work / "10B.golden.json"
        both = [one for name in DEVELOPMENT[:2] for one in read_raw(gold_of(name))]
        write_raw(questions, both)
        synthetic(questions, None, output, config)
        return output

    def trained(self, way: Way, seed: int) -> Path:
        """Train a way's model."""
        output = self.work / f"{way.name}.{seed}"
        before = next((one for one in WAYS if one.name == way.after), None)
        model = self.trained(before, seed) if before else self.model
        settings = [
            f"data={self.data(way)}", f"output={output}", f"model={model}", f"seed={seed}",
            *TRAIN, *(["stage1.epochs=0"] if before else []), *way.train,
            *(["stage1.max_steps=3", "stage2.max_steps=3"] if self.quick else []),
        ]  # fmt: skip
        train(load_config(TrainConfig, None, settings))
        return output

    def judged(self, way: Way, seed: int, first: str) -> Values:
        """Re-rank a first stage's run with a way's model, and score it."""
        model = self.trained(way, seed)
        values: Values = {}
        for name in [name for name in self.batches if name in way.target]:
            output = self.work / name / f"{name}.{first}.{way.name}.{seed}.trec"
            config = load_config(
                RerankConfig,
                None,
                [
                    f"cache={self.work / 'scores.sqlite'}",
                    f"stages.all.depth={self.depth}",
                    f"stages.all.scorers.ce.model={model}",
                    "stages.all.scorers.ce.max_length=128",
                ],
            )
            run = self.work / name / f"{name}.{first}.trec"
            files = RerankFiles(run, questions_of(name), self.index)
            rerank(files, output, f"{first}/{way.name}", config)
            values |= self.scored(name, output)
        return values

    def judged_first(self, first: str) -> Values:
        """Score a first stage's run."""
        values: Values = {}
        for name in self.batches:
            values |= self.scored(name, self.work / name / f"{name}.{first}.trec")
        return values

    def scored(self, name: str, run: Path) -> Values:
        """Score a run against a batch's gold, as far as the collection holds it."""
        with closing(open_store(self.index)) as store:
            gold = reference(read_raw(gold_of(name)), name, within=store)
        scores = evaluate_run(gold, read_run(run, 60), cutoffs=(10,))
        return {question: dict(values) for question, values in scores.per_question.items()}


def questions_of(name: str) -> Path:
    """Give a batch's questions."""
    return MINI / ("dev" if name.startswith("10") else "test") / f"{name}.questions.json"


def gold_of(name: str) -> Path:
    """Give a batch's golden file."""
    return questions_of(name).with_name(f"{name}.golden.json.gz")


def mean_of(seeds: Sequence[Values]) -> Values:
    """Average the values of several trainings, question by question."""
    return {
        question: {
            measure: statistics.fmean(values[question][measure] for values in seeds)
            for measure in seeds[0][question]
        }
        for question in seeds[0]
    }


def report(
    found: Mapping[str, Values], types: Mapping[str, QuestionType], table: Path | None
) -> None:
    """Print means by type and paired tests, and give them as JSON."""
    heads = [
        f"{group} {label}" for group in ("all", *QUESTION_TYPES) for label in MEASURES.values()
    ]
    figures = {
        name: dict(zip(heads, means(values, types), strict=True)) for name, values in found.items()
    }
    rows = [["", "n", *heads]]
    rows += [
        [name, str(len(found[name])), *(f"{value:.4f}" for value in values.values())]
        for name, values in figures.items()
    ]
    print(columns(rows))
    for first in FIRST:
        for baseline, others in compared(first, found):
            config = CompareConfig(baseline, ("documents_map",), moved=0)
            shown = {name: found[name] for name in (baseline, *others)}
            print(comparison_table(compare(shown, types, config)))
    if table:
        table.write_text("".join("\t".join(row) + "\n" for row in rows))
    print(json.dumps(figures))


def compared(first: str, found: Mapping[str, Values]) -> Iterator[tuple[str, list[str]]]:
    """Yield what ways are held against: the run they re-rank, and the way they change."""
    names = {way.name: f"{first}/{way.name}" for way in WAYS if f"{first}/{way.name}" in found}
    yield first, list(names.values())
    partial = "more-gold", "synthetic"
    others = [of_run for name, of_run in names.items() if name not in ("base", *partial)]
    if "base" in names and others:
        yield names["base"], others
    if all(name in names for name in partial):
        yield names["more-gold"], [names["synthetic"]]


def means(values: Values, types: Mapping[str, QuestionType]) -> Iterator[float]:
    """Yield the mean of every measure, over all questions and over those of each type."""
    for group in ("all", *QUESTION_TYPES):
        of_group = [one for key, one in values.items() if group in ("all", types[key])]
        for measure in MEASURES:
            yield statistics.fmean(one[measure] for one in of_group)


if __name__ == "__main__":
    main()
