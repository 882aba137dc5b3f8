import os
import signal
import subprocess
import sys

import pytest

PROGRAM = """
import sys
from pathlib import Path
from hybrid_ir.pubmed.rows import Recipe, parse_files
from hybrid_ir.pubmed.selection import SelectionConfig

if __name__ == "__main__":
    folder, *paths = map(Path, sys.argv[1:])
    recipe = Recipe(SelectionConfig(abstract=False), labels=True)
    try:
        for number, file in enumerate(parse_files(paths, recipe, 2, folder)):
            if number == int(WAIT):
                print("go", flush=True)
            rows = sum(map(len, file.batches))
    except KeyboardInterrupt:
        print("interrupted", flush=True)
        sys.exit(130)
"""


@pytest.mark.parametrize("wait", [0, 3])
def test_ctrl_c_ends_the_processes_without_a_word(tmp_path, pubmed, wait):
    records = "".join(pubmed.citation(n, "heart", "failure " * 200) for n in range(3_000))
    paths = [file.path for file in pubmed.write(*[[records]] * 12)]
    program = tmp_path / "parse.py"
    program.write_text(PROGRAM.replace("WAIT", str(wait)))
    process = subprocess.Popen(
        [sys.executable, program, tmp_path, *paths],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
    )  # fmt: skip
    assert process.stdout is not None
    assert process.stdout.readline() == "go\n"
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does: to all of them
    assert process.communicate() == ("interrupted\n", "")
    assert process.returncode == 130
