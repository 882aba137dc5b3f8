"""Arguments that several commands share."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

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


def add_settings(added: argparse.ArgumentParser) -> None:
    """Let a command take settings from a file and as key=value."""
    added.add_argument("--config", type=Path, metavar="YAML", help="settings from a file")
    added.add_argument(
        "settings",
        nargs="*",
        metavar="KEY=VALUE",
        help="settings, such as k1=1.2; a wrong key lists the right ones",
    )


def add_verify(added: argparse.ArgumentParser) -> None:
    """Let a command check contents instead of trusting time stamps."""
    added.add_argument(
        "--verify", action="store_true", help="hash inputs and results instead of trusting times"
    )
