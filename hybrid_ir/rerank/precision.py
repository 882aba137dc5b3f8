"""Where a model computes, in which numbers, and how much at once."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from hybrid_ir.errors import InputError
from hybrid_ir.hub import first_line
from hybrid_ir.rerank.settings import Precision, ScorerConfig

if TYPE_CHECKING:
    import torch

log = logging.getLogger(__name__)

_OF_A_CPU = 1_024
_OF_AN_ACCELERATOR = 32_768


def device_of(name: str) -> torch.device:
    """Give the device of that name; of an empty one the accelerator, where there is one.

    Raises:
        InputError: torch knows no such device, or it is not there.
    """
    import torch

    if not name:
        return torch.accelerator.current_accelerator(check_available=True) or torch.device("cpu")
    try:
        device = torch.device(name)
        torch.zeros(1, device=device).item()  # of meta, which holds no numbers, it fails
    except (RuntimeError, AssertionError, NotImplementedError) as error:
        first = str(error).splitlines()[0]
        raise InputError(
            f"device: expected one of this machine such as cpu or cuda:1, got {name!r} ({first})"
        ) from error
    return device


def dtype_of(precision: Precision, device: torch.device) -> torch.dtype:
    """Give the numbers a model is to compute in.

    Raises:
        InputError: ``fp16`` on a CPU.
    """
    import torch

    native = _has_bfloat16(device)
    if precision == "fp16" and device.type == "cpu":
        raise InputError("precision: expected bf16 or float32 on a CPU, got fp16")
    if precision == "bf16" and not native:
        log.warning(
            "precision=bf16: this %s has no bfloat16 of its own, which takes many times as long;"
            " float32 is what it computes in",
            "CPU" if device.type == "cpu" else "accelerator",
        )
    dtypes = {"bf16": torch.bfloat16, "fp16": torch.float16, "float32": torch.float32}
    return dtypes[precision or ("bf16" if native else "float32")]


def precision_of(config: ScorerConfig) -> str:
    """Name what a scorer computes in on this machine: ``float32``, ``bfloat16`` or ``float16``.

    Raises:
        InputError: as :func:`device_of` and :func:`dtype_of`.
    """
    dtype = dtype_of(config.precision, device_of(config.device))
    return str(dtype).removeprefix("torch.")


def tokens_at_once(tokens: int, device: torch.device) -> int:
    """Give the tokens of a batch, padding included; of 0 what suits the device.

    A CPU is fastest when a batch stays in the caches of its cores, an accelerator when there is
    enough to do for all of it.
    """
    return tokens or (_OF_A_CPU if device.type == "cpu" else _OF_AN_ACCELERATOR)


@contextmanager
def memory_faults() -> Iterator[None]:
    """Say in a line that the memory does not suffice; without torch there is no such fault.

    Raises:
        InputError: torch ran out of memory in the block.
    """
    try:
        yield
    except RuntimeError as error:
        if type(error).__name__ != "OutOfMemoryError" and "DefaultCPUAllocator" not in str(error):
            raise
        raise InputError(
            f"out of memory ({first_line(error)}): give the scorer a smaller tokens_at_once or"
            " max_length and run the same command again: what was scored is kept in the cache"
        ) from error


def _has_bfloat16(device: torch.device) -> bool:
    """Say whether a device multiplies bfloat16 itself; where it must convert, float32 is faster."""
    import torch

    if device.type == "cuda":
        with torch.cuda.device(device):
            return bool(torch.cuda.is_bf16_supported(including_emulation=False))
    if device.type != "cpu":
        return False
    able = torch.cpu.get_capabilities()
    native = any(bool(able.get(name)) for name in ("amx_bf16", "avx512_bf16", "bf16"))
    supported: bool = torch.ops.mkldnn._is_mkldnn_bf16_supported()
    return native and supported
