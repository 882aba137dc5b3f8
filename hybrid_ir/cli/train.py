"""The command that trains a cross-encoder in this process."""

from __future__ import annotations

import argparse

from hybrid_ir.cli.arguments import Commands, add_settings, add_verify, command


def add_commands(commands: Commands) -> None:
    """Add train."""
    added = command(commands, "train", train, "train a cross-encoder; goes on where it was stopped")
    added.epilog = (
        "In several processes: accelerate launch -m training.cross_encoder (GPUs), or torchrun"
        " --nproc_per_node 2 -m training.cross_encoder (CPUs), with the same settings."
    )
    add_verify(added)
    add_settings(added, "data=work/pairs output=work/model")


def train(arguments: argparse.Namespace) -> int:
    """Train."""
    from hybrid_ir.config import load_config
    from training.settings import TrainConfig

    config = load_config(TrainConfig, arguments.config, arguments.settings)
    from training.cross_encoder import train as stage

    stage(config, arguments.verify)
    return 0
