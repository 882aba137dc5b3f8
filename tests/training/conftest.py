"""A tiny real backbone, and small training data, for the tests of the training program."""

import random
from importlib.util import find_spec
from pathlib import Path

import pytest

TOPICS = ("gene", "heart", "lung", "brain", "virus", "kidney")
WORDS = [f"{a} {b}" for a in ("old", "new", "small", "large") for b in ("cell", "dose", "trial")]


@pytest.fixture(scope="session")
def backbone():
    """BERT of 2 layers x 128 with bert-base-uncased's vocabulary."""
    (folder,) = find_spec("cognition").submodule_search_locations
    return str(Path(folder) / "model")


@pytest.fixture(autouse=True)
def offline(monkeypatch):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")


@pytest.fixture(scope="session")
def rows_of():
    """Make rows: of each question one positive, which names its topic, and some negatives."""

    def make(questions=16, negatives=4, seed=0, **changes):
        chance = random.Random(seed)
        rows = []
        for number in range(questions):
            topic = chance.choice(TOPICS)
            for place in range(1 + negatives):
                words = [chance.choice(WORDS) for _ in range(chance.randint(2, 15))]
                rows.append(
                    {
                        "question_id": f"q{number:03}",
                        "question": f"What is known about the {topic}?",
                        "document_id": str(number * 100 + place),
                        "text": " ".join([*words, topic] if place == 0 else words),
                        "label": 1.0 if place == 0 else 0.0,
                        "weight": 1.0,
                        "source": "gold" if place == 0 else "random",
                        "teacher": 4.0 if place == 0 else chance.random(),
                    }
                    | changes
                )
        return rows

    return make


@pytest.fixture(scope="session")
def save_rows():
    """Write rows as the training program reads them."""

    def save(rows, folder):
        from datasets import Dataset, Features, Value

        kinds = dict.fromkeys(
            ("question_id", "question", "document_id", "text", "source"), "string"
        )
        kinds |= dict.fromkeys(("label", "weight", "teacher"), "float64")
        features = Features({name: Value(kind) for name, kind in kinds.items()})
        Dataset.from_list(rows, features=features).save_to_disk(str(folder))
        return folder

    return save


@pytest.fixture
def data(tmp_path, rows_of, save_rows):
    """Training data with one stage."""
    save_rows(rows_of(), tmp_path / "data" / "stage1")
    return tmp_path / "data"


@pytest.fixture
def settings(data, tmp_path, backbone):
    """Settings of a training of seconds."""
    return [
        f"data={data}",
        f"output={tmp_path / 'model'}",
        f"model={backbone}",
        "max_length=48",
        "batch_size=8",
        "dropout=0.0",
        "device=cpu",
        "log_every=1",
        "stage1.learning_rate=0.001",
    ]
