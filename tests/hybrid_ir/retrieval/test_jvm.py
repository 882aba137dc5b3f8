import os
import subprocess
import sys

import pytest


def start(memory, **environment):
    program = "from hybrid_ir.retrieval.jvm import java_class, java_home\n"
    program += "print(java_class('java.lang.Runtime').getRuntime().maxMemory() >> 20)\n"
    program += "import os; print(os.environ.get('JAVA_HOME'))"
    return subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False,
        env=os.environ | {"HYBRID_IR_JVM_MEMORY": memory} | environment,
    )  # fmt: skip


def test_the_heap_is_as_asked_for_and_java_home_is_left_alone():
    result = start("128m", JAVA_HOME="/somewhere/else")
    assert result.stdout.split() == ["128", "/somewhere/else"]


@pytest.mark.parametrize(
    "memory", ["", "lots", "0g", "3m", "1k", "99999g", "²g", "2", "999999999999g"]
)
def test_a_heap_the_jvm_would_die_of_is_refused_before(memory):
    result = start(memory)
    assert result.stdout == ""
    assert "HYBRID_IR_JVM_MEMORY: expected a size such as 4g" in result.stderr


def test_names_of_files_do_not_depend_on_the_locale(tmp_path):
    program = "import sys; from pathlib import Path\n"
    program += "from hybrid_ir.records import Document\n"
    program += "from hybrid_ir.retrieval.index import IndexConfig\n"
    program += "from hybrid_ir.retrieval.indexing import build_index\n"
    program += "build_index([Document('1', 'x')], Path(sys.argv[1]), IndexConfig())"
    subprocess.run(
        [sys.executable, "-X", "utf8", "-c", program, str(tmp_path / "índice")],
        env=os.environ | {"LC_ALL": "C"}, check=True,
    )  # fmt: skip
    assert (tmp_path / "índice" / "index.json").exists()
