"""Pseudo-documents: what models write in answer to the questions of a batch."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from generation.budget import Budget, refuse_unpriced
from generation.embedding import EmbeddingConfig
from generation.examples import ExamplesConfig, Pool, drawn
from generation.llm import ModelConfig, Reply, Request, named
from generation.prompts import SAMPLES, Example, PromptName, fingerprint, pseudo_document
from generation.quality import QualityConfig
from generation.texts.refusals import Cleaned, usable
from hybrid_ir.errors import refuse
from hybrid_ir.records import Question


@dataclass(frozen=True, slots=True)
class PseudoConfig:
    """How pseudo-documents are written; a file in ``configs/`` fills it.

    Attributes:
        generators: The models by their names, in the order of the output.
        prompts: Prompts that each generator answers: ``simple``, ``abstract``, ``examples``;
            ``recorded`` for replies that were written to other prompts.
        samples: Texts a question, generator and prompt.
        attempts: How often a question is asked, changed, until a reply is of use.
        min_words: A shorter text is of no use.
        examples: For the prompt ``examples``.
        quality: How texts are weighed; None leaves every weight at 1.
        embedding: What they are weighed with, unless by the method ``lexical``.
        budget: What may be spent on one output, earlier runs included (its name is the account's).
        cache: The file that keeps replies, or None to keep none.
    """

    generators: dict[str, ModelConfig]
    prompts: tuple[PromptName, ...] = ("abstract",)
    samples: int = 1
    attempts: int = 3
    min_words: int = 20
    examples: ExamplesConfig = field(default_factory=ExamplesConfig)
    quality: QualityConfig | None = None
    embedding: EmbeddingConfig = field(default_factory=EmbeddingConfig)
    budget: Budget = field(default_factory=Budget)
    cache: Path | None = Path("work/replies.sqlite")

    @property
    def embeds(self) -> bool:
        """Whether texts are weighed by embeddings."""
        return self.quality is not None and self.quality.method != "lexical"

    @property
    def texts(self) -> int:
        """Texts a question and generator."""
        return len(self.prompts) * self.samples

    def __post_init__(self) -> None:
        refuse(
            "the pseudo-documents",
            ("generators", "one model or more", 0, bool(self.generators)),
            ("prompts", "each once", self.prompts, 0 < len(set(self.prompts)) == len(self.prompts)),
            ("samples", "1 or more", self.samples, self.samples >= 1),
            ("attempts", "1 or more", self.attempts, self.attempts >= 1),
            ("min_words", "0 or more", self.min_words, self.min_words >= 0),
        )
        object.__setattr__(self, "generators", named(self.generators))
        refuse_unpriced(self.budget, self.generators.values())


def requests_of(
    questions: Sequence[Question], config: PseudoConfig, generator: ModelConfig, pool: Pool
) -> Iterator[Request]:
    """Yield a generator's requests by question, prompt and sample.

    Samples are numbered through the prompts: with 2 samples the second prompt's are 2 and 3.
    """
    for question in questions:
        examples = drawn(question, pool, config.examples) if "examples" in config.prompts else ()
        for place, name in enumerate(config.prompts):
            messages = pseudo_document(name, question, examples)
            for number in range(place * config.samples, (place + 1) * config.samples):
                yield Request(question.id, messages, generator.sampling, sample=number)


def text_of(config: PseudoConfig, _: Request, reply: Reply) -> Cleaned:
    """Give the text that a reply holds, without its wrappings.

    Raises:
        Unusable: it refuses or is too short.
    """
    return usable(reply, config.min_words)


def prompt_of(sample: int, config: PseudoConfig) -> PromptName:
    """Give the prompt that a sample answers."""
    return config.prompts[sample // config.samples]


def fingerprints(config: PseudoConfig) -> tuple[str, ...]:
    """Hash the text of each prompt."""
    examples = [Example(SAMPLES[0], "It is this.")]
    return tuple(
        fingerprint(pseudo_document(name, question, examples) for question in SAMPLES)
        for name in config.prompts
    )
