"""The four packages lie side by side, and the command is light to start."""

import subprocess
import sys
from importlib import import_module
from importlib.metadata import distribution
from pathlib import Path

import pytest

PACKAGES = ("hybrid_ir", "generation", "training", "fusion")
ROOT = Path(__file__).resolve().parents[1]


def test_the_four_packages_lie_side_by_side():
    folders = {Path(str(import_module(name).__file__)).parents[1] for name in PACKAGES}
    assert folders == {ROOT}


@pytest.mark.parametrize("package", PACKAGES)
def test_a_package_is_typed(package):
    assert (ROOT / package / "py.typed").exists()


def test_the_distribution_is_not_for_upload_and_has_the_command():
    installed = distribution("hybrid-ir")
    assert "Private :: Do Not Upload" in installed.metadata.get_all("Classifier", [])
    (script,) = (point for point in installed.entry_points if point.group == "console_scripts")
    assert (script.name, script.value) == ("hybrid-ir", "hybrid_ir.cli:main")


def test_help_loads_nothing_heavy():
    program = (
        "import sys, hybrid_ir.cli as cli\ntry: cli.main(['--help'])\nexcept SystemExit: pass\n"
    )
    program += "print(sorted({name.partition('.')[0] for name in sys.modules}))"
    result = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    loaded = result.stdout.splitlines()[-1]
    for heavy in ("numpy", "jnius", "omegaconf", "msgspec", "torch", "tqdm", "yaml"):
        assert f"'{heavy}'" not in loaded


def test_a_wheel_holds_the_four_packages_and_what_lies_in_them(tmp_path):
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)],
        cwd=ROOT, check=True, capture_output=True,
    )  # fmt: skip
    (wheel,) = tmp_path.glob("*.whl")
    listing = subprocess.run(
        [sys.executable, "-m", "zipfile", "-l", str(wheel)],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    names = {line.split()[0] for line in listing.splitlines()[1:]}
    assert {name.partition("/")[0] for name in names if ".dist-info" not in name} == set(PACKAGES)
    assert "hybrid_ir/retrieval/log4j2.properties" in names
    assert "hybrid_ir/py.typed" in names
