"""What BioASQ's experts found and answered, as records: every shape of every year made one.

Official measures read the verbatim file, not these records: here documents are PMIDs without
duplicates and answers have one shape. :mod:`hybrid_ir.bioasq.oddities` counts what was made alike.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from hybrid_ir.bioasq.oddities import oddities_of
from hybrid_ir.bioasq.questions import convert_all, question_type
from hybrid_ir.bioasq.raw import document_id_of, is_offset, is_text, read_raw, texts_in
from hybrid_ir.errors import InputError
from hybrid_ir.records import ExactAnswer, Gold, GoldKind, Qrels, Snippet

log = logging.getLogger(__name__)


def read_gold(path: Path, kind: GoldKind) -> tuple[Gold, ...]:
    """Read a golden, training or Phase B file; what was made alike is logged as counts.

    Documents are PMIDs, each once, in order. Snippets are all there, in order, with their text,
    section and offsets as given. Ideal answers are a tuple; blank ones are left out. Exact
    answers: "yes" or "no"; one tuple of synonyms an entity, where a flat list of a factoid question
    is one entity and a flat list of a list question is one entity a string; otherwise None.

    Args:
        path: The file.
        kind: ``preliminary`` for what a Phase B test set shows, ``enriched`` for a golden file.

    Raises:
        InputError: no BioASQ file, nothing golden in it, or questions that cannot be read without
            a loss; each is named with the reason.
    """
    raw = read_raw(path)
    golds = gold_of(raw, kind, path)
    found = {name: count for name, count in asdict(oddities_of(raw, golds)).items() if count}
    log.info("%s: %s", path, ", ".join(f"{name} {count}" for name, count in found.items()))
    return golds


def gold_of(raw: Sequence[Mapping[str, Any]], kind: GoldKind, source: Path) -> tuple[Gold, ...]:
    """Turn verbatim questions into gold records, as :func:`read_gold` does.

    Args:
        raw: The questions of a file.
        kind: Preliminary or enriched.
        source: Where they come from, for messages.
    """
    golds = convert_all(raw, source, lambda question: _gold(question, kind))
    if not any(gold.documents or gold.snippets or gold.ideal or gold.exact for gold in golds):
        raise InputError(
            f"{source}: expected documents, snippets or answers, but no question has any; "
            "a golden, training or Phase B file holds them, a Phase A test set does not"
        )
    return golds


def qrels(golds: Iterable[Gold]) -> Qrels:
    """Give every document of the gold grade 1; a question without documents has an empty entry."""
    return {gold.question_id: dict.fromkeys(gold.documents, 1) for gold in golds}


def _gold(question: Mapping[str, Any], kind: GoldKind) -> Gold:
    references = _list(question, "documents")
    documents = [_document(reference, f"documents[{i}]") for i, reference in enumerate(references)]
    snippets = [_snippet(snippet, i) for i, snippet in enumerate(_list(question, "snippets"))]
    return Gold(
        question_id=str(question.get("id")),
        kind=kind,
        documents=tuple(dict.fromkeys(documents)),
        snippets=tuple(snippets),
        ideal=_ideal(question.get("ideal_answer")),
        exact=_exact(question),
    )


def _list(question: Mapping[str, Any], key: str) -> list[Any]:
    value = question.get(key)
    if value is None:
        return []
    if not isinstance(value, list):
        raise ValueError(f"{key}: expected a list, got {value!r:.80}")
    return value


def _document(reference: object, where: str) -> str:
    if type(reference) is int or (isinstance(reference, str) and reference.strip()):
        return document_id_of(reference)
    raise ValueError(f"{where}: expected the address of a document, got {reference!r:.80}")


def _snippet(snippet: object, position: int) -> Snippet:
    where = f"snippets[{position}]"
    if not isinstance(snippet, dict):
        raise ValueError(f"{where}: expected an object, got {snippet!r:.80}")
    section, last = (_text(snippet, key, where) for key in ("beginSection", "endSection"))
    if section != last:
        raise ValueError(f"{where}: expected one section, got {section!r} to {last!r}")
    return Snippet(
        document_id=_document(snippet.get("document"), f"{where}.document"),
        section=section,
        begin=_offset(snippet, "offsetInBeginSection", where),
        end=_offset(snippet, "offsetInEndSection", where),
        text=_text(snippet, "text", where),
    )


def _text(snippet: Mapping[str, Any], key: str, where: str) -> str:
    value = snippet.get(key)
    if not isinstance(value, str):
        raise ValueError(f"{where}.{key}: expected text, got {value!r:.80}")
    return value


def _offset(snippet: Mapping[str, Any], key: str, where: str) -> int:
    value: Any = snippet.get(key)
    if not is_offset(value):
        raise ValueError(f"{where}.{key}: expected a whole number, got {value!r:.80}")
    return int(value)


def _ideal(answer: object) -> tuple[str, ...]:
    answers: list[Any] = answer if isinstance(answer, list) else [] if answer is None else [answer]
    if all(isinstance(text, str) for text in answers):
        return tuple(text for text in answers if text.strip())
    raise ValueError(f"ideal_answer: expected text or a list of texts, got {answer!r:.80}")


def _exact(question: Mapping[str, Any]) -> ExactAnswer:
    answer = question.get("exact_answer")
    kind = question_type(question.get("type"))
    if kind == "summary" or not any(text.strip() for text in texts_in(answer)):
        return None
    if kind is None:
        raise ValueError(f"exact_answer: the question has no known type to read {answer!r:.80} by")
    return _yes_or_no(answer) if kind == "yesno" else _entities(answer, kind == "factoid")


def _yes_or_no(answer: object) -> str:
    texts = list(texts_in(answer))
    word = texts[0].strip().removesuffix(".").lower()
    if len(texts) > 1 or word not in ("yes", "no"):
        raise ValueError(f"exact_answer: expected yes or no, got {answer!r:.80}")
    return word


def _entities(answer: object, flat_is_one_entity: bool) -> tuple[tuple[str, ...], ...]:
    groups: list[Any] = answer if isinstance(answer, list) else [answer]
    if not any(isinstance(group, list) for group in groups):
        groups = [groups] if flat_is_one_entity else [[text] for text in groups]
    if not all(isinstance(group, list) and all(map(is_text, group)) for group in groups):
        raise ValueError(f"exact_answer: expected a list of lists of texts, got {answer!r:.80}")
    entities = (tuple(str(text) for text in group if str(text).strip()) for group in groups)
    return tuple(entity for entity in entities if entity)
