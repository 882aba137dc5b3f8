"""Re-rank a run: its first documents are scored anew, by one model or by a cascade."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any

from hybrid_ir.bioasq.questions import read_questions
from hybrid_ir.errors import IncompleteError, InputError
from hybrid_ir.files import remove
from hybrid_ir.manifests import Manifest, Stage, run_stage
from hybrid_ir.pipeline.expansion import texts_of
from hybrid_ir.pipeline.growing import growing_run
from hybrid_ir.pipeline.processes import Team, team
from hybrid_ir.pipeline.progress import progress, versions
from hybrid_ir.pubmed.store import DocumentStore
from hybrid_ir.records import PseudoDocument, Question, Ranking, Run
from hybrid_ir.rerank.cache import ScoreCache, open_scores
from hybrid_ir.rerank.cascade import Pool, cascade, finished
from hybrid_ir.rerank.models import model_folder
from hybrid_ir.rerank.precision import memory_faults
from hybrid_ir.rerank.scorers import open_scorer
from hybrid_ir.rerank.settings import RerankConfig, ScorerConfig
from hybrid_ir.retrieval.index import open_store
from hybrid_ir.trec import format_ranking, read_run, refuse_blanks, write_run
from hybrid_ir.wording import counted

log = logging.getLogger(__name__)

_AT_ONCE = 8
"""Questions after which processes meet, and what they have found is written."""


@dataclass(frozen=True, slots=True)
class _NamedRerank:
    name: str
    config: RerankConfig


@dataclass(frozen=True, slots=True)
class RerankFiles:
    """What is re-ranked.

    Attributes:
        run: A TREC run.
        questions: The BioASQ file with the bodies of its questions.
        index: The index or corpus that holds its documents.
        pseudo: JSONL files of texts that were written for the questions, for scorers that take
            them.
    """

    run: Path
    questions: Path
    index: Path
    pseudo: Sequence[Path] = ()


@dataclass(frozen=True, slots=True)
class _Batch:
    """What is to be re-ranked, and what is known of it."""

    questions: Sequence[Question]
    run: Run
    store: DocumentStore
    written: Mapping[str, Sequence[PseudoDocument]]


def rerank(
    files: RerankFiles, output: Path, name: str, config: RerankConfig, verify: bool = False
) -> Manifest | None:
    """Re-rank a run; interrupted, the same call goes on where it stopped.

    Started by ``accelerate launch`` or ``torchrun`` in several processes, each does its share of
    the questions and the first writes.

    Args:
        files: What is re-ranked.
        output: The TREC run of the new rankings.
        name: Its name, the last column.
        config: Settings.
        verify: Hash inputs and artefact instead of trusting sizes and time stamps.

    Returns:
        The manifest; None in all processes but the first.

    Raises:
        InputError: files or models cannot be used, or do not belong together.
        IncompleteError: some questions could not be re-ranked. A run that has them as the first
            stage ranked them lies beside the output.
    """
    here = team()
    inputs = _inputs(files, config)
    refuse_blanks([name])
    refuse_overlaps(inputs, output, config.cache)
    if not here.leads:
        if key := here.told(""):
            _work(files, output, name, config, here, key)
        return None
    told = False

    def work(key: str) -> dict[str, Any]:
        nonlocal told
        told = True
        return _work(files, output, name, config, here, here.told(key))

    stage = Stage("rerank", 1, _NamedRerank(name, _deciding(config)), inputs)
    try:
        return run_stage(stage, output, work, verify)
    finally:
        if not told:
            here.told("")


def _scorers(config: RerankConfig) -> Iterator[tuple[str, str, ScorerConfig]]:
    for stage, settings in config.stages.items():
        for name, scorer in settings.scorers.items():
            yield stage, name, scorer


def _inputs(files: RerankFiles, config: RerankConfig) -> dict[str, Path]:
    """Give what decides the ranking by its role: files, and the folders of the models."""
    inputs = {"run": files.run, "questions": files.questions, "index": files.index}
    if config.takes_texts and not files.pseudo:
        raise InputError("with_texts needs pseudo-documents: --pseudo FILE")
    if files.pseudo and not config.takes_texts:
        raise InputError(
            "pseudo-documents are given, but no scorer takes them (a bi_encoder's with_texts=true)"
        )
    inputs |= {f"pseudo {number}": path for number, path in enumerate(files.pseudo, start=1)}
    for stage, name, scorer in _scorers(config):
        if scorer.model:
            inputs[f"model {stage}.{name}"] = model_folder(scorer.model, scorer.revision)
    return inputs


def refuse_overlaps(inputs: Mapping[str, Path], output: Path, cache: Path | None) -> None:
    """Refuse to write over an input, or into a folder that counts as changed by it then.

    Args:
        inputs: Role -> file or folder.
        output: The run that is made; an incomplete one may be written beside it.
        cache: Another file that is written.

    Raises:
        InputError: naming every overlap.
    """
    made = {"output": output, "the incomplete run": incomplete_of(output)}
    if cache:
        made["cache"] = cache.expanduser()
    places = {what: path.resolve() for what, path in made.items()}
    faults = [
        f"{made[what]} ({what}) is the input {role}: name another"
        for what, place in places.items()
        for role, path in inputs.items()
        if path.resolve() == place
    ]
    faults += [
        f"{made[what]} ({what}) lies in {path}, an input ({role}): name another folder"
        for what, place in places.items()
        for role, path in inputs.items()
        if what != "the incomplete run" and path.is_dir() and path.resolve() in place.parents
    ]
    if cache and places["cache"] in (places["output"], places["the incomplete run"]):
        faults.append(f"{cache} is both cache and output: name another")
    if faults:
        raise InputError.of_all("what is written must lie apart from what is read:", faults)


def _deciding(config: RerankConfig) -> RerankConfig:
    """Leave out what changes no ranking; models are known by their content."""
    stages = {
        name: replace(
            stage,
            scorers={
                key: replace(
                    scorer,
                    model="model" if scorer.model else "",
                    revision="",
                    device="",
                    tokens_at_once=0,
                )
                for key, scorer in stage.scorers.items()
            },
        )
        for name, stage in config.stages.items()
    }
    return replace(config, stages=stages, cache=None, threads=0)


def _work(
    files: RerankFiles, output: Path, name: str, config: RerankConfig, here: Team, key: str
) -> dict[str, Any]:
    """Do this process's share; the first one writes and gives what the manifest records."""
    if config.threads:
        import torch

        torch.set_num_threads(config.threads)
    depth = next(iter(config.stages.values())).depth if config.rest == "drop" else None
    with ExitStack() as stack:
        store = stack.enter_context(closing(open_store(files.index)))
        questions = read_questions(files.questions)
        written, others = texts_of(questions, files.pseudo)
        if others:
            log.info("%s of other questions left out", counted(others, "pseudo-document"))
        batch = _Batch(questions, read_run(files.run, depth), store, written)
        found = [one for one in batch.questions if batch.run.rankings.get(one.id)]
        if not found:
            raise InputError(
                f"{files.run}: has none of the questions of {files.questions}: is it that batch?"
            )
        cache = stack.enter_context(open_scores(config.cache)) if config.cache else None
        faults: dict[str, str] = {}
        growing = stack.enter_context(growing_run(output, key)) if here.leads else None
        done = growing[1] if growing else set()
        todo = here.told([one.id for one in found if one.id not in done])
        if len(todo) < len(found):
            log.info("%d of %d questions were re-ranked before", len(found) - len(todo), len(found))
        with memory_faults(), progress("rerank", "questions", len(todo)) as bar:
            for question_id, ranking in _rankings(batch, todo, config, cache, here, faults):
                if growing:
                    growing[0].write(format_ranking(question_id, ranking, name))
                    growing[0].flush()
                    bar.update()
        if faults and growing:
            _refuse(faults, Path(growing[0].name), output, batch, name)
        info = {"questions": len(found), "without_documents": len(batch.questions) - len(found)}
        scores = cache.counts() if cache else {}
    if here.leads:
        remove(incomplete_of(output))
    if info["without_documents"]:
        log.warning("%s: no documents for %d questions", files.run, info["without_documents"])
    return {**info, **scores, **versions()}


