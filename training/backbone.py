"""The encoder that is trained: loaded with a head of one score, with LoRA where asked for."""

from __future__ import annotations

import logging
import warnings
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import torch
from safetensors import SafetensorError

from hybrid_ir.errors import InputError
from hybrid_ir.hub import folder_of
from training.settings import LoraConfig, TrainConfig

if TYPE_CHECKING:
    from sentence_transformers import CrossEncoder

_ABOUT_THE_HUB = (
    "; without a network it must have been downloaded before; of a model that has only"
    " pytorch_model.bin the hub may have a converted revision (revision=refs/pr/NUMBER)"
)
_EXTRA = "pip install 'sentence-transformers>=5' 'accelerate>=1' 'datasets>=3'"


def refuse_missing_packages(lora: bool) -> None:
    """Raise an InputError where training needs a package that is not installed."""
    needed = ("sentence_transformers", "accelerate", "datasets")
    if missing := [name for name in needed if find_spec(name) is None]:
        raise InputError(
            f"training needs the extra [train], not installed ({', '.join(missing)}): {_EXTRA}"
        )
    if lora and find_spec("peft") is None:
        raise InputError(
            "lora.rank needs the extra [lora], not installed: pip install 'peft>=0.17'"
        )


def load_backbone(config: TrainConfig, device: torch.device) -> CrossEncoder:
    """Load an encoder with a head of one score; the head is new where the model has none.

    Nothing but safetensors is read and no code of a model's author is run.

    Raises:
        InputError: no such model, none that is an encoder, or no safetensors.
    """
    from sentence_transformers import CrossEncoder
    from transformers.utils import logging as library_logging

    folder = folder_of(config.model)
    name = str(folder or config.model)
    where: Any = {
        "revision": config.revision or None,
        "trust_remote_code": False,
        "local_files_only": folder is not None,
    }
    noise: Any = library_logging
    shown = noise.get_verbosity()
    noise.set_verbosity_error()  # a new head is what is wanted here, no reason for a warning
    noise.disable_progress_bar()
    logging.getLogger("sentence_transformers").setLevel(logging.ERROR)
    try:
        model: CrossEncoder = CrossEncoder(
            name,
            num_labels=1,
            max_length=config.max_length,
            device=str(device),
            model_kwargs={"use_safetensors": True, "dtype": torch.float32},
            config_kwargs=_config(name, config, where),
            **where,
        )
        _refuse_tokenizer(model)
    except (OSError, ValueError, RuntimeError, KeyError, SafetensorError) as error:
        first = next(iter(str(error).strip().splitlines()), type(error).__name__)
        raise InputError(
            f"model: expected a folder or a hub name of an encoder with weights as safetensors, got"
            f" {config.model!r} ({first}){'' if folder else _ABOUT_THE_HUB}"
        ) from error
    finally:
        noise.set_verbosity(shown)
    if config.gradient_checkpointing:
        _checkpoint_activations(model.transformers_model)
    return model


def _refuse_tokenizer(model: CrossEncoder) -> None:
    """Raise a ValueError where the model has no vocabulary of its own.

    In a folder without a tokenizer's files the library makes one that knows no word.
    """
    tokenizer = model.tokenizer
    backbone: Any = model.transformers_model
    size = getattr(backbone.config, "vocab_size", None) or len(tokenizer)
    if tokenizer.vocab_size <= len(tokenizer.all_special_ids):
        raise ValueError("there is no tokenizer with it: tokenizer.json, vocab.txt or the like")
    if len(tokenizer) > size:
        raise ValueError(f"its tokenizer has {len(tokenizer):,} tokens, the model knows {size:,}")


def _checkpoint_activations(backbone: Any) -> None:  # noqa: ANN401
    """Compute again on the way back what takes memory on the way forth."""
    name = "activation_checkpointing_enable"  # of transformers 5.24; before it had the other name
    enable = getattr(backbone, name, None) or backbone.gradient_checkpointing_enable
    enable({"use_reentrant": False})


def _config(name: str, config: TrainConfig, where: dict[str, Any]) -> dict[str, Any]:
    """Give what is to be different in the model's own configuration."""
    from transformers import AutoConfig

    own = AutoConfig.from_pretrained(name, **where)
    if any("ForCausalLM" in kind for kind in own.architectures or ()):
        raise ValueError(f"a {own.architectures[0]} writes text")
    longest = getattr(own, "max_position_embeddings", None) or config.max_length
    if config.max_length > longest:
        raise InputError(
            f"max_length: expected at most the model's {longest}, got {config.max_length}"
        )
    if config.dropout is None:
        return {}
    return {
        key: config.dropout
        for key, value in own.to_dict().items()
        if "dropout" in key and isinstance(value, int | float) and not isinstance(value, bool)
    }


def add_lora(model: CrossEncoder, config: LoraConfig) -> Any:  # noqa: ANN401 (peft's own type)
    """Freeze the backbone and put small matrices beside its layers; the head is trained whole.

    Returns:
        The handle that :func:`merge_lora` takes.

    Raises:
        InputError: the model has no layers of these names.
    """
    import peft

    library: Any = peft
    backbone = model.transformers_model
    settings = library.LoraConfig(
        task_type=peft.TaskType.SEQ_CLS,
        r=config.rank,
        lora_alpha=config.alpha,
        lora_dropout=config.dropout,
        target_modules=list(config.targets) or "all-linear",
    )
    try:
        with warnings.catch_warnings():  # peft asks transformers by a name that is deprecated
            warnings.filterwarnings("ignore", ".*is_gradient_checkpointing", FutureWarning)
            return library.get_peft_model(backbone, settings)
    except ValueError as error:
        raise InputError(f"lora.targets: {str(error).splitlines()[0]}") from error


def merge_lora(adapted: Any) -> None:  # noqa: ANN401
    """Work the small matrices into the backbone, which is then a model like any other."""
    adapted.merge_and_unload()
