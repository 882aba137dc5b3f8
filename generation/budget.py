"""What calls may cost and what they did cost.

Money is counted in whole picodollars (USD / 10**12): sums are exact, and a price of 0.075 dollars a
million tokens is 75,000 of them a token.

Before a call its worst case is reserved: all of ``max_tokens``, and a prompt of one token for every
two bytes of its text and schema, 8 a message and 32 for the template. Of 719 real replies on
biomedical questions none had fewer than 2.5 bytes a token (SmolLM2's tokenizer and BERT's, 4.3 and
4.0 on average), so the sum of what a provider charges stays below the budget.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from dataclasses import dataclass

from generation.llm import ModelConfig, Prices, Request, Usage
from hybrid_ir.errors import InputError, refuse

PICO = 10**12


@dataclass(frozen=True, slots=True)
class Budget:
    """What a stage may spend in all, as far as its cache remembers; None for no limit.

    Attributes:
        usd: US dollars.
        tokens: Tokens of prompts and replies together.
    """

    usd: float | None = None
    tokens: int | None = None

    def __post_init__(self) -> None:
        refuse(
            "the budget",
            ("usd", "0 or more", self.usd, self.usd is None or 0 <= self.usd < math.inf),
            ("tokens", "0 or more", self.tokens, self.tokens is None or self.tokens >= 0),
        )

    def holds(self, tokens: int, cost: int) -> bool:
        """Whether these sums (tokens, picodollars) are within the budget."""
        if self.tokens is not None and tokens > self.tokens:
            return False
        return self.usd is None or cost <= round(self.usd * PICO)


def refuse_unpriced(budget: Budget, models: Iterable[ModelConfig]) -> None:
    """Refuse a limit in dollars where it is not known what a model costs: it would not hold.

    Raises:
        InputError: models without prices.
    """
    unknown = [model.name for model in models if not model.priced]
    if budget.usd is not None and unknown:
        raise InputError(
            f"budget.usd: expected prices of every model, there are none of {', '.join(unknown)}:"
            f" give USD per million tokens (generators.{unknown[0]}.prices.prompt=0.75"
            f" generators.{unknown[0]}.prices.completion=4.5; 0 for a server that charges nothing),"
            " or limit budget.tokens instead"
        )


def usd_text(usd: float, priced: bool) -> str:
    """Say what something costs, or that it is not known."""
    return f"{usd:.4f} USD" if priced else "cost unknown (no prices set)"


def cost_of(usage: Usage, prices: Prices | None) -> int:
    """Give what tokens cost, in picodollars; nothing where no price is known."""
    if prices is None:
        return 0
    prompt, completion = (round(price * 10**6) for price in (prices.prompt, prices.completion))
    return usage.prompt * prompt + usage.completion * completion


def at_most(request: Request, config: ModelConfig) -> Usage:
    """Give the tokens a call takes at most; none where replies are read from a file."""
    if config.provider == "recorded":
        return Usage()
    size = sum(len(message.content.encode(errors="replace")) for message in request.messages)
    if request.schema:
        size += len(json.dumps(request.schema.schema, ensure_ascii=False).encode(errors="replace"))
    return Usage(-(-size // 2) + 8 * len(request.messages) + 32, request.sampling.max_tokens)
