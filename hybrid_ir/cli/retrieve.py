"""Commands from documents and questions to a run and a submission."""

from __future__ import annotations

import argparse
from pathlib import Path

from hybrid_ir.cli.arguments import Commands, add_settings, add_verify, command


def add_commands(commands: Commands) -> None:
    """Add index, search, submit and run."""
    added = command(commands, "index", index, "index JSONL documents")
    added.add_argument("--documents", type=Path, nargs="+", required=True, metavar="FILE")
    added.add_argument("--output", type=Path, required=True, metavar="FOLDER")
    add_verify(added)
    add_settings(added, "fields=[title,mesh]")

    added = command(commands, "search", search, "search an index with BM25 and write a TREC run")
    added.add_argument("--index", type=Path, required=True, metavar="FOLDER")
    source = added.add_mutually_exclusive_group(required=True)
    source.add_argument("--questions", type=Path, metavar="FILE", help="a BioASQ file")
    source.add_argument("--queries", type=Path, metavar="FILE", help="JSONL queries with clauses")
    added.add_argument("--output", type=Path, required=True, metavar="RUN")
    added.add_argument("--name", default="BM25", help="the run's name (default: BM25)")
    add_verify(added)
    add_settings(added, "k1=1.2")

    added = command(commands, "submit", submit, "turn a run into a Phase A submission")
    added.add_argument("--run", type=Path, required=True, metavar="RUN")
    added.add_argument("--questions", type=Path, required=True, metavar="FILE")
    added.add_argument("--output", type=Path, required=True, metavar="FILE")
    add_verify(added)
    add_settings(added, "documents=5")

    added = command(commands, "run", run, "go from documents and questions to scores")
    add_verify(added)
    add_settings(added, "search.k1=1.2")


def index(arguments: argparse.Namespace) -> int:
    """Index JSONL documents."""
    from hybrid_ir.config import load_config
    from hybrid_ir.pipeline import retrieval
    from hybrid_ir.retrieval.index import IndexConfig

    config = load_config(IndexConfig, arguments.config, arguments.settings)
    retrieval.index(arguments.documents, arguments.output, config, arguments.verify)
    return 0


def search(arguments: argparse.Namespace) -> int:
    """Search an index and write a TREC run."""
    from hybrid_ir.config import load_config
    from hybrid_ir.pipeline import retrieval
    from hybrid_ir.retrieval.bm25 import SearchConfig

    config = load_config(SearchConfig, arguments.config, arguments.settings)
    retrieval.search(
        arguments.index,
        arguments.questions,
        arguments.queries,
        arguments.output,
        arguments.name,
        config,
        arguments.verify,
    )
    return 0


def submit(arguments: argparse.Namespace) -> int:
    """Write a Phase A submission."""
    from hybrid_ir.config import load_config
    from hybrid_ir.pipeline import retrieval

    config = load_config(retrieval.SubmitConfig, arguments.config, arguments.settings)
    retrieval.submit(arguments.run, arguments.questions, arguments.output, config, arguments.verify)
    return 0


def run(arguments: argparse.Namespace) -> int:
    """Go the whole way."""
    from hybrid_ir.config import load_config
    from hybrid_ir.evaluation.comparison import compare_scores
    from hybrid_ir.evaluation.comparison_table import comparison_table
    from hybrid_ir.evaluation.score_table import overview, table
    from hybrid_ir.pipeline import chain

    config = load_config(chain.RunConfig, arguments.config, arguments.settings)
    scores = chain.run(config, arguments.verify)
    if len(scores) == 1:
        print(table(scores), end="")
    elif scores:
        print(overview(scores))
        measures = ("documents_map", f"recall@{max(config.evaluate.cutoffs)}")
        if scores[0].measures.keys() >= {*measures}:  # a gold without documents has none
            print(comparison_table(compare_scores(scores, measures)), end="")
    return 0
