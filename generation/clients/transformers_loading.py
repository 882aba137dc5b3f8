"""Where a model that runs in this process comes from, and loading it.

A model is a folder or a name on the Hugging Face hub. Of a hub model the commit is found out before
anything else, so that what identifies the replies is what is loaded; of a folder the content is
hashed. Either covers the weights, the tokenizer and the chat template.
"""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any, TypeAlias

from generation.llm import ModelConfig
from hybrid_ir.errors import InputError
from hybrid_ir.files import replacing
from hybrid_ir.hub import fault_of_hub, first_line, without_loading_bars

Untyped: TypeAlias = Any
"""Models, tokenizers and their settings carry no useful types."""

PACKAGES = {
    "torch": "torch>=2.6",
    "transformers": "transformers>=5.24,<6",
    "accelerate": "accelerate>=1.10",
    "bitsandbytes": "bitsandbytes>=0.49",
    "gguf": "gguf>=0.17",
}

_CONTENT = frozenset((".safetensors", ".json", ".jinja", ".model", ".txt"))
"""Names of what decides a model's replies end like this; a README, say, does not count."""


@dataclass(frozen=True, slots=True)
class Source:
    """Where a model is.

    Attributes:
        name: The hub name, or the folder's own name.
        location: What transformers loads it by.
        revision: The hub's commit, or what the configuration says of a folder and the SHA-256 of
            its content.
        commit: The hub's commit, None for a folder.
    """

    name: str
    location: str
    revision: str
    commit: str | None


@dataclass(frozen=True, slots=True)
class Loaded:
    """A model that is ready.

    Attributes:
        context: Tokens of prompt and reply together that it takes, or None where it has no limit.
        end: The tokens that end a reply.
        defaults: What the model's makers say about drawing words.
    """

    model: Untyped
    tokenizer: Untyped
    context: int | None
    end: frozenset[int]
    defaults: Defaults


@dataclass(frozen=True, slots=True)
class Defaults:
    """A model's own way of drawing words: ``generation_config.json``; temperature 0 is none."""

    temperature: float
    top_p: float | None
    top_k: int | None


def check_packages(config: ModelConfig) -> None:
    """Raise an InputError for the packages a configuration needs and the machine lacks."""
    needed = ["torch", "transformers", "accelerate"]
    needed += ["bitsandbytes"] if config.four_bit else []
    needed += ["gguf"] if config.gguf_file else []
    if missing := [name for name in needed if find_spec(name) is None]:
        wanted = " ".join(f"'{PACKAGES[name]}'" for name in missing)
        raise InputError(
            f"the model {config.name}: provider transformers needs packages that are not installed:"
            f" pip install {wanted}"
        )


def locate(config: ModelConfig) -> Source:
    """Find a model and what identifies it, without loading it.

    Raises:
        InputError: no such folder or file, or the hub does not have it or does not hand it out.
    """
    folder = Path(config.model).expanduser()
    if folder.is_dir():
        revision = f"{config.revision} sha256:{_hash_of(folder, config.gguf_file)}"
        return Source(folder.resolve().name, str(folder), revision.strip(), None)
    if config.model.count("/") > 1 or config.model.startswith(("/", "~", ".")):
        raise InputError(
            f"the model {config.name}: expected a folder or a hub name, found no folder {folder}"
        )
    location, commit = _at_hub(config)
    return Source(config.model, location, commit, commit)


def _hash_of(folder: Path, gguf_file: str) -> str:
    """Hash names and content of the files that decide a model's replies."""
    files = [folder / gguf_file] if gguf_file else sorted(folder.iterdir())
    files = [path for path in files if gguf_file or path.suffix in _CONTENT]
    if not files or not all(path.is_file() for path in files):
        wanted = gguf_file or "config.json, *.safetensors, tokenizer files"
        raise InputError(f"{folder}: expected a model ({wanted}), there is none")
    digest = hashlib.sha256()
    for path in files:
        with path.open("rb") as content:
            inner = hashlib.file_digest(content, "sha256").hexdigest()
        digest.update(f"{path.name} {inner}\n".encode())
    return digest.hexdigest()


def _at_hub(config: ModelConfig) -> tuple[str, str]:
    """Give what a hub model is loaded by, and the commit that name and revision stand for.

    Where the hub does not answer it is loaded from the folder of what was downloaded before.
    """
    from huggingface_hub import hf_hub_download

    name = config.gguf_file or "config.json"
    fault = fault_of_hub(config.model, config.revision, _token(config))
    try:
        path = hf_hub_download(
            config.model,
            name,
            revision=config.revision or None,
            token=_token(config),
            local_files_only=bool(fault),
        )
    except (OSError, ValueError) as error:
        raise InputError(
            f"the model {config.name}: the hub hands out no {name} of {config.model}"
            f"{f' at {config.revision}' if config.revision else ''} ({fault or first_line(error)});"
            f" a gated model needs its licence accepted there and a token in {_variable(config)};"
            " without a network it must have been downloaded before, or be a folder"
        ) from error
    snapshot = Path(path).parents[name.count("/")]
    return str(snapshot) if fault else config.model, snapshot.name


