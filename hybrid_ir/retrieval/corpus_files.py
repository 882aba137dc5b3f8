"""Which PubMed files are still to be applied, and whether they fit what was applied before."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise

from hybrid_ir.errors import InputError
from hybrid_ir.pubmed.sums import md5_of
from hybrid_ir.retrieval.corpus_manifest import AppliedFile, CorpusFile

ANEW = "to build a new corpus delete its folder, or give another --output"
_NAME = re.compile(r"(?P<baseline>.*?)(?P<number>\d+)\.xml(\.gz)?", re.ASCII)


def files_to_apply(files: Sequence[CorpusFile], applied: Sequence[AppliedFile]) -> list[CorpusFile]:
    """Give the files that were not applied yet, in order.

    Raises:
        InputError: names without a number or of several baselines, numbers that do not ascend or
            come before what was applied, files that changed since or are missing; all at once.
    """
    faults = list(_unusable_names([*(file.name for file in applied), *(f.name for f in files)]))
    if not faults:
        known = {file.name: file.md5 for file in applied}
        faults = [*_disorder(files, applied, known), *_changed(files, known)]
        todo = [file for file in files if file.name not in known]
        faults += [f"{file.path}: is missing" for file in todo if not file.path.is_file()]
        if not faults:
            return todo
    raise InputError.of_all("these PubMed files cannot be applied:", faults)


def baseline_of(name: str) -> str:
    """Give what a file's name has before its number: ``pubmed25n``."""
    match = _NAME.fullmatch(name)
    return match["baseline"] if match else ""


def missing_numbers(names: Iterable[str]) -> tuple[str, ...]:
    """Give the numbers from 1 to the last that no file has, as "3" or "7-9"."""
    missing = []
    expected = 1
    for number in map(_number, names):
        if number == expected + 1:
            missing.append(str(expected))
        elif number > expected:
            missing.append(f"{expected}-{number - 1}")
        expected = number + 1
    return tuple(missing)


def _number(name: str) -> int:
    match = _NAME.fullmatch(name)
    if match is None:
        raise ValueError(f"no number in {name}")  # names are looked at before
    return int(match["number"])


def _unusable_names(names: Sequence[str]) -> Iterator[str]:
    for name in names:
        if not _NAME.fullmatch(name):
            yield f"{name}: expected a name such as pubmed25n0001.xml.gz"
    baselines = list(dict.fromkeys(map(baseline_of, names)))
    if len(baselines) > 1:
        yield (
            f"files of {' and '.join(baselines)}: a corpus holds those of one baseline; a new"
            " baseline needs a new folder"
        )


def _disorder(
    files: Sequence[CorpusFile], applied: Sequence[AppliedFile], known: Mapping[str, str]
) -> Iterator[str]:
    for before, after in pairwise(files):
        if _number(before.name) >= _number(after.name):
            yield f"{after.name}: expected ascending numbers, it comes after {before.name}"
    last = applied[-1].name if applied else ""
    for file in files:
        if last and file.name not in known and _number(file.name) <= _number(last):
            yield (
                f"{file.name}: {last} was applied before it, and later files win over earlier"
                f" ones: {ANEW}"
            )


def _changed(files: Sequence[CorpusFile], known: Mapping[str, str]) -> Iterator[str]:
    for file in files:
        if file.name in known and (file.md5 or file.path.is_file()):
            md5 = file.md5 or md5_of(file.path)
            if md5 != known[file.name]:
                yield (
                    f"{file.name}: was applied with MD5 {known[file.name]} and has {md5} now:"
                    f" {ANEW}"
                )
