"""A causal language model in this process, by transformers: optionally in 4-bit, on any device.

Weights are loaded when the first request comes, so a run whose replies are all in the cache loads
none. Every request is answered as if it were alone: batching, the order of requests and the others'
settings change nothing but rounding (see :mod:`generation.clients.transformers_decoding`).
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

from generation.clients.transformers_loading import (
    Defaults,
    Loaded,
    Untyped,
    check_packages,
    load,
    locate,
)
from generation.llm import (
    Identity,
    LLMError,
    Message,
    ModelConfig,
    Reply,
    Request,
    Sampling,
    Usage,
)
from generation.structured import with_schema
from hybrid_ir.errors import InputError

if TYPE_CHECKING:
    from generation.clients.transformers_decoding import Completion, Drawing, Row

_PROBE = "Answer in Latin only."


def open_transformers(config: ModelConfig) -> TransformersLLM:
    """Open a model that runs in this process; its weights are loaded with the first request.

    Raises:
        InputError: a package is missing, the model is not to be found, or settings contradict each
            other.
    """
    if config.four_bit and config.gguf_file:
        raise InputError(
            f"the model {config.name}: four_bit packs weights and {config.gguf_file} is packed"
            " already: leave four_bit out, or save the file as safetensors once with"
            " generation.clients.transformers_loading.unpack_gguf"
        )
    check_packages(config)
    return TransformersLLM(config)


class TransformersLLM:
    """A model in this process. One call of ``complete`` at a time."""

    def __init__(self, config: ModelConfig) -> None:
        self._config = config
        self._source = locate(config)

    @property
    def identity(self) -> Identity:
        """Which model it is; the revision covers weights, their type, tokenizer and chat template.

        Device and library versions, which change replies by rounding, are not part of it.
        """
        config = self._config
        settings = [("quantisation", "nf4, double")] if config.four_bit else []
        settings += [("gguf_file", config.gguf_file)] if config.gguf_file else []
        source = self._source
        return Identity("transformers", source.name, source.revision, tuple(settings))

    @property
    def batch_size(self) -> int:
        """Requests answered together."""
        return self._config.batch_size

    @cached_property
    def loaded(self) -> Loaded:
        """The model, loaded when first asked for."""
        return load(self._config, self._source)

    @cached_property
    def _takes_system(self) -> bool:
        return takes_system(self.loaded.tokenizer)

    def complete(self, requests: Sequence[Request]) -> list[Reply | LLMError]:
        """Answer requests, in batches of alike length; more than ``batch_size`` may be given.

        A reply's ``finish`` is ``stop`` at the model's own end or a stop text, which is left out of
        the text, and ``length`` at ``max_tokens``. A parameter that is None is the model's own
        (``generation_config.json``). A request without a seed draws by its sample's number. JSON is
        asked for in the prompt; nothing forces the reply to be of the schema.
        """
        rows = [self._row(request) for request in requests]
        answers: dict[int, Reply | LLMError] = {
            place: row for place, row in enumerate(rows) if isinstance(row, LLMError)
        }
        fine = {place: row for place, row in enumerate(rows) if not isinstance(row, LLMError)}
        order = sorted(fine, key=lambda place: len(fine[place].prompt))
        for start in range(0, len(order), self.batch_size):
            places = order[start : start + self.batch_size]
            answers |= zip(places, self._answer([fine[place] for place in places]), strict=True)
        return [answers[place] for place in range(len(requests))]

    def _row(self, request: Request) -> Row | LLMError:
        """Turn a request into tokens; say why it cannot be answered as it is."""
        from generation.clients.transformers_decoding import Row

        sampling = request.sampling
        if fault := _fault_of(sampling):
            return LLMError("request", f"{self._config.name}: {fault}")
        messages = with_schema(request)
        messages = messages if self._takes_system else fold_system(messages)
        prompt = _tokens(self.loaded.tokenizer, messages)
        if isinstance(prompt, str):
            return LLMError("request", f"{self._config.name}: {prompt}")
        context = self.loaded.context
        if context is not None and len(prompt) + sampling.max_tokens > context:
            return LLMError(
                "request",
                f"{self._config.name}: a prompt of {len(prompt)} tokens and max_tokens"
                f" {sampling.max_tokens} exceed the model's context of {context} tokens: shorten"
                " the prompt, or lower max_tokens",
            )
        drawing = _drawing(request, self.loaded.defaults)
        return Row(prompt, drawing, sampling.max_tokens, sampling.stop)

    def _answer(self, rows: Sequence[Row]) -> list[Reply | LLMError]:
        """Answer a batch; in halves where memory does not suffice for the whole."""
        import torch

        from generation.clients.transformers_decoding import decode

        try:
            completions = decode(self.loaded, rows)
        except torch.OutOfMemoryError:
            completions = None  # what the exception holds on to is free only after this block
        if completions is not None:
            pairs = zip(rows, completions, strict=True)
            return [self._reply(row, completion) for row, completion in pairs]
        if len(rows) > 1:
            middle = len(rows) // 2
            return self._answer(rows[:middle]) + self._answer(rows[middle:])
        needed = f"{len(rows[0].prompt)} tokens of prompt and {rows[0].max_tokens} of reply"
        fault = f"{self._config.name}: {needed} do not fit into the device's memory"
        return [LLMError("request", fault)]

    def _reply(self, row: Row, completion: Completion) -> Reply:
        raw = {
            "model": self._source.name,
            "revision": self._source.revision,
            "finish": completion.finish,
            "text": completion.text,
            "tokens": completion.tokens,
        }
        usage = Usage(len(row.prompt), len(completion.tokens))
        return Reply(
            completion.text,
            completion.finish,
            usage,
            self._source.name,
            json.dumps(raw, ensure_ascii=False),
        )


def takes_system(tokenizer: Untyped) -> bool:
    """Say whether a chat template shows the system's turn to the model: some refuse or drop it."""
    from jinja2 import TemplateError

    turns = [{"role": "system", "content": _PROBE}, {"role": "user", "content": "Who?"}]
    try:
        return _PROBE in tokenizer.apply_chat_template(turns, tokenize=False)
    except TemplateError:
        return False


