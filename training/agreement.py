"""Whether all processes of a training hold the same parameters, as they must."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from hybrid_ir.errors import InputError

if TYPE_CHECKING:
    from torch import nn


def fingerprint(model: nn.Module) -> str:
    """Give a hash of every parameter, to the last bit."""
    digest = hashlib.sha256()
    for name, tensor in sorted(model.state_dict().items()):
        digest.update(name.encode())
        digest.update(tensor.detach().cpu().contiguous().float().numpy().tobytes())
    return digest.hexdigest()


def agreed_fingerprint(model: nn.Module) -> str:
    """Give the fingerprint that all processes have; every one of them calls this.

    Raises:
        InputError: they differ: what was trained is no one model.
    """
    from accelerate.utils import gather_object

    every = gather_object([fingerprint(model)])
    if len(set(every)) > 1:
        raise InputError(
            f"the {len(every)} processes have trained {len(set(every))} different models: look for"
            " a process that runs other versions or another device than the rest"
        )
    return str(every[0])
