"""The command that turns files of one format into another: convert."""

from __future__ import annotations

import argparse
import logging
from collections.abc import Callable
from pathlib import Path

from hybrid_ir.cli.arguments import Commands, add_json, command, refuse_overwriting
from hybrid_ir.wording import counted

log = logging.getLogger(__name__)


def add_commands(commands: Commands) -> None:
    """Add convert with a form for each pair of formats."""
    added = commands.add_parser(
        "convert",
        help="turn BioASQ files into TREC files and JSONL, and back",
        description="Turn BioASQ files into TREC files and JSONL, and back. "
        "A TREC run becomes a submission by submit.",
    )
    forms = added.add_subparsers(required=True, metavar="FORM")
    _form(forms, "golden-to-qrels", golden_to_qrels, "documents of a gold as TREC qrels")
    form = _form(forms, "qrels-to-golden", qrels_to_golden, "TREC qrels as a gold of documents")
    form.add_argument("--questions", type=Path, required=True, metavar="FILE", help="the batch")
    form = _form(
        forms, "submission-to-run", submission_to_run, "documents of a submission as a TREC run"
    )
    form.add_argument("--name", help="the run's name (default: the submission's)")
    _form(forms, "questions-to-jsonl", questions_to_jsonl, "id, body and type, a question a line")
    _form(forms, "jsonl-to-questions", jsonl_to_questions, "JSONL as BioASQ hands out a batch")
    _form(forms, "golden-to-jsonl", golden_to_jsonl, "gold records, a question a line")
    form = _form(
        forms, "golden-to-passages", golden_to_passages,
        "questions with the snippets that answer them, to train on; reports recurring questions",
        several=True,
    )  # fmt: skip
    add_json(form)


def _form(
    forms: Commands,
    name: str,
    function: Callable[[argparse.Namespace], int],
    summary: str,
    several: bool = False,
) -> argparse.ArgumentParser:
    form = command(forms, name, function, summary)
    source = name.partition("-to-")[0].upper()
    form.add_argument("inputs", type=Path, nargs="+" if several else 1, metavar=source)
    form.add_argument("--output", type=Path, required=True, metavar="FILE")
    return form


def golden_to_qrels(arguments: argparse.Namespace) -> int:
    """Write the documents of a gold as qrels."""
    from hybrid_ir.bioasq.converters import golden_to_qrels

    return _written(arguments, golden_to_qrels(*_files(arguments)))


def qrels_to_golden(arguments: argparse.Namespace) -> int:
    """Write qrels as a gold."""
    from hybrid_ir.bioasq.converters import qrels_to_golden

    refuse_overwriting(arguments.output, arguments.questions)
    judged, output = _files(arguments)
    return _written(arguments, qrels_to_golden(judged, arguments.questions, output))


def submission_to_run(arguments: argparse.Namespace) -> int:
    """Write the documents of a submission as a run."""
    from hybrid_ir.bioasq.converters import submission_to_run
    from hybrid_ir.evaluation.names import file_stem

    submission, output = _files(arguments)
    name = arguments.name or file_stem(submission)
    return _written(arguments, submission_to_run(submission, output, name))


def questions_to_jsonl(arguments: argparse.Namespace) -> int:
    """Write questions as JSONL."""
    from hybrid_ir.bioasq.converters import questions_to_jsonl

    return _written(arguments, questions_to_jsonl(*_files(arguments)))


def jsonl_to_questions(arguments: argparse.Namespace) -> int:
    """Write JSONL as a batch of questions."""
    from hybrid_ir.bioasq.converters import jsonl_to_questions

    return _written(arguments, jsonl_to_questions(*_files(arguments)))


def golden_to_jsonl(arguments: argparse.Namespace) -> int:
    """Write gold records as JSONL."""
    from hybrid_ir.bioasq.converters import golden_to_jsonl

    return _written(arguments, golden_to_jsonl(*_files(arguments)))


def golden_to_passages(arguments: argparse.Namespace) -> int:
    """Write questions with positive passages and say what became of the goldens."""
    from hybrid_ir.bioasq.passages import passages_text, write_passages
    from hybrid_ir.files import to_json

    refuse_overwriting(arguments.output, *arguments.inputs)
    report = write_passages(arguments.inputs, arguments.output)
    print(f"{to_json(report)}\n" if arguments.json else passages_text(report), end="")
    return 0


def _files(arguments: argparse.Namespace) -> tuple[Path, Path]:
    """Give input and output, which must differ."""
    (source,) = arguments.inputs
    refuse_overwriting(arguments.output, source)
    return source, arguments.output


def _written(arguments: argparse.Namespace, questions: int) -> int:
    log.info("wrote %s to %s", counted(questions, "question"), arguments.output)
    return 0
