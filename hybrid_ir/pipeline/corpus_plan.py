"""Which of the PubMed files in a folder a corpus is to consist of, and whether any is missing."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from hybrid_ir.errors import InputError
from hybrid_ir.pubmed.listing import FileName, files_in, sum_in
from hybrid_ir.pubmed.sums import Sums, md5_of
from hybrid_ir.retrieval.corpus_manifest import Corpus, CorpusFile

log = logging.getLogger(__name__)


def files_of(folder: Path, kinds: Iterable[str]) -> dict[str, list[FileName]]:
    """Give the files of each folder, in order."""
    found = {kind: files_in(folder / kind) for kind in kinds}
    for kind in found:
        for path in _lookalikes(folder / kind):
            log.warning("%s: passed over, expected a name such as pubmed25n0001.xml.gz", path)
    if not any(found.values()):
        raise InputError(
            f"{folder}: expected {' or '.join(f'{kind}/' for kind in found)} with files such as"
            " pubmed25n0001.xml.gz, there are none: run hybrid-ir pubmed sync"
        )
    return found


def _lookalikes(folder: Path) -> list[Path]:
    """Give files that may be meant to be PubMed's: unpacked, or renamed."""
    paths = sorted(folder.glob("[!.]*.xml*")) if folder.is_dir() else []
    return [path for path in paths if path.suffix != ".md5" and not FileName.parse(path.name)]


def with_sums(
    folder: Path, files: Mapping[str, Iterable[FileName]], verify: bool
) -> list[CorpusFile]:
    """Give all files in order, each with its sum; one that came here by hand is remembered, too.

    Raises:
        InputError: files that are not what the server has, by :func:`~hybrid_ir.pubmed.sync.sync`
            or by a sum that lies beside them, or that lie in both folders and differ.
    """
    sums = Sums(folder)
    found: dict[FileName, CorpusFile] = {}
    faults = []
    for kind, names in files.items():
        for file in names:
            path = folder / kind / file.name
            md5 = md5_of(path) if verify else sums.md5(path)
            expected = sums.stated(path) or _sum_beside(path)
            twin = found.get(file)
            if expected not in ("", md5):
                faults.append(f"{path}: expected MD5 {expected}, it has {md5}: get it again")
            elif twin and twin.md5 != md5:
                faults.append(f"{path}: differs from {twin.path}: remove the one that is wrong")
            elif not sums.find(path) and os.access(folder, os.W_OK):
                sums.remember(path, md5, "")
            found[file] = CorpusFile(path, file.name, md5)
    if faults:
        raise InputError.of_all("these files are damaged, or changed since they came:", faults)
    return [found[file] for file in sorted(found)]


def _sum_beside(path: Path) -> str:
    """Give the sum in ``NAME.md5``, as NLM has it beside each file; empty where there is none."""
    beside = path.with_name(f"{path.name}.md5")
    return (sum_in(beside.read_text(errors="replace"), path.name) or "") if beside.is_file() else ""


def with_applied(files: Iterable[CorpusFile], corpus: Corpus | None) -> tuple[tuple[str, str], ...]:
    """Give name and sum of what is or will be in a corpus; applied files may be gone from disk."""
    applied = {file.name: file.md5 for file in corpus.files} if corpus else {}
    return tuple(sorted((applied | {file.name: file.md5 for file in files}).items()))


def refuse_gaps(files: Mapping[str, Sequence[FileName]], corpus: Corpus | None) -> None:
    """Refuse to pass over a file: before, between or behind those of the baseline."""
    last = _last_number(corpus)
    found = {file for names in files.values() for file in names}
    if len({file.year for file in found}) > 1:
        return  # of two baselines, which are refused for that
    missing = _gaps(last, sorted(file.number for file in found if file.number > last))
    if missing:
        raise InputError(
            f"the PubMed files numbered {', '.join(missing)} are missing; they cannot be applied"
            " after later ones: run hybrid-ir pubmed sync, or do without them by work.gaps=accept"
        )


def _last_number(corpus: Corpus | None) -> int:
    file = FileName.parse(corpus.files[-1].name) if corpus else None
    return file.number if file else 0


def _gaps(last: int, numbers: Iterable[int]) -> list[str]:
    """Give what is missing in ascending numbers after the last one known: "3", "7-9"."""
    gaps = []
    for number in numbers:
        if number == last + 2:
            gaps.append(f"{last + 1}")
        elif number > last + 2:
            gaps.append(f"{last + 1}-{number - 1}")
        last = number
    return gaps
