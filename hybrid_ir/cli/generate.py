"""Commands that let language models write: generate pseudo, generate synthetic."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from hybrid_ir.cli.arguments import Commands, add_settings, add_verify, command, refuse_overwriting

if TYPE_CHECKING:
    from hybrid_ir.pipeline.planning import Plan


def add_commands(commands: Commands) -> None:
    """Add generate and what it generates."""
    summary = "let language models write what is searched and trained with"
    parser = commands.add_parser("generate", help=summary, description=f"L{summary[1:]}.")
    kinds = parser.add_subparsers(required=True, metavar="WHAT")

    added = command(kinds, "pseudo", pseudo, "write pseudo-documents for the questions of a batch")
    added.add_argument("--questions", type=Path, required=True, metavar="FILE", help="the batch")
    add_asking(added)

    added = command(kinds, "synthetic", synthetic, "write the other half of training pairs")
    source = added.add_mutually_exclusive_group(required=True)
    source.add_argument(
        "--questions", type=Path, metavar="FILE", help="golden or training file: write passages"
    )
    source.add_argument(
        "--passages", type=Path, metavar="FILE", help="JSONL of documents: write questions"
    )
    add_asking(added)


def add_asking(added: argparse.ArgumentParser) -> None:
    """Add what all commands share that ask language models."""
    added.add_argument("--output", type=Path, required=True, metavar="FILE")
    instead = added.add_mutually_exclusive_group()
    instead.add_argument(
        "--dry-run", action="store_true", help="say what it takes at most, and ask nothing"
    )
    instead.add_argument(
        "--export-requests", type=Path, metavar="FILE",
        help="write what is not cached yet as an OpenAI batch file, and ask nothing",
    )  # fmt: skip
    instead.add_argument(
        "--import-replies", type=Path, nargs="+", metavar="FILE",
        help="take the results of such batches into the cache, and ask nothing",
    )  # fmt: skip
    add_verify(added)
    add_settings(added, "budget.usd=2")


def pseudo(arguments: argparse.Namespace) -> int:
    """Write pseudo-documents."""
    from generation.pseudo_documents import PseudoConfig
    from hybrid_ir.config import load_config
    from hybrid_ir.pipeline.generation import pseudo as stage
    from hybrid_ir.pipeline.generation import pseudo_plan

    config = load_config(PseudoConfig, arguments.config, arguments.settings)
    refuse_overwriting(arguments.output, arguments.questions)
    return generate(
        arguments,
        [arguments.questions],
        config.cache,
        lambda: pseudo_plan(arguments.questions, config),
        lambda: stage(arguments.questions, arguments.output, config, arguments.verify),
    )


def synthetic(arguments: argparse.Namespace) -> int:
    """Write synthetic pairs."""
    from generation.synthetic import SyntheticConfig
    from hybrid_ir.config import load_config
    from hybrid_ir.pipeline.synthetic import synthetic as stage
    from hybrid_ir.pipeline.synthetic import synthetic_plan

    config = load_config(SyntheticConfig, arguments.config, arguments.settings)
    given = (arguments.questions, arguments.passages)
    refuse_overwriting(arguments.output, *(path for path in given if path))
    return generate(
        arguments,
        [path for path in given if path],
        config.cache,
        lambda: synthetic_plan(*given, config),
        lambda: stage(*given, arguments.output, config, arguments.verify),
    )


def generate(
    arguments: argparse.Namespace,
    inputs: list[Path],
    cache: Path | None,
    plan: Callable[[], Plan],
    stage: Callable[[], object],
) -> int:
    """Ask, or do what the options say instead."""
    if arguments.dry_run:
        return _dry_run(plan())
    if arguments.export_requests:
        kept = [arguments.output, *inputs, *([cache] if cache else [])]
        refuse_overwriting(arguments.export_requests, *kept)
        return _export(plan(), arguments.export_requests)
    if arguments.import_replies:
        return _import(arguments.import_replies, cache)
    stage()
    return 0


def _dry_run(plan: Plan) -> int:
    from hybrid_ir.pipeline.planning import estimates

    found = list(estimates(plan))
    for name, estimate in found:
        print(f"{name}: {estimate}")
    unknown = [name for name, estimate in found if estimate.calls and not estimate.priced]
    but = f", but for {', '.join(unknown)}: no prices set" if unknown else ""
    print(f"together at most {sum(estimate.usd for _, estimate in found):.4f} USD{but}")
    return 0


def _export(plan: Plan, path: Path) -> int:
    from hybrid_ir.pipeline.planning import export
    from hybrid_ir.wording import counted

    for name, exported in export(plan, path):
        parts = [
            f"{counted(exported.requests, 'request')} in"
            f" {', '.join(map(str, exported.files)) or 'no file'}"
        ]
        parts += [f"{exported.cached:,} cached"] if exported.cached else []
        parts += [f"{exported.unusable:,} without a usable reply"] if exported.unusable else []
        print(f"{name}: {'; '.join(parts)}")
    return 0


def _import(paths: list[Path], path: Path | None) -> int:
    from generation.cache.replies import ReplyCache
    from hybrid_ir.cli.cache import take_in
    from hybrid_ir.errors import InputError

    if path is None:
        raise InputError("batch files go through the cache: name one (cache=FILE)")
    with ReplyCache(path) as cache:
        code = take_in(paths, cache)
    print("the command without --import-replies writes the output and asks for what is missing")
    return code
