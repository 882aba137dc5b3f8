"""Progress bars, and the versions a manifest records."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from importlib.metadata import version
from typing import Any, TypeVar

from tqdm import tqdm

T = TypeVar("T")


def progress(verb: str, unit: str, total: int | None = None) -> tqdm[Any]:
    """Give a progress bar on stderr, none where stderr is no terminal."""
    return tqdm(total=total, desc=verb, unit=f" {unit}", disable=None)


def watched(items: Iterable[T], verb: str, unit: str, total: int) -> Iterator[T]:
    """Pass items through, with a bar."""
    with progress(verb, unit, total) as bar:
        for item in items:
            yield item
            bar.update()


def versions() -> dict[str, str]:
    """Give the versions that decide a ranking."""
    return {f"{name}_version": version(name) for name in ("hybrid-ir", "pyserini")}
