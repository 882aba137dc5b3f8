"""What the re-rankers on T5 share: a model that says "true" or "false" after a prompt.

Prompts are put together from token ids, part by part, so that a document can be cut and the words
behind it stay. T5's tokens never reach over white space, so parts and whole give the same ids.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from hybrid_ir.errors import InputError
from hybrid_ir.rerank.batches import Input, add, padded, take
from hybrid_ir.rerank.loading import quiet, refuse_foreign, refuse_lacking, refusing, stated
from hybrid_ir.rerank.models import model_folder
from hybrid_ir.rerank.precision import device_of, dtype_of, tokens_at_once
from hybrid_ir.rerank.settings import ScorerConfig

if TYPE_CHECKING:
    import torch

_WANTED = "a folder or a hub name of a T5 that was trained to say true or false, with safetensors"

_LONGEST = 512
"""Tokens of a prompt where the model says nothing; its positions are relative, so it takes more."""

_LEAST_ROOM = 8
"""Tokens for question and documents that a prompt must leave."""

Ids = NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class T5:
    """A model that is ready.

    Attributes:
        model: Of transformers, an encoder with a decoder.
        tokenizer: A fast one.
        answers: The ids of the tokens "false" and "true".
        end: The id of the token that ends a prompt.
        start: The id of the token that the decoder starts from.
        padding: The padding's token id.
        longest: Tokens of a prompt at most.
        budget: Tokens of a batch, padding included.
    """

    model: Any
    tokenizer: Any
    answers: tuple[int, int]
    end: int
    start: int
    padding: int
    longest: int
    budget: int


def open_t5(config: ScorerConfig, frame: str) -> T5:
    """Open a T5; no code of a model's author is run, and nothing is unpickled.

    Args:
        config: Which model, and how it computes.
        frame: The words of a prompt without question and documents.

    Raises:
        InputError: no such model, no tokenizer, no safetensors, no encoder-decoder, no single
            tokens for the answers, or a ``max_length`` that leaves no room beside the frame.
    """
    device = device_of(config.device)
    dtype = dtype_of(config.precision, device)
    folder = model_folder(config.model, config.revision)
    with refusing(config.model, _WANTED), quiet():
        _refuse_other_kinds(folder)
        tokenizer = _tokenizer(folder)
        answers = (_token_of("false", tokenizer), _token_of("true", tokenizer))
        model = _model(folder, dtype)
        refuse_foreign(len(tokenizer), model.config.vocab_size)
        said = stated(tokenizer.model_max_length)
        made_for = said or stated(getattr(model.config, "n_positions", None)) or _LONGEST
    t5 = T5(
        model.to(device).eval(),
        tokenizer,
        answers,
        tokenizer.eos_token_id,
        model.config.decoder_start_token_id,
        tokenizer.pad_token_id,
        config.max_length or made_for,
        tokens_at_once(config.tokens_at_once, device),
    )
    _refuse_no_room(t5, frame)
    return t5


def ids_of(texts: Sequence[str], t5: T5, most: int | None = None) -> list[Ids]:
    """Tokenize texts, without a token for their end.

    Args:
        texts: What is tokenized, each by itself.
        t5: Whose tokenizer.
        most: The first so many tokens of each; None for all.
    """
    if not texts:
        return []
    encoded = t5.tokenizer(
        list(texts),
        add_special_tokens=False,
        truncation=most is not None,
        max_length=most,
        return_attention_mask=False,
        verbose=False,
    )
    return [np.array(ids, np.int32) for ids in encoded.input_ids]


def score(inputs: Sequence[Input], t5: T5) -> None:
    """Give each prompt the logarithm of the chance of "true", with "false" as the only other one.

    It is the log-softmax over the logits of these two tokens in the decoder's first step.
    """
    waiting: list[Input] = []
    add(waiting, inputs)
    while waiting:
        batch = take(waiting, t5.budget)
        for one, chance in zip(batch, _log_chances(batch, t5), strict=True):
            one.score, one.done = chance, True


def _log_chances(batch: Sequence[Input], t5: T5) -> list[float]:
    import torch

    arrays = padded(batch, t5.padding)
    device = t5.model.device
    with torch.inference_mode():
        logits = t5.model(
            input_ids=torch.from_numpy(arrays.ids).to(device),
            attention_mask=torch.from_numpy(arrays.mask).to(device),
            decoder_input_ids=torch.full((len(batch), 1), t5.start, device=device),
            use_cache=False,
        ).logits[:, 0, list(t5.answers)]
        chances: list[float] = logits.double().log_softmax(dim=1)[:, 1].tolist()
    return chances


def _tokenizer(folder: Path) -> Any:  # noqa: ANN401 (the library's own type)
    from transformers import AutoTokenizer

    tokenizer: Any = AutoTokenizer.from_pretrained(
        str(folder), local_files_only=True, trust_remote_code=False
    )
    if len(tokenizer) <= len(set(tokenizer.all_special_ids)) + 1:
        raise ValueError("it has no tokenizer: tokenizer.json or spiece.model is missing")
    if tokenizer.pad_token_id is None or tokenizer.eos_token_id is None:
        raise ValueError("its tokenizer lacks a token for padding or for the end")
    return tokenizer


def _token_of(answer: str, tokenizer: Any) -> int:  # noqa: ANN401
    ids: list[int] = tokenizer(answer, add_special_tokens=False).input_ids
    if len(ids) != 1 or ids[0] == tokenizer.unk_token_id:
        raise ValueError(f"its tokenizer has no token for {answer!r} alone: it was not made for it")
    return ids[0]


def _refuse_other_kinds(folder: Path) -> None:
    from transformers import AutoConfig

    own: Any = AutoConfig.from_pretrained(
        str(folder), local_files_only=True, trust_remote_code=False
    )
    if not own.is_encoder_decoder:
        kinds = own.architectures or [own.model_type]
        raise ValueError(f"a {kinds[0]} is no encoder with a decoder")


def _model(folder: Path, dtype: torch.dtype) -> Any:  # noqa: ANN401
    from transformers import AutoModelForSeq2SeqLM

    model, report = AutoModelForSeq2SeqLM.from_pretrained(
        str(folder),
        dtype=dtype,
        use_safetensors=True,
        local_files_only=True,
        trust_remote_code=False,
        output_loading_info=True,
    )
    refuse_lacking(report["missing_keys"])
    if model.config.decoder_start_token_id is None:
        raise ValueError("its config.json lacks decoder_start_token_id")
    return model


def _refuse_no_room(t5: T5, frame: str) -> None:
    least = len(ids_of([frame], t5)[0]) + 1 + _LEAST_ROOM
    if t5.longest < least:
        raise InputError(
            f"max_length: expected {least} or more, which leaves a little room beside the words"
            f" {frame!r}, got {t5.longest}"
        )
