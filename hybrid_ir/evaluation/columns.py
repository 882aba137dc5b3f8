"""Text in aligned columns, for tables that people read on a terminal."""

from __future__ import annotations

from collections.abc import Sequence


def columns(rows: Sequence[Sequence[str]], left: int = 1) -> str:
    """Align rows of equal length, each line ended; no rows give an empty text.

    Args:
        rows: The cells of each line.
        left: How many columns, from the first, are aligned to the left; the others to the right.
    """
    widths = [max(map(len, cells)) for cells in zip(*rows, strict=True)]
    lines = (
        "  ".join(
            cell.ljust(width) if place < left else cell.rjust(width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        for row in rows
    )
    return "".join(f"{line.rstrip()}\n" for line in lines)
