"""Arguments that several commands share."""

from __future__ import annotations

import argparse
import os.path
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeAlias

from hybrid_ir.errors import InputError

EDITIONS = (2, 3, 5, 8, 9)

FLAGS = (
    "--quiet", "--verify", "--json", "--citations", "--dry-run", "--official-line", "--help", "-h",
)  # fmt: skip
"""Options that take no value."""

Commands: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"


def command(
    commands: Commands,
    name: str,
    function: Callable[[argparse.Namespace], int],
    summary: str,
) -> argparse.ArgumentParser:
    """Add a command that calls ``function``."""
    added = commands.add_parser(
        name, help=summary, description=f"{summary[0].upper()}{summary[1:]}."
    )
    added.set_defaults(command=function)
    return added


def add_settings(added: argparse.ArgumentParser, example: str) -> None:
    """Let a command take settings from a file and as key=value."""
    added.add_argument("--config", type=Path, metavar="YAML", help="settings from a file")
    added.add_argument(
        "settings",
        nargs="*",
        metavar="KEY=VALUE",
        help=f"settings, such as {example}; a wrong key lists the right ones",
    )


def part_settings(argv: Sequence[str]) -> tuple[list[str], list[str]]:
    """Part what stands as KEY=VALUE, wherever it stands, from all other arguments.

    What is a file, or the value of an option (``--name a=b``), is no setting. Behind an option that
    takes several values settings end the values.
    """
    settings: list[str] = []
    others: list[str] = []
    before = ""
    for item in argv:
        value_of_option = before.startswith("-") and "=" not in before and before not in FLAGS
        (settings if is_setting(item) and not value_of_option else others).append(item)
        before = item
    return settings, others


def is_setting(item: str) -> bool:
    """Whether an argument is KEY=VALUE and no file."""
    key, equals, _ = item.partition("=")
    shaped = bool(key and equals) and "/" not in key and not key.startswith("-")
    return shaped and not os.path.exists(item)  # Path.exists fails on long names


def add_json(added: argparse.ArgumentParser) -> None:
    """Let a command print for programs what it prints for people."""
    added.add_argument("--json", action="store_true", help="print JSON instead of text")


def add_scoring(added: argparse.ArgumentParser) -> None:
    """Let a command say how to score."""
    added.add_argument(
        "--edition", type=int, choices=EDITIONS, default=9,
        help="the official program's -e: 9 (default) for BioASQ 9 and later",
    )  # fmt: skip
    added.add_argument(
        "--cutoffs", type=int, nargs="+", metavar="K", help="the k of recall@k (for runs)"
    )
    added.add_argument(
        "--within", type=Path, metavar="INDEX", help="leave gold documents outside an index out"
    )


def add_verify(added: argparse.ArgumentParser) -> None:
    """Let a command check contents instead of trusting time stamps."""
    added.add_argument(
        "--verify", action="store_true", help="hash inputs and results instead of trusting times"
    )


def refuse_overwriting(output: Path, *inputs: Path) -> None:
    """Refuse to write over what is read.

    Raises:
        InputError: the output is one of the inputs.
    """
    for path in inputs:
        if output.exists() and path.exists() and output.samefile(path):
            raise InputError(f"{output}: is an input; give another --output")
