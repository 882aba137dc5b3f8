"""Opening a model where its package is missing, and naming one without opening it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from generation.clients import identity_of, open_llm
from generation.llm import Identity, ModelConfig, Provider
from hybrid_ir.errors import InputError


@pytest.mark.parametrize(
    ("provider", "module", "package"),
    [
        ("openai", "openai", "openai>=3,<4"),
        ("openai", "httpx2", "httpx2>=2,<3"),
        ("gemini", "google.genai", "google-genai>=3,<4"),
    ],
)
def test_a_missing_package_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, provider: Provider, module: str, package: str
) -> None:
    for loaded in list(sys.modules):
        if loaded.startswith(("generation.clients.", f"{module}.")):
            monkeypatch.delitem(sys.modules, loaded)
    monkeypatch.setitem(sys.modules, module, None)  # as an import finds it that fails
    with pytest.raises(InputError, match=f"pip install '{package}'"):
        open_llm(ModelConfig("gen", provider, "m"))


@pytest.mark.parametrize(
    ("provider", "key"), [("openai", "OPENAI_API_KEY"), ("gemini", "GEMINI_API_KEY")]
)
def test_a_hosted_model_has_the_same_name_without_its_key(
    monkeypatch: pytest.MonkeyPatch, provider: Provider, key: str
) -> None:
    config = ModelConfig("gen", provider, "m", revision="r", structured="json")
    expected = Identity(provider, "m", "r", (("structured", "json"),))
    assert identity_of(config) == expected
    monkeypatch.setenv(key, "a-key")
    assert open_llm(config).identity == expected


def test_recorded_replies_are_named_by_their_content(tmp_path: Path) -> None:
    path = tmp_path / "replies.jsonl"
    path.write_text('{"id": "q", "text": "a"}\n')
    config = ModelConfig("gen", "recorded", str(path))
    first = identity_of(config)
    assert first == open_llm(config).identity
    path.write_text('{"id": "q", "text": "b"}\n')
    assert identity_of(config).revision != first.revision
    path.write_text("no reply\n")
    with pytest.raises(InputError, match="cannot be used"):
        identity_of(config)


def test_a_model_of_this_process_is_named_without_being_loaded(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text("{}")
    (tmp_path / "model.safetensors").write_bytes(b"no weights: loading them would fail")
    found = identity_of(ModelConfig("gen", "transformers", str(tmp_path), revision="r"))
    assert (found.provider, found.model) == ("transformers", tmp_path.name)
    assert found.revision.startswith("r sha256:")


def test_batch_files_and_names_need_no_sdk() -> None:
    program = (
        "import sys, generation.asking.offline\n"
        "from generation.clients import identity_of\n"
        "from generation.llm import ModelConfig\n"
        "for name in ('openai', 'gemini'): identity_of(ModelConfig('g', name, 'm'))\n"
        "print(sorted({'openai', 'google.genai', 'httpx2', 'torch'} & set(sys.modules)))\n"
    )
    ran = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert ran.stdout == "[]\n"
