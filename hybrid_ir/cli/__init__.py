"""The command line: one function a command, imports inside it, so that ``--help`` is quick.

stdout carries data, stderr the log and progress bars. Exit codes: 0 done, 1 done with findings or
not all of it done, 2 the user can fix it (one message, no traceback), 130 interrupted.
"""

from __future__ import annotations

import argparse
import io
import logging
import sys
from collections.abc import Sequence

from hybrid_ir.cli import (
    cache,
    check,
    compare,
    convert,
    expand,
    generate,
    listwise,
    pubmed,
    rerank,
    retrieve,
    score,
    train,
    train_data,
)
from hybrid_ir.cli.arguments import part_settings
from hybrid_ir.errors import IncompleteError, InputError


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command and give its exit code."""
    arguments = _arguments(sys.argv[1:] if argv is None else argv)
    level = logging.WARNING if arguments.quiet else logging.INFO
    logging.basicConfig(level=level, format="%(message)s", stream=sys.stderr, force=True)
    if isinstance(sys.stdout, io.TextIOWrapper):  # half surrogates, or a terminal without UTF-8
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        code: int = arguments.command(arguments)
        sys.stdout.flush()
    except InputError as error:
        print(f"hybrid-ir: {error}", file=sys.stderr)
        return 2
    except IncompleteError as error:
        print(f"hybrid-ir: {error}", file=sys.stderr)
        return 1
    except BrokenPipeError:  # the reader of a pipe has seen enough
        sys.stderr.close()
        return 1
    except OSError as error:  # a full disk, no permission, a folder that is not there
        where = f"{error.filename}: " if error.filename else ""
        print(f"hybrid-ir: {where}{error.strerror or error}", file=sys.stderr)
        return 2
    except UnicodeError as error:
        print(f"hybrid-ir: text that no UTF-8 file can hold: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("hybrid-ir: interrupted; run the same command again", file=sys.stderr)
        return 130
    return code


def _arguments(argv: Sequence[str]) -> argparse.Namespace:
    """Read the command line; settings may stand between options and files in any order."""
    settings, others = part_settings(argv)
    parser = _parser()
    arguments = parser.parse_args(others)
    if settings and not hasattr(arguments, "settings"):
        parser.error(f"no such file, and this command has no settings: {' '.join(settings)}")
    if settings:
        arguments.settings = [*settings, *arguments.settings]
    return arguments


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        "hybrid-ir",
        description="Hybrid search over PubMed, submitted to and scored as BioASQ task b.",
    )
    parser.add_argument("--quiet", action="store_true", help="log warnings and errors only")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    for module in (
        pubmed,
        retrieve,
        generate,
        expand,
        train,
        train_data,
        rerank,
        listwise,
        cache,
        check,
        score,
        compare,
        convert,
    ):
        module.add_commands(commands)
    return parser
