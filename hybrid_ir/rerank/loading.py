"""What is checked when a model is loaded, and how it is said: in one line, without noise."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from typing import Any

from hybrid_ir.errors import InputError
from hybrid_ir.hub import first_line, without_loading_bars


@contextmanager
def refusing(model: str, wanted: str) -> Iterator[None]:
    """Turn what libraries raise over a model into an InputError of one line.

    Args:
        model: What the settings say.
        wanted: What was expected of it.
    """
    from safetensors import SafetensorError

    try:
        yield
    except (OSError, ValueError, RuntimeError, KeyError, ImportError, SafetensorError) as error:
        raise InputError(
            f"model: expected {wanted}, got {model!r} ({first_line(error)})"
        ) from error


@contextmanager
def quiet() -> Iterator[None]:
    """Keep the reports and bars of transformers away: what matters of them is refused."""
    from transformers.utils import logging as library_logging

    noise: Any = library_logging
    shown = noise.get_verbosity()
    noise.set_verbosity_error()
    without_loading_bars()
    try:
        yield
    finally:
        noise.set_verbosity(shown)


def refuse_lacking(missing: Collection[str]) -> None:
    """Refuse weights that lack some, in whose place the library puts chance.

    Raises:
        ValueError: there are such.
    """
    if missing:
        raise ValueError(f"its weights lack {', '.join(sorted(missing)[:3])}")


def refuse_foreign(tokens: int, known: int) -> None:
    """Refuse a tokenizer with more tokens than a model has weights for.

    Raises:
        ValueError: it has.
    """
    if tokens > known:
        raise ValueError(
            f"its tokenizer knows {tokens:,} tokens, its weights {known:,}: it is another model's"
        )


def positions_of(model: Any) -> int | None:  # noqa: ANN401 (the library's own type)
    """Give how many tokens a model of torch has places for; None for any number.

    RoBERTa and its likes count places from behind the number of their padding on.
    """
    import torch

    for name, module in model.named_modules():
        if name.endswith("position_embeddings") and isinstance(module, torch.nn.Embedding):
            taken = 0 if module.padding_idx is None else module.padding_idx + 1
            return module.num_embeddings - taken
    return None
