"""Commands that set things side by side: compare, describe."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from hybrid_ir.cli.arguments import Commands, add_json, add_scoring, add_settings, command


def add_commands(commands: Commands) -> None:
    """Add compare and describe."""
    added = command(commands, "compare", compare, "test whether systems differ more than by chance")
    added.add_argument(
        "systems", type=Path, nargs="+", metavar="SYSTEM",
        help="TREC runs, submissions, or values that evaluate --per-question wrote; a difference "
        "is the later system minus the earlier one",
    )  # fmt: skip
    add_settings(added, "confidence=0.9 (or resamples, moved, seed)")
    added.add_argument(
        "--gold", type=Path, metavar="FILE", help="a golden file, to score runs and submissions"
    )
    added.add_argument(
        "--measures", nargs="+", metavar="MEASURE",
        help="what to compare, such as documents_map recall@100 (default: what BioASQ ranks "
        "systems by); each one more makes the correction for their number harder to pass",
    )  # fmt: skip
    added.add_argument(
        "--baseline", metavar="NAME", help="compare all with this system, not every pair"
    )
    added.add_argument(
        "--mode", choices=("official", "strict"), default="strict",
        help="strict (default): a missing answer scores 0; official: it is not compared at all",
    )  # fmt: skip
    add_scoring(added)
    add_json(added)

    added = command(commands, "describe", describe, "say what a batch of questions is like")
    added.add_argument("questions", type=Path, nargs="+", metavar="QUESTIONS", help="BioASQ files")
    add_json(added)


def compare(arguments: argparse.Namespace) -> int:
    """Compare systems by paired tests."""
    import json
    from dataclasses import replace

    from hybrid_ir.config import load_config
    from hybrid_ir.evaluation.compare_files import CompareRequest, compare_files
    from hybrid_ir.evaluation.comparison import CompareConfig
    from hybrid_ir.evaluation.comparison_table import comparison_table
    from hybrid_ir.files import to_json

    config = load_config(CompareConfig, arguments.config, arguments.settings)
    if arguments.measures:
        config = replace(config, measures=tuple(arguments.measures))
    if arguments.baseline:
        config = replace(config, baseline=arguments.baseline)
    request = CompareRequest(
        systems=tuple(arguments.systems),
        gold=arguments.gold,
        mode=arguments.mode,
        edition=arguments.edition,
        cutoffs=tuple(arguments.cutoffs or _cutoffs_in(config.measures)) or None,
        within=arguments.within,
        config=config,
    )
    compared = compare_files(request)
    if arguments.json:
        stated = {"gold": compared.gold, "mode": compared.mode, "edition": compared.edition}
        print(json.dumps(stated | json.loads(to_json(compared.report)), indent=1))
    else:
        print(f"against {compared.gold}, {compared.mode}, edition {compared.edition}\n")
        print(comparison_table(compared.report), end="")
    return 0


def _cutoffs_in(measures: Sequence[str]) -> list[int]:
    """Give the k of the recall@k that are to be compared."""
    found = (measure.partition("recall@") for measure in measures)
    return [int(k) for before, at, k in found if at and not before and k.isdecimal() and int(k)]


def describe(arguments: argparse.Namespace) -> int:
    """Describe batches of questions."""
    import json

    from hybrid_ir.bioasq.questions import read_questions
    from hybrid_ir.evaluation.description import describe as describe_batch
    from hybrid_ir.evaluation.description import describe_table
    from hybrid_ir.evaluation.names import file_stem, tell_apart
    from hybrid_ir.files import to_json

    paths: list[Path] = arguments.questions
    names = tell_apart([file_stem(path) for path in paths], paths)
    several = [read_questions(path) for path in paths]
    named = _entities([question.body for batch in several for question in batch])
    batches = {
        name: describe_batch(batch, named.__getitem__)
        for name, batch in zip(names, several, strict=True)
    }
    if arguments.json:
        content = {name: json.loads(to_json(batch)) for name, batch in batches.items()}
        print(json.dumps(content, indent=1))
    else:
        print(describe_table(batches), end="")
    return 0


def _entities(bodies: Sequence[str]) -> dict[str, list[str]]:
    """Give the entities that the lexicon finds in texts, each as often as it stands there."""
    from hybrid_ir.entities.tagging import EntityConfig, open_tagger

    found = open_tagger(EntityConfig()).tag(bodies)
    return {
        body: [entity.text for entity in entities]
        for body, entities in zip(bodies, found, strict=True)
    }
