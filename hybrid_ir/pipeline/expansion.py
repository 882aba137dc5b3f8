"""Questions and pseudo-documents -> entities -> queries."""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from hybrid_ir.bioasq.questions import read_questions
from hybrid_ir.entities.tagging import EntityConfig, Identity, open_tagger
from hybrid_ir.errors import InputError
from hybrid_ir.expansion import (
    QUESTION,
    QUESTION_KEY,
    ExpansionConfig,
    added,
    by_text,
    config_of,
    expanded,
)
from hybrid_ir.files import beside, read_jsonl, read_jsonl_lines, refuse_to_write, write_jsonl
from hybrid_ir.manifests import Manifest, Stage, read_manifest, run_stage
from hybrid_ir.pipeline.progress import watched
from hybrid_ir.records import Clause, PseudoDocument, Query, Question, Tagged
from hybrid_ir.wording import counted

log = logging.getLogger(__name__)

Texts = dict[str, list[PseudoDocument]]

MOST_FAULTS = 10
"""Faults of pseudo-documents that are named; of more their number is."""


def entities(
    questions: Path,
    pseudo: Sequence[Path],
    output: Path,
    config: EntityConfig,
    verify: bool = False,
) -> Manifest:
    """Tag the questions of a batch and their pseudo-documents.

    Args:
        questions: The batch, as BioASQ hands it out.
        pseudo: JSONL files of pseudo-documents; may be none.
        output: A JSONL file of :class:`~hybrid_ir.records.Tagged`: each question, then its texts.
        config: Settings.
        verify: Hash inputs and artefact instead of trusting sizes and time stamps.

    Raises:
        InputError: a model is missing, or the texts are not of this batch.
    """
    refuse_to_write(output)
    tagger = open_tagger(config)

    def work(_: str) -> dict[str, Any]:
        batch = read_questions(questions)
        texts, left_out = texts_of(batch, pseudo)
        places = list(_places(batch, texts))
        found = tagger.tag(text for _, _, _, text in places)
        bar = watched(found, "entities", "texts", len(places))
        tagged = [
            Tagged(question_id, generator, sample, names)
            for (question_id, generator, sample, _), names in zip(places, bar, strict=True)
        ]
        write_jsonl(output, tagged)
        return {**_counts(tagged), "of_other_questions": left_out}

    stage = Stage("entities", 1, _Tagging(tagger.identity), _inputs(questions, pseudo))
    return run_stage(stage, output, work, verify)


def expand(
    questions: Path,
    pseudo: Sequence[Path],
    output: Path,
    config: ExpansionConfig,
    verify: bool = False,
) -> Manifest:
    """Make queries of questions and their pseudo-documents.

    The entities, where any are needed, are an artefact of their own beside the queries.

    Args:
        questions: The batch, as BioASQ hands it out.
        pseudo: JSONL files of pseudo-documents.
        output: A JSONL file of :class:`~hybrid_ir.records.Query`, in the questions' order.
        config: Settings.
        verify: Hash inputs and artefact instead of trusting sizes and time stamps.

    Raises:
        InputError: the texts are not of this batch, or a generator that is named wrote none.
    """
    refuse_to_write(output)
    inputs = _inputs(questions, pseudo)
    tagged = None
    if config.needs_entities:
        tagged = inputs["entities"] = beside(output, "entities")
        if tagged.exists() and not read_manifest(tagged):
            raise InputError(f"{tagged}: would be overwritten, and is not ours: move it away")
        entities(questions, pseudo, tagged, config.entities, verify)

    def work(_: str) -> dict[str, Any]:
        batch = read_questions(questions)
        texts, left_out = texts_of(batch, pseudo)
        _refuse_generators(texts, config)
        found = by_text(read_jsonl(tagged, Tagged)) if tagged else {}
        queries: list[Query] = []
        clauses: dict[str, dict[str, list[Clause]]] = {}
        for question in batch:
            given = question, texts[question.id], found.get(question.id, {}), config
            queries += expanded(*given)
            clauses[question.id] = added(*given)
        write_jsonl(output, queries)
        counts = {"questions": len(batch), "queries": len(queries), "of_other_questions": left_out}
        return {**counts, **_gaps(batch, texts, clauses, config), **_empty(batch, queries)}

    settings = replace(config, entities=EntityConfig())  # they are an input
    return run_stage(Stage("expand", 1, settings, inputs), output, work, verify)


def texts_of(batch: Sequence[Question], paths: Iterable[Path]) -> tuple[Texts, int]:
    """Read pseudo-documents by question.

    Returns:
        The texts of the batch by question id, and how many are of other questions and left out.

    Raises:
        InputError: a file has none of the batch's questions; or texts without a generator, with a
            weight outside 0 to 1, or of which (question, generator, sample) another one stands
            there already, all in one message.
    """
    texts: Texts = defaultdict(list)
    wanted = {question.id for question in batch}
    places: dict[tuple[str, str, int], str] = {}
    faults: list[str] = []
    left_out = 0
    for path in paths:
        mine, others = _read(path, wanted)
        left_out += others
        for place, text in mine:
            key = (text.question_id, text.generator, text.sample)
            faults += [f"{place}: {fault}" for fault in _faults(text, places.get(key))]
            places.setdefault(key, place)
            texts[text.question_id].append(text)
    if faults:
        more = [f"and {len(faults) - MOST_FAULTS} more"] if len(faults) > MOST_FAULTS else []
        raise InputError.of_all(
            "these pseudo-documents cannot be used:", [*faults[:MOST_FAULTS], *more]
        )
    return texts, left_out


