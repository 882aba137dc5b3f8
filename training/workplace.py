"""The folder of an unfinished training: what is killed goes on from it."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from hybrid_ir.files import locked, remove, writing

if TYPE_CHECKING:
    from accelerate import PartialState

log = logging.getLogger(__name__)


@contextmanager
def workplace(output: Path, key: str, state: PartialState) -> Iterator[Path]:
    """Give the folder ``.NAME.partial`` beside an output.

    It is removed when the block ends well, or ends before there is anything to go on from. What
    lies there of another training (other settings, other inputs) is thrown away.

    Args:
        output: The model's folder.
        key: Of the model that is made.
        state: Which process this is; the first one makes the folder.

    Raises:
        InputError: another training of the same output is running.
    """
    folder = output.resolve().with_name(f".{output.resolve().name}.partial")
    if not state.is_main_process:
        state.wait_for_everyone()
        yield folder
        return
    folder.mkdir(parents=True, exist_ok=True)
    with locked(folder / "lock", output):
        _begin(folder, key)
        state.wait_for_everyone()
        try:
            yield folder
        except BaseException:
            if not any(folder.rglob("*.safetensors")):
                remove(folder)
            raise
        remove(folder)


def _begin(folder: Path, key: str) -> None:
    made_for = folder / "key"
    if made_for.exists() and made_for.read_text() == key:
        return
    others = [path for path in folder.iterdir() if path.name != "lock"]
    if others:
        log.info("%s: is of other settings or inputs: beginning anew", folder)
    for path in others:
        remove(path)
    with writing(made_for) as file:
        file.write(key)
