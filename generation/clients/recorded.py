"""Replies that were written earlier, by whatever means: everything runs without a key."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec

from generation.llm import LLM, Identity, LLMError, ModelConfig, Reply, Request, Usage
from hybrid_ir.errors import InputError
from hybrid_ir.files import read_lines

_SHOWN = 10  # faults named before the rest is only counted


@dataclass(frozen=True, slots=True)
class RecordedLLM:
    """Replies by question and sample.

    Attributes:
        config: The model; ``model`` is the file.
        revision: The SHA-256 of the file's content, unpacked.
        lines: (question id, sample) -> (text, the whole line).
    """

    config: ModelConfig
    revision: str
    lines: dict[tuple[str, int], tuple[str, str]] = field(repr=False)

    @property
    def identity(self) -> Identity:
        """Which replies: the file's content, not its place."""
        settings = (("text_field", self.config.text_field),)
        return Identity("recorded", Path(self.config.model).name, self.revision, settings)

    @property
    def batch_size(self) -> int:
        """One request a call, as with the models behind a server."""
        return 1

    def complete(self, requests: Sequence[Request]) -> list[Reply | LLMError]:
        """Look each request up."""
        return [self._look_up(request) for request in requests]

    def _look_up(self, request: Request) -> Reply | LLMError:
        found = self.lines.get((request.question_id, request.sample))
        if found is None:
            return LLMError(
                "missing",
                f"{self.config.name}: {self.config.model} holds no reply to question"
                f" {request.question_id}, sample {request.sample}",
            )
        text, line = found
        return Reply(text, "stop", Usage(), Path(self.config.model).name, line)


def open_recorded(config: ModelConfig) -> LLM:
    """Read a JSONL file of replies, gzipped or not.

    Each line holds the question's id (``question_id``, or ``id``), the sample (``sample``; 0 where
    there is none) and the reply under the key that ``config.text_field`` names; others may stand
    beside them.

    Raises:
        InputError: the file is missing, a line cannot be read or lacks a key, or two lines answer
            the same; all faults at once.
    """
    lines: dict[tuple[str, int], tuple[str, str]] = {}
    first: dict[tuple[str, int], int] = {}
    faults: list[str] = []
    digest = hashlib.sha256()
    path = Path(config.model)
    for number, line in read_lines(path):
        digest.update(f"{line}\n".encode())
        try:
            key, text = _read_line(line, config.text_field)
        except (msgspec.MsgspecError, InputError, RecursionError) as error:
            faults.append(f"{path}:{number}: {error}")
            continue
        if key in lines:
            again = f"question {key[0]}, sample {key[1]}: the same as line {first[key]}"
            faults.append(f"{path}:{number}: {again}")
        lines[key], first[key] = (text, line), number
    if faults:
        more = [f"and {len(faults) - _SHOWN} more"] if len(faults) > _SHOWN else []
        summary = f"the recorded replies of {config.name} cannot be used:"
        raise InputError.of_all(summary, faults[:_SHOWN] + more)
    return RecordedLLM(config, digest.hexdigest(), lines)


def _read_line(line: str, text_field: str) -> tuple[tuple[str, int], str]:
    """Give the question's id and the sample, and the text."""
    values = msgspec.json.decode(line, type=dict[str, Any])
    question = values.get("question_id", values.get("id"))
    if not isinstance(question, str):
        raise InputError("expected the question's id, a string, under question_id or id")
    sample = values.get("sample", 0)
    if not isinstance(sample, int) or isinstance(sample, bool) or sample < 0:
        raise InputError(f"question {question}: sample: expected 0, 1, ..., got {sample!r}")
    text = values.get(text_field)
    if not isinstance(text, str):
        raise InputError(
            f"question {question}: expected a string under {text_field!r}, the keys are"
            f" {', '.join(values)}: name the one that holds the reply in text_field"
        )
    return (question, sample), text
