"""Loading a model for BERTScore, and mending what newer transformers break in ``bert-score``.

The library (0.3.13) is older than transformers 5, with which it goes wrong in three ways. Mended,
a model's scores are those it has always had:

* an empty text ends the library; :mod:`hybrid_ir.bioasq.bertscore` keeps texts without tokens from
  it and scores them 0,
* RoBERTa's tokenizer no longer takes the first word for one that follows a blank, which changes the
  scores; it is loaded with that setting,
* a tokenizer that states no greatest length (DeBERTa's, BiomedBERT's) ends the library; it is told
  how many positions the model has.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from importlib import import_module
from typing import Any, TypeAlias

from hybrid_ir.errors import InputError

Untyped: TypeAlias = Any
"""The library, its models and its tokenizers carry no types."""


@dataclass(frozen=True, slots=True)
class Encoder:
    """A model cut off above the layer to compare, with its tokenizer.

    Attributes:
        room: How many tokens of a text the model takes, special ones apart.
    """

    name: str
    layer: int
    setting: str
    model: Untyped
    tokenizer: Untyped
    room: int


def load_encoder(model: str, layer: int | None = None, device: str | None = None) -> Encoder:
    """Load a model for scoring.

    Args:
        model: A hub id, such as ``microsoft/deberta-xlarge-mnli``, or the path of a folder.
        layer: Whose embeddings to compare, from 1 to the number of the model's layers. Not needed
            for a hub id whose best layer the library knows.
        device: Such as ``cpu`` or ``cuda:1``; without, a GPU where there is one.

    Raises:
        InputError: the library is not installed, the model cannot be had, or the layer is not given
            or not there.
    """
    library = bert_score()
    layers = _layers_of(model)
    chosen: int | None = library.model2layers.get(model) if layer is None else layer
    if chosen is None or not 1 <= chosen <= layers:
        raise InputError(
            f"BERTScore: expected a layer from 1 to {layers} for {model}, got {chosen or 'none'}; "
            "the library knows the best layer of well-known hub models only"
        )
    encoder = library.get_model(model, chosen).to(device or _device())
    tokenizer = _tokenizer(library, model)
    tokenizer.model_max_length = min(tokenizer.model_max_length, _positions(encoder))
    return Encoder(
        name=model,
        layer=chosen,
        setting=library.get_hash(model, chosen, False, False, False, False),
        model=encoder,
        tokenizer=tokenizer,
        room=tokenizer.model_max_length - tokenizer.num_special_tokens_to_add(),
    )


def bert_score() -> Untyped:
    """Import the library.

    Raises:
        InputError: it is not installed.
    """
    try:
        return import_module("bert_score.utils")
    except ImportError as error:
        raise InputError(
            f"BERTScore needs the bert-score library ({error}): pip install 'hybrid-ir[bertscore]'"
        ) from error


def _layers_of(model: str) -> int:
    """Look a model up, and how many layers it has, before anything large is loaded."""
    from transformers import AutoConfig

    try:
        config = AutoConfig.from_pretrained(model)
    except (OSError, ValueError) as error:
        raise InputError(
            f"BERTScore: expected a hub id or the folder of a model, got {model!r}: {error}"
        ) from error
    if ("t5" in model and "t5" not in config.model_type) or model.startswith("scibert"):
        raise InputError(
            f"BERTScore: {model!r} is a {config.model_type} model, but bert-score takes names with "
            "'t5' in them for T5 and names starting with 'scibert' for a download: rename the "
            "folder, or give its absolute path"
        )
    return int(config.num_hidden_layers)


def _device() -> str:
    from torch import cuda

    return "cuda" if cuda.is_available() else "cpu"


def _tokenizer(library: Untyped, model: str) -> Untyped:
    from transformers import AutoTokenizer, GPT2Tokenizer, RobertaTokenizer

    tokenizer = library.get_tokenizer(model)
    if isinstance(tokenizer, GPT2Tokenizer | RobertaTokenizer):
        return AutoTokenizer.from_pretrained(model, add_prefix_space=True)
    return tokenizer


def _positions(model: Untyped) -> int:
    """Give the greatest number of tokens a model takes; without positions of its own, any number.

    RoBERTa counts positions from the one after its padding token's.
    """
    positions = getattr(model.config, "max_position_embeddings", None) or sys.maxsize
    table = getattr(getattr(model, "embeddings", None), "position_embeddings", None)
    first = getattr(table, "padding_idx", None)
    return int(positions if first is None else positions - first - 1)
