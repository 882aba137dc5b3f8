"""The settings of the training program; nothing heavy is imported for them."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from hybrid_ir.errors import refuse
from hybrid_ir.tracking import TrackingConfig

Loss = Literal["bce", "pairwise", "infonce", "lambda", "listnet", "margin_mse"]


@dataclass(frozen=True, slots=True)
class StageConfig:
    """One stage of the training.

    Attributes:
        epochs: How often the data is gone through; 0 leaves the stage out, 0.5 takes half of it.
        learning_rate: The highest, reached after the warm-up; from there it falls to 0.
        warmup: The share of the steps in which it rises, from 0 to 1.
        loss: ``bce`` (the paper's) judges every pair alone; all others judge the passages of one
            question against each other: ``pairwise`` (RankNet), ``infonce``, ``lambda``
            (NDCG-Loss2++), ``listnet``, and ``margin_mse``, which learns a teacher's margins.
        list_size: Passages of one question that are judged together; not used by ``bce``.
        incomplete: What happens to questions without a positive or without a negative passage,
            which no loss but ``bce`` can use.
        mix: Source -> how much of it: 1 takes its pairs as they are, 0.5 a random half, 2 all of
            them twice, 0 none. Sources that are not named are taken as they are.
        max_steps: No more optimizer steps than these; 0 for as many as the epochs have.
        shuffle: Take the pairs in random order; otherwise in the data's own, say from easy to
            hard (within windows the lengths decide). Lists are always shuffled.
    """

    epochs: float = 1.0
    learning_rate: float = 2e-5
    warmup: float = 0.1
    loss: Loss = "bce"
    list_size: int = 8
    incomplete: Literal["refuse", "leave_out"] = "refuse"
    mix: dict[str, float] = field(default_factory=dict)
    max_steps: int = 0
    shuffle: bool = True

    def __post_init__(self) -> None:
        parts = all(part >= 0 for part in self.mix.values())
        refuse(
            "a training stage",
            ("epochs", "0 or more", self.epochs, self.epochs >= 0),
            ("learning_rate", "more than 0", self.learning_rate, self.learning_rate > 0),
            ("warmup", "from 0 to 1", self.warmup, 0 <= self.warmup <= 1),
            ("list_size", "2 or more", self.list_size, self.list_size >= 2),
            ("mix", "shares of 0 or more", self.mix, parts),
            ("max_steps", "0 or more", self.max_steps, self.max_steps >= 0),
        )

    @property
    def group_size(self) -> int:
        """How many pairs are judged together."""
        return 1 if self.loss == "bce" else self.list_size


@dataclass(frozen=True, slots=True)
class DevelopmentConfig:
    """A batch whose first stage's run is re-ranked while the model learns.

    Attributes:
        run: The run, a TREC file; without one nothing is judged and the last state is kept.
        gold: The batch's golden file; it also has the questions' bodies.
        index: The index (or corpus) that holds the documents.
        depth: So many documents a question are re-ranked.
        batch_size: Pairs scored together.
        mode: Whose MAP@10 decides: the official program's or the strict one.
        edition: The official program's edition; 9 for BioASQ 9 and later.
        within_collection: Leave gold documents that the index does not hold out of the gold.
    """

    run: Path | None = None
    gold: Path | None = None
    index: Path | None = None
    depth: int = 60
    batch_size: int = 64
    mode: Literal["official", "strict"] = "official"
    edition: Literal[2, 3, 5, 8, 9] = 9
    within_collection: bool = False

    def __post_init__(self) -> None:
        given = [self.run, self.gold, self.index]
        missing = sum(path is None for path in given)
        refuse(
            "the development batch",
            ("run, gold, index", "all three or none", given, missing in (0, 3)),
            ("depth", "10 or more", self.depth, self.depth >= 10),
            ("batch_size", "1 or more", self.batch_size, self.batch_size >= 1),
        )


@dataclass(frozen=True, slots=True)
class LoraConfig:
    """Training few parameters beside the backbone's own; merged into it at the end.

    Attributes:
        rank: Of the added matrices; 0 trains the whole model.
        alpha: Their scale is alpha / rank.
        dropout: Before them.
        targets: Names of the layers they are added to; none for all linear ones.
    """

    rank: int = 0
    alpha: float = 32.0
    dropout: float = 0.05
    targets: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        refuse(
            "lora",
            ("rank", "0 or more", self.rank, self.rank >= 0),
            ("alpha", "more than 0", self.alpha, self.alpha > 0),
            ("dropout", "from 0 to below 1", self.dropout, 0 <= self.dropout < 1),
        )


@dataclass(frozen=True, slots=True)
class TrainConfig:
    """What is trained, on what, and how.

    Attributes:
        data: A folder of training data: ``stage1`` and, where there is one, ``stage2``.
        output: The folder of the trained model.
        model: The backbone, with weights as safetensors: a hub name, a folder, or
            ``package:NAME/FOLDER`` for one in a Python package.
        revision: The hub's commit or branch, empty for the newest.
        max_length: Tokens of question and passage together; the longer of the two is cut.
        stage1: Gold and synthetic pairs.
        stage2: Pseudo-documents of the target questions; left out where the data has none.
        batch_size: Pairs an optimizer step sees, whatever the number of processes.
        micro_batch: Pairs that go through the model at once, in each process; 0 for its whole
            share of a batch. A batch is sorted by length before it is cut up, so that little is
            padded; gradients are accumulated.
        precision: ``bf16`` and ``fp16`` compute in them and keep the weights in float32.
        gradient_checkpointing: Less memory for more time.
        dropout: Of the backbone; None for its own. On CPUs 0 trains a third faster.
        weight_decay: AdamW's.
        max_grad_norm: Gradients are cut to that length; 0 leaves them.
        seed: Decides the head's first weights, the order and the dropout.
        development: The batch that decides which state is kept.
        evaluate_every: Steps between two checkpoints, each with a judgement of the development
            batch; the last step of a stage has both, too.
        patience: Judgements without a new best MAP after which a stage ends; 0 for never.
        keep_checkpoints: Of the newest ones; the best is kept in any case.
        log_every: Steps between two lines of metrics.
        window: Batches among which pairs are sorted by length. 1 keeps every batch a random
            sample; more of them save more padding where a batch goes through the model at once,
            but fill batches with pairs of like length, and then often of like label.
        lora: Train few parameters only.
        device: ``cpu``, or empty for an accelerator where there is one.
        processes: How many there must be; 0 for any number. ``accelerate launch --cpu
            --num_processes 2`` starts one and says nothing, torchrun two.
        tracking: Where metrics go.
    """

    data: Path
    output: Path
    model: str = "microsoft/BiomedNLP-BiomedBERT-base-uncased-abstract"
    revision: str = ""
    max_length: int = 512
    stage1: StageConfig = field(default_factory=StageConfig)
    stage2: StageConfig = field(default_factory=StageConfig)
    batch_size: int = 32
    micro_batch: int = 8
    precision: Literal["float32", "bf16", "fp16"] = "float32"
    gradient_checkpointing: bool = False
    dropout: float | None = None
    weight_decay: float = 0.01
    max_grad_norm: float = 1.0
    seed: int = 0
    development: DevelopmentConfig = field(default_factory=DevelopmentConfig)
    evaluate_every: int = 500
    patience: int = 0
    keep_checkpoints: int = 2
    log_every: int = 10
    window: int = 1
    lora: LoraConfig = field(default_factory=LoraConfig)
    device: Literal["", "cpu"] = ""
    processes: int = 0
    tracking: TrackingConfig = field(default_factory=TrackingConfig)

    def __post_init__(self) -> None:
        judged = self.development.run is not None
        stops = judged or not self.patience
        texts = self.tracking.texts
        fp16 = not (self.precision == "fp16" and self.device == "cpu")
        refuse(
            "the training",
            ("max_length", "8 or more", self.max_length, self.max_length >= 8),
            ("batch_size", "1 or more", self.batch_size, self.batch_size >= 1),
            ("micro_batch", "0 or more", self.micro_batch, self.micro_batch >= 0),
            ("precision", "bf16 or float32 on a CPU", self.precision, fp16),
            ("dropout", "from 0 to below 1", self.dropout, 0 <= (self.dropout or 0) < 1),
            ("weight_decay", "0 or more", self.weight_decay, self.weight_decay >= 0),
            ("max_grad_norm", "0 or more", self.max_grad_norm, self.max_grad_norm >= 0),
            ("seed", "0 or more", self.seed, self.seed >= 0),
            ("evaluate_every", "1 or more", self.evaluate_every, self.evaluate_every >= 1),
            ("patience", "0 or more", self.patience, self.patience >= 0),
            ("patience", "0 without a development batch", self.patience, stops),
            ("tracking.texts", "false without a development batch", texts, judged or not texts),
            ("keep_checkpoints", "2 or more", self.keep_checkpoints, self.keep_checkpoints >= 2),
            ("log_every", "1 or more", self.log_every, self.log_every >= 1),
            ("window", "1 or more", self.window, self.window >= 1),
            ("processes", "0 or more", self.processes, self.processes >= 0),
        )
