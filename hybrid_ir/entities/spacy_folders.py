"""What lies in the folder of a spaCy pipeline, read before spaCy loads it."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import msgspec

from hybrid_ir.errors import InputError

SCISPACY_MODELS = (
    "en_core_sci_sm",
    "en_core_sci_md",
    "en_core_sci_lg",
    "en_core_sci_scibert",
    "en_ner_bc5cdr_md",
    "en_ner_bionlp13cg_md",
    "en_ner_craft_md",
    "en_ner_jnlpba_md",
)
_RELEASE = "https://s3-us-west-2.amazonaws.com/ai2-s2-scispacy/releases/v0.5.4/{0}-0.5.4.tar.gz"

_FINDERS = frozenset({"ner", "beam_ner"})
_FEEDERS = frozenset({"tok2vec", "transformer", "curated_transformer"})
_OTHERS = frozenset(
    {
        "tagger",
        "morphologizer",
        "parser",
        "beam_parser",
        "senter",
        "sentencizer",
        "attribute_ruler",
        "lemmatizer",
        "trainable_lemmatizer",
        "textcat",
        "textcat_multilabel",
        "spancat",
        "spancat_singlelabel",
    }
)
NO_FINDERS = _FEEDERS | _OTHERS
"""Factories of the components spaCy brings along that never find entities."""


@dataclass(frozen=True, slots=True)
class ModelFolder:
    """A spaCy pipeline on disk.

    Attributes:
        name: As its ``meta.json`` says it, with the language: ``en_ner_bc5cdr_md``.
        version: The pipeline's own.
        data: The folder with ``config.cfg``.
        package: The installed package it belongs to, empty for a folder.
        sha256: Hash of all files in the package or the folder.
    """

    name: str
    version: str
    data: Path
    package: str
    sha256: str


def find_model(model: str) -> ModelFolder:
    """Find a pipeline by the name of an installed package, else by its folder.

    Raises:
        InputError: there is neither, or no pipeline in it.
    """
    package = _package_folder(model)
    root = package or Path(model).expanduser()
    if not root.is_dir():
        raise InputError(_missing(model))
    name, version = _named(root)
    data = root / f"{name}-{version}" if package else root
    if not (data / "config.cfg").is_file():
        raise InputError(f"{data}: expected a spaCy pipeline's folder, found no config.cfg in it")
    return ModelFolder(name, version, data, model if package else "", _hash(root))


def overrides_of(config: Mapping[str, Any]) -> dict[str, Any]:
    """Give the booleans that components spell as strings, nested as in the configuration.

    Args:
        config: An interpolated configuration of spaCy's.
    """
    return _booleans({"components": config.get("components", {})})


def unneeded(config: Mapping[str, Any]) -> list[str]:
    """Name the components that finding entities can do without.

    None where the pipeline has a component that spaCy does not bring along, or one of rules or of
    linking: it may read what any other writes.

    Args:
        config: An interpolated configuration of spaCy's.
    """
    components = config.get("components", {})
    factories = {name: part.get("factory") for name, part in components.items()}
    if not set(factories.values()) <= _FINDERS | NO_FINDERS:
        return []
    finders = [name for name, factory in factories.items() if factory in _FINDERS]
    heard = {upstream for name in finders for upstream in _upstreams(components[name])}
    return [
        name
        for name, factory in factories.items()
        if factory in _OTHERS or (factory in _FEEDERS and not heard & {name, "*"})
    ]


def _package_folder(model: str) -> Path | None:
    spec = find_spec(model) if model.isidentifier() else None
    folders = list(spec.submodule_search_locations or ()) if spec else []
    return next((Path(folder) for folder in folders if Path(folder, "meta.json").is_file()), None)


def _named(root: Path) -> tuple[str, str]:
    """Read name and version of a pipeline."""
    path = root / "meta.json"
    try:
        meta = msgspec.json.decode(path.read_bytes(), type=dict[str, Any])
        return f"{meta['lang']}_{meta['name']}", str(meta["version"])
    except OSError as error:
        raise InputError(
            f"{root}: expected a spaCy pipeline's folder, with meta.json and config.cfg:"
            f" {error.strerror or error}"
        ) from error
    except (msgspec.DecodeError, UnicodeDecodeError, KeyError) as error:
        raise InputError(
            f"{path}: expected JSON with lang, name and version of a spaCy pipeline: {error}"
        ) from error


def _missing(model: str) -> str:
    if model in SCISPACY_MODELS:
        cure = f"pip install --no-deps {_RELEASE.format(model)}"
        if model.endswith("scibert"):
            cure += " (and spacy-transformers, with the transformers it asks for)"
    elif near := get_close_matches(model, ("lexicon", *SCISPACY_MODELS), n=1):
        cure = f"did you mean {near[0]}?"
    else:
        cure = "install the package or mend the path"
    return (
        "models: expected 'lexicon', an installed spaCy pipeline's name or its folder,"
        f" got {model!r}: {cure}"
    )


def _hash(root: Path) -> str:
    total = hashlib.sha256()
    for path in sorted(root.rglob("*")):
        if path.is_file() and path.parent.name != "__pycache__":
            with path.open("rb") as content:
                digest = hashlib.file_digest(content, "sha256").hexdigest()
            total.update(f"{path.relative_to(root).as_posix()}\n{digest}\n".encode())
    return total.hexdigest()


def _booleans(section: Mapping[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in section.items():
        if isinstance(value, Mapping):
            found |= {key: nested} if (nested := _booleans(value)) else {}
        elif value in ("True", "False"):
            found[key] = value == "True"
    return found


def _upstreams(part: Mapping[str, Any]) -> Iterator[str]:
    """Name the components that a component's model listens to; ``*`` for any."""
    if "Listener" in str(part.get("@architectures", "")):
        yield part.get("upstream", "*")
    for value in part.values():
        if isinstance(value, Mapping):
            yield from _upstreams(value)
