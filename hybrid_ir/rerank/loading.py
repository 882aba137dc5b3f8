"""What is checked when a model is loaded, and how it is said: in one line, without noise."""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from typing import Any

from hybrid_ir.errors import InputError
from hybrid_ir.hub import first_line, without_loading_bars

_SANE = 1_000_000
"""Above it, a tokenizer says that it does not know what its model takes."""

_LEAST = 16
"""Tokens that a model must take, as the setting max_length must give."""


@contextmanager
def refusing(model: str, wanted: str) -> Iterator[None]:
    """Turn what libraries raise over a model into an InputError of one line.

    Settings of a wrong type or size make them raise whatever happens first, so that is any
    exception.

    Args:
        model: What the settings say.
        wanted: What was expected of it.
    """
    from safetensors import SafetensorError

    try:
        yield
    except InputError:
        raise
    except (OSError, ValueError, RuntimeError, ImportError, SafetensorError) as error:
        raise InputError(
            f"model: expected {wanted}, got {model!r} ({first_line(error)})"
        ) from error
    except Exception as error:
        raise InputError(
            f"model: expected {wanted}, got {model!r}, a file of which is damaged"
            f" ({type(error).__name__}: {first_line(error)})"
        ) from error


@contextmanager
def quiet() -> Iterator[None]:
    """Keep the reports and bars of the libraries away: what matters of them is refused."""
    from transformers.utils import logging as library_logging

    noise: Any = library_logging
    shown = noise.get_verbosity()
    noise.set_verbosity_error()
    others = logging.getLogger("sentence_transformers")
    level = others.level
    others.setLevel(logging.WARNING)
    without_loading_bars()
    try:
        yield
    finally:
        noise.set_verbosity(shown)
        others.setLevel(level)


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


def stated(tokens: object) -> int | None:
    """Check how many tokens a model is said to take; None where that is not known.

    Raises:
        ValueError: it is no number, or leaves no room for texts.
    """
    if tokens is None:
        return None
    if not isinstance(tokens, int | float) or tokens < _LEAST:
        raise ValueError(f"it says that it takes {tokens!r} tokens: expected {_LEAST} or more")
    return int(tokens) if tokens < _SANE else None


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
