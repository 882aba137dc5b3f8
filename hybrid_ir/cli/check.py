"""Commands that check a submission before BioASQ does: validate, repair."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from hybrid_ir.cli.arguments import Commands, add_json, command

if TYPE_CHECKING:
    from hybrid_ir.bioasq.submission import Change, Fault


def add_commands(commands: Commands) -> None:
    """Add validate and repair."""
    added = command(
        commands, "validate", validate,
        "find all that BioASQ would refuse, ignore or die of; exit code 1 where there are errors",
    )  # fmt: skip
    _add_submission(added)
    added.add_argument(
        "--index", type=Path, metavar="FOLDER",
        help="compare snippets with the documents of an index (Phase A)",
    )  # fmt: skip
    add_json(added)

    added = command(
        commands, "repair", repair,
        "mend what needs no guess, into a new file; exit code 1 where errors remain",
    )  # fmt: skip
    _add_submission(added)
    added.add_argument("--output", type=Path, required=True, metavar="FILE")
    add_json(added)


def _add_submission(added: argparse.ArgumentParser) -> None:
    added.add_argument("submission", type=Path, metavar="SUBMISSION")
    added.add_argument(
        "--questions", type=Path, required=True, metavar="FILE", help="the batch it answers"
    )
    added.add_argument("--phase", choices=("A", "A+", "B"), required=True)


def validate(arguments: argparse.Namespace) -> int:
    """Name everything wrong with a submission."""
    from contextlib import ExitStack, closing

    from hybrid_ir.bioasq.questions import read_questions
    from hybrid_ir.bioasq.raw import read_raw
    from hybrid_ir.bioasq.submission import validate as faults_of
    from hybrid_ir.cli.findings import counts, faults_text, note, verdict
    from hybrid_ir.errors import InputError

    if arguments.index and arguments.phase != "A":
        raise InputError("--index goes with --phase A: answers have no snippets to compare")
    submission, batch = read_raw(arguments.submission), read_questions(arguments.questions)
    with ExitStack() as stack:
        document_of = None
        if arguments.index:
            from hybrid_ir.retrieval.index import open_store

            document_of = stack.enter_context(closing(open_store(arguments.index))).get
        faults = faults_of(submission, batch, arguments.phase, document_of)
    if arguments.json:
        _print_json(arguments, counts(faults), {"faults": faults})
    else:
        text = f"{arguments.submission}, Phase {arguments.phase}: {verdict(faults)}\n"
        text += faults_text(faults)
        print(text + note(text), end="")
    return 1 if counts(faults)["errors"] else 0


def repair(arguments: argparse.Namespace) -> int:
    """Write a repaired copy of a submission and report each change."""
    from hybrid_ir.bioasq.questions import read_questions
    from hybrid_ir.bioasq.raw import read_raw, write_raw
    from hybrid_ir.bioasq.submission import repair as repaired_of
    from hybrid_ir.cli.arguments import refuse_overwriting
    from hybrid_ir.cli.findings import changes_text, counts, faults_text, note, verdict
    from hybrid_ir.wording import counted

    refuse_overwriting(arguments.output, arguments.submission, arguments.questions)
    submission, batch = read_raw(arguments.submission), read_questions(arguments.questions)
    repaired, changes, faults = repaired_of(submission, batch, arguments.phase)
    write_raw(arguments.output, repaired)
    if arguments.json:
        _print_json(arguments, counts(faults), {"changes": changes, "remaining": faults})
    else:
        text = f"{arguments.submission}, Phase {arguments.phase}: {counted(len(changes), 'change')}"
        text += f", written to {arguments.output}\n{changes_text(changes)}"
        text += f"\n{arguments.output}: {verdict(faults)}\n{faults_text(faults)}"
        print(text + note(text), end="")
    return 1 if counts(faults)["errors"] else 0


def _print_json(
    arguments: argparse.Namespace,
    numbers: Mapping[str, int],
    findings: Mapping[str, Sequence[Fault | Change]],
) -> None:
    """Print what was asked, how many errors and warnings there are, and every finding."""
    import json
    from dataclasses import asdict

    stated = {
        key: str(getattr(arguments, key))
        for key in ("submission", "questions", "phase", "output")
        if hasattr(arguments, key)
    }
    lists = {key: [asdict(finding) for finding in found] for key, found in findings.items()}
    print(json.dumps({**stated, **numbers, **lists}, indent=1))
