"""Settings of models: what cannot be is refused before anything is asked."""

import math

import pytest

from generation.llm import Limits, ModelConfig, Prices, Sampling
from generation.pseudo_documents import PseudoConfig
from generation.synthetic import SyntheticConfig
from hybrid_ir.config import plain
from hybrid_ir.errors import InputError


@pytest.mark.parametrize("number", [math.nan, math.inf, -1.0])
def test_numbers_that_cannot_be_are_refused(number):
    for made, setting in [
        (Prices, "prompt"),
        (Prices, "completion"),
        (Limits, "requests_per_second"),
        (Limits, "tokens_per_minute"),
        (Sampling, "temperature"),
        (Sampling, "top_p"),
    ]:
        with pytest.raises(InputError, match=f"{setting}: expected"):
            made(**{setting: number})


@pytest.mark.parametrize(
    ("setting", "value"),
    [
        ("max_tokens", 0),
        ("max_tokens", 10**14),  # its cost would be no number a database holds
        ("top_p", 0.0),
        ("top_p", 1.1),
        ("top_k", -1),
        ("seed", -1),
        ("seed", 2**31),
        ("frequency_penalty", math.inf),
    ],
)
def test_sampling_that_cannot_be_is_refused(setting, value):
    with pytest.raises(InputError, match=setting):
        Sampling(**{setting: value})


def test_what_providers_take_is_taken():
    Sampling(1, 0.0, 1.0, 0, 0, (), -2.0, 2.0)
    Limits(0.5, 1, 1, 1)
    assert Prices(0.0, 10_000.0).completion == 10_000


@pytest.mark.parametrize("timeout", [0.0, math.inf, math.nan, 1e300])
def test_a_timeout_that_cannot_be_is_refused(timeout):
    with pytest.raises(InputError, match="timeout: expected more than 0 s"):
        ModelConfig("m", "openai", "m", timeout=timeout)


@pytest.mark.parametrize("config", [PseudoConfig, SyntheticConfig])
def test_settings_hold_the_name_of_a_key_and_never_the_key(monkeypatch, config):
    """What a manifest holds, and what any tracker can be given, are these plain settings."""
    secret = "sk-nobody-may-see-this-1234"
    for variable in ("OPENAI_API_KEY", "GEMINI_API_KEY", "HF_TOKEN", "MINE"):
        monkeypatch.setenv(variable, secret)
    models = {
        "usual": ModelConfig("", "openai", "m"),
        "gemini": ModelConfig("", "gemini", "m"),
        "named": ModelConfig("", "openai", "m", key_variable="MINE"),
        "local": ModelConfig("", "transformers", "m"),
    }
    logged = str(plain(config(models)))
    assert secret not in logged
    assert "MINE" in logged
