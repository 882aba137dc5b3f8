"""Which words of a query are kept: by hand, and on a real index."""

import itertools
import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hybrid_ir.bioasq.questions import read_questions
from hybrid_ir.config import load_config
from hybrid_ir.errors import InputError
from hybrid_ir.files import read_jsonl
from hybrid_ir.records import Clause, Document, Query
from hybrid_ir.retrieval.bm25 import SearchConfig, Searcher, plain_queries
from hybrid_ir.retrieval.index import IndexConfig
from hybrid_ir.retrieval.indexing import build_index
from hybrid_ir.retrieval.pruning import prune
from hybrid_ir.retrieval.rm3 import Rm3Config

FREQUENCIES = {"patient": 90, "heart": 50, "aspirin": 9, "tfpi": 1}


def kept(terms, size):
    return prune(terms, size, 100, lambda term: FREQUENCIES.get(term, 0))


def idf(frequency):
    return math.log(1 + (100 - frequency + 0.5) / (frequency + 0.5))


def test_terms_are_kept_by_boost_times_idf():
    terms = {"patient": 8.0, "heart": 3.0, "aspirin": 1.0, "tfpi": 0.5}
    weights = {term: boost * idf(FREQUENCIES[term]) for term, boost in terms.items()}
    # 8 x 0.11 < 3 x 0.69 and 1 x 2.36; 0.5 x 4.21 = 2.10 lies between those two
    assert sorted(weights, key=weights.__getitem__) == ["patient", "heart", "tfpi", "aspirin"]
    assert kept(terms, 1) == {"aspirin": 1.0}
    assert kept(terms, 2) == {"aspirin": 1.0, "tfpi": 0.5}
    assert kept(terms, 3) == {"aspirin": 1.0, "tfpi": 0.5, "heart": 3.0}
    assert kept(terms, 4) == kept(terms, 99) == terms


def test_a_boost_makes_up_for_a_small_idf():
    needed = idf(1) / idf(50)
    assert kept({"heart": needed * 1.01, "tfpi": 1.0}, 1) == {"heart": needed * 1.01}
    assert kept({"heart": needed * 0.99, "tfpi": 1.0}, 1) == {"tfpi": 1.0}


def test_what_no_document_has_weighs_nothing_and_ties_go_by_term():
    assert kept({"unknown": 1000.0, "patient": 0.1}, 1) == {"patient": 0.1}
    assert kept({"y": 1.0, "x": 2.0}, 1) == {"x": 2.0}
    assert kept({}, 5) == {}


@given(st.dictionaries(st.sampled_from([*FREQUENCIES, "x"]), st.floats(0, 1e6)), st.integers(1, 9))
def test_what_is_kept_weighs_as_much_as_what_is_not(terms, size):
    found = kept(terms, size)
    assert len(found) == min(size, len(terms))
    assert found.items() <= terms.items()
    weights = {term: b * idf(FREQUENCIES[term]) if term != "x" else 0 for term, b in terms.items()}
    left = [weight for term, weight in weights.items() if term not in found]
    assert all(weights[term] >= max(left, default=0) * (1 - 1e-12) for term in found)


# On real indexes.


@pytest.fixture(scope="module")
def real_index(mini, tmp_path_factory):
    folder = tmp_path_factory.mktemp("pruning") / "index"
    real = itertools.islice(read_jsonl(mini / "documents.jsonl.gz", Document), 1000)
    build_index(real, folder, IndexConfig(fields=("title",)))
    return folder


@pytest.fixture(scope="module")
def queries(mini):
    """Long real queries: a question, boosted, and the one after it."""
    questions = read_questions(mini / "test" / "12B1.questions.json")[:20]
    return [
        Query(first.id, (Clause(first.body, boost=2.0), Clause(second.body)))
        for first, second in itertools.pairwise(questions)
    ]


def rankings(index, queries, **settings):
    with Searcher(index, SearchConfig(**settings)) as searcher:
        return dict(searcher.search_all(queries))


def test_as_many_words_as_there_are_change_nothing(real_index, queries):
    whole = rankings(real_index, queries)
    pruned = rankings(real_index, queries, words=100)
    for question_id, ranking in whole.items():
        assert ranking
        assert dict(pruned[question_id]) == pytest.approx(dict(ranking), rel=1e-5)
        scores = [score for _, score in ranking]
        assert [score for _, score in pruned[question_id]] == pytest.approx(scores, rel=1e-5)