def _rankings(
    batch: _Batch,
    todo: Sequence[str],
    config: RerankConfig,
    cache: ScoreCache | None,
    here: Team,
    faults: dict[str, str],
) -> Iterator[tuple[str, Ranking]]:
    """Give the new ranking of every question that has no fault, whichever process made it."""
    if not todo:
        return
    scorers: dict[str, dict[str, Any]] = {stage: {} for stage in config.stages}
    for stage, name, scorer in _scorers(config):
        scorers[stage][name] = open_scorer(scorer, cache)
    mine: dict[str, str] = {}
    bodies = {question.id: question.body for question in batch.questions}
    depth = next(iter(config.stages.values())).depth
    pools = _pools(batch, here.share(todo), bodies, depth, mine.__setitem__)
    stream = cascade(pools, config, scorers, mine.__setitem__)
    most = -(-len(todo) // here.count)
    for _ in range(-(-most // _AT_ONCE)):
        made = [
            (pool.question_id, finished(pool, config.rest)) for pool in islice(stream, _AT_ONCE)
        ]
        yield from here.gathered(made)
    faults.update(here.gathered(list(mine.items())))


def _pools(
    batch: _Batch,
    todo: Sequence[str],
    bodies: Mapping[str, str],
    depth: int,
    fault: Callable[[str, str], None],
) -> Iterator[Pool]:
    """Look up the texts of question after question, of the documents that the first stage sees."""
    empty: list[tuple[str, str]] = []
    for question_id in todo:
        if not _is_text(bodies[question_id]):
            fault(question_id, "its body holds half a surrogate pair, which is no text: mend it")
            continue
        ranking = batch.run.rankings[question_id]
        documents = batch.store.find(item.item for item in ranking[:depth])
        texts = {document_id: document.text for document_id, document in documents.items()}
        if unknown := [item.item for item in ranking[:depth] if item.item not in texts]:
            fault(
                question_id,
                f"{counted(len(unknown), 'document')} not in {batch.store.path} (first:"
                f" {unknown[0]}): give the index that the run was searched with",
            )
            continue
        empty += [(question_id, name) for name, text in texts.items() if not text.strip()]
        written = tuple((one.text, one.weight) for one in batch.written.get(question_id, ()))
        yield Pool(question_id, bodies[question_id], ranking, texts, written)
    if empty:
        log.warning(
            "%s without any text, scored as empty passages (first: question %s, document %s)",
            counted(len(empty), "document"),
            *empty[0],
        )


def _is_text(text: str) -> bool:
    """Say whether a text can be encoded; JSON may hold what cannot."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _refuse(
    faults: Mapping[str, str], partial: Path, output: Path, batch: _Batch, name: str
) -> None:
    """Write what there is under another name, and say what is missing.

    Raises:
        IncompleteError: always.
    """
    made = read_run(partial).rankings if partial.stat().st_size else {}
    whole = (
        (one.id, made.get(one.id) or batch.run.rankings[one.id])
        for one in batch.questions
        if one.id in made or one.id in faults
    )
    incomplete = incomplete_of(output)
    write_run(incomplete, whole, name)
    lines = [f"  question {question_id}: {why}" for question_id, why in faults.items()]
    raise IncompleteError(
        f"{counted(len(faults), 'question')} could not be re-ranked, {len(made)} could;"
        f" {incomplete} has all, these as the run given ranks them. The same command does only what"
        " is missing:\n" + "\n".join(lines)
    )


def incomplete_of(output: Path) -> Path:
    """Give the place of a run that lacks something: ``x.trec`` -> ``x.incomplete.trec``."""
    name, dot, ending = output.name.partition(".trec")
    return output.with_name(f"{name}.incomplete{dot}{ending}")
