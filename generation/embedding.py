"""Texts as vectors, by a sentence-transformers model."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hybrid_ir.errors import InputError, refuse
from hybrid_ir.hub import fault_of_hub, first_line, folder_of, snapshot_here, without_loading_bars

Embed: TypeAlias = Callable[[Sequence[str]], NDArray[np.float32]]
"""Gives texts as rows of length 1: shape (texts, dimensions)."""

_PACKAGE = "sentence-transformers>=5"


@dataclass(frozen=True, slots=True)
class EmbeddingConfig:
    """A model of sentence embeddings.

    Attributes:
        model: A hub name or a folder.
        revision: The hub's commit, empty for the newest.
        batch_size: Texts embedded together.
        device: Such as ``cpu`` or ``cuda:1``; empty for an accelerator where there is one.
    """

    model: str = "sentence-transformers/all-MiniLM-L6-v2"
    revision: str = ""
    batch_size: int = 32
    device: str = ""

    def __post_init__(self) -> None:
        refuse("the embedding", ("batch_size", "1 or more", self.batch_size, self.batch_size >= 1))


def open_embedding(config: EmbeddingConfig) -> Embed:
    """Load a model of sentence embeddings; a text too long for it counts with its beginning.

    Raises:
        InputError: the package is not installed, or the model is not to be found.
    """
    if find_spec("sentence_transformers") is None:
        raise InputError(
            "weighing by embeddings (quality.method) needs the extra [embeddings], not installed:"
            f" pip install '{_PACKAGE}'"
        )
    model = _load(config)

    def embed(texts: Sequence[str]) -> NDArray[np.float32]:
        if not texts:
            return np.zeros((0, model.get_embedding_dimension()), np.float32)
        vectors: NDArray[np.float32] = model.encode(
            list(texts),
            batch_size=config.batch_size,
            show_progress_bar=False,
            normalize_embeddings=True,
        )
        return vectors

    return embed


def _load(config: EmbeddingConfig) -> Any:  # noqa: ANN401 (the library's own type)
    folder = folder_of(config.model)
    fault = "" if folder else fault_of_hub(config.model, config.revision)
    try:
        name = str(folder or config.model)
        name = snapshot_here(config.model, config.revision) if fault else name
        return _loaded(name, config)
    except (OSError, ValueError, RuntimeError) as error:
        raise InputError(
            "the embedding model that quality.method weighs with: expected a folder or a hub name,"
            f" got {config.model!r} ({fault or first_line(error)}); without a network it must have"
            " been downloaded before, or be a folder (embedding.model=FOLDER)"
        ) from error


def _loaded(name: str, config: EmbeddingConfig) -> Any:  # noqa: ANN401
    from sentence_transformers import SentenceTransformer

    without_loading_bars()
    return SentenceTransformer(
        name,
        revision=config.revision or None,
        device=config.device or None,
        trust_remote_code=False,
        local_files_only=Path(name).is_dir(),
        model_kwargs={"use_safetensors": True},
    )