def heaviest(searcher, query, size):
    """Give the query of a query's heaviest words, found by counting hits one word at a time."""
    boosts = {}
    for clause in query.clauses:
        for word in searcher.analyse(clause.text):
            boosts[word] = boosts.get(word, 0) + clause.boost
    hits = {word: len(searcher.search(Query("q", (Clause(word),)))) for word in boosts}
    weights = {
        word: boost * math.log(1 + (1000 - hits[word] + 0.5) / (hits[word] + 0.5))
        for word, boost in boosts.items()
        if hits[word]
    }
    kept = sorted(weights, key=lambda word: (-weights[word], word))[:size]
    return replace(query, clauses=tuple(Clause(word, boost=boosts[word]) for word in kept))


def test_the_heaviest_words_of_the_index_are_searched_for(real_index, queries):
    pruned = rankings(real_index, queries, words=3)
    with Searcher(real_index) as searcher:
        for query in queries[:5]:
            ranking = pruned[query.question_id]
            expected = searcher.search(heaviest(searcher, query, 3))
            assert dict(ranking) == pytest.approx(dict(expected), rel=1e-5)
            assert len(ranking) < len(searcher.search(query))


def test_fewer_words_find_what_more_words_find(real_index, queries):
    whole = rankings(real_index, queries)
    pruned = rankings(real_index, queries, words=2)
    assert all(
        {d for d, _ in pruned[name]} < {d for d, _ in ranking} for name, ranking in whole.items()
    )


@pytest.fixture(scope="module")
def index(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pruned") / "index"
    documents = [
        Document("1", "heart aspirin", year=2010, mesh=("Stroke",)),
        Document("2", "heart failure", year=2010),
        Document("3", "heart aspirin trial", year=2020),
        Document("4", "heart", year=2020),
    ]
    build_index(documents, folder, IndexConfig(fields=("year", "mesh")))
    return folder


def ids(index, *clauses, words=1, **settings):
    (ranking,) = rankings(index, [Query("q", clauses)], words=words, **settings).values()
    return sorted(document for document, _ in ranking)


SHOULD = Clause("heart aspirin")
"""Of one word it is aspirin that stays: 2 of 4 documents have it, all have heart."""


@pytest.mark.parametrize(
    ("others", "expected"),
    [
        ((), ["1", "3"]),
        ((Clause("2020", "year", operator="filter"),), ["3"]),
        ((Clause("trial", operator="must_not"),), ["1"]),
        ((Clause("failure", operator="must"),), ["2"]),
        ((Clause("heart failure", operator="filter"),), ["1", "3"]),
        ((Clause("stroke", "mesh"),), ["1", "3"]),
        ((Clause("2010", "year", operator="filter"), Clause("failure", operator="must")), ["2"]),
    ],
)
def test_clauses_that_are_not_optional_words_stay_as_they_are(index, others, expected):
    assert ids(index, SHOULD, *others) == expected


@pytest.mark.parametrize("words", [None, 1, 9])
@pytest.mark.parametrize("text", ["the", "zzz", "", "?"])
def test_a_filter_alone_lets_nothing_in_where_words_are_asked_for(index, words, text):
    window = Clause("2010", "year", operator="filter")
    assert ids(index, Clause(text), window, words=words) == []
    assert ids(index, window, words=words) == ["1", "2"]
    assert ids(index, Clause(text), Clause("trial", operator="must_not"), words=words) == []


def test_words_are_pruned_before_feedback(real_index, queries):
    rm3 = Rm3Config(documents=5, terms=5)
    whole = rankings(real_index, queries[:5], rm3=rm3)
    all_words = rankings(real_index, queries[:5], rm3=rm3, words=1000)
    two = rankings(real_index, queries[:5], rm3=rm3, words=2)
    with Searcher(real_index) as searcher:
        expected = rankings(
            real_index, [heaviest(searcher, query, 2) for query in queries[:5]], rm3=rm3
        )
    for name, ranking in whole.items():
        assert dict(all_words[name]) == pytest.approx(dict(ranking), rel=1e-5)
        assert dict(two[name]) == pytest.approx(dict(expected[name]), rel=1e-5)
        assert two[name] != ranking


@pytest.mark.parametrize("value", ["0", "-1", "x", "1.5"])
def test_a_number_of_words_that_makes_no_sense_is_refused(value):
    with pytest.raises(InputError, match="words"):
        load_config(SearchConfig, None, [f"words={value}"])
    assert load_config(SearchConfig, None, ["words=null"]) == SearchConfig()


def test_weights_of_fields_are_no_words_of_contents(real_index, queries, mini):
    """In other fields than contents nothing is pruned."""
    questions = read_questions(mini / "test" / "12B1.questions.json")[:5]
    titles = list(plain_queries(questions, {"title": 2.0}))
    assert rankings(real_index, titles, words=1) == rankings(real_index, titles)
