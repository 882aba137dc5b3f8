"""What the stages that ask language models share: models, the cache, bars, and what is missing."""

from __future__ import annotations

import logging
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from generation.asking.calls import ask_all
from generation.asking.limits import Limiter
from generation.asking.outcomes import Outcome, Parse, is_text
from generation.asking.tally import Tally
from generation.budget import Budget
from generation.cache.replies import ReplyCache
from generation.clients import open_llm
from generation.llm import LLM, Limits, ModelConfig, Prices, Request
from generation.texts.refusals import Cleaned
from hybrid_ir.bioasq.questions import read_questions
from hybrid_ir.errors import IncompleteError, InputError
from hybrid_ir.files import beside, refuse_to_write, remove, write_jsonl
from hybrid_ir.records import Question
from hybrid_ir.wording import counted

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Missing:
    """A text that could not be had: whose it is (a question's, or a passage's), and why not."""

    question_id: str
    generator: str
    sample: int
    kind: str
    message: str


@dataclass(frozen=True, slots=True)
class Generator:
    """A model that is ready to be asked, the counts of what comes of it, and its limits."""

    model: ModelConfig
    llm: LLM
    tally: Tally
    limiter: Limiter


@dataclass(frozen=True, slots=True)
class Asking:
    """How a stage asks.

    Attributes:
        account: Whose account is charged.
        cache: Where replies are kept, or None.
        budget: What may be spent.
        attempts: How often a question is asked until a reply is of use.
    """

    account: str
    cache: ReplyCache | None
    budget: Budget
    attempts: int


def opened(models: Mapping[str, ModelConfig]) -> list[Generator]:
    """Open all models before the first is asked, so that a missing key costs nothing.

    Raises:
        InputError: models that cannot be opened, all of them.
    """
    generators, faults = [], []
    for model in models.values():
        try:
            llm = open_llm(model)
            generators.append(
                Generator(model, llm, Tally(model, llm.identity), Limiter(model.limits))
            )
        except InputError as error:
            faults.append(str(error))
    if faults:
        raise InputError("\n".join(faults))
    return generators


@contextmanager
def open_cache(path: Path | None) -> Iterator[ReplyCache | None]:
    """Open the reply cache, if there is to be one."""
    if path is None:
        yield None
    else:
        with ReplyCache(path) as cache:
            yield cache


def ask(
    generator: Generator, requests: Sequence[Request], asking: Asking, parse: Parse[Cleaned]
) -> Iterator[Outcome[Cleaned]]:
    """Ask a model, and count what comes of it."""
    tally = generator.tally
    outcomes = ask_all(
        generator.llm,
        requests,
        generator.model,
        asking.account,
        asking.cache,
        asking.budget,
        parse,
        asking.attempts,
        tally.progress,
        generator.limiter,
    )
    for outcome in outcomes:
        tally.add(outcome, asking.cache)
        yield outcome


def missing(outcome: Outcome[Cleaned], generator: str) -> Missing:
    """Write down why there is no text."""
    assert outcome.failure
    request, failure = outcome.request, outcome.failure
    return Missing(request.question_id, generator, request.sample, failure.kind, failure.message)


def refuse_output(output: Path, cache: Path | None) -> None:
    """Find out before anything is paid for whether an output can be written.

    Raises:
        InputError: something else stands there, it is the cache, or its folder cannot be written.
    """
    refuse_to_write(output)
    if cache and cache.resolve() == output.resolve():
        raise InputError(f"{output}: would be overwritten, it is the cache: name another")
    folder = output.resolve().parent
    try:
        folder.mkdir(parents=True, exist_ok=True)
        writable = os.access(folder, os.W_OK)
    except OSError:
        writable = False
    if not writable:
        raise InputError(f"{output}: expected a folder that can be written, {folder} is none")


