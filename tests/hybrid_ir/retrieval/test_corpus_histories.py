"""Random histories of a corpus, against the rules in plain Python and against a fresh index."""

import random

import numpy as np
import pytest

from hybrid_ir.pubmed.rows import Recipe
from hybrid_ir.pubmed.selection import SelectionConfig
from hybrid_ir.records import Clause, Document, Query
from hybrid_ir.retrieval.bm25 import SearchConfig, Searcher
from hybrid_ir.retrieval.corpus import apply_files
from hybrid_ir.retrieval.index import IDS, IndexConfig, open_store
from hybrid_ir.retrieval.indexing import build_index

CONFIG = IndexConfig(fields=("title", "publication_type", "year"), buffer_mb=16)
RECIPE = Recipe(SelectionConfig(exclude_types=("Letter",), first_year=1995), labels=True)
WORDS = [f"w{number}" for number in range(6)]
TYPES = ("Review", "Letter", "Clinical Trial, Phase I", "Research Support, U.S. Gov't, P.H.S.")


def random_record(draw):
    """Give a citation (document, version) or a deletion (PMID, version)."""
    pmid, version = str(draw.randint(1, 25)), draw.choice((1, 1, 1, 2, 3))
    if draw.random() < 0.2:
        return pmid, version
    abstract = " ".join(draw.choices(WORDS, k=draw.choice((0, 3, 9))))
    types = tuple(draw.sample(TYPES, draw.randint(0, 2)))
    title = " ".join(draw.choices(WORDS, k=2))
    year = draw.choice((None, 1990, 1995, 2005, 2020))
    return Document(pmid, title, abstract, year, (), types), version


def selected(document):
    """The rules of RECIPE, said again."""
    recent = document.year is not None and document.year >= 1995
    return bool(document.abstract) and "Letter" not in document.publication_types and recent


def state_after(files):
    """The rules of a corpus: the last record wins unless its version is lower."""
    known = {}
    for record, version in (one for file in files for one in file):
        pmid = record if isinstance(record, str) else record.id
        if version < known.get(pmid, (0, None))[0]:
            continue
        if isinstance(record, str):
            known.pop(pmid, None)  # and with it the memory of its version
        else:
            known[pmid] = (version, record if selected(record) else None)
    return {pmid: document for pmid, (_, document) in known.items() if document}


def as_xml(pubmed, record, version):
    if isinstance(record, str):
        return pubmed.deletion(record, version)
    return pubmed.citation(
        record.id, record.title, record.abstract, version, record.publication_types, record.year
    )


def everything(folder):
    """Give documents, ids in the index, and scores of searches of all kinds."""
    window = Clause("1995-2005; 2020-", "year", operator="filter")
    phase = Clause("clinical trial, PHASE I; research support, u.s. gov't, p.h.s.",
                   "publication_type", 2.0)  # fmt: skip
    review = Clause("Review", "publication_type", operator="must_not")
    queries = [Query(word, (Clause(f"{word} w3"), Clause(word, "title", 1.5))) for word in WORDS]
    queries += [Query(f"{word} filtered", (Clause(word), window, phase)) for word in WORDS[:4]]
    queries += [Query("no review", (Clause("w1 w2"), review))]
    with Searcher(folder, SearchConfig(hits=100)) as searcher:
        scores = dict(searcher.search_all(queries))
    store = open_store(folder)
    documents = dict(store)
    store.close()
    return documents, sorted(np.load(folder / IDS).tolist()), scores


@pytest.mark.parametrize("seed", range(6))
def test_a_corpus_is_what_the_rules_say_whatever_its_history(tmp_path, pubmed, seed):
    draw = random.Random(seed)
    histories = [[random_record(draw) for _ in range(draw.randint(0, 20))] for _ in range(6)]
    histories[0].append((Document("26", "w1", "w2", 2000), 1))  # never without any document
    files = pubmed.write(*([as_xml(pubmed, *one) for one in records] for records in histories))
    corpus = tmp_path / "corpus"
    for end in sorted({*draw.sample(range(1, 6), 2), 6}):
        apply_files(corpus, files[:end], CONFIG, RECIPE, checkpoint=draw.choice((1, 5, 1000)))
        expected = state_after(histories[:end])
        documents, ids, scores = everything(corpus)
        assert documents == expected
        assert ids == sorted(map(int, expected))
        fresh = tmp_path / f"fresh{end}"
        build_index(draw.sample(list(expected.values()), len(expected)), fresh, CONFIG)
        assert scores == everything(fresh)[2]
        assert any(scores.values())
