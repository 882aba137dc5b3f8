"""A small spaCy pipeline like scispaCy's, trained here, with the fault of the released ones."""

from __future__ import annotations

import json
import os
from importlib.util import find_spec

import numpy as np
import pytest

TRAINING = (
    ("warfarin causes bleeding", "CHEMICAL", "DISEASE"),
    ("aspirin prevents stroke", "CHEMICAL", "DISEASE"),
    ("metformin treats diabetes", "CHEMICAL", "DISEASE"),
    ("lithium worsens psoriasis", "CHEMICAL", "DISEASE"),
)
"""Sentences whose first word and last word are entities."""


def pytest_runtest_setup(item):
    """Skip what needs scispaCy where it is missing, unless this environment is to have it."""
    if item.get_closest_marker("scispacy") and find_spec("scispacy") is None:
        if os.environ.get("HYBRID_IR_EXPECT_SCISPACY"):
            pytest.fail("scispacy is not installed in the environment that is to test it")
        pytest.skip("scispacy is not installed: make test-scispacy")


@pytest.fixture(scope="session")
def sound_model(tmp_path_factory):
    """A folder of a pipeline with static vectors and a tagger, trained to know four sentences."""
    folder = tmp_path_factory.mktemp("models") / "sound"
    _trained().to_disk(folder)
    return folder


@pytest.fixture
def faulty_model(sound_model, tmp_path):
    """The same as scispaCy releases it: booleans as strings, made for spaCy < 3.8."""
    return with_fault(sound_model, tmp_path / "faulty")


def with_fault(sound, folder):
    """Copy a pipeline's folder, and write what stands wrong in scispaCy's models."""
    folder.mkdir()
    for path in sound.rglob("*"):
        if path.is_file():
            copy = folder / path.relative_to(sound)
            copy.parent.mkdir(exist_ok=True)
            copy.write_bytes(path.read_bytes())
    config = (folder / "config.cfg").read_text()
    for key, value in (("include_static_vectors", "true"), ("normalize", "false")):
        assert f"{key} = {value}" in config
        config = config.replace(f"{key} = {value}", f'{key} = "{value.capitalize()}"')
    # what scispaCy trained with: functions that spaCy alone does not know, and never calls
    assert "before_init = null\n" in config
    config = config.replace("before_init = null\n", "")
    config = config.replace('"spacy.Corpus.v1"', '"specialized_ner_reader"')
    config += '\n[initialize.before_init]\n@callbacks = "replace_tokenizer"\n'
    (folder / "config.cfg").write_text(config)
    meta = json.loads((folder / "meta.json").read_text())
    meta |= {"name": "ner_tiny_md", "version": "0.5.4", "spacy_version": ">=3.7.4,<3.8.0"}
    (folder / "meta.json").write_text(json.dumps(meta))
    return folder


def _trained():
    import spacy
    from spacy.training import Example
    from spacy.util import fix_random_seed
    from spacy.vectors import Vectors

    fix_random_seed(1)
    nlp = spacy.blank("en")
    words = sorted({word for sentence, *_ in TRAINING for word in sentence.split()})
    keys = [nlp.vocab.strings.add(word) for word in words]
    data = np.random.default_rng(1).normal(size=(len(words), 16)).astype(np.float32)
    nlp.vocab.vectors = Vectors(data=data, keys=keys)
    nlp.add_pipe("tagger", config={"model": _tagger_model()})
    nlp.add_pipe("ner", config={"model": _ner_model()})
    examples = [
        Example.from_dict(nlp.make_doc(sentence), _annotation(sentence, first, last))
        for sentence, first, last in TRAINING
    ]
    optimizer = nlp.initialize(lambda: examples)
    for _ in range(60):
        nlp.update(examples, sgd=optimizer, drop=0.0)
    return nlp


def _annotation(sentence, first, last):
    start, end = sentence.index(" "), sentence.rindex(" ") + 1
    return {
        "tags": ["X"] * len(sentence.split()),
        "entities": [(0, start, first), (end, len(sentence), last)],
    }


def _embedding():
    return {
        "@architectures": "spacy.Tok2Vec.v2",
        "embed": {
            "@architectures": "spacy.MultiHashEmbed.v2",
            "width": 16,
            "attrs": ["NORM", "SHAPE"],
            "rows": [200, 100],
            "include_static_vectors": True,
        },
        "encode": {
            "@architectures": "spacy.MaxoutWindowEncoder.v2",
            "width": 16,
            "depth": 1,
            "window_size": 1,
            "maxout_pieces": 2,
        },
    }


def _tagger_model():
    return {
        "@architectures": "spacy.Tagger.v2",
        "nO": None,
        "normalize": False,
        "tok2vec": _embedding(),
    }


def _ner_model():
    return {
        "@architectures": "spacy.TransitionBasedParser.v2",
        "state_type": "ner",
        "extra_state_tokens": False,
        "hidden_width": 16,
        "maxout_pieces": 2,
        "use_upper": True,
        "nO": None,
        "tok2vec": _embedding(),
    }
