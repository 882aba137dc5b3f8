"""Training pairs on disk: a Hugging Face dataset a stage, written row by row."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import fields
from importlib.util import find_spec
from itertools import islice
from pathlib import Path
from typing import Any

from hybrid_ir.errors import InputError
from hybrid_ir.records import TrainingPair

COLUMNS = tuple(field.name for field in fields(TrainingPair) if field.name != "stage")
_NUMBERS = ("label", "weight", "teacher")
_ROWS = 1_000
"""Rows that are in memory at once."""


def require_datasets() -> None:
    """Raise an InputError where the package that writes them is not installed."""
    if find_spec("datasets") is None:
        raise InputError("training data needs the package datasets: pip install 'hybrid-ir[train]'")


def save_pairs(folder: Path, pairs: Iterable[TrainingPair], fingerprint: str) -> int:
    """Write pairs as a dataset that ``datasets.load_from_disk`` reads, and say how many they are.

    Equal pairs and fingerprints give equal bytes. Nothing is kept in a cache outside the folder.

    Args:
        folder: A new folder; its columns are a pair's fields but the stage.
        pairs: Streamed.
        fingerprint: What tells this dataset from others, in hexadecimal.
    """
    import datasets
    import pyarrow as pa  # type: ignore[import-untyped]
    from datasets.table import MemoryMappedTable

    features = datasets.Features(
        {name: datasets.Value("float64" if name in _NUMBERS else "string") for name in COLUMNS}
    )
    folder.parent.mkdir(parents=True, exist_ok=True)
    rows, count = folder.with_name(f"{folder.name}.rows"), 0
    schema = features.arrow_schema
    with rows.open("wb") as file, pa.ipc.new_stream(file, schema) as writer:
        for batch in _batches(pairs):
            writer.write_batch(pa.record_batch(batch, schema=schema))
            count += len(batch["label"])
    if count:
        table = MemoryMappedTable.from_file(str(rows))
        with _no_bars():
            datasets.Dataset(table, fingerprint=fingerprint).save_to_disk(str(folder))
    rows.unlink()
    return count


def _batches(pairs: Iterable[TrainingPair]) -> Iterator[dict[str, list[Any]]]:
    """Give pairs as columns, some at a time."""
    rows = iter(pairs)
    while batch := list(islice(rows, _ROWS)):
        yield {name: [getattr(pair, name) for pair in batch] for name in COLUMNS}


@contextmanager
def _no_bars() -> Iterator[None]:
    """Keep the library's progress bars, which know nothing of --quiet or a pipe, away."""
    from datasets.utils import (
        are_progress_bars_disabled,
        disable_progress_bars,
        enable_progress_bars,
    )

    silent = are_progress_bars_disabled()
    disable_progress_bars()
    try:
        yield
    finally:
        if not silent:
            enable_progress_bars()