def _read(path: Path, wanted: Container[str]) -> tuple[list[tuple[str, PseudoDocument]], int]:
    """Give a file's texts of some questions, each with its place, and how many others it has."""
    every = [(f"{path}:{line}", text) for line, text in _lines(path)]
    mine = [(place, text) for place, text in every if text.question_id in wanted]
    others = len(every) - len(mine)
    if not mine:
        what = "texts for none of the questions: is it the same batch?" if every else "no texts"
        raise InputError(f"{path}: has {what}")
    if others:
        log.warning("%s: left out %s of other questions", path, counted(others, "text"))
    return mine, others


def _lines(path: Path) -> Iterator[tuple[int, PseudoDocument]]:
    try:
        yield from read_jsonl_lines(path, PseudoDocument)
    except InputError as error:
        if "not a PseudoDocument" not in str(error):
            raise
        raise InputError(
            f"{error}; expected what generate pseudo writes (of texts in another form, too, with"
            " provider: recorded)"
        ) from error


def _faults(text: PseudoDocument, first: str | None) -> Iterator[str]:
    """Say what is wrong with a text; ``first`` is where the same one stands already."""
    if first:
        yield (
            f"question {text.question_id} has sample {text.sample} of {text.generator!r} twice"
            f" (first in {first}): leave one out"
        )
    if not text.generator.strip() or not text.generator.isprintable():
        yield f"question {text.question_id}: expected a generator's name, got {text.generator!r}"
    if text.sample < 0:
        yield f"question {text.question_id}: expected a sample of 0 or more, got {text.sample}"
    if not 0 <= text.weight <= 1:
        yield f"question {text.question_id}: expected a weight from 0 to 1, got {text.weight}"


@dataclass(frozen=True, slots=True)
class _Tagging:
    """What decides the entities."""

    tagger: Identity


def _inputs(questions: Path, pseudo: Sequence[Path]) -> dict[str, Path]:
    numbered = enumerate(pseudo, start=1)
    return {"questions": questions, **{f"texts {number}": path for number, path in numbered}}


def _places(batch: Sequence[Question], texts: Texts) -> Iterator[tuple[str, str, int, str]]:
    """Yield (question id, generator, sample, text) of all that is tagged."""
    for question in batch:
        yield (question.id, *QUESTION_KEY, question.body)
        for text in texts[question.id]:
            yield question.id, text.generator, text.sample, text.text


def _counts(tagged: Sequence[Tagged]) -> dict[str, int]:
    empty = sum(not text.entities for text in tagged)
    if empty:
        log.warning("%d of %s have no entity", empty, counted(len(tagged), "text"))
    names = sum(len(text.entities) for text in tagged)
    return {"texts": len(tagged), "entities": names, "without_entities": empty}


def _refuse_generators(texts: Texts, config: ExpansionConfig) -> None:
    """Refuse the name of a generator that has written nothing: most likely it is misspelt."""
    there = sorted({text.generator for of_question in texts.values() for text in of_question})
    if unknown := sorted({*config.named_generators}.difference(there)):
        expected = f"some of {', '.join(there)}" if there else "none (there are no texts)"
        raise InputError(f"generators: expected {expected}, got {', '.join(unknown)}")
    if config.fused and QUESTION in there:
        raise InputError(
            f"generators: expected another name than {QUESTION!r}, which with fused=true is that of"
            " the query of the question alone"
        )


def _gaps(
    batch: Sequence[Question],
    texts: Texts,
    clauses: Mapping[str, Mapping[str, Sequence[Clause]]],
    config: ExpansionConfig,
) -> dict[str, int]:
    """Report and count questions that are not expanded as the others are.

    Args:
        batch: The questions.
        texts: Their texts.
        clauses: What each generator's texts add to a question.
        config: Settings.
    """
    there = {text.generator for of_question in texts.values() for text in of_question}
    gaps: dict[str, list[str]] = {
        "without_texts": [], "with_texts_that_add_nothing": [], "lacking_a_generator": [],
    }  # fmt: skip
    for question in batch:
        wanted = set(config_of(question.type, config).generators) or there
        adding = {name for name, found in clauses[question.id].items() if found}
        if not texts[question.id]:
            gaps["without_texts"].append(question.id)
        elif not adding:
            gaps["with_texts_that_add_nothing"].append(question.id)
        elif wanted - adding:
            gaps["lacking_a_generator"].append(question.id)
    return {what: _reported(what, ids, batch) for what, ids in gaps.items()}


def _empty(batch: Sequence[Question], queries: Iterable[Query]) -> dict[str, int]:
    """Report and count questions that ask for nothing."""
    ids = list(dict.fromkeys(query.question_id for query in queries if not query.clauses))
    what = "with_an_empty_query"
    return {what: _reported(what, ids, batch)}


def _reported(what: str, ids: Sequence[str], batch: Sequence[Question]) -> int:
    if ids:
        which = what.replace("_", " ")
        log.warning("%d of %d questions %s (first: %s)", len(ids), len(batch), which, ids[0])
    return len(ids)
