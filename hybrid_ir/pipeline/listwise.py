"""Re-rank a run by a language model that orders many passages at once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from generation.asking.outcomes import Outcome, Parse, look_up
from generation.budget import Budget
from generation.cache.replies import ReplyCache
from generation.clients import identity_of
from generation.listwise import (
    ListwiseConfig,
    Sliding,
    checked,
    fingerprints,
    next_request,
    stand_ins,
)
from generation.llm import Request
from generation.orders import Order, PassageOrder, order_of
from generation.structured import schema_of
from generation.texts.refusals import Cleaned
from hybrid_ir.manifests import Manifest, Stage, run_stage
from hybrid_ir.pipeline.asking import (
    Asking,
    Generator,
    ask,
    deciding,
    missing,
    open_cache,
    opened,
    recorded_files,
    refuse_output,
    report,
)
from hybrid_ir.pipeline.listwise_batch import (
    ListwiseBatch,
    ListwiseFiles,
    read_listwise,
    write_listwise,
)
from hybrid_ir.pipeline.planning import Plan
from hybrid_ir.pipeline.rerank import refuse_overlaps
from hybrid_ir.trec import refuse_blanks


def listwise(
    files: ListwiseFiles, output: Path, name: str, config: ListwiseConfig, verify: bool = False
) -> Manifest:
    """Re-rank a run, window by window; interrupted, the same call pays for no window twice.

    Args:
        files: The run, its questions, the texts.
        output: The TREC run of the new rankings.
        name: Its name, the last column.
        config: Settings.
        verify: Hash inputs and artefact instead of trusting sizes and time stamps.

    Raises:
        InputError: the files cannot be used, or do not belong together.
        IncompleteError: some questions could not be re-ranked, or none. A run that has them as they
            were lies beside the output, and what went wrong beside that.
    """
    refuse_blanks([name])

    def work(_: str) -> dict[str, Any]:
        refuse_output(output, config.cache)
        batch = read_listwise(files, config)
        (generator,) = opened(config.generators)
        with open_cache(config.cache) as cache:
            account = f"listwise {output.name}"
            asking = Asking(account, cache, config.budget, config.attempts)
            try:
                _slide(generator, batch, config, asking)
            finally:  # what was spent is told after Ctrl-C, too
                infos = report([generator])
                batch.tell()
        write_listwise(output, batch, name, config.cache)
        return {**batch.info(), "generators": infos}

    inputs = {"run": files.run, "questions": files.questions, "index": files.index}
    inputs |= recorded_files(config.generators)
    refuse_overlaps(inputs, output, config.cache)
    stage = Stage("listwise", 1, _key_of(name, config), inputs)
    return run_stage(stage, output, work, verify)


def listwise_plan(files: ListwiseFiles, config: ListwiseConfig, whole: bool) -> Plan:
    """Give what :func:`listwise` would ask, as far as the cache knows the replies it rests on.

    Args:
        files: As for :func:`listwise`.
        config: Settings.
        whole: With every window after the first that is not cached, for an estimate: what these
            will hold is not known, so requests that take no less stand in for them.
    """
    batch = read_listwise(files, config)
    parse = partial(checked, batch.windows)
    requests: list[Request] = []
    with open_cache(config.cache if config.cache and config.cache.exists() else None) as cache:
        for sliding in batch.slidings.values():
            requests += _known(sliding, cache, config, parse)
            if whole and not sliding.finished:
                requests += stand_ins(sliding, config)
    return Plan(((config.generator, requests),), parse, config.cache, config.attempts)


def _known(
    sliding: Sliding, cache: ReplyCache | None, config: ListwiseConfig, parse: Parse[Cleaned]
) -> Iterator[Request]:
    """Yield the requests that are known by now: those with a cached reply, and the next one."""
    identity = identity_of(config.generator)
    while not sliding.finished:
        request = next_request(sliding, config)
        yield request
        if cache is None or identity.provider == "recorded":
            return
        found = look_up(cache, identity, request, parse, config.attempts)
        if not isinstance(found, Outcome):
            return
        sliding.move(_order_in(found, sliding))


def _slide(
    generator: Generator, batch: ListwiseBatch, config: ListwiseConfig, asking: Asking
) -> None:
    """Ask the first window of every question, then the second of every one, until all are done."""
    parse = partial(checked, batch.windows)
    while going := [one for one in batch.slidings.values() if not one.finished]:
        requests = [next_request(one, config) for one in going]
        outcomes = ask(generator, requests, asking, parse)
        for sliding, outcome in zip(going, outcomes, strict=True):
            if outcome.failure and outcome.failure.kind != "unusable":
                batch.absent.append(missing(outcome, generator.model.name))
                sliding.give_up()
            else:
                order = _order_in(outcome, sliding)
                batch.count(order)
                sliding.move(order)


def _order_in(outcome: Outcome[Cleaned], sliding: Sliding) -> Order | None:
    """Give the order that a reply holds; None for a reply of no use."""
    if outcome.failure:
        return None
    assert outcome.reply
    return order_of(outcome.reply, len(sliding.windows[sliding.done]))


@dataclass(frozen=True, slots=True)
class _ListwiseKey:
    """What decides the rankings: the settings without how it is asked, prompts and schema."""

    name: str
    config: ListwiseConfig
    prompts: tuple[str, ...]
    schema: Mapping[str, Any]


def _key_of(name: str, config: ListwiseConfig) -> _ListwiseKey:
    models = {key: deciding(model) for key, model in config.generators.items()}
    plain = replace(config, generators=models, budget=Budget(), cache=None)
    return _ListwiseKey(name, plain, fingerprints(), schema_of(PassageOrder).schema)
