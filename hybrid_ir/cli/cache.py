"""Commands on what language models replied: cache inspect, export, forget-rejected, import."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from hybrid_ir.cli.arguments import Commands, add_json, command
from hybrid_ir.wording import counted

if TYPE_CHECKING:
    from generation.cache.ledger import Account
    from generation.cache.replies import Count, ReplyCache


def add_commands(commands: Commands) -> None:
    """Add cache with a form for each thing to do."""
    added = commands.add_parser(
        "cache",
        help="see, export and mend what language models replied",
        description="See, export and mend a cache of what language models replied.",
    )
    forms = added.add_subparsers(required=True, metavar="FORM")
    form = _form(
        forms, "inspect", inspect, "count replies by model, and calls, tokens and cost by stage"
    )
    add_json(form)
    form = _form(forms, "export", export, "write every reply, with what was asked, as JSONL")
    form.add_argument("--output", type=Path, required=True, metavar="FILE")
    _form(
        forms, "forget-rejected", forget_rejected,
        "remove replies of no use, so that they are asked for again",
    )  # fmt: skip
    form = _form(
        forms, "import", import_, "take in the results of an offline batch; exit code 1 on errors"
    )
    form.add_argument(
        "results", type=Path, nargs="+", metavar="RESULTS", help="output or error file of a batch"
    )


def _form(
    forms: Commands, name: str, function: Callable[[argparse.Namespace], int], summary: str
) -> argparse.ArgumentParser:
    form = command(forms, name, function, summary)
    form.add_argument("cache", type=Path, metavar="CACHE", help="the cache's file")
    return form


def inspect(arguments: argparse.Namespace) -> int:
    """Print what a cache holds and what it cost."""
    import json
    from dataclasses import asdict

    with _open(arguments) as cache:
        counts, accounts = cache.counts(), cache.ledger.accounts()
        waiting = cache.waiting()
    if arguments.json:
        lists = {
            "replies": [asdict(count) for count in counts],
            "accounts": [asdict(account) for account in accounts],
        }
        print(json.dumps({"cache": str(arguments.cache), **lists, "waiting": waiting}, indent=1))
        return 0
    good = counted(sum(count.good for count in counts), "good reply", "good replies")
    print(f"{arguments.cache}: {good}")
    print("".join(_count_line(count) for count in counts), end="")
    print("".join(_account_line(account) for account in accounts), end="")
    if waiting:
        print(f"{counted(waiting, 'request')} exported and not answered yet")
    return 0


def _count_line(count: Count) -> str:
    identity = count.identity
    settings = " ".join(f"{name}={value}" for name, value in identity.settings)
    named = " ".join(part for part in (identity.model, identity.revision, settings) if part)
    return (
        f"  {identity.provider} {named}: {count.good:,} good, {count.rejected:,} rejected,"
        f" {count.prompt_tokens:,} prompt tokens, {count.completion_tokens:,} completion tokens\n"
    )


def _account_line(account: Account) -> str:
    line = (
        f"stage {account.stage}: {counted(account.calls, 'call')},"
        f" {counted(account.tokens, 'token')},"
        f" {account.usd:.4f} USD{'' if account.usd else ' (free, or no prices set)'}"
    )
    if account.possible_calls:
        line += (
            f"; {account.possible_calls:,} of them without a reply and possibly charged"
            f" ({account.possible_usd:.4f} USD at most)"
        )
    if account.open_calls:
        line += f"; {account.open_calls:,} in flight, counted at worst"
    return line + "\n"


def export(arguments: argparse.Namespace) -> int:
    """Write the replies of a cache."""
    from hybrid_ir.cli.arguments import refuse_overwriting
    from hybrid_ir.files import write_jsonl

    refuse_overwriting(arguments.output, arguments.cache)
    with _open(arguments) as cache:
        count = write_jsonl(arguments.output, cache.replies())
    print(f"{arguments.output}: {counted(count, 'reply', 'replies')}")
    return 0


def forget_rejected(arguments: argparse.Namespace) -> int:
    """Remove the replies of no use."""
    with _open(arguments) as cache:
        removed = counted(cache.forget_rejected(), "rejected reply", "rejected replies")
        print(f"{arguments.cache}: {removed} removed")
    return 0


def import_(arguments: argparse.Namespace) -> int:
    """Take in what an offline batch brought."""
    with _open(arguments) as cache:
        return take_in(arguments.results, cache)


def take_in(results: Sequence[Path], cache: ReplyCache) -> int:
    """Take results of offline batches into a cache, say what each held, and give the exit code."""
    from generation.asking.offline import import_replies

    code = 0
    for path in results:
        imported = import_replies(path, cache)
        print(
            f"{path}: {counted(imported.good, 'good reply', 'good replies')},"
            f" {imported.rejected:,} of no use, {imported.repeated:,} known before,"
            f" {counted(len(imported.faults), 'error')}"
        )
        for fault in imported.faults:
            print(f"hybrid-ir: {fault}", file=sys.stderr)
            code = 1
    return code


def _open(arguments: argparse.Namespace) -> ReplyCache:
    from generation.cache.replies import ReplyCache
    from hybrid_ir.errors import InputError

    if not arguments.cache.is_file():
        raise InputError(f"{arguments.cache}: expected a cache of replies, there is no such file")
    return ReplyCache(arguments.cache)
