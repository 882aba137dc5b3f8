"""The strict measures: what BioASQ's measures mean to say, without the official program's quirks.

They stand beside the official numbers and share their definitions as of edition 9, but

* every question of the gold counts that has something to find; one that was not answered scores 0;
* documents are compared by PMID, however their URLs are spelled;
* snippet offsets are end exclusive, as BioASQ gives them, and "sections.0" is the abstract on
  either side;
* a submission is cut at its limits: 10 documents, 10 snippets, 5 factoid answers, 100 list entries;
* of an entry of a list answer, as of a factoid's, the first text counts: BioASQ asks for one;
* a yes/no answer is "yes" or "no", and macro-F1 is over the labels that the gold has;
* no value can exceed 1, and the best answer the limits allow has average precision 1.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from hybrid_ir.bioasq.measures.documents import RetrievalMeans
from hybrid_ir.bioasq.measures.exact import Factoid, Lists
from hybrid_ir.bioasq.measures.questions import Entry
from hybrid_ir.bioasq.measures.strict_exact import strict_factoid, strict_lists, strict_yesno
from hybrid_ir.bioasq.measures.strict_retrieval import strict_documents, strict_snippets
from hybrid_ir.bioasq.measures.yesno import YesNo


@dataclass(frozen=True, slots=True)
class Strict:
    """What was retrieved and answered, scored strictly."""

    documents: RetrievalMeans
    snippets: RetrievalMeans
    yesno: YesNo
    factoid: Factoid
    lists: Lists


def score_strict(gold: Sequence[Entry], responses: Mapping[str, Entry]) -> Strict:
    """Score a submission strictly.

    Args:
        gold: The questions to score, as ``read_gold`` gives them.
        responses: Question id -> response, as ``read_responses`` gives them.

    Raises:
        InputError: a list for a yes/no question, or a gold yes/no answer that is neither.
    """
    return Strict(
        strict_documents(gold, responses),
        strict_snippets(gold, responses),
        strict_yesno(gold, responses),
        strict_factoid(gold, responses),
        strict_lists(gold, responses),
    )
