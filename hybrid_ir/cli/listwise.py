"""The command that lets a language model re-rank a run: listwise."""

from __future__ import annotations

import argparse
from pathlib import Path

from hybrid_ir.cli.arguments import Commands, command, refuse_overwriting
from hybrid_ir.cli.generate import add_asking, generate


def add_commands(commands: Commands) -> None:
    """Add listwise."""
    added = command(
        commands, "listwise", listwise, "let a language model order a run's documents anew"
    )
    added.add_argument("--run", type=Path, required=True, metavar="RUN")
    added.add_argument(
        "--questions", type=Path, required=True, metavar="FILE", help="a BioASQ file"
    )
    added.add_argument(
        "--index", type=Path, required=True, metavar="FOLDER", help="index or corpus: the texts"
    )
    added.add_argument("--name", default="listwise", help="the run's name (default: listwise)")
    add_asking(added)


def listwise(arguments: argparse.Namespace) -> int:
    """Re-rank a run."""
    from generation.listwise import ListwiseConfig
    from hybrid_ir.config import load_config
    from hybrid_ir.pipeline.listwise import listwise as stage
    from hybrid_ir.pipeline.listwise import listwise_plan
    from hybrid_ir.pipeline.listwise_batch import ListwiseFiles

    config = load_config(ListwiseConfig, arguments.config, arguments.settings)
    files = ListwiseFiles(arguments.run, arguments.questions, arguments.index)
    refuse_overwriting(arguments.output, files.run, files.questions)
    return generate(
        arguments,
        [files.run, files.questions],
        config.cache,
        lambda: listwise_plan(files, config, whole=arguments.dry_run),
        lambda: stage(files, arguments.output, arguments.name, config, arguments.verify),
    )
