"""Questions -> pseudo-documents."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from generation.embedding import EmbeddingConfig, open_embedding
from generation.examples import ExamplesConfig, Pool, pool_of, refuse_small
from generation.llm import ModelConfig
from generation.pseudo_documents import PseudoConfig, fingerprints, prompt_of, requests_of, text_of
from generation.quality import QualityConfig, weigh
from hybrid_ir.bioasq.gold import read_gold
from hybrid_ir.bioasq.questions import read_questions
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
from hybrid_ir.records import PseudoDocument, Question


def pseudo(questions: Path, output: Path, config: PseudoConfig, verify: bool = False) -> Manifest:
    """Let models write pseudo-documents, in the order question, generator, sample.

    Args:
        questions: The batch, as BioASQ hands it out.
        output: A JSONL file of :class:`~hybrid_ir.records.PseudoDocument`.
        config: Settings.
        verify: Hash inputs and artefact instead of trusting sizes and time stamps.

    Raises:
        IncompleteError: some could not be had; the output is not made, but what is there lies
            beside it and in the cache.
    """

    def work(_: str) -> dict[str, Any]:
        refuse_output(output, config.cache)
        batch = read_batch(questions)
        pool = examples_for(batch, config)
        embed = open_embedding(config.embedding) if config.embeds else None
        generators = opened(config.generators)
        absent: list[Missing] = []
        with open_cache(config.cache) as cache:
            account = f"pseudo {output.name}"
            asking = Asking(account, cache, config.budget, config.attempts)
            try:
                columns = [_written(one, batch, pool, config, asking, absent) for one in generators]
            finally:  # what was spent is told after Ctrl-C, too
                infos = report(generators)
        texts = list(_by_question(columns, config.texts))
        if config.quality:
            texts = weigh(batch, texts, config.quality, embed)
        written = write_whole(output, texts, absent, config.cache, config.attempts)
        return {
            "pseudo_documents": written,
            "generators": infos,
        }

    inputs = {"questions": questions, **recorded_files(config.generators)}
    if "examples" in config.prompts:
        golds = enumerate(config.examples.golds, start=1)
        inputs |= {f"examples {number}": path for number, path in golds}
    stage = Stage("generate pseudo", 1, _key_of(config), inputs)
    return run_stage(stage, output, work, verify)


def pseudo_plan(questions: Path, config: PseudoConfig) -> Plan:
    """Give what :func:`pseudo` would ask."""
    batch = read_batch(questions)
    pool = examples_for(batch, config)
    requests = tuple(
        (model, list(requests_of(batch, config, model, pool)))
        for model in config.generators.values()
    )
    return Plan(requests, partial(text_of, config), config.cache, config.attempts)


def examples_for(batch: Sequence[Question], config: PseudoConfig) -> Pool:
    """Read the examples that the prompts of a batch may show; none where no prompt shows any."""
    if "examples" not in config.prompts:
        return {}
    answered = (
        pair
        for path in config.examples.golds
        for pair in zip(read_questions(path), read_gold(path, "enriched"), strict=True)
    )
    pool = pool_of(answered, batch, config.examples.source)
    refuse_small(pool, batch, config.examples)
    return pool


def _written(
    generator: Generator,
    batch: Sequence[Question],
    pool: Pool,
    config: PseudoConfig,
    asking: Asking,
    absent: list[Missing],
) -> list[PseudoDocument | None]:
    """Ask one generator, and give its texts by question and sample, None for a missing one."""
    name = generator.model.name
    texts: list[PseudoDocument | None] = []
    requests = list(requests_of(batch, config, generator.model, pool))
    for outcome in ask(generator, requests, asking, partial(text_of, config)):
        question_id, sample = outcome.request.question_id, outcome.request.sample
        if outcome.value is None:
            absent.append(missing(outcome, name))
            texts.append(None)
        else:
            prompt, text = prompt_of(sample, config), outcome.value.text
            texts.append(PseudoDocument(question_id, name, sample, prompt, text))
    return texts


def _by_question(
    columns: Sequence[Sequence[PseudoDocument | None]], each: int
) -> Iterator[PseudoDocument]:
    """Bring the texts of several generators into one order; ``each`` stand together."""
    for start in range(0, len(columns[0]), each):
        for column in columns:
            yield from (text for text in column[start : start + each] if text)


@dataclass(frozen=True, slots=True)
class _PseudoKey:
    """What decides the texts: the settings without how they are asked for, and the prompts."""

    generators: tuple[ModelConfig, ...]
    prompts: tuple[tuple[str, str], ...]
    samples: int
    min_words: int
    examples: ExamplesConfig | None
    quality: QualityConfig | None
    embedding: EmbeddingConfig | None


def _key_of(config: PseudoConfig) -> _PseudoKey:
    shown = "examples" in config.prompts
    return _PseudoKey(
        tuple(deciding(model) for model in config.generators.values()),
        tuple(zip(config.prompts, fingerprints(config), strict=True)),
        config.samples,
        config.min_words,
        replace(config.examples, golds=()) if shown else None,  # they are inputs
        config.quality,
        replace(config.embedding, batch_size=1, device="") if config.embeds else None,
    )
