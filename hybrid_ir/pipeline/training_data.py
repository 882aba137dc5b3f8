"""Golden files, synthetic pairs, pseudo-documents and a target -> training data."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Any

from hybrid_ir.bioasq.questions import read_questions
from hybrid_ir.errors import InputError
from hybrid_ir.files import read_jsonl, replacing
from hybrid_ir.manifests import Manifest, Stage, run_stage
from hybrid_ir.pipeline.expansion import texts_of
from hybrid_ir.pipeline.progress import versions, watched
from hybrid_ir.records import (
    Clause,
    PseudoDocument,
    Query,
    Question,
    Ranking,
    SyntheticPair,
    TrainingPair,
)
from hybrid_ir.retrieval.bm25 import SearchConfig, Searcher
from hybrid_ir.retrieval.index import open_store
from hybrid_ir.trec import read_run
from hybrid_ir.wording import counted
from training.asked import Asked, questions_to_train_on, shuffled
from training.batches import Batch, batches_of, names_of, refuse_unknown
from training.data import Material, Scores, stage_one, stage_two
from training.data_config import TrainDataConfig
from training.leaks import Guard, admitted_files, guard_of, read_goldens, without_leaks
from training.near_duplicates import near_questions
from training.negatives import Bm25Mining
from training.passages import Passages, snippet_passages, stored_passages
from training.saving import require_datasets, save_pairs

log = logging.getLogger(__name__)

STAGE_1, STAGE_2 = "stage1", "stage2"
ON_TARGET_TEXTS = "trains on texts written for the target questions"
"""What is said of stage 2, whose scores are not those of a model that never saw the questions."""


@dataclass(frozen=True, slots=True)
class Sources:
    """What training data is made from.

    Attributes:
        gold: Golden or training files of any batches: those that may not be used are left out.
        target: Question files of the batches that are to be answered.
        synthetic: JSONL files of synthetic pairs.
        pseudo: JSONL files of the target questions' pseudo-documents; with them there is a stage 2.
        index: An index folder or PubMed corpus, for texts and for mining.
        run: A TREC run of the training questions, the target's or both, to mine negatives from.
        teacher: A TREC run with another model's scores, to be learnt from.
    """

    gold: Sequence[Path]
    target: Sequence[Path]
    synthetic: Sequence[Path] = ()
    pseudo: Sequence[Path] = ()
    index: Path | None = None
    run: Path | None = None
    teacher: Path | None = None

    def inputs(self, gold: Sequence[Path]) -> dict[str, Path]:
        """Give role -> file, with those golden files that are used."""
        several = {
            "gold": gold,
            "target": self.target,
            "synthetic": self.synthetic,
            "pseudo": self.pseudo,
        }
        one = {"index": self.index, "run": self.run, "teacher": self.teacher}
        numbered = {
            f"{role} {number}": path
            for role, paths in several.items()
            for number, path in enumerate(paths, start=1)
        }
        return {**numbered, **{role: path for role, path in one.items() if path}}


@dataclass(frozen=True, slots=True)
class _Plan:
    """What is used of what is given: ``left_out`` holds the other golden files' names."""

    guard: Guard
    targets: tuple[Question, ...]
    gold: list[Path]
    batches: Mapping[Path, Batch]
    left_out: list[str]

    @property
    def later(self) -> list[str]:
        """The batches in use that are no older than all targets."""
        first = min(self.guard.batches, default=None)
        used = [self.batches[path] for path in self.gold]
        return names_of(batch for batch in used if first is not None and batch > first)


def train_data(
    sources: Sources, output: Path, config: TrainDataConfig, verify: bool = False
) -> Manifest:
    """Make the training data of a cross-encoder, none of it leaked from the target.

    Args:
        sources: Where it comes from.
        output: A folder of two Hugging Face datasets, ``stage1`` and, with pseudo-documents,
            ``stage2``: their columns are the fields of :class:`~hybrid_ir.records.TrainingPair` but
            the stage, and the rows of one question stand together.
        config: Settings.
        verify: Hash inputs and artefact instead of trusting sizes and time stamps.

    Raises:
        InputError: settings and files do not go together, no golden file is old enough, a run is of
            other questions, or no question has both a positive and a negative.
    """
    require_datasets()
    _refuse_mismatches(sources, config)
    _refuse_to_replace(output)
    plan = _plan(sources, config)
    dated = replace(
        config,
        before=str(plan.guard.before),
        batches={path.name: str(batch) for path, batch in plan.batches.items()},
    )

    def work(key: str) -> dict[str, Any]:
        with replacing(output) as folder:
            return {**_make(sources, plan, config, folder, key), **versions()}

    stage = Stage("train-data", 1, dated, sources.inputs(plan.gold))
    return run_stage(stage, output, work, verify)


