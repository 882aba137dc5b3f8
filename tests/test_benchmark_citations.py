import hashlib
import subprocess
import sys
from pathlib import Path

from hybrid_ir.pubmed.listing import sum_in

PROGRAM = Path(__file__).resolve().parents[1] / "benchmarks" / "citations.py"


def run(*arguments):
    command = [sys.executable, str(PROGRAM), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def test_generated_files_have_sums_where_they_are_asked_for(tmp_path):
    assert "--sums" in run("--help")
    run(tmp_path, 200)
    assert list(tmp_path.rglob("*.md5")) == []
    run(tmp_path, 200, "--sums")
    files = sorted(tmp_path.rglob("*.xml.gz"))
    assert len(files) == 2
    for file in files:
        said = sum_in(file.with_name(f"{file.name}.md5").read_text(), file.name)
        assert said == hashlib.md5(file.read_bytes()).hexdigest()
