"""Where models lie: in folders, in Python packages, or at the Hugging Face hub.

Whether the hub answers is found out by one request, without repeats.
"""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Any

from hybrid_ir.errors import InputError

IN_PACKAGE = "package:"
"""What the name of a model begins with that an installed Python package holds."""

_SECONDS = 10.0
"""How long the hub may take to answer that request."""


def folder_of(name: str) -> Path | None:
    """Give the folder of a model that is on this machine; None for the name of one at the hub.

    Args:
        name: A folder, or ``package:NAME/FOLDER``: a folder in an installed Python package.

    Raises:
        InputError: there is no such package, or no such folder in it.
    """
    if not name.startswith(IN_PACKAGE):
        folder = Path(name).expanduser()
        return folder if folder.is_dir() else None
    package, _, inside = name.removeprefix(IN_PACKAGE).partition("/")
    found = find_spec(package) if package.isidentifier() else None
    if not found or not found.submodule_search_locations:
        raise InputError(
            f"model: {name!r}: no package {package!r} is installed (package:NAME/FOLDER)"
        )
    folder = Path(found.submodule_search_locations[0]) / inside
    if not folder.is_dir():
        raise InputError(f"model: {name!r}: there is no folder {inside!r} in that package")
    return folder


def fault_of_hub(name: str, revision: str, token: str | None = None) -> str:
    """Say in a line why the hub does not hand a model out; empty where it may do so.

    What is fetched without asking this first is tried again and again where there is no network:
    half a minute for each file.

    Args:
        name: The model's name on the hub.
        revision: A commit, branch or tag; empty for the newest.
        token: The hub's token, or None for that of a login on this machine.
    """
    import httpx2
    from huggingface_hub import HfApi

    try:
        HfApi().model_info(name, revision=revision or None, timeout=_SECONDS, token=token)
    except (OSError, ValueError, httpx2.HTTPError) as error:
        return first_line(error)
    return ""


def snapshot_here(name: str, revision: str) -> str:
    """Give the folder of what the hub handed out of a model before.

    Raises:
        OSError: it did not.
    """
    from huggingface_hub import snapshot_download

    return str(snapshot_download(name, revision=revision or None, local_files_only=True))


def first_line(error: Exception) -> str:
    """Give the first line of what an exception says, or its name."""
    return next(iter(str(error).strip().splitlines()), type(error).__name__)


def without_loading_bars() -> None:
    """Switch transformers' bars off, which show weights being loaded; downloads keep theirs."""
    from huggingface_hub import utils
    from transformers.utils import logging

    hub: Any = utils
    library: Any = logging
    shown = not hub.are_progress_bars_disabled()
    library.disable_progress_bar()  # the hub's, too
    if shown:
        hub.enable_progress_bars()
