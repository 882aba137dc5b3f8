from pathlib import Path

import pytest

from hybrid_ir.errors import InputError
from hybrid_ir.evaluation.names import file_stem, tell_apart


@pytest.mark.parametrize(
    ("path", "stem"),
    [
        ("x/12B1.phaseA.json.gz", "12B1.phaseA"),
        ("values.jsonl", "values"),
        ("BioASQ-task13bPhaseA-testset4", "BioASQ-task13bPhaseA-testset4"),
        ("run.trec", "run.trec"),
    ],
)
def test_a_file_goes_by_its_name_without_the_format(path, stem):
    assert file_stem(Path(path)) == stem


def test_systems_of_one_name_go_by_their_origins():
    assert tell_apart(["a", "b", "a"], ["x", "y", Path("z/w")]) == ["x", "b", "z/w"]
    with pytest.raises(InputError, match="several times: x"):
        tell_apart(["a", "a"], ["x", "x"])
