from importlib.util import find_spec
from pathlib import Path

import pytest

from hybrid_ir.errors import InputError
from hybrid_ir.hub import folder_of


def test_a_folder_is_itself(tmp_path):
    assert folder_of(str(tmp_path)) == tmp_path


def test_a_folder_in_a_package():
    (package,) = find_spec("cognition").submodule_search_locations
    assert folder_of("package:cognition/model") == Path(package) / "model"


def test_any_other_name_is_one_of_the_hub(tmp_path):
    assert folder_of("owner/model") is None
    assert folder_of(str(tmp_path / "gone")) is None


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("package:nosuchpackage/model", "no package 'nosuchpackage' is installed"),
        ("package:../model", "no package '..' is installed"),
        ("package:json.tool/model", "no package 'json.tool' is installed"),
        ("package:cognition/gone", "no folder 'gone' in that package"),
    ],
)
def test_what_is_not_there_is_named(name, message):
    with pytest.raises(InputError, match=message):
        folder_of(name)
