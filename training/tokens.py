"""Training pairs as token ids on disk: written once, mapped into memory by every process."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from hybrid_ir.errors import InputError
from hybrid_ir.records import TrainingPair

if TYPE_CHECKING:
    from datasets import Dataset
    from transformers import PreTrainedTokenizerBase

_AT_ONCE = 1000
"""Pairs tokenized together."""

NUMBERS = ("label", "weight", "teacher")

COLUMNS = [field.name for field in fields(TrainingPair) if field.name != "stage"]


@dataclass(frozen=True, slots=True)
class Pairs:
    """What is known of each pair, in the data's order; all of shape (pairs,).

    Attributes:
        questions: Numbers of the questions, rising in the data's order.
        names: The questions' ids, by their numbers.
        labels: From 0 to 1.
        weights: From 0 to 1.
        teacher: NaN where there is none.
        sources: As in :class:`~hybrid_ir.records.TrainingPair`.
    """

    questions: NDArray[np.int64]
    names: list[str]
    labels: NDArray[np.float32]
    weights: NDArray[np.float32]
    teacher: NDArray[np.float32]
    sources: NDArray[np.str_]


def read_pairs(folder: Path) -> tuple[Dataset, Pairs]:
    """Open the training data of one stage.

    Args:
        folder: What ``save_to_disk`` wrote.

    Raises:
        InputError: no such data, or labels and weights outside 0 to 1.
    """
    from datasets import load_from_disk

    try:
        dataset: Any = load_from_disk(str(folder))
        missing = [name for name in COLUMNS if name not in dataset.column_names]
    except (OSError, ValueError, KeyError, AttributeError) as error:
        raise InputError(
            f"{folder}: expected training data (hybrid-ir train-data writes it): {error}"
        ) from error
    if missing or not isinstance(dataset.column_names, list):
        raise InputError(
            f"{folder}: expected the columns {', '.join(COLUMNS)}; {', '.join(missing)} are missing"
        )
    if not len(dataset):
        raise InputError(f"{folder}: expected pairs, there are none")
    if faults := list(_wrong_columns(dataset)):
        raise InputError.of_all(f"{folder}: these pairs cannot be used:", faults)
    numbers: dict[str, int] = {}
    questions = [numbers.setdefault(name, len(numbers)) for name in dataset["question_id"]]
    pairs = Pairs(
        np.array(questions, np.int64),
        list(numbers),
        _numbers(dataset, "label"),
        _numbers(dataset, "weight"),
        _numbers(dataset, "teacher"),
        np.array(list(dataset["source"])),
    )
    _refuse_numbers(folder, pairs)
    return dataset, pairs


def _wrong_columns(dataset: Any) -> Iterator[str]:  # noqa: ANN401 (a Dataset)
    """Name columns of another type, and texts that are not there."""
    for name in COLUMNS:
        kind = str(getattr(dataset.features[name], "dtype", "a list"))
        if name in NUMBERS:
            if not kind.startswith(("float", "int", "null")):
                yield f"{name}: expected numbers, got {kind}"
        elif kind not in ("string", "large_string"):
            yield f"{name}: expected texts, got {kind}"
        elif count := dataset.data.column(name).null_count:
            yield f"{name}: {count:,} of {len(dataset):,} are missing"


def _numbers(dataset: Any, column: str) -> NDArray[np.float32]:  # noqa: ANN401 (a Dataset)
    return np.array([np.nan if x is None else x for x in dataset[column]], np.float32)


def _refuse_numbers(folder: Path, pairs: Pairs) -> None:
    faults = []
    for name, values in (("label", pairs.labels), ("weight", pairs.weights)):
        wrong = np.flatnonzero(~((values >= 0) & (values <= 1)))
        if len(wrong):
            question = pairs.names[pairs.questions[wrong[0]]]
            faults.append(
                f"{name}: {len(wrong):,} of {len(values):,} are not from 0 to 1 (first: row"
                f" {wrong[0]}, question {question}, {values[wrong[0]]})"
            )
    if faults:
        raise InputError.of_all(f"{folder}: these pairs cannot be used:", faults)


@dataclass(frozen=True, slots=True)
class Tokens:
    """Token ids of every pair, one after another.

    Attributes:
        ids: Of shape (tokens,).
        types: Which of the two texts a token is of, same shape; None where the model has no such.
        starts: Where each pair begins, and the end: of shape (pairs + 1,).
        cut: How many pairs were longer than the model takes.
    """

    ids: NDArray[np.int32]
    types: NDArray[np.int8] | None
    starts: NDArray[np.int64]
    cut: int

    @property
    def lengths(self) -> NDArray[np.int64]:
        """Tokens of each pair."""
        return np.diff(self.starts)


def write_tokens(
    dataset: Dataset, tokenizer: PreTrainedTokenizerBase, max_length: int, folder: Path
) -> None:
    """Tokenize every pair as the model does when it scores; memory does not grow with the data."""
    folder.mkdir(parents=True, exist_ok=True)
    lengths: list[int] = []
    cut = 0
    with (folder / "ids").open("wb") as ids, (folder / "types").open("wb") as types:
        for encoded in _encoded(dataset, tokenizer, max_length):
            pieces = encoded["input_ids"]
            lengths += map(len, pieces)
            ids.write(np.concatenate(pieces).astype(np.int32).tobytes())
            if "token_type_ids" in encoded:
                types.write(np.concatenate(encoded["token_type_ids"]).astype(np.int8).tobytes())
            cut += sum(bool(one.overflowing) for one in encoded.encodings)
    np.save(folder / "starts.npy", np.concatenate([[0], np.cumsum(lengths)]))
    np.save(folder / "cut.npy", cut)


def read_tokens(folder: Path) -> Tokens:
    """Map what :func:`write_tokens` wrote."""
    types = folder / "types"
    return Tokens(
        np.memmap(folder / "ids", np.int32, "r"),
        np.memmap(types, np.int8, "r") if types.stat().st_size else None,
        np.load(folder / "starts.npy"),
        int(np.load(folder / "cut.npy")),
    )


def _encoded(
    dataset: Dataset, tokenizer: PreTrainedTokenizerBase, max_length: int
) -> Iterator[Any]:
    for start in range(0, len(dataset), _AT_ONCE):
        rows = dataset[start : start + _AT_ONCE]
        yield tokenizer(
            rows["question"], rows["text"], truncation="longest_first", max_length=max_length
        )
