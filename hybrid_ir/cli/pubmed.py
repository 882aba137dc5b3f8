"""Commands that bring PubMed here and keep it current."""

from __future__ import annotations

import argparse
import logging
from pathlib import Path
from typing import TYPE_CHECKING

from hybrid_ir.cli.arguments import (
    Commands,
    add_json,
    add_settings,
    add_verify,
    command,
    refuse_overwriting,
)
from hybrid_ir.wording import counted

if TYPE_CHECKING:
    from hybrid_ir.pipeline.corpus import Grown

log = logging.getLogger(__name__)


def add_commands(commands: Commands) -> None:
    """Add pubmed with sync, build, update, stats and convert."""
    pubmed = commands.add_parser(
        "pubmed",
        help="download PubMed, build a corpus of it, keep it current",
        description="Download PubMed, build a searchable corpus of it and keep it current.",
    )
    verbs = pubmed.add_subparsers(required=True, metavar="VERB")

    added = command(verbs, "sync", sync, "download what is new of PubMed's files, and check it")
    added.add_argument("--output", type=Path, required=True, metavar="FOLDER")
    add_verify(added)
    add_settings(added, "http.contact=you@example.org")

    added = command(verbs, "build", build, "make a corpus: documents and an index to search")
    added.add_argument("--files", type=Path, required=True, metavar="FOLDER", help="what sync made")
    added.add_argument("--output", type=Path, required=True, metavar="INDEX")
    add_verify(added)
    add_settings(added, "selection.abstract=false")

    added = command(verbs, "update", update, "apply what is new to a corpus")
    added.add_argument("--files", type=Path, required=True, metavar="FOLDER", help="what sync made")
    added.add_argument("--index", type=Path, required=True, metavar="INDEX")
    add_verify(added)
    add_settings(added, "work.processes=4")

    added = command(verbs, "stats", stats, "say what a corpus consists of")
    added.add_argument("index", type=Path, metavar="INDEX")
    add_json(added)

    added = command(verbs, "convert", convert, "turn PubMed's XML into JSONL, to index or to read")
    added.add_argument("--output", type=Path, required=True, metavar="JSONL")
    added.add_argument(
        "--citations", action="store_true", help="all that is read, instead of documents to index"
    )
    added.add_argument("files", type=Path, nargs="+", metavar="XML", help="files, gzipped or not")
    add_settings(added, "labels=false")


def sync(arguments: argparse.Namespace) -> int:
    """Download PubMed's files."""
    from hybrid_ir.config import load_config
    from hybrid_ir.pipeline import corpus
    from hybrid_ir.pubmed.sync import SyncConfig

    config = load_config(SyncConfig, arguments.config, arguments.settings)
    report = corpus.sync(arguments.output, config, arguments.verify)
    if report.faults:
        log.warning(
            "%s did not come; run the same command again to try again",
            counted(len(report.faults), "file"),
        )
    return 1 if report.faults else 0


def build(arguments: argparse.Namespace) -> int:
    """Make a corpus."""
    from hybrid_ir.config import load_config
    from hybrid_ir.pipeline import corpus
    from hybrid_ir.pipeline.corpus_config import CorpusConfig

    config = load_config(CorpusConfig, arguments.config, arguments.settings)
    return _grown(corpus.build(arguments.files, arguments.output, config, arguments.verify))


def update(arguments: argparse.Namespace) -> int:
    """Apply new files to a corpus."""
    from hybrid_ir.config import load_config
    from hybrid_ir.pipeline import corpus
    from hybrid_ir.pipeline.corpus_config import UpdateConfig

    config = load_config(UpdateConfig, arguments.config, arguments.settings)
    return _grown(corpus.update(arguments.files, arguments.index, config.work, arguments.verify))


def stats(arguments: argparse.Namespace) -> int:
    """Print figures of a corpus."""
    from hybrid_ir.files import to_json
    from hybrid_ir.pipeline.corpus_stats import stats, stats_text

    found = stats(arguments.index)
    print(f"{to_json(found)}\n" if arguments.json else stats_text(found), end="")
    return 0


def convert(arguments: argparse.Namespace) -> int:
    """Write citations as JSONL."""
    from hybrid_ir.config import load_config
    from hybrid_ir.pubmed.conversion import ConvertConfig, convert

    refuse_overwriting(arguments.output, *arguments.files)
    config = load_config(ConvertConfig, arguments.config, arguments.settings)
    faults = 0

    def report(fault: object) -> None:
        nonlocal faults
        faults += 1
        log.warning("%s", fault)

    done = convert(arguments.files, arguments.output, config, arguments.citations, report)
    noun = "citation" if arguments.citations else "document"
    log.info("wrote %s to %s", counted(done.written, noun), arguments.output)
    for reason, number in (
        *done.left_out.items(),
        ("a deletion", done.deletions),
        ("the same as one before", done.repeated),
    ):
        if number:
            log.info("  left out, %s: %d", reason, number)
    return _code(faults)


def _grown(grown: Grown) -> int:
    return _code(grown.faults)


def _code(faults: int) -> int:
    if faults:
        log.warning("%s could not be read; all others were", counted(faults, "record"))
    return 1 if faults else 0
