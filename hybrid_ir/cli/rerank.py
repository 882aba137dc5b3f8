"""The command that re-ranks a run."""

from __future__ import annotations

import argparse
from pathlib import Path

from hybrid_ir.cli.arguments import Commands, add_settings, add_verify, command


def add_commands(commands: Commands) -> None:
    """Add rerank."""
    added = command(
        commands, "rerank", rerank, "score a run's documents anew with a model or several"
    )
    added.add_argument("--run", type=Path, required=True, metavar="RUN")
    added.add_argument(
        "--questions", type=Path, required=True, metavar="FILE", help="a BioASQ file"
    )
    added.add_argument(
        "--index", type=Path, required=True, metavar="FOLDER", help="index or corpus: the texts"
    )
    added.add_argument(
        "--pseudo", type=Path, nargs="+", default=[], metavar="FILE",
        help="pseudo-documents, for scorers that take them",
    )  # fmt: skip
    added.add_argument("--output", type=Path, required=True, metavar="RUN")
    added.add_argument("--name", default="reranked", help="the run's name (default: reranked)")
    added.epilog = (
        "In several processes, on GPUs: accelerate launch -m hybrid_ir.cli rerank ..., on machines"
        " that share a disk, too."
    )
    add_verify(added)
    add_settings(added, "stages.first.depth=60 stages.first.scorers.ce.model=work/model")


def rerank(arguments: argparse.Namespace) -> int:
    """Re-rank a run."""
    from hybrid_ir.config import load_config
    from hybrid_ir.pipeline.rerank import RerankFiles
    from hybrid_ir.pipeline.rerank import rerank as stage
    from hybrid_ir.rerank.settings import RerankConfig

    config = load_config(RerankConfig, arguments.config, arguments.settings)
    files = RerankFiles(arguments.run, arguments.questions, arguments.index, arguments.pseudo)
    stage(files, arguments.output, arguments.name, config, arguments.verify)
    return 0
