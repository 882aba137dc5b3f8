from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import pytest

from hybrid_ir.config import load_config, save_config
from hybrid_ir.errors import InputError

CONFIGS = Path(__file__).resolve().parents[2] / "configs"


@dataclass(frozen=True)
class Inner:
    terms: int = 10
    weight: float = 0.5


@dataclass(frozen=True)
class Outer:
    questions: Path
    names: tuple[str, ...] = ("a",)
    kind: Literal["x", "y"] = "x"
    inner: Inner = field(default_factory=Inner)
    maybe: Inner | None = None
    weights: dict[str, float] = field(default_factory=dict)
    models: dict[str, Inner] = field(default_factory=dict)
    out: str = "${questions}.out"


@dataclass(frozen=True, slots=True)
class Holder:
    models: dict[str, Inner] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Around:
    outer: Holder | None = None


def test_yaml_wins_over_defaults_and_the_command_line_over_yaml(tmp_path):
    path = tmp_path / "c.yaml"
    path.write_text("questions: q.json\ninner: {terms: 20, weight: 0.25}\nweights: {title: 2}\n")
    config = load_config(Outer, path, ["inner.terms=30", "maybe.terms=5", "names=[b,c]", "kind=y"])
    assert config == Outer(
        questions=Path("q.json"),
        names=("b", "c"),
        kind="y",
        inner=Inner(30, 0.25),
        maybe=Inner(5, 0.5),
        weights={"title": 2.0},
        out="q.json.out",
    )


def test_all_faults_come_at_once_with_their_source_and_the_near_match(tmp_path):
    path = tmp_path / "c.yaml"
    path.write_text("questions: q\ninner: {termz: 20}\nkind: z\n")
    with pytest.raises(InputError) as caught:
        load_config(Outer, path, ["inner.weight=heavy", "name=[b]"])
    message = str(caught.value)
    assert f"{path}: unknown key 'inner.termz'; did you mean 'inner.terms'?" in message
    assert f"{path}: kind: Invalid value 'z', expected one of ['x', 'y']" in message
    assert "command line: inner.weight: Value 'heavy'" in message
    assert "command line: unknown key 'name'; did you mean 'names'?" in message
    assert len(message.splitlines()) == 5


@pytest.mark.parametrize(
    ("content", "overrides", "part"),
    [
        ("a: [1", [], "not YAML"),
        ("- 1\n", [], "expected keys and values"),
        ("kind: x\n", [], "needs values for: .*questions"),
        ("questions: q\nquestions: r\n", [], "duplicate key"),
        ("questions: q\n", ["kind"], "expected key=value"),
        ("questions: q\nout: ${nowhere}\n", [], "nowhere"),
        ("questions: q\ninner: 5\n", [], "inner"),
    ],
)
def test_what_cannot_be_used_is_said_in_one_message(tmp_path, content, overrides, part):
    path = tmp_path / "c.yaml"
    path.write_text(content)
    with pytest.raises(InputError, match=part):
        load_config(Outer, path, overrides)


def test_null_drops_an_entry_of_the_file(tmp_path):
    path = tmp_path / "c.yaml"
    path.write_text("questions: q\nmodels: {one: {terms: 1}, two: {terms: 2}}\n")
    assert load_config(Outer, path, ["models.one=null"]).models == {"two": Inner(2)}
    with pytest.raises(InputError, match=r"models\.tow=null drops nothing: there are one, two"):
        load_config(Outer, path, ["models.tow=null"])


def test_null_drops_an_entry_however_deep_it_lies(tmp_path):
    path = tmp_path / "c.yaml"
    path.write_text("outer: {models: {one: {terms: 1}, two: {terms: 2}}}\n")
    assert load_config(Around, path, ["outer.models.one=null"]).outer.models == {"two": Inner(2)}
    with pytest.raises(InputError, match=r"outer\.models\.tow=null drops nothing: there are one"):
        load_config(Around, path, ["outer.models.tow=null"])
    path.write_text("outer: [1]\n")
    with pytest.raises(InputError, match="do not fit"):
        load_config(Around, path, ["outer.models.one=null"])


def test_a_missing_file_is_an_input_error(tmp_path):
    with pytest.raises(InputError, match="expected a YAML file"):
        load_config(Outer, tmp_path / "none.yaml")


def test_a_saved_configuration_is_read_back_as_it_was(tmp_path):
    config = Outer(
        Path("ä.json"), ("b",), "y", Inner(1, 1e-9), Inner(), {"title": 0.1}, {"m": Inner(3)}, "o"
    )
    save_config(config, tmp_path / "c.yaml")
    assert load_config(Outer, tmp_path / "c.yaml") == config


@pytest.mark.parametrize("path", sorted(CONFIGS.glob("*.yaml")), ids=lambda p: p.name)
def test_the_configurations_in_the_repository_are_read(path, monkeypatch):
    from generation.listwise import ListwiseConfig
    from generation.pseudo_documents import PseudoConfig
    from generation.synthetic import SyntheticConfig
    from hybrid_ir.expansion import ExpansionConfig
    from hybrid_ir.pipeline.chain import RunConfig
    from hybrid_ir.pipeline.corpus_config import CorpusConfig
    from hybrid_ir.rerank.settings import RerankConfig
    from training.data_config import TrainDataConfig
    from training.settings import TrainConfig

    schemas = {
        "cascade": RerankConfig,
        "cross_encoder": TrainConfig,
        "expand": ExpansionConfig,
        "listwise": ListwiseConfig,
        "quickstart": RunConfig,
        "rerank": RerankConfig,
        "two": RunConfig,
        "generate": PseudoConfig,
        "synthetic": SyntheticConfig,
        "train": TrainDataConfig,
        "pubmed": CorpusConfig,
    }
    monkeypatch.chdir(CONFIGS.parent)
    config = load_config(schemas[path.stem.partition("-")[0]], path)
    if isinstance(config, RunConfig):
        assert all(document.exists() for document in config.documents)
