"""Where a model that scores lies, and which model it is."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path

from hybrid_ir.errors import InputError
from hybrid_ir.hub import fault_of_hub, first_line, folder_of, snapshot_here

_CONTENT = (".safetensors", ".json", ".txt", ".model", ".jinja")
"""Weights, settings and vocabularies by the ends of their names; no pickles."""
_TOKENIZERS = ("tokenizer.json", "vocab.txt", "vocab.json", "*.model")
"""Files that hold a vocabulary: of which every tokenizer has one."""
_RESULTS = (
    "trainer_state.json",
    "all_results.json",
    "train_results.json",
    "eval_results.json",
    "data_config.json",
)
"""JSON that training leaves in a model's folder and that no score depends on."""


def model_folder(name: str, revision: str) -> Path:
    """Find a model: a folder, or what the hub hands out or handed out before.

    Nothing but safetensors, JSON and vocabularies is fetched.

    Args:
        name: A folder, ``package:NAME/FOLDER`` for one in a Python package, or a hub name.
        revision: The hub's commit, branch or tag, empty for the newest; no matter to a folder.

    Raises:
        InputError: there is no such model, or it lacks settings, weights or a tokenizer.
    """
    folder = folder_of(name) or _snapshot(name, revision)
    _refuse_incomplete(name, folder)
    return folder


def _snapshot(name: str, revision: str) -> Path:
    found = "a file: name its folder" if Path(name).expanduser().exists() else ""
    if found or name.count("/") > 1 or name.startswith(("/", "~", ".")):
        found = found or "no folder: train a model, or name one of the hub (OWNER/NAME)"
        raise InputError(f"model: expected a folder or a hub name, {name} is {found}")
    fault = fault_of_hub(name, revision)
    try:
        return Path(snapshot_here(name, revision) if fault else _download(name, revision))
    except (OSError, ValueError) as error:
        at = f" at revision {revision}" if revision else ""
        raise InputError(
            f"model: expected a folder (hybrid-ir train makes one) or a hub name, got {name!r}{at}"
            f" ({fault or first_line(error)}); a gated model needs its licence accepted at the hub"
            " and a token in HF_TOKEN; without a network it must have been downloaded before, or be"
            " a folder"
        ) from error


def _download(name: str, revision: str) -> str:
    from huggingface_hub import snapshot_download

    wanted = [f"*{end}" for end in _CONTENT]
    return str(snapshot_download(name, revision=revision or None, allow_patterns=wanted))


def _refuse_incomplete(name: str, folder: Path) -> None:
    """Name all that a model's folder lacks, before a library asks the hub for it."""
    needed = (
        ("config.json", ("config.json", "modules.json"), "is it the folder of a model?"),
        (
            "weights (*.safetensors)",
            ("*.safetensors",),
            "of a model that has only pytorch_model.bin the hub may have a converted revision"
            " (revision=refs/pr/NUMBER)",
        ),
        (
            f"tokenizer ({', '.join(_TOKENIZERS)})",
            _TOKENIZERS,
            "save it there, too: tokenizer.save_pretrained(FOLDER)",
        ),
    )
    faults = [
        f"no {what}: {cure}"
        for what, patterns, cure in needed
        if not any(next(folder.rglob(pattern), None) for pattern in patterns)
    ]
    if faults:
        where = "" if name == str(folder) else f" ({folder})"
        raise InputError(f"the model {name}{where} cannot be used: {'; '.join(faults)}")


def identity_of(folder: Path) -> str:
    """Give the SHA-256, in hexadecimal, of names and content of the files that decide scores.

    Those are weights, settings and vocabularies, of all modules; not the model's card, what
    training measured, its checkpoints and optimizer, or what a version control or the hub keeps in
    hidden folders. Some 300 MB take a second.
    """
    digest = hashlib.sha256()
    for path in sorted(_deciding(folder)):
        with path.open("rb") as content:
            inner = hashlib.file_digest(content, "sha256").hexdigest()
        digest.update(f"{path.relative_to(folder).as_posix()}\n{inner}\n".encode())
    return digest.hexdigest()


def _deciding(folder: Path) -> Iterator[Path]:
    for path in folder.rglob("*"):
        parts = path.relative_to(folder).parts
        aside = any(part.startswith((".", "checkpoint-")) for part in parts)
        if path.suffix in _CONTENT and path.name not in _RESULTS and not aside and path.is_file():
            yield path
