"""The command that makes training data: train-data."""

from __future__ import annotations

import argparse
from pathlib import Path

from hybrid_ir.cli.arguments import Commands, add_settings, add_verify, command, refuse_overwriting


def add_commands(commands: Commands) -> None:
    """Add train-data."""
    added = command(commands, "train-data", train_data, "make the data a cross-encoder learns from")
    added.add_argument(
        "--gold", type=Path, nargs="+", required=True, metavar="FILE",
        help="golden files; those of the target's batch and later ones are left out",
    )  # fmt: skip
    added.add_argument(
        "--target", type=Path, nargs="+", required=True, metavar="FILE",
        help="the questions that are to be answered: nothing of them is trained on in stage 1",
    )  # fmt: skip
    added.add_argument(
        "--synthetic", type=Path, nargs="+", default=[], metavar="FILE", help="synthetic pairs"
    )
    added.add_argument(
        "--pseudo", type=Path, nargs="+", default=[], metavar="FILE",
        help="pseudo-documents of the target's questions: they make a stage 2",
    )  # fmt: skip
    added.add_argument(
        "--index", type=Path, metavar="FOLDER", help="index or corpus: texts, and BM25 to mine from"
    )
    added.add_argument("--run", type=Path, metavar="RUN", help="a run to mine negatives from")
    added.add_argument("--teacher", type=Path, metavar="RUN", help="another model's scores")
    added.add_argument("--output", type=Path, required=True, metavar="FOLDER")
    add_verify(added)
    add_settings(added, "before=12B1")


def train_data(arguments: argparse.Namespace) -> int:
    """Make training data."""
    from hybrid_ir.config import load_config
    from hybrid_ir.pipeline.training_data import Sources
    from hybrid_ir.pipeline.training_data import train_data as stage
    from training.data_config import TrainDataConfig

    config = load_config(TrainDataConfig, arguments.config, arguments.settings)
    sources = Sources(
        arguments.gold,
        arguments.target,
        arguments.synthetic,
        arguments.pseudo,
        arguments.index,
        arguments.run,
        arguments.teacher,
    )
    refuse_overwriting(arguments.output, *sources.inputs(arguments.gold).values())
    stage(sources, arguments.output, config, arguments.verify)
    return 0