def _variable(config: ModelConfig) -> str:
    return config.key_variable or "HF_TOKEN"


def _token(config: ModelConfig) -> str | None:
    """Give the hub's token: the environment's, or None for that of a login on this machine."""
    return os.environ.get(_variable(config)) or None


def load(config: ModelConfig, source: Source) -> Loaded:
    """Load a model and its tokenizer: onto the accelerators there are, else for the processor.

    Weights are safetensors, or the GGUF file named, unpacked; no code of the model's folder runs.

    Raises:
        InputError: it cannot be loaded, or has no chat template.
    """
    from transformers import AutoModelForCausalLM, AutoTokenizer

    without_loading_bars()
    shared = {"revision": source.commit, "token": _token(config), "trust_remote_code": False}
    shared |= {"gguf_file": config.gguf_file} if config.gguf_file else {}
    try:
        tokenizer = AutoTokenizer.from_pretrained(source.location, **shared)
        model: Untyped = AutoModelForCausalLM.from_pretrained(
            source.location, **shared, **_precision(config), device_map=_device()
        )
    except (OSError, ValueError, ImportError, RuntimeError) as error:
        raise InputError(
            f"the model {config.name}: {source.location} cannot be loaded: {first_line(error)}"
        ) from error
    if not tokenizer.chat_template:
        raise InputError(
            f"the model {config.name}: {source.location} has no chat template: it completes texts"
            " but does not answer; use its instruct or chat variant"
        )
    return _ready(model.eval(), tokenizer)


def _precision(config: ModelConfig) -> dict[str, Untyped]:
    """Give the arguments that say how exact the weights are to be, and their file format.

    4-bit weights are computed with in bfloat16 on an accelerator. On a processor it is float32:
    few have instructions for bfloat16, and without them it takes several times as long.
    """
    import torch
    import transformers

    library: Untyped = transformers
    if config.gguf_file:  # unpacked: packed, it would compute by a kernel fetched from the hub
        return {"quantization_config": library.GgufConfig(dequantize=True), "dtype": "auto"}
    if not config.four_bit:
        return {"use_safetensors": True, "dtype": "auto"}
    dtype = torch.bfloat16 if torch.accelerator.is_available() else torch.float32
    four_bit = library.BitsAndBytesConfig(
        load_in_4bit=True,
        bnb_4bit_quant_type="nf4",
        bnb_4bit_use_double_quant=True,
        bnb_4bit_compute_dtype=dtype,
    )
    return {"use_safetensors": True, "dtype": dtype, "quantization_config": four_bit}


def _device() -> str:
    import torch

    return "auto" if torch.accelerator.is_available() else "cpu"


def _ready(model: Untyped, tokenizer: Untyped) -> Loaded:
    """Take the model's own way of drawing out of its settings: rows of a batch draw differently."""
    own = model.generation_config
    drawn = bool(own.do_sample)
    temperature = (1.0 if own.temperature is None else own.temperature) if drawn else 0.0
    defaults = Defaults(temperature, own.top_p if drawn else None, own.top_k if drawn else None)
    own.update(do_sample=False, temperature=None, top_p=None, top_k=None, max_length=None)
    ends = own.eos_token_id if own.eos_token_id is not None else tokenizer.eos_token_id
    end = frozenset(ends if isinstance(ends, list) else [] if ends is None else [ends])
    own.eos_token_id = sorted(end) or None
    if own.pad_token_id is None:
        own.pad_token_id = next(
            (t for t in (tokenizer.pad_token_id, *sorted(end)) if t is not None), 0
        )
    text = model.config.get_text_config(decoder=True)
    return Loaded(model, tokenizer, getattr(text, "max_position_embeddings", None), end, defaults)


def unpack_gguf(folder: Path, gguf_file: str, output: Path) -> None:
    """Save the model in a GGUF file as safetensors, in bfloat16, which can be loaded in 4-bit.

    Args:
        folder: Where the file is.
        gguf_file: Its name.
        output: The folder to write.
    """
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer, GgufConfig

    model: Untyped = AutoModelForCausalLM.from_pretrained(
        folder,
        gguf_file=gguf_file,
        dtype=torch.bfloat16,
        quantization_config=GgufConfig(dequantize=True),
    )
    model.hf_quantizer = None  # it still says GGUF, as which nothing can be saved
    with replacing(output) as temporary:
        AutoTokenizer.from_pretrained(folder, gguf_file=gguf_file).save_pretrained(temporary)
        model.save_pretrained(temporary)
