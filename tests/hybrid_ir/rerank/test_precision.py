import pytest
import torch

from hybrid_ir.errors import InputError
from hybrid_ir.rerank.precision import (
    device_of,
    dtype_of,
    memory_faults,
    precision_of,
    tokens_at_once,
)
from hybrid_ir.rerank.settings import ScorerConfig

CPU = torch.device("cpu")


def test_a_cpu_computes_in_bfloat16_only_where_it_has_it(caplog):
    able = torch.cpu.get_capabilities()
    native = any(able.get(name) for name in ("amx_bf16", "avx512_bf16", "bf16"))
    assert dtype_of("", CPU) == (torch.bfloat16 if native else torch.float32)
    assert dtype_of("float32", CPU) == torch.float32
    assert not caplog.records
    assert dtype_of("bf16", CPU) == torch.bfloat16
    assert ("has no bfloat16 of its own" in caplog.text) == (not native)


def test_fp16_on_a_cpu_is_refused():
    with pytest.raises(InputError, match="precision: expected bf16 or float32 on a CPU, got fp16"):
        dtype_of("fp16", CPU)


@pytest.mark.parametrize("name", ["cuda:99", "a toaster", "meta"])
def test_a_device_that_is_not_there_is_refused(name):
    with pytest.raises(InputError, match=f"device: expected one of this machine.*'{name}'"):
        device_of(name)


def test_the_budget_of_a_batch_is_the_devices_where_none_is_given():
    assert tokens_at_once(300, CPU) == 300
    assert tokens_at_once(0, CPU) < tokens_at_once(0, torch.device("meta"))


def test_the_precision_is_named_for_the_cache():
    config = ScorerConfig(model="m", device="cpu", precision="float32")
    assert precision_of(config) == "float32"


def test_too_little_memory_is_said_in_a_line():
    with pytest.raises(InputError, match="tokens_at_once"), memory_faults():
        torch.empty(1 << 60, dtype=torch.uint8)
    with pytest.raises(InputError, match="CUDA out of memory"), memory_faults():
        raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 20 GiB")
    with pytest.raises(RuntimeError, match="shapes"), memory_faults():
        torch.zeros(2, 3) @ torch.zeros(2, 3)
