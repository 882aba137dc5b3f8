"""Train a cross-encoder, in one stage or two, on what ``hybrid-ir train-data`` made.

    hybrid-ir train --config configs/cross_encoder.yaml                              # one process
    accelerate launch -m training.cross_encoder --config configs/cross_encoder.yaml  # GPUs
    torchrun --nproc_per_node 2 -m training.cross_encoder --config ... processes=2   # CPUs

On CPUs ``accelerate launch --cpu --num_processes 2`` starts one process and does not say so;
``processes=2`` refuses to run as any other number. Kill it at any moment: the same command goes on
from the last whole checkpoint, and on a CPU it ends with the very same parameters.

:func:`train` decides whether there is anything to do; :func:`fit` is one stage, from top to bottom:
data, batches, model, loss, the loop, what is kept.
"""

from __future__ import annotations

import argparse
import json
import logging
import math
import os
import sys
import time
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import torch

from hybrid_ir.config import load_config
from hybrid_ir.errors import InputError
from hybrid_ir.files import remove, replacing, writing
from hybrid_ir.hub import folder_of
from hybrid_ir.manifests import Manifest, Stage, read_manifest, run_stage
from hybrid_ir.tracking import Tracker, TrackingConfig, open_tracker
from training import checkpoints
from training.agreement import agreed_fingerprint
from training.backbone import add_lora, load_backbone, merge_lora, refuse_missing_packages
from training.card import licence_of, model_card, shown
from training.checks import refuse_unusable, share_of
from training.development import COLUMNS, Development, open_development
from training.length_batches import (
    Batches,
    Collator,
    Rows,
    Share,
    groups_of,
    loader,
    mixed,
    plan,
)
from training.progress import ProgressLine
from training.settings import StageConfig, TrainConfig
from training.tokens import Pairs, read_pairs, read_tokens, write_tokens
from training.workplace import workplace

if TYPE_CHECKING:
    from accelerate import PartialState
    from datasets import Dataset

log = logging.getLogger(__name__)

STAGES = ("stage1", "stage2")
METRICS = "metrics.jsonl"


class Taken(NamedTuple):
    """What a stage takes of the data, and its random numbers, some of which are drawn by then."""

    share: Share
    dataset: Dataset
    pairs: Pairs
    rows: Rows
    chance: np.random.Generator


