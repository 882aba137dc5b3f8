"""What the listwise stage reads, counts and writes."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from generation.listwise import ListwiseConfig, Sliding, sliding_of
from generation.orders import Order
from hybrid_ir.errors import IncompleteError, InputError
from hybrid_ir.files import beside, remove, write_jsonl
from hybrid_ir.pipeline.asking import Missing, read_batch
from hybrid_ir.pipeline.rerank import incomplete_of
from hybrid_ir.pubmed.store import DocumentStore
from hybrid_ir.records import Question, Ranked, Ranking
from hybrid_ir.rerank.candidates import Candidates
from hybrid_ir.retrieval.index import open_store
from hybrid_ir.trec import read_run, write_run
from hybrid_ir.wording import counted

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class ListwiseFiles:
    """What a run is re-ranked from: a TREC run, its questions, and the index with the texts."""

    run: Path
    questions: Path
    index: Path


@dataclass(slots=True)
class ListwiseBatch:
    """The questions of a run.

    Attributes:
        slidings: Question id -> its first candidates, in the questions' order.
        rest: Question id -> the documents below them, if these are kept.
        absent: Why questions are not re-ranked.
        counts: What is counted, by name.
    """

    slidings: dict[str, Sliding] = field(default_factory=dict)
    rest: dict[str, list[str]] = field(default_factory=dict)
    absent: list[Missing] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)

    @property
    def windows(self) -> dict[str, Sequence[range]]:
        """Question id -> its windows."""
        return {question_id: one.windows for question_id, one in self.slidings.items()}

    def rankings(self) -> Iterator[tuple[str, Ranking]]:
        """Yield every ranking; scores fall by 1 from the number of documents down to 1."""
        for question_id, sliding in self.slidings.items():
            documents = [*sliding.documents, *self.rest[question_id]]
            scores = range(len(documents), 0, -1)
            yield question_id, tuple(map(Ranked, documents, map(float, scores)))

    def count(self, order: Order | None) -> None:
        """Count what a reply said of a window, or that none held an order."""
        self.counts["windows"] += 1
        if order is None:
            self.counts["windows_left"] += 1
            return
        self.counts[order.source] += 1
        self.counts["windows_mended"] += order.was_mended
        self.counts["out_of_range"] += order.out_of_range
        self.counts["repeated"] += order.repeated
        self.counts["missing"] += order.missing

    def tell(self) -> None:
        """Log what was cut, mended or left as it was."""
        counts = self.counts
        if counts["passages_cut"]:
            log.info(
                "the model saw the beginning of %d of %d passages (passage_words)",
                counts["passages_cut"], counts["passages"],
            )  # fmt: skip
        if counts["passages_without_text"]:
            log.warning("%s without any text", counted(counts["passages_without_text"], "passage"))
        if counts["windows_mended"]:
            log.warning(
                "%d of %d windows mended: %s out of range and %d repeated left out, %d missing put"
                " behind the others",
                counts["windows_mended"], counts["windows"],
                counted(counts["out_of_range"], "number"), counts["repeated"], counts["missing"],
            )  # fmt: skip
        if counts["windows_left"]:
            log.warning(
                "%d of %d windows are left as they were: no reply held an order",
                counts["windows_left"], counts["windows"],
            )  # fmt: skip

    def info(self) -> dict[str, Any]:
        """Give the counts for the manifest: of passages, windows, replies and what was mended."""
        counted_alone = (
            "passages", "passages_cut", "passages_without_text",
            "windows", "windows_mended", "windows_left",
        )  # fmt: skip
        groups = {
            "replies": ("json", "extracted", "repaired", "text"),
            "mended": ("out_of_range", "repeated", "missing"),
        }
        return {
            "questions": len(self.slidings),
            **{name: self.counts[name] for name in counted_alone},
            **{
                group: {name: self.counts[name] for name in names}
                for group, names in groups.items()
            },
        }


def read_listwise(files: ListwiseFiles, config: ListwiseConfig) -> ListwiseBatch:
    """Look up what the model is to see.

    A question with a document that the index does not have is among those that are not re-ranked.

    Raises:
        InputError: a file cannot be read, or the run has none of the questions.
    """
    questions = read_batch(files.questions)
    rankings = read_run(files.run, config.depth if config.rest == "drop" else None).rankings
    batch = ListwiseBatch()
    with closing(open_store(files.index)) as store:
        for question in questions:
            if ranking := rankings.get(question.id):
                _add(batch, question, ranking, store, config)
    found = len(batch.slidings)
    if not found:
        raise InputError(
            f"{files.run}: has none of the questions of {files.questions}: is it that batch?"
        )
    if found < len(questions):
        without = counted(len(questions) - found, "question")
        log.warning("%s: no documents for %s", files.run, without)
    if found < len(rankings):
        more = counted(len(rankings) - found, "question")
        log.warning("%s: %s not in %s, left out", files.run, more, files.questions)
    return batch


def _add(
    batch: ListwiseBatch,
    question: Question,
    ranking: Ranking,
    store: DocumentStore,
    config: ListwiseConfig,
) -> None:
    """Add a question with the texts of its documents."""
    ids = [item.item for item in ranking]
    top = tuple(ids[: config.depth])
    found = store.find(top)
    texts = tuple(found[one].text if one in found else "" for one in top)
    sliding = sliding_of(Candidates(question.id, question.body, top, texts), config)
    batch.slidings[question.id], batch.rest[question.id] = sliding, ids[config.depth :]
    if unknown := [one for one in top if one not in found]:
        message = (
            f"{counted(len(unknown), 'document')} not in {store.path} (first: {unknown[0]}): give"
            " the index that the run was searched with"
        )
        batch.absent.append(Missing(question.id, config.generator.name, 0, "document", message))
        log.warning("question %s: %s", question.id, message)
        sliding.give_up()
        return
    batch.counts["passages"] += len(sliding.passages)
    batch.counts["passages_cut"] += sliding.cut
    batch.counts["passages_without_text"] += sum(not text for text in sliding.passages)


def write_listwise(output: Path, batch: ListwiseBatch, name: str, cache: Path | None) -> None:
    """Write the run under its name, or under another one where questions failed.

    Raises:
        IncompleteError: questions failed, or no reply to any window held an order.
    """
    left, windows = batch.counts["windows_left"], batch.counts["windows"]
    if windows and left == windows and not batch.absent:
        raise IncompleteError(
            f"no reply to any of {counted(windows, 'window')} held an order of passages, so nothing"
            " is written; the log says why (more sampling.max_tokens or form=text may help, then"
            " more attempts)"
        )
    incomplete, failed = incomplete_of(output), beside(output, "failed")
    if not batch.absent:
        write_run(output, batch.rankings(), name)
        remove(incomplete)
        remove(failed)
        return
    write_run(incomplete, batch.rankings(), name)
    write_jsonl(failed, batch.absent)
    counts = Counter(one.kind for one in batch.absent)
    kinds = ", ".join(f"{kind} {number}" for kind, number in counts.items())
    again = "asks for what is missing alone, given a budget for it"
    raise IncompleteError(
        f"{counted(len(batch.absent), 'question')} of {len(batch.slidings)} could not be re-ranked"
        f" ({kinds}), see {failed}; {incomplete} has all, these as the run given ranks them. The"
        f" same command {again if cache else 'asks for all again (cache=FILE keeps replies)'}."
    )
