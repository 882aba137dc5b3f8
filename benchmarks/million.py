"""A corpus of a million generated citations: built, updated, searched, and drawn out to PubMed."""

from __future__ import annotations

import json
import time
from contextlib import closing
from pathlib import Path

from citations import DELETED, FIRST_PMID, make_questions, plan_baseline, plan_updates, write_all
from process_tree import run_tree
from processes import Finished, median

from hybrid_ir.retrieval.index import open_store

PUBMED = 38_000_000
QUESTIONS = 200
_STEPS = (4, 2, 1)  # the baseline comes by a quarter, a half, the whole


def measure_million(folder: Path, citations: int) -> dict[str, float]:
    """Build in three steps, update, search; every figure is printed as it comes."""
    files, index = folder / "files", folder / "index"
    started = time.perf_counter()
    write_all(plan_baseline(files, citations) + plan_updates(files, citations))
    print(f"generated {citations:,} citations in {time.perf_counter() - started:.0f} s", flush=True)
    figures: dict[str, float] = {"citations": citations, "xml_gz_mb": size_mb(files)}
    points = _build(files, index, citations, figures)
    updated = _step("update", run_tree(
        "pubmed_cli.py", "pubmed", "update", "--files", files, "--index", index,
        "work.processes=2", "work.threads=2",
    ), figures)  # fmt: skip
    _refuse_deleted(index, citations)
    figures["update_citations_per_second"] = median([0.06 * citations / updated.seconds])
    figures["disk_mb_after_update"] = size_mb(index)
    _search(folder, index, figures)
    return {**figures, **_extrapolate(points)}


def _build(
    files: Path, index: Path, citations: int, figures: dict[str, float]
) -> list[tuple[int, float, float]]:
    """Build from a part of the files, then more of them; give (citations, seconds, MB on disk)."""
    later = files.with_name("later")
    plans = plan_baseline(files, citations)
    later.mkdir()
    for plan in plans:
        plan.path.rename(later / plan.path.name)
    points: list[tuple[int, float, float]] = []
    seconds = 0.0
    for part in _STEPS:
        wanted = plans[: max(1, len(plans) // part)]
        for plan in wanted:
            if not plan.path.exists():
                (later / plan.path.name).rename(plan.path)
        reached = wanted[-1].citations.stop
        built = _step(f"build_to_{reached}", run_tree(
            "pubmed_cli.py", "pubmed", "build", "--files", files, "--output", index,
            "updates=false", "work.processes=2", "work.threads=2",
        ), figures)  # fmt: skip
        seconds += built.seconds
        points.append((reached, seconds, size_mb(index)))
    figures["build_seconds"] = median([seconds])
    figures["build_citations_per_second"] = median([citations / seconds])
    figures["disk_mb"] = points[-1][2]
    return points


def _search(folder: Path, index: Path, figures: dict[str, float]) -> None:
    batch = [
        {"id": f"{number:024x}", "body": text, "type": "summary"}
        for number, text in enumerate(make_questions(QUESTIONS))
    ]
    questions = folder / "questions.json"
    questions.write_text(json.dumps({"questions": batch}))
    searched = _step("search", run_tree(
        "pubmed_cli.py", "search", "--index", index, "--questions", questions,
        "--output", folder / "run.trec", "hits=1000", "threads=2",
    ), figures)  # fmt: skip
    figures["search_questions_per_second"] = median([QUESTIONS / searched.seconds])


def _step(name: str, finished: Finished, figures: dict[str, float]) -> Finished:
    print(f"{name:20} {finished.seconds:9.1f} s {finished.peak_mb:8.0f} MB", flush=True)
    figures[f"{name}_seconds"] = median([finished.seconds])
    figures[f"{name}_peak_mb"] = median([finished.peak_mb])
    return finished


def _refuse_deleted(index: Path, citations: int) -> None:
    """Make sure that no deleted citation is left."""
    deleted = [str(FIRST_PMID + number) for number in range(DELETED[1], citations, DELETED[0])]
    with closing(open_store(index)) as store:
        if left := store.find(deleted):
            raise RuntimeError(f"{len(left)} of {len(deleted)} deleted citations are still there")


def _extrapolate(points: list[tuple[int, float, float]]) -> dict[str, float]:
    """Go on from the last two points in a straight line; say how straight it was until there."""
    (first, first_seconds, _), (half, half_seconds, half_mb), (last, seconds, mb) = points
    slopes = [
        (half_seconds - first_seconds) / (half - first),
        (seconds - half_seconds) / (last - half),
    ]
    hours = (seconds + slopes[1] * (PUBMED - last)) / 3600
    gigabytes = (mb + (mb - half_mb) / (last - half) * (PUBMED - last)) / 1024
    print(f"for {PUBMED:,} citations: {hours:.1f} h, {gigabytes:.0f} GB on disk", flush=True)
    return {
        "seconds_per_million_first_half": median([slopes[0] * 1e6]),
        "seconds_per_million_second_half": median([slopes[1] * 1e6]),
        "pubmed_build_hours": median([hours]),
        "pubmed_disk_gb": median([gigabytes]),
    }


def size_mb(folder: Path) -> float:
    """Give the size of all files of a folder, in MB of 2**20 bytes."""
    return median([sum(f.stat().st_size for f in folder.rglob("*") if f.is_file()) / 2**20])
