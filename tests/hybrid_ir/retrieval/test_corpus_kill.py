"""Building and updating killed at random points, and resumed, against undisturbed runs."""

import os
import random
import shutil
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from hybrid_ir.errors import InputError
from hybrid_ir.records import Clause, Query
from hybrid_ir.retrieval.bm25 import SearchConfig, Searcher
from hybrid_ir.retrieval.corpus_manifest import read_corpus
from hybrid_ir.retrieval.index import IDS, SETTINGS, open_store

KILLS = 10
WORDS = [f"w{number}" for number in range(80)]
PROGRAM = """
import sys
from multiprocessing import active_children
from pathlib import Path
from hybrid_ir.pubmed.rows import Recipe
from hybrid_ir.pubmed.selection import SelectionConfig
from hybrid_ir.retrieval.corpus import apply_files
from hybrid_ir.retrieval.corpus_manifest import CorpusFile
from hybrid_ir.retrieval.index import IndexConfig
from hybrid_ir.retrieval.jvm import start_jvm

def tell(_):
    if children := [str(child.pid) for child in active_children()]:
        print(*children, flush=True)

def main():
    folder, processes, *paths = sys.argv[1:]
    files = [CorpusFile(Path(path), Path(path).name) for path in paths]
    config = IndexConfig(fields=("title", "year"), buffer_mb=16)
    start_jvm()
    print("go", flush=True)
    recipe = Recipe(SelectionConfig(), labels=True)
    apply_files(Path(folder), files, config, recipe, int(processes), tell, checkpoint=300)

if __name__ == "__main__":
    main()
"""


def citations(pubmed, ids, seed):
    draw = random.Random(seed)
    for id_ in ids:
        text = " ".join(draw.choices(WORDS, weights=range(80, 0, -1), k=draw.randint(5, 60)))
        blank = draw.random() < 0.1
        yield pubmed.citation(id_, " ".join(draw.sample(WORDS, 4)), "" if blank else text)


@pytest.fixture
def files(pubmed):
    """A baseline of eight files and an update of six."""
    size = 150
    baseline = [citations(pubmed, range(n * size, (n + 1) * size), n) for n in range(8)]
    updates = [
        [
            *citations(pubmed, range(n, 8 * size, 11), f"revised {n}"),
            *citations(pubmed, range(8 * size + 20 * n, 8 * size + 20 * (n + 1)), f"new {n}"),
            *(pubmed.deletion(id_) for id_ in range(n, 8 * size, 101)),
        ]
        for n in range(6)
    ]
    written = pubmed.write(*map(list, baseline), *updates)
    return [file.path for file in written[:8]], [file.path for file in written]


@pytest.fixture
def start(tmp_path):
    program = tmp_path / "apply.py"
    program.write_text(PROGRAM)

    def start(folder, paths, processes=1):
        command = [sys.executable, program, folder, processes, *paths]
        quick = {**os.environ, "JAVA_TOOL_OPTIONS": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"}
        process = subprocess.Popen(
            list(map(str, command)), env=quick, stdout=subprocess.PIPE, text=True
        )
        assert process.stdout is not None
        assert process.stdout.readline() == "go\n"
        return process

    return start


def finish(process):
    process.communicate()
    return process.returncode


def found(folder):
    """Give everything a user can see of a corpus: ids, stored fields, top-1,000 scores."""
    queries = [Query(word, (Clause(f"{word} w3"), Clause("w9", "title"))) for word in WORDS[::4]]
    with Searcher(folder, SearchConfig(hits=1000)) as searcher:
        scores = dict(searcher.search_all(queries))
    store = open_store(folder)
    documents = dict(store)
    store.close()
    return sorted(np.load(folder / IDS)), documents, scores, read_corpus(folder)


def kill_and_resume(start, folder, paths, begin, seconds, expected):
    """Kill a run again and again at random points; compare whenever one comes to its end."""
    draw = random.Random(str(folder))
    killed, interrupted = 0, 0
    begin()
    while killed < KILLS:
        process = start(folder, paths)
        time.sleep(draw.uniform(0, seconds))
        process.kill()
        if finish(process) == 0:
            assert found(folder) == expected
            begin()
            continue
        killed += 1
        if not (folder / SETTINGS).exists():
            interrupted += 1
            with pytest.raises(InputError):
                Searcher(folder)
    assert finish(start(folder, paths)) == 0
    assert found(folder) == expected
    assert interrupted > KILLS // 2


@pytest.mark.slow
def test_building_and_updating_survive_kills(tmp_path, files, start):
    baseline, all_files = files
    built, updated, work = (tmp_path / name for name in ("built", "updated", "work"))
    seconds = {}
    for folder, paths in ((built, baseline), (updated, all_files)):
        if folder == updated:
            shutil.copytree(built, updated)
        process = start(folder, paths)
        began = time.monotonic()
        assert finish(process) == 0
        seconds[folder] = time.monotonic() - began

    def anew():
        shutil.rmtree(work, ignore_errors=True)

    kill_and_resume(start, work, baseline, anew, seconds[built], found(built))

    def from_baseline():
        anew()
        shutil.copytree(built, work)

    kill_and_resume(start, work, all_files, from_baseline, seconds[updated], found(updated))


@pytest.mark.slow
def test_reading_processes_do_not_outlive_a_killed_call(tmp_path, files, start):
    process = start(tmp_path / "c", files[1], processes=2)
    children = process.stdout.readline().split()
    process.kill()
    assert finish(process) == -9
    assert len(children) == 2
    patience = time.monotonic() + 20
    while any(is_running(child) for child in children):
        assert time.monotonic() < patience
        time.sleep(0.05)
    assert finish(start(tmp_path / "c", files[1], processes=2)) == 0
    assert finish(start(tmp_path / "fresh", files[1])) == 0
    assert found(tmp_path / "c") == found(tmp_path / "fresh")


def is_running(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False
