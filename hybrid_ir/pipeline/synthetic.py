"""Training questions or documents -> synthetic training pairs."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from generation.asking.outcomes import Parse
from generation.llm import ModelConfig, Reply, Request
from generation.synthetic import (
    LeftOut,
    SyntheticConfig,
    Task,
    fingerprints,
    pair_of,
    read_half,
    request_of,
    tasks_for_documents,
    tasks_for_questions,
    without_repeats,
)
from generation.texts.checks import ChecksConfig
from generation.texts.refusals import Cleaned
from hybrid_ir.errors import InputError
from hybrid_ir.files import beside, read_jsonl, remove, write_jsonl
from hybrid_ir.manifests import Manifest, Stage, run_stage
from hybrid_ir.pipeline.asking import (
    Asking,
    Generator,
    Missing,
    ask,
    deciding,
    missing,
    open_cache,
    opened,
    read_batch,
    recorded_files,
    refuse_output,
    report,
    write_whole,
)
from hybrid_ir.pipeline.planning import Plan
from hybrid_ir.records import Document, SyntheticPair

log = logging.getLogger(__name__)

_TOGETHER = 1_000
"""Tasks that are in memory at once."""


def synthetic(
    questions: Path | None,
    passages: Path | None,
    output: Path,
    config: SyntheticConfig,
    verify: bool = False,
) -> Manifest:
    """Let models write the other half of training pairs, in the order input, generator, sample.

    Args:
        questions: A golden or training file: passages are written for its questions; or None.
        passages: A JSONL file of documents: questions are written for them; or None.
        output: A JSONL file of :class:`~hybrid_ir.records.SyntheticPair`.
        config: Settings.
        verify: Hash inputs and artefact instead of trusting sizes and time stamps.

    Raises:
        IncompleteError: some could not be had; the output is not made, but what is there lies
            beside it and in the cache.
    """
    role, source = _source(questions, passages)

    def work(_: str) -> dict[str, Any]:
        refuse_output(output, config.cache)
        generators = opened(config.generators)
        absent, left_out, counts = list[Missing](), list[LeftOut](), Counter[str]()
        tasks = _tasks(questions, passages, counts)
        with open_cache(config.cache) as cache:
            asking = Asking(f"synthetic {output.name}", cache, config.budget, config.attempts)
            pairs = _pairs(tasks, generators, config, asking, absent)
            kept = without_repeats(pairs, config.checks.near_duplicate, left_out)
            try:
                written = write_whole(output, kept, absent, config.cache, config.attempts)
            finally:
                infos = report(generators)
                _tell(counts, left_out, beside(output, "left_out"))
        return {
            "pairs": written,
            "left_out": len(left_out),
            "counts": dict(counts),
            "generators": infos,
        }

    inputs = {role: source, **recorded_files(config.generators)}
    stage = Stage("generate synthetic", 1, _key_of(config), inputs)
    return run_stage(stage, output, work, verify)


def synthetic_plan(questions: Path | None, passages: Path | None, config: SyntheticConfig) -> Plan:
    """Give what :func:`synthetic` would ask."""
    _source(questions, passages)
    tasks = list(_tasks(questions, passages, Counter()))
    requests = tuple(
        (model, _requests(tasks, model, config)) for model in config.generators.values()
    )
    return Plan(requests, _reading(tasks, config), config.cache, config.attempts)


def _source(questions: Path | None, passages: Path | None) -> tuple[str, Path]:
    """Give the input's role and file."""
    if questions and not passages:
        return "questions", questions
    if passages and not questions:
        return "passages", passages
    raise InputError("synthetic pairs need questions or passages, one of them")


def _tasks(questions: Path | None, passages: Path | None, counts: Counter[str]) -> Iterator[Task]:
    if questions:
        yield from tasks_for_questions(read_batch(questions))
    elif passages:
        yield from tasks_for_documents(_with_text(passages, counts))


def _with_text(passages: Path, counts: Counter[str]) -> Iterator[Document]:
    """Yield documents but for those without text, which are counted.

    Raises:
        InputError: an id comes twice: it would name two pairs.
    """
    seen = set[str]()
    for document in read_jsonl(passages, Document):
        if document.id in seen:
            raise InputError(f"{passages}: document {document.id!r} comes twice: give each once")
        seen.add(document.id)
        if document.text.strip():
            yield document
        else:
            counts["documents without text"] += 1


def _pairs(
    tasks: Iterator[Task],
    generators: Sequence[Generator],
    config: SyntheticConfig,
    asking: Asking,
    absent: list[Missing],
) -> Iterator[SyntheticPair]:
    """Yield pairs by task, generator and sample, a thousand tasks at a time."""
    while chunk := list(islice(tasks, _TOGETHER)):
        parse = _reading(chunk, config)
        columns = [
            list(ask(one, _requests(chunk, one.model, config), asking, parse)) for one in generators
        ]
        for place, task in enumerate(chunk):
            for generator, column in zip(generators, columns, strict=True):
                for outcome in column[place * config.samples : (place + 1) * config.samples]:
                    name = generator.model.name
                    if outcome.value is None:
                        absent.append(missing(outcome, name))
                    else:
                        yield pair_of(task, outcome.value.text, name, outcome.request.sample)


def _requests(
    tasks: Iterable[Task], generator: ModelConfig, config: SyntheticConfig
) -> list[Request]:
    """Give a generator's requests by task and sample."""
    return [
        request_of(task, generator, sample) for task in tasks for sample in range(config.samples)
    ]


def _reading(tasks: Iterable[Task], config: SyntheticConfig) -> Parse[Cleaned]:
    """Give what reads, and checks, the replies to the requests of tasks."""
    task_of = {task.given.id: task for task in tasks}

    def parse(request: Request, reply: Reply) -> Cleaned:
        return read_half(task_of[request.question_id], reply, config.checks)

    return parse


def _tell(counts: Counter[str], left_out: Sequence[LeftOut], path: Path) -> None:
    """Say what was left out, and keep the near-duplicates."""
    for what, number in counts.items():
        log.warning("%s: %d", what, number)
    if left_out:
        write_jsonl(path, left_out)
        log.warning("%d near-duplicates are left out, see %s", len(left_out), path)
    else:
        remove(path)


@dataclass(frozen=True, slots=True)
class _SyntheticKey:
    """What decides the pairs: the settings without how they are asked for, and the prompts."""

    generators: tuple[ModelConfig, ...]
    prompts: tuple[str, ...]
    samples: int
    checks: ChecksConfig


def _key_of(config: SyntheticConfig) -> _SyntheticKey:
    models = tuple(deciding(model) for model in config.generators.values())
    return _SyntheticKey(models, fingerprints(), config.samples, config.checks)
