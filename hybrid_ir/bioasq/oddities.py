"""Counts of what is peculiar in a BioASQ file and of what its gold records no longer show."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass
from typing import Any

from hybrid_ir.bioasq.questions import question_type
from hybrid_ir.bioasq.raw import pmid_of, texts_in, url_of
from hybrid_ir.records import Gold


@dataclass(frozen=True, slots=True)
class Oddities:
    """Counts over a file: what its records hold, what they no longer show, what is peculiar.

    Attributes:
        questions: Questions in the file.
        documents: Documents kept.
        duplicate_documents: References left out because the question already has that document.
        respelled_documents: References to PubMed not spelled ``http://www.ncbi.nlm.nih.gov/...``;
            an exact comparison of strings, as the official evaluator makes it, misses them.
        documents_elsewhere: Documents outside PubMed, known by their address.
        documents_without_snippet: Documents of a question that none of its snippets lies in.
        snippets: Snippets, all of them kept.
        duplicate_snippets: Snippets equal to an earlier one of the question.
        stray_snippets: Snippets in a document that the question does not list.
        snippets_of_odd_length: Snippets whose text is not as long as their offsets say.
        blank_answers: Empty ideal answers and synonyms, left out.
        summary_exact_answers: Exact answers on summary questions, which have none; left out.
        without_documents: Questions without a document.
        without_ideal_answer: Questions without an ideal answer.
        without_exact_answer: Yes/no, factoid and list questions without an exact answer.
    """

    questions: int
    documents: int
    duplicate_documents: int
    respelled_documents: int
    documents_elsewhere: int
    documents_without_snippet: int
    snippets: int
    duplicate_snippets: int
    stray_snippets: int
    snippets_of_odd_length: int
    blank_answers: int
    summary_exact_answers: int
    without_documents: int
    without_ideal_answer: int
    without_exact_answer: int


def oddities_of(raw: Sequence[Mapping[str, Any]], golds: Sequence[Gold]) -> Oddities:
    """Count what is peculiar in a file and what its records no longer show.

    Args:
        raw: The questions of the file.
        golds: The records :func:`~hybrid_ir.bioasq.gold.gold_of` made of them, same order.
    """
    each = [astuple(_oddities(*pair)) for pair in zip(raw, golds, strict=True)]
    return Oddities(*map(sum, zip(*each, strict=True)))


def _oddities(question: Mapping[str, Any], gold: Gold) -> Oddities:
    kind = question_type(question.get("type"))
    references = question.get("documents") or ()
    exact = list(texts_in(question.get("exact_answer")))
    answers = [*texts_in(question.get("ideal_answer")), *exact]
    spans = [(snippet.end - snippet.begin, len(snippet.text)) for snippet in gold.snippets]
    places = [snippet.document_id for snippet in gold.snippets]
    return Oddities(
        questions=1,
        documents=len(gold.documents),
        duplicate_documents=len(references) - len(gold.documents),
        respelled_documents=sum(map(_is_respelled, references)),
        documents_elsewhere=sum(not _is_pubmed(document) for document in gold.documents),
        documents_without_snippet=len(set(gold.documents).difference(places)),
        snippets=len(gold.snippets),
        duplicate_snippets=len(gold.snippets) - len(set(gold.snippets)),
        stray_snippets=sum(place not in gold.documents for place in places),
        snippets_of_odd_length=sum(distance != length for distance, length in spans),
        blank_answers=sum(not text.strip() for text in answers),
        summary_exact_answers=kind == "summary" and any(text.strip() for text in exact),
        without_documents=not gold.documents,
        without_ideal_answer=not gold.ideal,
        without_exact_answer=kind not in ("summary", None) and gold.exact is None,
    )


def _is_pubmed(reference: object) -> bool:
    try:
        pmid_of(reference)
    except ValueError:
        return False
    return True


def _is_respelled(reference: object) -> bool:
    return _is_pubmed(reference) and reference != url_of(reference)
