"""What can be wrong before a stage of the training begins, said all at once."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from hybrid_ir.errors import InputError
from training.length_batches import Rows, Share
from training.losses import RELEVANT
from training.settings import StageConfig, TrainConfig
from training.tokens import Pairs

Flags: TypeAlias = NDArray[np.bool_]
"""Whether something holds for each pair."""


def share_of(config: TrainConfig, stage: StageConfig, rank: int, processes: int) -> Share:
    """Say what one process does of each batch.

    Raises:
        InputError: the batch cannot be shared out in equal parts.
    """
    each = stage.group_size
    groups = config.batch_size // each
    mine = groups // processes
    at_once = min(config.micro_batch // each, mine) if config.micro_batch else mine
    if not mine or not at_once or groups % (processes * at_once):
        lists = f" in lists of {each}" if each > 1 else ""
        raise InputError(
            f"batch_size: expected a multiple of processes x micro_batch{lists}, got"
            f" {config.batch_size} pairs for {processes} x {config.micro_batch or 'equal parts'}"
        )
    return Share(rank, processes, at_once, groups // (processes * at_once))


def refuse_unusable(folder: Path, pairs: Pairs, rows: Rows, stage: StageConfig) -> None:
    """Raise an InputError where a loss cannot learn from what a stage takes of the data.

    Args:
        folder: Where the data is from.
        pairs: All of it.
        rows: What the stage takes.
        stage: Its loss.
    """
    if faults := list(_faults(pairs, rows, stage)):
        raise InputError.of_all(f"{folder}: {stage.loss} cannot be trained on these pairs:", faults)


def _faults(pairs: Pairs, rows: Rows, stage: StageConfig) -> Iterator[str]:
    known = sorted(set(pairs.sources.tolist()))
    if unknown := sorted(set(stage.mix) - set(known)):
        yield f"mix: expected some of {', '.join(known)}, got {', '.join(unknown)}"
    if not len(rows):
        yield "mix: leaves no pair"
        return
    positive = pairs.labels[rows] > RELEVANT
    for name, there in (("positives", positive.any()), ("negatives", (~positive).any())):
        if not there:
            yield f"there are no {name}: nothing is to be told apart"
    if stage.loss != "bce" and positive.any() and (~positive).any():
        yield from _incomplete(pairs, rows, positive, stage)
    if not pairs.weights[rows].any():
        yield "all weights are 0"
    if stage.loss == "margin_mse" and (missing := int(np.isnan(pairs.teacher[rows]).sum())):
        yield f"{missing:,} of {len(rows):,} pairs have no teacher score"


def _incomplete(pairs: Pairs, rows: Rows, positive: Flags, stage: StageConfig) -> Iterator[str]:
    """Name questions that have passages of one kind only."""
    questions = pairs.questions[rows]
    with_positive, with_negative = set(questions[positive]), set(questions[~positive])
    if not with_positive & with_negative:
        yield "no question has both a positive and a negative"
    elif stage.incomplete == "refuse":
        sides = (
            ("positive", with_negative, with_positive),
            ("negative", with_positive, with_negative),
        )
        for name, there, needed in sides:
            lacking = there - needed
            if lacking:
                yield (
                    f"{len(lacking):,} of {len(with_positive | with_negative):,} questions have no"
                    f" {name} (first: {pairs.names[min(lacking)]}): mend the data, or set"
                    " incomplete=leave_out for this stage"
                )
