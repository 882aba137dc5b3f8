"""Commands from pseudo-documents to queries: entities, expand."""

from __future__ import annotations

import argparse
from pathlib import Path

from hybrid_ir.cli.arguments import (
    Commands,
    add_settings,
    add_verify,
    command,
    refuse_overwriting,
)


def add_commands(commands: Commands) -> None:
    """Add entities and expand."""
    added = command(commands, "entities", entities, "find the biomedical entities of texts")
    _add_files(added, required=False)
    add_settings(added, "models=[lexicon,en_ner_bc5cdr_md]")

    added = command(commands, "expand", expand, "make queries of questions and pseudo-documents")
    _add_files(added, required=True)
    add_settings(added, "repeat=4")


def _add_files(added: argparse.ArgumentParser, required: bool) -> None:
    """Let a command take questions and, if they are not required, no pseudo-documents."""
    added.add_argument("--questions", type=Path, required=True, metavar="FILE", help="the batch")
    added.add_argument(
        "--pseudo", type=Path, nargs="+", default=[], required=required, metavar="FILE",
        help="pseudo-documents: JSONL that generate pseudo writes",
    )  # fmt: skip
    added.add_argument("--output", type=Path, required=True, metavar="FILE")
    add_verify(added)


def entities(arguments: argparse.Namespace) -> int:
    """Tag questions and pseudo-documents."""
    from hybrid_ir.config import load_config
    from hybrid_ir.entities.tagging import EntityConfig
    from hybrid_ir.pipeline.expansion import entities as stage

    config = load_config(EntityConfig, arguments.config, arguments.settings)
    refuse_overwriting(arguments.output, arguments.questions, *arguments.pseudo)
    stage(arguments.questions, arguments.pseudo, arguments.output, config, arguments.verify)
    return 0


def expand(arguments: argparse.Namespace) -> int:
    """Make queries."""
    from hybrid_ir.config import load_config
    from hybrid_ir.expansion import ExpansionConfig
    from hybrid_ir.pipeline.expansion import expand as stage

    config = load_config(ExpansionConfig, arguments.config, arguments.settings)
    refuse_overwriting(arguments.output, arguments.questions, *arguments.pseudo)
    stage(arguments.questions, arguments.pseudo, arguments.output, config, arguments.verify)
    return 0
