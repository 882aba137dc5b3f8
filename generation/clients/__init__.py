"""The clients: each turns a request into a reply of one provider, and does nothing else."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import assert_never

from generation.clients import hosted
from generation.llm import LLM, Identity, ModelConfig
from hybrid_ir.errors import InputError

PACKAGES = {
    "openai": "openai>=3,<4",
    "google": "google-genai>=3,<4",
    "httpx2": "httpx2>=2,<3",
    "huggingface_hub": "transformers>=5.24,<6",
}


def open_llm(config: ModelConfig) -> LLM:
    """Open a model.

    Raises:
        InputError: a key or a file is missing, a setting does not fit the provider, or a package
            is not installed.
    """
    match config.provider:
        case "openai":
            with _needing(config):
                from generation.clients.openai import open_openai
            return open_openai(config)
        case "gemini":
            with _needing(config):
                from generation.clients.gemini import open_gemini
            return open_gemini(config)
        case "transformers":
            from generation.clients.transformers import open_transformers

            return open_transformers(config)
        case "recorded":
            from generation.clients.recorded import open_recorded

            return open_recorded(config)
        case _:
            assert_never(config.provider)


def identity_of(config: ModelConfig) -> Identity:
    """Name a model as its client does, without a key, a call, or weights being loaded.

    Raises:
        InputError: the file of recorded replies cannot be used, or a model that runs in this
            process is not to be found.
    """
    match config.provider:
        case "openai" | "gemini":
            return hosted.identity_of(config)
        case "transformers":
            from generation.clients.transformers import TransformersLLM

            with _needing(config):
                return TransformersLLM(config).identity
        case "recorded":
            return open_llm(config).identity
        case _:
            assert_never(config.provider)


@contextlib.contextmanager
def _needing(config: ModelConfig) -> Iterator[None]:
    """Say what to install where a package is missing."""
    try:
        yield
    except ImportError as error:
        package = PACKAGES.get((error.name or "").partition(".")[0])
        if not package:
            raise
        raise InputError(
            f"the model {config.name}: provider {config.provider} needs a package that is not"
            f" installed: pip install '{package}'"
        ) from error
