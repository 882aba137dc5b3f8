"""Build examples/bioasq-mini, the small real BioASQ collection, from the shared data folder.

    python scripts/build_bioasq_mini.py --shared ../shared --output examples/bioasq-mini

Writes the documents, the questions and goldens, the language-model texts and COUNTS.md; README.md
and ATTRIBUTION.md are kept by hand. Equal input gives equal bytes (with the same zlib). Prints
what lies where and how much of each batch's gold is in the collection. Exit code 2: the shared
folder lacks something or the result is larger than 8 MB.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hybrid_ir.errors import InputError
from hybrid_ir.files import read_lines, read_text, write_jsonl, writing
from hybrid_ir.records import QUESTION_TYPES, Document

PASSAGES = "data/derived/gold_snippet_docs_dev.jsonl.gz"
GOLDEN = "data/bioasq_golden/{}_golden.json.gz"
LLM = "data/llm/{}.jsonl"
BATCHES = {
    "test": ("11B2", "12B1"),
    "dev": ("10B1", "10B2"),
    "train": (
        *(f"{year}B{batch}" for year in range(6, 10) for batch in range(1, 6)),
        *(f"10B{batch}" for batch in range(3, 7)),
    ),
}
LLM_FILES = {
    **{
        f"{batch}.{style}": (batch,)
        for batch in BATCHES["test"] + BATCHES["dev"]
        for style in ("expert", "abstract")
    },
    "10B.synthetic": BATCHES["dev"],
}
"""Language-model file -> the batches whose questions it was written for, every one of them."""

MOST_BYTES = 8_000_000


@dataclass(frozen=True, slots=True)
class Batch:
    """A golden file: its name, its use, its content and its gold as (question id, PMID) pairs."""

    name: str
    use: str
    golden: dict[str, Any]
    listed: frozenset[tuple[str, str]]
    in_snippets: frozenset[tuple[str, str]]

    @property
    def ids(self) -> list[str]:
        """The questions' ids in the golden's order."""
        return [question["id"] for question in self.golden["questions"]]


def main(argv: list[str] | None = None) -> int:
    """Build the collection; 0 on success, 2 with one message when the input cannot be used."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--shared", type=Path, default=Path("../shared"))
    parser.add_argument("--output", type=Path, default=Path("examples/bioasq-mini"))
    arguments = parser.parse_args(argv)
    try:
        build(arguments.shared, arguments.output)
    except InputError as error:
        print(error, file=sys.stderr)
        return 2
    return 0


def build(shared: Path, output: Path) -> None:
    """Read everything from ``shared``, write everything to ``output``, print the counts.

    Raises:
        InputError: input is missing or of another shape, or the result is larger than 8 MB.
    """
    check_inputs(shared)
    documents = list(read_documents(shared / PASSAGES))
    batches = [read_batch(shared, name, use) for use, names in BATCHES.items() for name in names]
    texts = {name: read_llm(shared, name, batches) for name in LLM_FILES}
    write_jsonl(output / "documents.jsonl.gz", documents)
    for batch in batches:
        write_batch(output, batch)
    for name, lines in texts.items():
        write_lines(output / "llm" / f"{name}.jsonl.gz", lines)
    counts = list(count(documents, batches, {name: len(lines) for name, lines in texts.items()}))
    write_lines(output / "COUNTS.md", counts)
    print("\n".join(counts))
    check_size(output)


def check_inputs(shared: Path) -> None:
    """Raise InputError naming every input file that is missing."""
    goldens = [shared / GOLDEN.format(name) for names in BATCHES.values() for name in names]
    texts = [shared / LLM.format(name) for name in LLM_FILES]
    missing = [path for path in (shared / PASSAGES, *goldens, *texts) if not path.is_file()]
    if missing:
        raise InputError.of_all(
            f"{shared}: expected the shared data folder (--shared); it lacks", map(str, missing)
        )


def read_documents(path: Path) -> Iterator[Document]:
    """Yield a document for each line of the passage file, in its order.

    Title snippets make the title, all others the abstract: ``abstract`` and the ``sections.N`` of
    the first years (``sections.0`` is what was later called the abstract, others are its
    continuation or full text).
    """
    for number, line in read_lines(path):
        try:
            passage = json.loads(line)
            title = [s["text"] for s in passage["snippets"] if s["section"] == "title"]
            rest = [s["text"] for s in passage["snippets"] if s["section"] != "title"]
            yield Document(passage["pmid"], " ".join(title), " ".join(rest))
        except (ValueError, KeyError, TypeError) as error:
            raise InputError(
                f"{path}:{number}: expected pmid and snippets with section and text: {error!r}"
            ) from error


def read_batch(shared: Path, name: str, use: str) -> Batch:
    """Read a golden file as it is, and beside it the PMIDs of its documents and snippets."""
    path = shared / GOLDEN.format(name)
    try:
        golden = json.loads(read_text(path))
        questions = golden["questions"]
        listed = {(q["id"], pmid(url)) for q in questions for url in q["documents"]}
        snippets = {(q["id"], pmid(s["document"])) for q in questions for s in q["snippets"]}
    except (ValueError, KeyError, TypeError) as error:
        raise InputError(f"{path}: expected a golden file with questions: {error!r}") from error
    return Batch(name, use, golden, frozenset(listed), frozenset(snippets))


