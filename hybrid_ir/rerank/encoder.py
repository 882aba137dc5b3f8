"""Opening a model of sentence-transformers for comparing questions with documents."""

from __future__ import annotations

import json
import logging
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hybrid_ir.errors import InputError
from hybrid_ir.rerank.loading import (
    positions_of,
    quiet,
    refuse_foreign,
    refuse_lacking,
    refusing,
    stated,
)
from hybrid_ir.rerank.models import model_folder
from hybrid_ir.rerank.precision import device_of, dtype_of, tokens_at_once
from hybrid_ir.rerank.settings import ScorerConfig
from hybrid_ir.rerank.vectors import Encoder

if TYPE_CHECKING:
    import torch

log = logging.getLogger(__name__)

_PACKAGE = "sentence-transformers>=6.2,<7"
_WANTED = "a folder or a hub name of a bi-encoder of sentence-transformers, with safetensors"

_LONGEST = 512
"""Tokens where nothing says otherwise, however many the model takes."""

_LEAST_ROOM = 8
"""Tokens for a text that must be left beside what the model puts before it."""


def open_encoder(config: ScorerConfig) -> Encoder:
    """Open a bi-encoder; no code of a model's author is run, and nothing is unpickled.

    Raises:
        InputError: the package is not installed, there is no such model, it is none of
            sentence-transformers or a cross-encoder, it has no fast tokenizer or no safetensors,
            or ``max_length`` is more than it takes or leaves no room.
    """
    if find_spec("sentence_transformers") is None:
        raise InputError(
            f"kind=bi_encoder needs the extra [train], not installed: pip install '{_PACKAGE}'"
        )
    device = device_of(config.device)
    dtype = dtype_of(config.precision, device)
    folder = model_folder(config.model, config.revision)
    with refusing(config.model, _WANTED), quiet():
        similarity = _refuse_other_kinds(folder)
        model = _model(folder, device, dtype)
        _refuse_unfinished(folder, model)
        most, said = positions_of(model), stated(model.max_seq_length)
    longest = _longest(config, said, most)
    model.max_seq_length = longest
    if config.similarity:
        model.similarity_fn_name = config.similarity
    elif not similarity and not _normalises(model):
        log.warning(
            "%s does not say how its vectors are compared, and they are not of length 1: the cosine"
            " is taken (similarity=dot for the other)", config.model,
        )  # fmt: skip
    budget = tokens_at_once(config.tokens_at_once, device)
    question = _prompt(model, ("query",))
    document = _prompt(model, ("document", "passage", "corpus"))
    encoder = Encoder(model, longest, budget, config.windows, question, document)
    _refuse_no_room(encoder)
    return encoder


def _refuse_other_kinds(folder: Path) -> str:
    """Refuse what the library would make a bi-encoder of by guessing.

    Returns:
        The similarity that the model's makers name, empty where they do not.
    """
    if not (folder / "modules.json").is_file():
        raise ValueError(
            "it has no modules.json, so nothing says how tokens become one vector: save it with"
            " sentence-transformers first"
        )
    path = folder / "config_sentence_transformers.json"
    own = json.loads(path.read_text("utf-8")) if path.is_file() else {}
    if (kind := own.get("model_type", "SentenceTransformer")) != "SentenceTransformer":
        raise ValueError(f"it is a {kind}")
    return own.get("similarity_fn_name") or ""


def _model(folder: Path, device: torch.device, dtype: torch.dtype) -> Any:  # noqa: ANN401
    from sentence_transformers import SentenceTransformer
    from transformers import PreTrainedTokenizerFast

    model: Any = SentenceTransformer(
        str(folder),
        device=str(device),
        local_files_only=True,
        trust_remote_code=False,
        model_kwargs={"use_safetensors": True, "dtype": dtype},
    )
    if not isinstance(model.tokenizer, PreTrainedTokenizerFast):
        raise ValueError("its tokenizer has no fast version: tokenizer.json is missing")
    if len(model.tokenizer) <= len(set(model.tokenizer.all_special_ids)):
        raise ValueError("it has no tokenizer: tokenizer.json is missing")
    return model.eval()


def _refuse_unfinished(folder: Path, model: Any) -> None:  # noqa: ANN401
    """Refuse a model of which the library had to make weights up; it does not tell which."""
    from transformers import PreTrainedModel

    inner: Any = model.transformers_model
    kind: Any = type(inner)
    if not issubclass(kind, PreTrainedModel):
        return
    refuse_foreign(len(model.tokenizer), inner.get_input_embeddings().num_embeddings)
    first = json.loads((folder / "modules.json").read_text("utf-8"))[0]["path"]
    if not (folder / first / "config.json").is_file():
        return
    _, report = kind.from_pretrained(
        str(folder / first),
        use_safetensors=True,
        local_files_only=True,
        trust_remote_code=False,
        output_loading_info=True,
    )
    refuse_lacking([name for name in report["missing_keys"] if "pooler" not in name])


def _normalises(model: Any) -> bool:  # noqa: ANN401
    from sentence_transformers.sentence_transformer.modules import Normalize

    return any(isinstance(module, Normalize) for module in model)


def _longest(config: ScorerConfig, said: int | None, most: int | None) -> int:
    """Give the tokens of a text that the settings ask for, or that a model was made for."""
    if most is not None and config.max_length > most:
        raise InputError(
            f"max_length: expected at most the {most} tokens that {config.model} takes, got"
            f" {config.max_length}"
        )
    return config.max_length or min(most or _LONGEST, said or _LONGEST)


def _prompt(model: Any, names: Sequence[str]) -> str:  # noqa: ANN401
    """Give the first of these prompts that a model has, or its default one."""
    known = model.prompts
    found = next((known[name] for name in names if known.get(name)), None)
    return found or known.get(model.default_prompt_name) or ""


def _refuse_no_room(encoder: Encoder) -> None:
    for before in (encoder.for_question, encoder.for_document):
        if (room := encoder.room(before)) < _LEAST_ROOM:
            raise InputError(
                f"max_length: expected {encoder.longest - room + _LEAST_ROOM} or more, which leaves"
                f" a little room beside {before!r}, got {encoder.longest}"
            )
