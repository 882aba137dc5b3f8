"""What can be done with a stage's requests instead of asking them: estimates and batch files."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from generation.asking.estimates import Estimate, dry_run
from generation.asking.offline import Exported, export_requests
from generation.asking.outcomes import Parse
from generation.cache.replies import ReplyCache
from generation.clients import identity_of
from generation.llm import ModelConfig, Request
from generation.texts.refusals import Cleaned
from hybrid_ir.errors import InputError
from hybrid_ir.pipeline.asking import open_cache


@dataclass(frozen=True, slots=True)
class Plan:
    """What a stage is going to ask.

    Attributes:
        requests: Each model's.
        parse: Makes a text of a reply.
        cache: The file that keeps replies, or None.
        attempts: As in :class:`~hybrid_ir.pipeline.asking.Asking`.
    """

    requests: tuple[tuple[ModelConfig, list[Request]], ...]
    parse: Parse[Cleaned]
    cache: Path | None
    attempts: int


def estimates(plan: Plan) -> Iterator[tuple[str, Estimate]]:
    """Yield what asking each model takes at most; nothing is asked, no file made."""
    with open_cache(plan.cache if plan.cache and plan.cache.exists() else None) as cache:
        for model, requests in plan.requests:
            identity = identity_of(model)
            yield (
                model.name,
                dry_run(identity, requests, model, cache, plan.parse, plan.attempts),
            )


def export(plan: Plan, path: Path) -> Iterator[tuple[str, Exported]]:
    """Write what is to be asked as batch files, one a model, and yield what each holds.

    Args:
        plan: What is to be asked. Recorded replies need no asking.
        path: The file; of several models' files each has the model's name in its own.
    """
    models = [(model, asked) for model, asked in plan.requests if model.provider != "recorded"]
    if not models:
        raise InputError("recorded replies are read from their file: there is nothing to export")
    if plan.cache is None:
        raise InputError("batch files go through the cache: name one (cache=FILE)")
    with ReplyCache(plan.cache) as cache:
        for model, requests in models:
            own = path.with_name(f"{path.stem}.{model.name}{path.suffix}")
            file = own if len(models) > 1 else path
            identity = identity_of(model)
            exported = export_requests(
                file, model, identity, requests, cache, plan.parse, plan.attempts
            )
            yield model.name, exported
