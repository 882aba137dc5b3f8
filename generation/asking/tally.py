"""What came of one generator's requests, as a manifest records it."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from generation.asking.outcomes import Outcome, Progress
from generation.budget import PICO, cost_of, usd_text
from generation.cache.replies import ReplyCache, key_of
from generation.llm import Identity, ModelConfig
from generation.texts.refusals import Cleaned
from hybrid_ir.wording import counted


@dataclass(slots=True)
class Tally:
    """Counts of one generator.

    Attributes:
        model: The generator's settings.
        identity: Which model it is.
        progress: What asking came to.
        unusable: Replies of no use by reason, refused and filtered ones included, whether asked
            again with success or not.
        texts: Texts there are, those from the cache included.
        cut: Wrappings cut off them, by kind.
        failures: Requests without a text, by kind.
        served: The models as the provider names them, with the number of their texts.
        dates: The days (UTC) the cached replies came.
        prompt_tokens: Of the texts' replies, whenever they were paid for; as the next two.
        completion_tokens: Of the texts' replies.
        cost: Of the texts' replies, in picodollars.
    """

    model: ModelConfig
    identity: Identity
    progress: Progress = field(default_factory=Progress)
    unusable: Counter[str] = field(default_factory=Counter)
    texts: int = 0
    cut: Counter[str] = field(default_factory=Counter)
    failures: Counter[str] = field(default_factory=Counter)
    served: Counter[str] = field(default_factory=Counter)
    dates: set[str] = field(default_factory=set)
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost: int = 0

    def add(self, outcome: Outcome[Cleaned], cache: ReplyCache | None) -> None:
        """Count an outcome."""
        self.unusable.update(reason.partition(":")[0] for reason in outcome.rejected)
        if outcome.failure:
            self.failures[outcome.failure.kind] += 1
        elif outcome.value and outcome.reply:
            usage = outcome.reply.usage
            self.texts += 1
            self.cut.update(outcome.value.cut)
            self.served[outcome.reply.model] += 1
            self.prompt_tokens += usage.prompt
            self.completion_tokens += usage.completion
            self.cost += cost_of(usage, self.model.prices)
            if cache and (day := cache.date_of(key_of(self.identity, outcome.request))):
                self.dates.add(day)

    def info(self) -> dict[str, Any]:
        """Give the counts for a manifest; ``usd_now`` is what this run's calls cost.

        Dollars are None where no prices are set.
        """
        return {
            "provider": self.model.provider,
            "model": self.identity.model,
            "revision": self.identity.revision,
            "served_as": dict(self.served),
            "knowledge_cutoff": self.model.knowledge_cutoff,
            "replied": sorted({min(self.dates), max(self.dates)}) if self.dates else [],
            "texts": self.texts,
            "cached": self.progress.cached,
            "calls": self.progress.calls,
            "asked_again": self.progress.changed,
            "unusable": dict(self.unusable),
            "cut": dict(self.cut),
            "failures": dict(self.failures),
            "prompt_tokens": self.prompt_tokens,
            "completion_tokens": self.completion_tokens,
            "usd": self.cost / PICO if self.model.priced else None,
            "usd_now": self.progress.usd if self.model.priced else None,
        }

    def line(self) -> str:
        """Say in a line what came of it, without what did not happen."""
        progress = self.progress
        parts = [counted(self.texts, "text")]
        parts += [f"{progress.cached:,} from the cache"] if progress.cached else []
        if progress.calls and self.model.provider != "recorded":
            parts += [_calls(progress), counted(progress.tokens, "token")]
            if self.model.prices or not self.model.priced:
                parts.append(usd_text(progress.usd, self.model.priced))
        if progress.cached and self.cost:
            parts.append(f"all replies together cost {self.cost / PICO:.4f} USD")
        if progress.possible_calls:
            parts.append(
                f"{counted(progress.possible_calls, 'call')} without a reply possibly charged"
                f" ({progress.possible_usd:.4f} USD at most)"
            )
        if progress.failed:
            not_asked = f" ({progress.not_asked:,} not asked)" if progress.not_asked else ""
            parts.append(f"{progress.failed:,} failed{not_asked}")
        return f"{self.model.name}: {', '.join(parts)}"


def _calls(progress: Progress) -> str:
    """Say how many calls, and how many of them were made again."""
    again = [f"{progress.retried:,} retried"] if progress.retried else []
    again += (
        [f"{progress.changed:,} asked anew after a reply of no use"] if progress.changed else []
    )
    return counted(progress.calls, "call") + (f" ({', '.join(again)})" if again else "")