def main(argv: Sequence[str] | None = None) -> int:
    """Train, as one of one or several processes, and give the exit code."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--config", type=Path, metavar="YAML", help="settings from a file")
    parser.add_argument("settings", nargs="*", metavar="KEY=VALUE", help="such as batch_size=64")
    arguments = parser.parse_args(argv)
    first = os.environ.get("RANK", "0") == "0"
    level = logging.INFO if first else logging.ERROR
    logging.basicConfig(level=level, format="%(message)s", stream=sys.stderr)
    try:
        train(load_config(TrainConfig, arguments.config, arguments.settings))
    except InputError as error:
        if first:
            sys.stderr.write(f"training.cross_encoder: {error}\n")
        return 2
    except OSError as error:  # no permission, a full disk
        sys.stderr.write(f"training.cross_encoder: {error.filename or ''}: {error.strerror}\n")
        return 2
    return 0


def train(config: TrainConfig, verify: bool = False) -> Manifest | None:
    """Make the trained model unless it is up to date; every process of a launch calls this.

    Args:
        config: Settings.
        verify: Hash inputs and model instead of trusting sizes and time stamps.

    Returns:
        The model's manifest; None in all processes but the first.

    Raises:
        InputError: settings, data or model cannot be used, the loss is no number any more, or a
            checkpoint cannot be written.
    """
    refuse_missing_packages(lora=config.lora.rank > 0)
    from accelerate import PartialState

    state = PartialState(cpu=config.device == "cpu" or not torch.cuda.is_available())
    if config.processes not in (0, state.num_processes):
        raise InputError(
            f"processes: expected {config.processes}, there are {state.num_processes}; on CPUs"
            f" start them with torchrun --nproc_per_node {config.processes}"
        )
    if not state.is_main_process:
        if key := _announce(""):
            _make(config, key, state)
        return None
    if config.precision == "fp16" and state.device.type == "cpu":
        raise InputError("precision: expected bf16 or float32 on a CPU, got fp16")
    if config.precision == "bf16" and state.device.type == "cpu" and not _has_bfloat16():
        log.warning("this CPU has no bfloat16 of its own: precision=float32 is many times as fast")
    told = False

    def work(key: str) -> dict[str, Any]:
        nonlocal told
        told = True
        return _make(config, _announce(key), state)

    try:
        stage = Stage("train", 1, _decisive(config), _inputs(config))
        return run_stage(stage, config.output, work, verify)
    finally:
        if not told:
            _announce("")


def _has_bfloat16() -> bool:
    """Whether the CPU multiplies matrices of bfloat16 itself."""
    return bool(torch.ops.mkldnn._is_mkldnn_bf16_supported())


def _announce(key: str) -> str:
    """Give what the first process says is to be made; "" for nothing."""
    from accelerate.utils import broadcast_object_list

    content = [key]
    broadcast_object_list(content)
    return content[0]


def _decisive(config: TrainConfig) -> TrainConfig:
    """Give the settings that decide what comes out; inputs are known by their content."""
    nothing = Path()
    there = None if config.development.run is None else nothing
    development = replace(config.development, batch_size=1, run=there, gold=there, index=there)
    model = "" if folder_of(config.model) else config.model
    return replace(
        config,
        data=nothing,
        output=nothing,
        model=model,
        development=development,
        tracking=TrackingConfig(),
        log_every=1,
        keep_checkpoints=2,
        processes=0,
    )


def _inputs(config: TrainConfig) -> dict[str, Path]:
    """Give what the model is made from."""
    development = config.development
    paths = {
        "data": config.data,
        "model": folder_of(config.model),
        "run": development.run,
        "gold": development.gold,
        "index": development.index,
    }
    return {role: path for role, path in paths.items() if path is not None}


def _make(config: TrainConfig, key: str, state: PartialState) -> dict[str, Any]:
    """Train all stages and put the model where it belongs; gives what the manifest records."""
    names = [name for name in STAGES if _is_asked_for(config, name)]
    if not names:
        raise InputError(f"{config.data}: there is no stage to train: stage1.epochs is 0")
    for name in names:  # a fault of the second stage is not to be found after the first
        _taken(config, name, state)
    development = open_development(config.development)
    facts: dict[str, Any] = {}
    with workplace(config.output, key, state) as work, ExitStack() as stack:
        tracker = None
        if state.is_main_process:
            tracker = open_tracker(
                config.tracking,
                work / METRICS,
                config.output.resolve().parent,
                shown(config),
                key[:16],
                _steps_done(work),
            )
            stack.callback(tracker.close)
        offset = 0
        for name in names:
            facts[name] = fit(config, name, work, development, tracker, offset, state)
            offset += facts[name]["steps"]
        if state.is_main_process:
            _save(config, work, names[-1], facts)
            stack.close()
    state.wait_for_everyone()
    return {"stages": facts}


def _is_asked_for(config: TrainConfig, name: str) -> bool:
    there = name == "stage1" or (config.data / name).is_dir()
    return _stage(config, name).epochs > 0 and there


def _stage(config: TrainConfig, name: str) -> StageConfig:
    return config.stage1 if name == "stage1" else config.stage2


def _taken(config: TrainConfig, name: str, state: PartialState) -> Taken:
    """Give what a stage takes of the data; an InputError where it cannot be trained on that."""
    stage = _stage(config, name)
    share = share_of(config, stage, state.process_index, state.num_processes)
    dataset, pairs = read_pairs(config.data / name)
    chance = np.random.default_rng([config.seed, STAGES.index(name)])
    rows = mixed(pairs, stage, chance)
    refuse_unusable(config.data / name, pairs, rows, stage)
    return Taken(share, dataset, pairs, rows, chance)


def fit(
    config: TrainConfig,
    name: str,
    work: Path,
    development: Development | None,
    tracker: Tracker | None,
    offset: int,
    state: PartialState,
) -> dict[str, Any]:
    """Train one stage, going on from where an earlier run was stopped.

    Args:
        config: Settings.
        name: ``stage1`` or ``stage2``.
        work: The folder of what is unfinished; what the stage keeps ends as ``NAME.safetensors``.
        development: The batch that decides which state is kept.
        tracker: Takes metrics, and the development questions where it is to have texts.
        offset: Steps of the stages before.
        state: Which of how many processes this is.

    Returns:
        What came of it, for the manifest and the model card.
    """
    from safetensors.torch import load_model, save_model

    from training.objective import Objective
    from training.trainer import (
        WEIGHTS,
        DevelopmentEvaluator,
        Trainer,
        arguments_of,
        score_with,
    )
    from training.watch import Reports, Watch, best_step, is_over, judgements, state_of

    finished, kept = work / f"{name}.json", work / f"{name}.safetensors"
    if finished.exists():
        facts: dict[str, Any] = json.loads(finished.read_text())
        return facts
    stage = _stage(config, name)

    # the data: what the mix takes of it, in groups that the loss judges together
    share, dataset, pairs, rows, chance = _taken(config, name, state)
    groups = groups_of(rows, pairs, stage, chance)

    # the model: a new one, with what the stage before has kept
    torch.manual_seed(config.seed)
    model = load_backbone(config, state.device)
    if config.lora.rank:
        add_lora(model, config.lora)
    before = work / f"{STAGES[0]}.safetensors"
    if name != STAGES[0] and before.exists():
        load_model(model, before)

    # the batches: planned by length, the same for any number of processes
    started = time.perf_counter()
    if state.is_main_process:
        with checkpoints.saying_when_full(work / f"{name}.tokens"):
            write_tokens(dataset, model.tokenizer, config.max_length, work / f"{name}.tokens")
    state.wait_for_everyone()
    tokenizing = time.perf_counter() - started
    tokens = read_tokens(work / f"{name}.tokens")
    lengths = np.array([tokens.lengths[rows].max() for rows in groups])
    batches = plan(lengths, share.batch, stage, config.window, chance)
    collator = Collator(tokens, pairs, model.tokenizer.pad_token_id or 0, _multiple(state.device))
    turns = loader(Batches(batches, groups, share), len(groups), collator)

    # the loop, from the last whole checkpoint on
    folder = work / name
    last = checkpoints.newest(folder) if state.is_main_process else None
    last = Path(found) if (found := _announce(str(last or ""))) else None
    steps, done = len(batches), checkpoints.step_of(last) if last else 0
    if last:
        log.info("%s: going on from step %d of %d", name, done, steps)
        if (others := checkpoints.processes_of(last)) != state.num_processes:
            log.info(
                "%s: it was written by %d processes, now there are %d: rounding and dropout differ",
                name, others, state.num_processes,
            )  # fmt: skip
    else:
        log.info("%s: %d groups of %d pairs, %d steps", name, len(groups), len(rows), steps)
    each = sum(map(len, groups)) / len(groups) * share.batch
    objective = Objective(model, stage.loss)
    reports = Reports(
        ProgressLine(name, steps, done, each, state.is_main_process), tracker, name, offset
    )
    trainer = Trainer(
        objective,
        arguments_of(config, stage, folder, steps, share.turns, judge_first=last is None),
        dataset,
        turns,
        DevelopmentEvaluator(development, config.development.batch_size) if development else None,
        Watch(objective, reports, config, folder),
        config.keep_checkpoints,
    )
    if last and is_over(stopped := state_of(last), config.patience):
        load_model(model, last / WEIGHTS)  # killed after the last step
        trainer.state = stopped
    else:
        trainer.train(resume_from_checkpoint=str(last) if last else None)
    reports.line.close()
    parameters = agreed_fingerprint(model)

    # what is kept: the best state where there was a judge, otherwise the last
    trained = trainer.state.global_step
    values, best = judgements(trainer.state), best_step(trainer.state) or trained
    judged = {}
    if development:
        of_run = development.judge_run().map
        judged = {"map_of_run": of_run, "map_before": values[0], "map": values[best]}
    facts = {
        "pairs": len(rows),
        "questions": len(set(pairs.questions[rows].tolist())),
        "groups": len(groups),
        "cut_at_max_length": tokens.cut,
        "steps": trained,
        "kept_step": best,
        "loss": _last_loss(trainer.state.log_history),
        **judged,
        "tokenizing_seconds": round(tokenizing, 2),
        "pairs_per_second": round(reports.line.pairs_per_second, 1),
        "processes": state.num_processes,
        "parameters": parameters,
    }
    if judged and judged["map"] < judged["map_before"]:
        log.warning("%s: the best MAP@10 is below that of what it began with", name)
    if state.is_main_process:
        load_model(model, checkpoints.place_of(folder, best) / WEIGHTS)
        if development and tracker and tracker.texts:
            after = development.judge(score_with(model, config.development.batch_size))
            tracker.table(f"{name}/questions", COLUMNS, development.table(after), offset + trained)
        with checkpoints.saying_when_full(kept), replacing(kept) as temporary:
            save_model(model, str(temporary))
        with writing(finished) as file:
            file.write(json.dumps(facts))
        remove(folder)
    state.wait_for_everyone()
    return facts


def _multiple(device: torch.device) -> int:
    """Give what padded lengths are a multiple of: a GPU's matrices like 8."""
    return 1 if device.type == "cpu" else 8


