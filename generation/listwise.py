"""Ranking passages by a language model that sees many at once: sliding windows, mended orders.

After RankGPT (Sun et al. 2023, https://arxiv.org/abs/2304.09542): the model orders the passages of
a window, the window slides from the bottom of a ranking to its top, and as windows overlap the best
passages rise all the way. The next window's request depends on the reply to the one before; what
asks goes through the windows of many questions side by side.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from generation.budget import Budget, refuse_unpriced
from generation.llm import ModelConfig, Reply, Request, named
from generation.orders import Order, PassageOrder, order_of
from generation.prompts import OrderForm, fingerprint, listwise, quoted
from generation.structured import schema_of
from generation.texts.refusals import Cleaned
from hybrid_ir.errors import refuse
from hybrid_ir.rerank.candidates import Candidates


@dataclass(frozen=True, slots=True)
class ListwiseConfig:
    """How a run is re-ranked by a language model; a file in ``configs/`` fills it.

    Attributes:
        generators: The model, under its name.
        depth: So many of a question's best documents are ordered anew.
        window: Passages that the model sees at once.
        step: Passages from one window to the next; the fewer, the more calls.
        passes: How often the window slides from the bottom to the top.
        passage_words: Words of a passage that the model sees, title included; 0 for all.
        form: The reply that is asked for: ``json``, or ``text`` (``[2] > [1]``) for models that
            were trained for it. Either is understood, whatever was asked for.
        rest: Documents below ``depth`` are ranked below the others in the order they had, or
            dropped.
        attempts: How often a window is asked, told why, until a reply holds an order; after that
            it stays as it was.
        budget: What may be spent on one output, earlier runs included (its name is the account's).
        cache: The file that keeps replies, or None to keep none.
    """

    generators: dict[str, ModelConfig]
    depth: int = 20
    window: int = 20
    step: int = 10
    passes: int = 1
    passage_words: int = 300
    form: OrderForm = "json"
    rest: Literal["drop", "append"] = "append"
    attempts: int = 3
    budget: Budget = field(default_factory=Budget)
    cache: Path | None = Path("work/replies.sqlite")

    def __post_init__(self) -> None:
        accounted = self.cache is not None or self.budget == Budget()
        refuse(
            "the listwise ranking",
            ("generators", "one model", list(self.generators), len(self.generators) == 1),
            ("depth", "2 or more", self.depth, self.depth >= 2),
            ("window", "2 or more", self.window, self.window >= 2),
            ("step", "1 or more, less than window", self.step, 1 <= self.step < self.window),
            ("passes", "1 or more", self.passes, self.passes >= 1),
            ("passage_words", "0 or more", self.passage_words, self.passage_words >= 0),
            ("attempts", "1 or more", self.attempts, self.attempts >= 1),
            ("cache", "a file, with a budget: its account spans all windows", "none", accounted),
        )
        object.__setattr__(self, "generators", named(self.generators))
        refuse_unpriced(self.budget, self.generators.values())

    @property
    def generator(self) -> ModelConfig:
        """The model."""
        (model,) = self.generators.values()
        return model


@dataclass(slots=True)
class Sliding:
    """A question's candidates on their way.

    Attributes:
        candidates: Its documents.
        passages: What the model sees of each.
        cut: How many of these are shorter than the document.
        windows: The places each window holds, in the order in which they are asked.
        order: The candidates by their numbers (from 0), best first as known so far.
        done: Windows that are done.
    """

    candidates: Candidates
    passages: tuple[str, ...]
    cut: int
    windows: tuple[range, ...]
    order: list[int]
    done: int = 0

    @property
    def documents(self) -> list[str]:
        """The documents in their order so far."""
        return [self.candidates.documents[number] for number in self.order]

    @property
    def finished(self) -> bool:
        """Whether there is nothing more to ask."""
        return self.done == len(self.windows)

    def move(self, order: Order | None) -> None:
        """Bring the next window into an order, or leave it as it is; then the next one is next."""
        window = self.windows[self.done]
        if order:
            here = self.order[window.start : window.stop]
            self.order[window.start : window.stop] = [here[place] for place in order.places]
        self.done += 1

    def give_up(self) -> None:
        """Go back to the order that the candidates had, and ask nothing more."""
        self.order = sorted(self.order)
        self.done = len(self.windows)


def sliding_of(candidates: Candidates, config: ListwiseConfig) -> Sliding:
    """Make a question's candidates ready to be asked about."""
    split = [text.split() for text in candidates.texts]
    most = config.passage_words or max(map(len, split), default=0)
    passages = tuple(" ".join(words[:most]) for words in split)
    cut = sum(len(words) > most for words in split)
    windows = windows_of(len(passages), config.window, config.step) * config.passes
    return Sliding(candidates, passages, cut, windows, list(range(len(passages))))


def windows_of(number: int, window: int, step: int) -> tuple[range, ...]:
    """Give the places of each window from the bottom to the top, which the last one reaches."""
    if number < 2:
        return ()
    windows, end = [range(max(0, number - window), number)], number
    while windows[-1].start:
        end -= step
        windows.append(range(max(0, end - window), end))
    return tuple(windows)


def next_request(sliding: Sliding, config: ListwiseConfig) -> Request:
    """Ask for the order of the next window; ``sample`` is its number."""
    window = sliding.windows[sliding.done]
    return _request(sliding, sliding.order[window.start : window.stop], sliding.done, config)


def stand_ins(sliding: Sliding, config: ListwiseConfig) -> Iterator[Request]:
    """Yield a request for each window after the next one that takes no less than the real one will.

    Which passages it will hold is not known: these hold the longest.
    """
    sizes = [len(quoted(passage).encode()) for passage in sliding.passages]
    longest = sorted(range(len(sizes)), key=lambda number: -sizes[number])
    for number in range(sliding.done + 1, len(sliding.windows)):
        yield _request(sliding, longest[: len(sliding.windows[number])], number, config)


def _request(
    sliding: Sliding, shown: Sequence[int], number: int, config: ListwiseConfig
) -> Request:
    passages = [sliding.passages[place] for place in shown]
    return Request(
        sliding.candidates.question_id,
        listwise(sliding.candidates.query, passages, config.form),
        config.generator.sampling,
        schema_of(PassageOrder) if config.form == "json" else None,
        sample=number,
    )


def checked(windows: Mapping[str, Sequence[range]], request: Request, reply: Reply) -> Cleaned:
    """Give a reply as it is, if it holds an order.

    Args:
        windows: Question id -> its windows.
        request: What was asked.
        reply: What came.

    Raises:
        Unusable: it holds none.
    """
    order_of(reply, len(windows[request.question_id][request.sample]))
    return Cleaned(reply.text, ())


def fingerprints() -> tuple[str, ...]:
    """Hash the text of the prompt in each form."""
    forms: tuple[OrderForm, ...] = ("json", "text")
    return tuple(fingerprint([listwise("What is it?", ("One.", "Two."), form)]) for form in forms)
