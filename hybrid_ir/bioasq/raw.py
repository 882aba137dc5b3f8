"""BioASQ files kept verbatim, and the ways they spell a document.

Everything that must see what BioASQ's own programs see (official measures, validation, repair)
works on the questions as :func:`read_raw` gives them; records are made from them elsewhere.
"""

from __future__ import annotations

import json
import logging
import math
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NoReturn

from hybrid_ir.errors import InputError
from hybrid_ir.files import read_text, writing

log = logging.getLogger(__name__)

DOCUMENT_URL = "http://www.ncbi.nlm.nih.gov/pubmed/"
"""What BioASQ's document references start with; its evaluator compares them as strings."""

_PUBMED = re.compile(
    r"""(?:https?://)? (?: (?:www\.)?ncbi\.nlm\.nih\.gov/pubmed | pubmed\.ncbi\.nlm\.nih\.gov )
        / 0*([1-9][0-9]{0,7}) /? (?:[?\#].*)?
      | (?:pmid:\s*)? 0*([1-9][0-9]{0,7})""",  # at most 8 digits, as NLM defines a PMID
    re.VERBOSE | re.IGNORECASE | re.ASCII,
)


def read_raw(path: Path) -> list[dict[str, Any]]:
    """Read the questions of any BioASQ file exactly as its JSON has them.

    Question files, goldens, training and Synergy files and submissions alike, gzipped or not,
    whatever the name, with or without a byte order mark. No key is lost, no value changed, and a
    question that stands there twice comes twice.

    Raises:
        InputError: no readable JSON (with line and column), no object with a list ``questions``
            of objects, or a key twice in one object (one of its values would be lost).
    """
    content = _read_json(path)
    if not isinstance(content, dict) or not isinstance(content.get("questions"), list):
        raise InputError(
            f'{path}: expected {{"questions": [...]}}, as BioASQ gives it; got {_outline(content)}'
        )
    if others := sorted(content.keys() - {"questions"}):
        log.warning("%s: beside 'questions' also %s; left aside", path, ", ".join(others))
    questions: list[Any] = content["questions"]
    if faults := [
        f"$.questions[{position}]: {_outline(question)}"
        for position, question in enumerate(questions)
        if not isinstance(question, dict)
    ]:
        raise InputError.of_all(f"{path}: expected every question to be a JSON object", faults)
    return questions


def write_raw(path: Path, questions: Iterable[Mapping[str, Any]]) -> None:
    """Write questions as a BioASQ file, atomically; :func:`read_raw` gives the very same back.

    Characters beyond ASCII are escaped, so that a reader's default encoding cannot change them.
    """
    with writing(path) as file:
        json.dump({"questions": list(questions)}, file, indent=2, allow_nan=False)
        file.write("\n")


def pmid_of(reference: object) -> str:
    """Give the PMID of a document reference, however it is spelled.

    Known are ``http`` and ``https``, ``www.ncbi.nlm.nih.gov/pubmed/N`` and
    ``pubmed.ncbi.nlm.nih.gov/N`` with or without scheme, ``www.``, trailing slash and query,
    ``PMID:N``, and the bare number as text or integer. Zeros in front are dropped.

    Raises:
        ValueError: anything else, such as the address of a full text in PubMed Central.
    """
    if isinstance(reference, str | int) and (match := _PUBMED.fullmatch(str(reference).strip())):
        return match[1] or match[2]
    raise ValueError(f"no PubMed reference: {reference!r}")


def url_of(reference: object) -> str:
    """Give the one spelling that BioASQ's evaluator can match, from any that is known.

    Raises:
        ValueError: the reference is none to PubMed.
    """
    return DOCUMENT_URL + pmid_of(reference)


def address_of(document_id: str) -> str:
    """Give the address a submission names a document by; :func:`document_id_of` goes back.

    An id that is no PMID stands there as it is: nothing is guessed.
    """
    try:
        return url_of(document_id)
    except ValueError:
        return document_id


def document_id_of(reference: str | int) -> str:
    """Give the id a record knows a document by: the PMID or, outside PubMed, the reference itself.

    Old editions may cite PubMed Central or other sites; their address is kept, blanks around it
    dropped, so that nothing is lost and nothing is mistaken for a PMID.
    """
    text = str(reference)
    if len(text) <= 8 and text.isdecimal() and text.isascii() and text[0] != "0":
        return text  # a PMID already, as in a run of thousands
    try:
        return pmid_of(reference)
    except ValueError:
        return text.strip()


def texts_in(answer: object) -> Iterator[str]:
    """Yield the texts of an answer in order, however deeply they are nested; null has none."""
    if isinstance(answer, list):
        for item in answer:
            yield from texts_in(item)
    elif answer is not None:
        yield str(answer)


def is_text(value: object) -> bool:
    """Whether BioASQ's program reads a value as text: strings and numbers, not null or true."""
    return isinstance(value, str | int | float) and not isinstance(value, bool)


def is_offset(value: object) -> bool:
    """Whether BioASQ's program reads a value: a whole number of 32 bits, or its digits as text."""
    if isinstance(value, str) and re.fullmatch("[+-]?[0-9]{1,20}", value, re.ASCII):
        value = int(value)
    return type(value) is int and -(2**31) <= value < 2**31


def _read_json(path: Path) -> object:
    text = read_text(path).removeprefix("\ufeff")
    try:
        return json.loads(
            text, object_pairs_hook=_object, parse_constant=_refuse_constant, parse_float=_finite
        )
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path}: expected a BioASQ file, in JSON: {error}") from error


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) < len(pairs):
        keys = [key for key, _ in pairs]
        twice = sorted({key for key in keys if keys.count(key) > 1})
        raise ValueError(f"key {twice[0]!r} stands twice in one object: {str(members)[:200]}")
    return members


def _finite(digits: str) -> float:
    number = float(digits)
    if math.isinf(number):
        raise ValueError(f"{digits:.40} is too large a number")
    return number


def _refuse_constant(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no JSON number")


def _outline(value: object) -> str:
    """Describe a JSON value in a few words."""
    if isinstance(value, dict):
        return f"an object with the keys {', '.join(sorted(value)) or '(none)'}"
    if isinstance(value, list):
        return f"a list of {len(value)}"
    return f"{json.dumps(value)[:80]}"