def _refuse_mismatches(sources: Sources, config: TrainDataConfig) -> None:
    """Refuse files that no setting uses, and settings that lack their file."""
    first, second = config.negatives, config.stage2.negatives
    searched = bool(first.bm25.count or second.bm25.count)
    mined = bool(first.run.count or second.run.count)
    faults = (
        (not sources.gold, "expected golden files to train on: --gold FILE"),
        (not sources.target, "expected the questions that are to be answered: --target FILE"),
        (
            searched and not sources.index,
            "negatives from BM25 need an index to search: --index FOLDER",
        ),
        (
            config.texts == "index" and not sources.index,
            "texts=index needs the index that holds them: --index FOLDER",
        ),
        (mined and not sources.run, "negatives from a run need one: --run RUN"),
        (
            bool(sources.run) and not mined,
            "a run is given, but no negatives are wanted from it: say how many, as in"
            " negatives.run.count=1",
        ),
    )
    if found := [fault for wrong, fault in faults if wrong]:
        raise InputError.of_all("files and settings do not go together:", found)


def _refuse_to_replace(output: Path) -> None:
    """Only older training data, or an empty folder, makes way."""
    ours = not output.exists() or (output / STAGE_1 / "dataset_info.json").is_file()
    if not ours and not (output.is_dir() and not any(output.iterdir())):
        raise InputError(
            f"{output}: expected a new folder or training data to replace, and it is neither;"
            " give another name"
        )


def _plan(sources: Sources, config: TrainDataConfig) -> _Plan:
    """Decide which golden files are used, and say which are not."""
    dated = batches_of([*sources.gold, *sources.target], config.batches)
    golden = refuse_unknown({path: dated[path] for path in sources.gold})
    every = chain.from_iterable(map(read_questions, sources.target))
    targets = tuple({question.id: question for question in every}.values())
    guard = guard_of(targets, (dated[path] for path in sources.target), config.first_unused)
    used = admitted_files(golden, guard)
    left_out = [path.name for path in sources.gold if path not in used]
    plan = _Plan(guard, targets, used, golden, left_out)
    if left_out:
        log.info(
            "left out %s: only batches before %s are used, and none of the target's: %s",
            counted(len(left_out), "golden file"), guard.before, ", ".join(left_out),
        )  # fmt: skip
    if plan.later:
        log.warning(
            "trains on %s, which are no older than all of the target: right for choosing settings,"
            " not for a test day", ", ".join(plan.later),
        )  # fmt: skip
    return plan


def _make(
    sources: Sources, plan: _Plan, config: TrainDataConfig, folder: Path, key: str
) -> dict[str, Any]:
    """Write both stages and give what is to be recorded."""
    dropped = Counter[str]()
    goldens = without_leaks(read_goldens(plan.gold), plan.guard, dropped)
    pairs = chain.from_iterable(read_jsonl(path, SyntheticPair) for path in sources.synthetic)
    asked = questions_to_train_on(goldens, pairs, plan.guard, config.seed, dropped)
    texts, others = texts_of(plan.targets, sources.pseudo)
    with ExitStack() as opened:
        if config.texts == "index" and sources.index:
            store = opened.enter_context(closing(open_store(sources.index)))
            passages = stored_passages(sources.index, store)
        else:
            passages = snippet_passages(golden.gold for golden in goldens)
        material = _material(sources, plan, config, asked, passages, dropped)
        counts = {STAGE_1: _write_first(folder, asked, sources, material, key)}
        if sources.pseudo:
            counts[STAGE_2] = _write_second(folder, plan, texts, sources, material, key)
    for reason, number in sorted(dropped.items()):
        log.info("%s: %s", reason, f"{number:,}")
    return {
        **counts,
        "pseudo_documents_of_other_questions": others,
        "golden_files_left_out": plan.left_out,
        "batches": names_of(plan.batches[path] for path in plan.gold),
        "no_older_than_the_target": plan.later,
        "left_out_or_short": dict(sorted(dropped.items())),
    }


