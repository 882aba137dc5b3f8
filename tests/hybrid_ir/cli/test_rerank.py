"""The command alone; what it makes is tested with the stage."""

from pathlib import Path

import pytest

from hybrid_ir.cli import main
from hybrid_ir.config import load_config
from hybrid_ir.rerank.settings import RerankConfig

BY_WORDS = "stages.a.scorers.x.kind=bm25"
CONFIGS = Path(__file__).resolve().parents[3] / "configs"


@pytest.mark.parametrize("name", ["rerank.yaml", "cascade-mibi.yaml"])
def test_the_configurations_can_be_read(name):
    assert load_config(RerankConfig, CONFIGS / name).stages


def test_the_papers_cascade_keeps_200_50_and_25():
    stages = load_config(RerankConfig, CONFIGS / "cascade-mibi.yaml").stages.values()
    kinds = [(stage.depth, next(iter(stage.scorers.values())).kind) for stage in stages]
    assert kinds == [(200, "bm25"), (50, "cross_encoder"), (25, "bi_encoder")]


def arguments(tmp_path, *more):
    return [
        "rerank", "--run", str(tmp_path / "gone.trec"), "--questions", "gone.json",
        "--index", "gone", "--output", str(tmp_path / "out.trec"), *more,
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ([], "stages: expected one or more, got []"),
        (["stages.a.depth=5"], "scorers: expected one or more, got []"),
        (["stages.a.scorers.x.kind=cross_encoder"], "model: expected a folder or a hub name"),
        (["stages.a.scorers.x.kind=crossencoder"], "cross_encoder"),
        (["stages.a.scorers.x.model=/no/such"], "model: expected a folder or a hub name"),
        (["stages.a.scorers.x.kind=bm25"], "gone.trec"),
        ([BY_WORDS, "stages.a.scorers.x.weight=.inf"], "weight: expected more than 0, at most 1"),
        ([BY_WORDS, "stages.a.scorers.x.weight=1e308"], "weight: expected more than 0, at most 1"),
        ([BY_WORDS, "stages.a.first=.inf"], "first: expected 0 to 1,000,000, got inf"),
        ([BY_WORDS, "stages.a.cutoff.at_least=.nan"], "at_least: expected a number, got nan"),
        ([BY_WORDS, "threads=99999999999999"], "threads: expected 0 to 1,024"),
    ],
)
def test_what_cannot_be_used_is_said_in_a_line(settings, message, tmp_path, capsys):
    assert main(arguments(tmp_path, *settings)) == 2
    assert message in capsys.readouterr().err
    assert not list(tmp_path.iterdir())