def fold_system(messages: Sequence[Message]) -> tuple[Message, ...]:
    """Move the system's text to the beginning of the user's first turn."""
    system = [message.content for message in messages if message.role == "system"]
    others = [message for message in messages if message.role != "system"]
    if not system:
        return tuple(others)
    if not others or others[0].role != "user":
        return Message("user", "\n\n".join(system)), *others
    first = replace(others[0], content="\n\n".join([*system, others[0].content]))
    return first, *others[1:]


def _tokens(tokenizer: Untyped, messages: Sequence[Message]) -> list[int] | str:
    """Give a conversation's tokens, up to where the answer begins, or why there are none."""
    from jinja2 import TemplateError

    turns = [{"role": message.role, "content": message.content} for message in messages]
    try:
        text = tokenizer.apply_chat_template(turns, tokenize=False, add_generation_prompt=True)
    except TemplateError as error:
        return f"the model's chat template refuses this conversation: {error}"
    return list(tokenizer(text, add_special_tokens=False)["input_ids"])


def _fault_of(sampling: Sampling) -> str:
    """Say which parameters a model in this process cannot follow; nothing where it can."""
    wanted = {
        "stop texts that are not empty": all(sampling.stop),
        f"no reasoning_effort, got {sampling.reasoning_effort}": not sampling.reasoning_effort,
    }
    faults = [text for text, fine in wanted.items() if not fine]
    return f"expected {'; '.join(faults)}" if faults else ""


def _drawing(request: Request, defaults: Defaults) -> Drawing:
    from generation.clients.transformers_decoding import Drawing

    sampling = request.sampling
    seed = request.sample if sampling.seed is None else sampling.seed
    top_p = defaults.top_p if sampling.top_p is None else sampling.top_p
    top_k = defaults.top_k if sampling.top_k is None else sampling.top_k
    return Drawing(
        temperature=defaults.temperature if sampling.temperature is None else sampling.temperature,
        top_p=1.0 if top_p is None else top_p,
        top_k=top_k or 0,
        frequency_penalty=sampling.frequency_penalty or 0.0,
        presence_penalty=sampling.presence_penalty or 0.0,
        seed=seed % 2**63,
    )
