"""What to call the systems and files that stand side by side."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from hybrid_ir.errors import InputError


def file_stem(path: Path) -> str:
    """Give a file's name without its format: ``12B1.phaseA.json.gz`` -> ``12B1.phaseA``."""
    name = path.name.removesuffix(".gz")
    return name.removesuffix(".jsonl").removesuffix(".json")


def tell_apart(names: Sequence[str], origins: Sequence[object]) -> list[str]:
    """Give every system a name of its own: where several share one, what they come from instead.

    Args:
        names: Of the systems.
        origins: Where each comes from, such as the path of its file.

    Raises:
        InputError: two systems have both in common.
    """
    apart = [
        str(origin) if names.count(name) > 1 else name
        for name, origin in zip(names, origins, strict=True)
    ]
    if twice := sorted({name for name in apart if apart.count(name) > 1}):
        raise InputError(f"expected every system once, got several times: {', '.join(twice)}")
    return apart