def read_batch(path: Path) -> list[Question]:
    """Read the questions of a batch.

    Raises:
        InputError: they cannot be read, or no model can be asked: a body holds half a character.
    """
    questions = list(read_questions(path))
    if faults := [f"question {one.id}" for one in questions if not is_text(one.body)]:
        summary = f"{path}: bodies that hold half a surrogate pair, mend them:"
        raise InputError.of_all(summary, faults)
    return questions


def write_whole(
    output: Path,
    records: Iterable[DataclassInstance],
    absent: list[Missing],
    cache: Path | None,
    attempts: int,
) -> int:
    """Write records under the output's name if none is missing, else under another one.

    So the output's name always stands for all texts; a later stage can be given the other file.

    Args:
        output: The file.
        records: What to write; while they are taken, ``absent`` is filled.
        absent: What is missing.
        cache: Where replies are kept, for the message; as the next.
        attempts: How often a question was asked.

    Raises:
        IncompleteError: something is missing.
    """
    output = output.resolve() if output.is_symlink() else output
    incomplete, failed = beside(output, "incomplete"), beside(output, "failed")
    written = write_jsonl(incomplete, records)
    if not absent:
        incomplete.replace(output)
        remove(failed)
        return written
    write_jsonl(failed, absent)
    where = f"{counted(written, 'text')} could be had: {incomplete}"
    if not written:
        remove(incomplete)
        where = "no text could be had"
    counts = Counter(item.kind for item in absent)
    kinds = ", ".join(f"{kind} {count}" for kind, count in counts.items())
    verb = "is" if len(absent) == 1 else "are"
    raise IncompleteError(
        f"{counted(len(absent), 'text')} {verb} missing ({kinds}), see {failed}; {where}.\n"
        + "\n".join(_cures(absent, cache, attempts))
    )


def _cures(absent: Sequence[Missing], cache: Path | None, attempts: int) -> Iterator[str]:
    """Say how to get what is missing: of recorded replies, and of models that can be asked."""
    unrecorded = Counter(item.generator for item in absent if item.kind == "missing")
    for generator, number in unrecorded.items():
        yield (
            f"The recorded file of {generator} has no text for {counted(number, 'request')}: is it"
            f" of the same batch? (generators.{generator}.model=FILE names another)"
        )
    if unrecorded.total() < len(absent):
        yield _how_to_retry(cache, attempts)
    if any(item.kind == "unusable" for item in absent):
        yield "Recorded texts stay what they are: lower min_words, or mend their file."


def _how_to_retry(cache: Path | None, attempts: int) -> str:
    if not cache:
        return "Without a cache the same command asks for all of them again; cache=FILE keeps them."
    return (
        "The same command asks for the missing ones alone; those whose every reply was unusable"
        f" need more attempts (attempts={attempts + 3}), or to be asked anew (hybrid-ir cache"
        f" forget-rejected {cache}), those without budget a larger one."
    )


def report(generators: Iterable[Generator]) -> dict[str, Any]:
    """Log what came of each generator, and give it for the manifest."""
    infos = {}
    for generator in generators:
        name, info = generator.model.name, generator.tally.info()
        infos[name] = info
        log.info("%s", generator.tally.line())
        for what in ("unusable", "cut"):
            if counts := ", ".join(f"{name} {count}" for name, count in info[what].items()):
                log.warning("%s: %s: %s", name, what, counts)
    return infos


def deciding(model: ModelConfig) -> ModelConfig:
    """Give a model's settings without those that change no reply, for a stage's key."""
    return replace(
        model,
        key_variable="",
        concurrency=1,
        timeout=1.0,
        retries=0,
        limits=Limits(),
        prices=Prices(),  # their absence changes no reply either
        batch_size=1,
    )


def recorded_files(models: Mapping[str, ModelConfig]) -> dict[str, Path]:
    """Give the files that recorded replies are read from, by their role as a stage's input."""
    return {
        f"replies of {model.name}": Path(model.model)
        for model in models.values()
        if model.provider == "recorded"
    }