def _material(
    sources: Sources,
    plan: _Plan,
    config: TrainDataConfig,
    asked: Sequence[Asked],
    passages: Passages,
    dropped: Counter[str],
) -> Material:
    bodies = {question.id: question.body for question in asked}
    bodies |= {question.id: question.body for question in plan.targets}
    first, second = config.negatives.run, config.stage2.negatives.run
    run: Mapping[str, Ranking] = {}
    if sources.run:
        rankings = read_run(sources.run, max(first.last, second.last)).rankings
        if first.count:
            _refuse_other_run(sources.run, rankings, asked, 1, dropped)
        if second.count and sources.pseudo:
            _refuse_other_run(sources.run, rankings, plan.targets, 2, dropped)
        run = {id_: ranking for id_, ranking in rankings.items() if id_ in bodies}
    return Material(
        config,
        passages,
        near_questions(bodies, config.filter.near_question),
        {question.id: question.documents for question in asked},
        run,
        _scores(sources.teacher, asked, plan.targets, dropped),
        dropped,
    )


def _refuse_other_run(
    path: Path,
    rankings: Mapping[str, object],
    questions: Sequence[Asked] | Sequence[Question],
    stage: int,
    dropped: Counter[str],
) -> None:
    """Refuse a run of other questions; count those that it lacks."""
    lacking = sum(question.id not in rankings for question in questions)
    if lacking == len(questions):
        raise InputError(
            f"{path}: has none of the {counted(lacking, 'question')} of stage {stage}:"
            " give a run of those"
        )
    if lacking:
        dropped[f"question of stage {stage} that {path.name} lacks"] += lacking


def _scores(
    teacher: Path | None,
    asked: Sequence[Asked],
    targets: Sequence[Question],
    dropped: Counter[str],
) -> Scores:
    """Read a teacher's scores of the questions in use."""
    if teacher is None:
        return {}
    rankings = read_run(teacher).rankings
    _refuse_other_run(teacher, rankings, asked, 1, dropped)
    ids = {question.id for question in asked} | {question.id for question in targets}
    return {id_: dict(ranking) for id_, ranking in rankings.items() if id_ in ids}


def _write_first(
    folder: Path, asked: Sequence[Asked], sources: Sources, material: Material, key: str
) -> dict[str, int]:
    rankings = _rankings(sources.index, material.config.negatives.bm25, asked)
    bar = watched(rankings, "train-data", "questions", len(asked))
    return _write(folder / STAGE_1, stage_one(asked, bar, material), material, key)


def _write_second(
    folder: Path,
    plan: _Plan,
    texts: Mapping[str, Sequence[PseudoDocument]],
    sources: Sources,
    material: Material,
    key: str,
) -> dict[str, Any]:
    log.warning("stage 2 %s: say so beside its scores", ON_TARGET_TEXTS)
    mining = material.config.stage2.negatives.bm25
    targets = shuffled(plan.targets, material.config.seed)
    rankings = _rankings(sources.index, mining, targets)
    pairs = stage_two(targets, texts, rankings, material)
    counts = _write(folder / STAGE_2, pairs, material, key)
    return {"says": ON_TARGET_TEXTS, **counts}


def _rankings(
    index: Path | None, mining: Bm25Mining, questions: Sequence[Asked] | Sequence[Question]
) -> Iterator[Ranking]:
    """Search for each question, down to the last rank; empty where nothing is mined."""
    if not mining.count or index is None:
        yield from (() for _ in questions)
        return
    config = SearchConfig(hits=mining.last, k1=mining.k1, b=mining.b, threads=1)
    queries = (Query(question.id, (Clause(question.body),)) for question in questions)
    with Searcher(index, config) as searcher:
        for _, ranking in searcher.search_all(queries):
            yield ranking


def _write(
    folder: Path, pairs: Iterable[TrainingPair], material: Material, key: str
) -> dict[str, int]:
    """Write a stage, and count its pairs by source."""
    counts = Counter[str]()
    ids: set[str] = set()

    def counting() -> Iterator[TrainingPair]:
        for pair in pairs:
            kind = "positives" if pair.label > 0 else "negatives"
            counts.update((f"{kind}_{pair.source}", "pairs", kind))
            if pair.teacher is not None:
                counts["with_a_teacher"] += 1
            ids.add(pair.question_id)
            yield pair

    save_pairs(folder, counting(), f"{key[:32]}{folder.name[-1]}")
    if not ids:
        faults = [f"{reason}: {n:,}" for reason, n in sorted(material.dropped.items())]
        raise InputError.of_all(
            f"{folder.name}: no question has both a positive and a negative:", faults
        )
    found = {"questions": len(ids), **dict(sorted(counts.items()))}
    log.info("%s: %s", folder.name, ", ".join(f"{name} {n:,}" for name, n in found.items()))
    return found