def _last_loss(history: list[dict[str, Any]]) -> float:
    return next((entry["loss"] for entry in reversed(history) if "loss" in entry), math.nan)


def _steps_done(work: Path) -> int:
    """Give the steps that need not be done again."""
    done = 0
    for name in STAGES:
        finished = work / f"{name}.json"
        if finished.exists():
            done += json.loads(finished.read_text())["steps"]
        elif last := checkpoints.newest(work / name):
            done += checkpoints.step_of(last)
    return done


def _save(config: TrainConfig, work: Path, last: str, facts: dict[str, Any]) -> None:
    """Write the model's folder: one that any program loads, with its card and its metrics."""
    from safetensors.torch import load_model

    model = load_backbone(config, torch.device("cpu"))
    adapted = add_lora(model, config.lora) if config.lora.rank else None
    load_model(model, work / f"{last}.safetensors")
    if adapted is not None:
        merge_lora(adapted)
    licence = licence_of(config.model, config.revision)
    with checkpoints.saying_when_full(config.output), replacing(config.output) as folder:
        model.save_pretrained(str(folder), create_model_card=False, safe_serialization=True)
        card = model_card(config, facts, read_manifest(config.data), licence)
        (folder / "README.md").write_text(card, encoding="utf-8")
        (folder / METRICS).write_bytes((work / METRICS).read_bytes())


if __name__ == "__main__":
    sys.exit(main())