def pmid(url: str) -> str:
    """The last part of a document's URL."""
    return url.rstrip("/").rpartition("/")[2]


def read_llm(shared: Path, name: str, batches: list[Batch]) -> list[str]:
    """Read the lines of a language-model file and check that each question has just one."""
    path = shared / LLM.format(name)
    expected = [id_ for batch in batches if batch.name in LLM_FILES[name] for id_ in batch.ids]
    try:
        lines = [line for _, line in read_lines(path)]
        ids = [json.loads(line)["id"] for line in lines]
    except (ValueError, KeyError, TypeError) as error:
        raise InputError(f"{path}: expected JSON objects with an id: {error!r}") from error
    if Counter(ids) != Counter(expected):
        raise InputError(
            f"{path}: expected one line for each of the {len(expected)} questions of "
            f"{' and '.join(LLM_FILES[name])}, got {len(ids)} lines; differing ids: "
            f"{', '.join(sorted(set(ids) ^ set(expected))) or 'none, but some id twice'}"
        )
    return lines


def write_batch(output: Path, batch: Batch) -> None:
    """Write the golden of a batch and, unless it is for training, its test file."""
    folder = output / batch.use
    golden = json.dumps(batch.golden, ensure_ascii=False, separators=(",", ":"))
    write_lines(folder / f"{batch.name}.golden.json.gz", [golden])
    if batch.use != "train":
        questions = [{k: q[k] for k in ("id", "type", "body")} for q in batch.golden["questions"]]
        text = json.dumps({"questions": questions}, ensure_ascii=False, indent=1)
        write_lines(folder / f"{batch.name}.questions.json", [text])


def write_lines(path: Path, lines: Iterable[str]) -> None:
    """Write lines of text, atomically."""
    with writing(path) as file:
        file.writelines(line + "\n" for line in lines)


def count(documents: list[Document], batches: list[Batch], texts: dict[str, int]) -> Iterator[str]:
    """Yield the lines of COUNTS.md."""
    both = sum(bool(document.title and document.abstract) for document in documents)
    titles = sum(not document.abstract for document in documents)
    words = sum(len(document.text.split()) for document in documents)
    yield "# Counts"
    yield "\nWritten by `scripts/build_bioasq_mini.py`; see README.md for what they mean.\n"
    yield f"* {len(documents):,} documents, {words / len(documents):.1f} words each on average:"
    yield f"  {both:,} with title and abstract text, {titles:,} with title text only,"
    yield f"  {len(documents) - both - titles:,} with abstract text only."
    yield from count_batches({document.id for document in documents}, batches)
    yield "\n| language-model texts | lines |"
    yield "|---|---:|"
    yield from (f"| llm/{name}.jsonl.gz | {lines} |" for name, lines in texts.items())


def count_batches(collection: set[str], batches: list[Batch]) -> Iterator[str]:
    """Yield a table with a row a batch.

    Gold documents are counted once a question. The last column counts distinct documents of the
    collection that would leak from tuning on dev or training on train into this batch.
    """
    gold = {use: {d for b in batches if b.use == use for _, d in b.listed} for use in BATCHES}
    yield (
        "\n| use | batch | questions | "
        + " | ".join(QUESTION_TYPES)
        + (
            " | gold documents | not in the collection | documents of gold snippets "
            "| not in the collection | also gold of dev or train (another use) |"
        )
    )
    yield "|---|---|" + "---:|" * (len(QUESTION_TYPES) + 6)
    for batch in batches:
        types = Counter(question["type"] for question in batch.golden["questions"])
        others = set().union(*(gold[use] for use in ("dev", "train") if use != batch.use))
        shared = {document for _, document in batch.listed} & collection & others
        cells = (
            batch.use, batch.name, types.total(), *(types[t] for t in QUESTION_TYPES),
            len(batch.listed), missing(batch.listed, collection),
            len(batch.in_snippets), missing(batch.in_snippets, collection),
            len(shared),
        )  # fmt: skip
        yield "| " + " | ".join(map(str, cells)) + " |"


def missing(gold: frozenset[tuple[str, str]], collection: set[str]) -> str:
    """Say how many gold documents are not in the collection, and the share."""
    n = sum(document not in collection for _, document in gold)
    return f"{n} ({n / len(gold):.1%})"


def check_size(output: Path) -> None:
    """Print every file's size.

    Raises:
        InputError: the folder holds more than 8 MB (of 1,000,000 bytes).
    """
    sizes = {p: p.stat().st_size for p in sorted(output.rglob("*")) if p.is_file()}
    for path, size in sizes.items():
        print(f"{size:>9,} {path.relative_to(output)}")
    total = sum(sizes.values())
    print(f"{total:>9,} bytes in {len(sizes)} files")
    if total > MOST_BYTES:
        raise InputError(f"{output}: expected at most {MOST_BYTES:,} bytes, got {total:,}")


if __name__ == "__main__":
    sys.exit(main())
