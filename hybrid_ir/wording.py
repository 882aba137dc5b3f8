"""How messages say numbers."""

from __future__ import annotations


def counted(number: int, noun: str, plural: str = "") -> str:
    """Say how many: "1 error", "2 errors", "1,000 replies"."""
    return f"{number:,} {noun if number == 1 else plural or f'{noun}s'}"


def size_text(size: int) -> str:
    """Say a size in bytes in whole MB: "12 MB", "under 1 MB"."""
    return f"{size >> 20:,} MB" if size >> 20 else "under 1 MB"
