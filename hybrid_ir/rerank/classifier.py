"""Opening a model that gives a pair of texts one score."""

from __future__ import annotations

from dataclasses import dataclass
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
from hybrid_ir.rerank.precision import device_of, dtype_of
from hybrid_ir.rerank.settings import ScorerConfig

if TYPE_CHECKING:
    import torch

_LONGEST = 512
"""Tokens where nothing says otherwise, however many the model takes."""

_WANTED = "a folder or a hub name of a cross-encoder with a head of one score and safetensors"


@dataclass(frozen=True, slots=True)
class Classifier:
    """A model of one score, ready to compute.

    Attributes:
        model: Of transformers, for sequence classification.
        tokenizer: A fast one.
        device: Where the model lies.
        max_length: Tokens of a pair at most.
        padding: The padding's token id.
        types: Whether the model is told which of the two texts a token is of.
    """

    model: Any
    tokenizer: Any
    device: torch.device
    max_length: int
    padding: int
    types: bool


def open_classifier(config: ScorerConfig) -> Classifier:
    """Open a cross-encoder; no code of a model's author is run, and nothing is unpickled.

    Raises:
        InputError: no such model, no tokenizer, no safetensors, no head of one score, or a
            ``max_length`` beyond what it takes.
    """
    device = device_of(config.device)
    dtype = dtype_of(config.precision, device)
    folder = model_folder(config.model, config.revision)
    with refusing(config.model, _WANTED), quiet():
        tokenizer = _tokenizer(folder)
        model = _model(folder, dtype)
        refuse_foreign(len(tokenizer), model.get_input_embeddings().num_embeddings)
        said = stated(tokenizer.model_max_length)
    most = positions_of(model) or getattr(model.config, "max_position_embeddings", None)
    _refuse_length(config, most)
    length = config.max_length or min(_LONGEST, most or _LONGEST, said or _LONGEST)
    return Classifier(
        model.to(device).eval(),
        tokenizer,
        device,
        length,
        tokenizer.pad_token_id,
        "token_type_ids" in tokenizer.model_input_names,
    )


def _tokenizer(folder: Path) -> Any:  # noqa: ANN401
    from transformers import AutoTokenizer

    tokenizer: Any = AutoTokenizer.from_pretrained(
        folder, local_files_only=True, trust_remote_code=False
    )
    if len(tokenizer) <= len(set(tokenizer.all_special_ids)):
        raise ValueError("it has no tokenizer: tokenizer.json is missing")
    if not tokenizer.is_fast:
        raise ValueError("its tokenizer has no fast version: tokenizer.json is missing")
    if tokenizer.pad_token_id is None:
        raise ValueError("its tokenizer has no padding token")
    return tokenizer


def _model(folder: Path, dtype: torch.dtype) -> Any:  # noqa: ANN401
    from transformers import AutoConfig, AutoModelForSequenceClassification

    if not (folder / "config.json").is_file():
        raise ValueError("it has no config.json")
    own: Any = AutoConfig.from_pretrained(folder, local_files_only=True, trust_remote_code=False)
    kinds = own.architectures or ["model of an unknown kind"]
    if not any("ForSequenceClassification" in kind for kind in kinds):
        raise ValueError(f"a {kinds[0]} has no head that scores pairs: train one on it first")
    if own.num_labels != 1:
        raise ValueError(f"its head gives {own.num_labels} numbers, not one")
    model, report = AutoModelForSequenceClassification.from_pretrained(
        folder,
        dtype=dtype,
        use_safetensors=True,
        local_files_only=True,
        trust_remote_code=False,
        output_loading_info=True,
    )
    refuse_lacking(report["missing_keys"])
    return model


def _refuse_length(config: ScorerConfig, most: int | None) -> None:
    if most is not None and config.max_length > most:
        raise InputError(
            f"max_length: expected at most the {most} tokens that {config.model} takes, got"
            f" {config.max_length}"
        )
