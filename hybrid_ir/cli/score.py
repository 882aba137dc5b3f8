"""The command that scores: evaluate."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from hybrid_ir.cli.arguments import Commands, add_json, add_scoring, command, refuse_overwriting


def add_commands(commands: Commands) -> None:
    """Add evaluate."""
    added = command(commands, "evaluate", evaluate, "score runs and submissions as BioASQ does")
    added.add_argument("--gold", type=Path, required=True, metavar="FILE", help="a golden file")
    added.add_argument(
        "--preliminary", type=Path, metavar="FILE",
        help="the preliminary gold (a Phase B test set), shown beside the enriched one",
    )  # fmt: skip
    added.add_argument(
        "--run", type=Path, nargs="+", action="extend", default=[], metavar="RUN", help="TREC runs"
    )
    added.add_argument(
        "--submission", type=Path, nargs="+", action="extend", default=[], metavar="FILE",
        help="submissions of any phase, with documents, snippets, exact or ideal answers",
    )  # fmt: skip
    added.add_argument(
        "--mode", choices=("official", "strict", "both"), default="both",
        help="the official program's measures, ours without its quirks, or both (default)",
    )  # fmt: skip
    add_scoring(added)
    added.add_argument(
        "--leaderboard", type=Path, metavar="TSV", help="published scores: best, median, worst"
    )
    added.add_argument(
        "--bertscore", metavar="MODEL",
        help="add BERTScore of ideal answers, by a model from the hub or a folder",
    )  # fmt: skip
    added.add_argument(
        "--bertscore-layer", type=int, metavar="N", help="the model's layer, where it is not known"
    )
    add_json(added)
    added.add_argument("--per-question", type=Path, metavar="JSONL", help="write each question's")
    added.add_argument(
        "--official-line", action="store_true",
        help="print the very line of numbers the official program prints",
    )  # fmt: skip
    added.add_argument("--phase", choices=("A", "B"), help="of the official line")


def evaluate(arguments: argparse.Namespace) -> int:
    """Score runs and submissions."""
    from hybrid_ir.errors import InputError

    if not arguments.run and not arguments.submission:
        raise InputError("evaluate needs something to score: --run RUN or --submission FILE")
    if arguments.official_line:
        return _official_line(arguments)
    if arguments.phase:
        raise InputError("--phase goes with --official-line; tables show what a file allows")
    if arguments.bertscore_layer and not arguments.bertscore:
        raise InputError("--bertscore-layer goes with --bertscore MODEL")
    from hybrid_ir.evaluation.score_files import BertModel, Request, score_files
    from hybrid_ir.evaluation.score_table import table
    from hybrid_ir.evaluation.scores import per_question_rows, scores_to_json
    from hybrid_ir.files import writing

    request = Request(
        gold=arguments.gold,
        preliminary=arguments.preliminary,
        runs=tuple(arguments.run),
        submissions=tuple(arguments.submission),
        modes=("official", "strict") if arguments.mode == "both" else (arguments.mode,),
        edition=arguments.edition,
        cutoffs=tuple(arguments.cutoffs) if arguments.cutoffs else None,
        within=arguments.within,
        leaderboard=arguments.leaderboard,
        bertscore=arguments.bertscore and BertModel(arguments.bertscore, arguments.bertscore_layer),
    )
    if arguments.per_question:
        inputs = (arguments.gold, arguments.preliminary, *arguments.run, *arguments.submission)
        refuse_overwriting(arguments.per_question, *filter(None, inputs))
    columns = score_files(request)
    if arguments.per_question:
        with writing(arguments.per_question) as file:
            for column in columns:
                for row in per_question_rows(column):
                    file.write(json.dumps(row) + "\n")
    if arguments.json:
        print(json.dumps([scores_to_json(column) for column in columns], indent=1))
    else:
        print(table(columns), end="")
    return 0


def _official_line(arguments: argparse.Namespace) -> int:
    from hybrid_ir.bioasq.measures import official_line
    from hybrid_ir.bioasq.raw import read_raw
    from hybrid_ir.errors import InputError

    others = [
        "run",
        "preliminary",
        "cutoffs",
        "within",
        "leaderboard",
        "json",
        "per_question",
        "bertscore",
    ]
    unused = [f"--{name.replace('_', '-')}" for name in others if getattr(arguments, name)]
    if len(arguments.submission) != 1 or not arguments.phase or unused:
        hint = f", and not {', '.join(unused)}" if unused else ""
        raise InputError(
            f"--official-line takes one --submission, and --phase A or --phase B{hint}"
        )
    gold, submission = read_raw(arguments.gold), read_raw(arguments.submission[0])
    print(official_line(gold, submission, arguments.phase, arguments.edition))
    return 0
