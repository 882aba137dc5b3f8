import itertools
import math
import threading
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hybrid_ir.bioasq.questions import read_questions
from hybrid_ir.errors import InputError
from hybrid_ir.files import read_jsonl
from hybrid_ir.records import Clause, Document, Query
from hybrid_ir.retrieval.bm25 import SearchConfig, Searcher, plain_queries
from hybrid_ir.retrieval.fields import words_of
from hybrid_ir.retrieval.index import IndexConfig
from hybrid_ir.retrieval.indexing import build_index
from hybrid_ir.retrieval.jvm import java_class
from hybrid_ir.retrieval.rm3 import Rm3Config
from hybrid_ir.trec import id_order

DOCUMENTS = [
    Document("1", "heart", "aspirin aspirin stroke"),
    Document("2", "stroke", "heart failure therapy trial"),
    Document("30", "", "stroke"),
    Document("4", "", "stroke"),
    Document("9", "cancer", "gene", mesh=("Neoplasms", "Heart")),
]


@pytest.fixture(scope="module")
def index(tmp_path_factory):
    folder = tmp_path_factory.mktemp("bm25") / "index"
    build_index(DOCUMENTS, folder, IndexConfig(fields=("title", "abstract", "mesh")))
    return folder


@pytest.fixture(scope="module")
def searcher(index):
    with Searcher(index) as opened:
        yield opened


@pytest.fixture(scope="module")
def passages(mini):
    """Two thousand real passages; ids of one length, so that Anserini's order of ties is ours."""
    real = itertools.islice(read_jsonl(mini / "documents.jsonl.gz", Document), 2000)
    return [replace(passage, id=str(10**9 + int(passage.id))) for passage in real]


@pytest.fixture(scope="module")
def real_index(passages, tmp_path_factory):
    folder = tmp_path_factory.mktemp("real") / "index"
    build_index(passages, folder, IndexConfig(fields=("title", "abstract")))
    return folder


@pytest.fixture(scope="module")
def questions(mini):
    return read_questions(mini / "test" / "12B1.questions.json")


def bag(text, **more):
    return Query("q", (Clause(text, **more),))


def ids(ranking):
    return [document for document, _ in ranking]


def test_scores_are_those_of_bm25(index):
    k1, b = 1.2, 0.75
    with Searcher(index, SearchConfig(k1=k1, b=b)) as searcher:
        ranking = searcher.search(bag("aspirin"))
    lengths = [4, 5, 1, 1, 2]
    idf = math.log(1 + (5 - 1 + 0.5) / (1 + 0.5))
    tf = 2 / (2 + k1 * (1 - b + b * 4 / (sum(lengths) / 5)))
    assert ids(ranking) == ["1"]
    assert ranking[0].score == pytest.approx(idf * tf, rel=1e-6)


def test_ties_go_by_id_also_across_the_last_place(index):
    for hits in (1, 2, 3, 4):
        with Searcher(index, SearchConfig(hits=hits)) as searcher:
            assert ids(searcher.search(bag("stroke"))) == ["4", "30", "1", "2"][:hits]


def test_a_tie_of_more_documents_than_the_margin_is_cut_by_id(tmp_path):
    numbers = [str(number * 7919 % 3000) for number in range(3000)]
    build_index([Document(n, "same text") for n in numbers], tmp_path / "index", IndexConfig())
    with Searcher(tmp_path / "index", SearchConfig(hits=5)) as searcher:
        assert ids(searcher.search(bag("text"))) == ["0", "1", "2", "3", "4"]


def test_ids_that_are_no_integers_are_ranked_and_cut_by_the_same_rule(tmp_path):
    names = ["b", "10", "9", "ä", "a_1"]
    build_index([Document(n, "same text") for n in names], tmp_path / "index", IndexConfig())
    with Searcher(tmp_path / "index", SearchConfig(hits=4)) as searcher:
        assert ids(searcher.search(bag("text"))) == sorted(names, key=id_order)[:4]


@pytest.mark.parametrize("text", ["", " ", "the of and", "?!", "zzzz", "\ud800", "\0"])
def test_an_empty_result_is_a_valid_result(searcher, text):
    assert searcher.search(bag(text)) == ()


MARKS = ['"', "/", "(", ")", "[", "]", "{", "}", ":", "+", "-", "~", "*", "?", "!", "^", "\\", "&&",
         "||", "AND", "OR", "NOT", "TO", "<", ">", "=", "\t", "\n", "\0", "“", "±"]  # fmt: skip


@given(st.lists(st.sampled_from([*MARKS, "heart", "aspirin", "stroke", "gene"])))
def test_marks_of_query_languages_change_nothing(searcher, tokens):
    words = " ".join(token for token in tokens if token not in MARKS)
    assert searcher.search(bag(" ".join(tokens))) == searcher.search(bag(words))


@given(st.text(st.characters(exclude_categories=[]), max_size=200))
def test_any_text_searches_as_its_words(searcher, text):
    found = ids(searcher.search(bag(text)))
    words = set(searcher.analyse(text))
    assert set(found) == {d.id for d in DOCUMENTS if words & set(searcher.analyse(d.text))}


def test_greek_letters_are_words(tmp_path):
    build_index([Document("1", "TNF-α"), Document("2", "TNF-β")], tmp_path / "i", IndexConfig())
    with Searcher(tmp_path / "i") as searcher:
        assert ids(searcher.search(bag("α"))) == ["1"]


def test_five_thousand_words_search_as_words(real_index):
    words = [f"word{number}" for number in range(5000)]
    with Searcher(real_index) as searcher:
        short = searcher.search(bag("cancer"))
        assert searcher.search(bag(" ".join([*words, "cancer"]))) == short
        assert short


def test_a_boost_of_n_is_the_text_n_times(real_index, questions):
    with Searcher(real_index) as searcher:
        for question in questions[:20]:
            repeated = searcher.search(bag(" ".join([question.body] * 4)))
            boosted = searcher.search(bag(question.body, boost=4.0))
            assert dict(boosted) == pytest.approx(dict(repeated), rel=1e-5)
            assert len(boosted) == len(repeated)


def test_clauses_add_up(searcher):
    heart, gene = bag("heart"), bag("gene", boost=2.0)
    scores = dict(searcher.search(Query("q", heart.clauses + gene.clauses)))
    alone = dict(searcher.search(heart)) | dict(searcher.search(gene))
    assert scores == pytest.approx(alone)


def test_must_adds_and_requires_filter_only_requires(searcher):
    heart = dict(searcher.search(bag("heart")))
    should = Clause("heart")
    must = Query("q", (should, Clause("aspirin", operator="must")))
    only = Query("q", (should, Clause("aspirin", operator="filter")))
    aspirin = dict(searcher.search(bag("aspirin")))
    assert dict(searcher.search(must)) == pytest.approx({"1": heart["1"] + aspirin["1"]})
    assert dict(searcher.search(only)) == pytest.approx({"1": heart["1"]})


def test_a_required_clause_of_stop_words_requires_nothing(searcher):
    query = Query("q", (Clause("heart"), Clause("the", operator="must")))
    assert searcher.search(query) == searcher.search(bag("heart"))


def test_a_mesh_clause_looks_in_the_mesh_field(searcher):
    assert ids(searcher.search(bag("neoplasm", field="mesh"))) == ["9"]


def test_an_unknown_field_and_a_wrong_boost_are_refused_together(searcher):
    query = Query("q7", (Clause("x", field="body"), Clause("x", boost=-1.0)))
    with pytest.raises(InputError) as caught:
        searcher.search(query)
    message = str(caught.value)
    assert "question q7" in message
    assert "no field 'body' (it has contents, title, abstract, mesh)" in message
    assert "boosts are weights from 0 to 1,000,000, got -1.0" in message


@pytest.mark.parametrize(
    "wrong", [{"hits": 0}, {"k1": -1.0}, {"b": 1.5}, {"threads": 0}, {"rrf_k": -1.0}, {"words": 0}]
)
def test_wrong_settings_are_refused(wrong):
    with pytest.raises(InputError, match=next(iter(wrong))):
        SearchConfig(**wrong)


def test_results_stream_in_order_and_queries_are_drawn_as_needed(searcher):
    drawn = itertools.count()
    endless = (Query(str(next(drawn)), (Clause("heart"),)) for _ in itertools.repeat(None))
    first = list(itertools.islice(searcher.search_all(endless), 100))
    assert [question_id for question_id, _ in first] == [str(number) for number in range(100)]
    assert next(drawn) <= 100 + 2 * searcher.config.threads + 1
    assert all(ranking == first[0][1] for _, ranking in first)


def anserini(folder, k1=0.9, b=0.4):
    """Open an index with the class behind Pyserini's LuceneSearcher."""
    peer = java_class("io.anserini.search.SimpleSearcher")(str(folder))
    peer.set_bm25(k1, b)
    return peer


def assert_same(ours, theirs):
    """Compare rankings; theirs has scores of four digits, ties told apart in the sixth."""
    scores = {hit.docid: hit.score for hit in theirs}
    assert len(ours) == len(scores)
    last = ours[-1].score if ours else 0
    beyond = [document for document, score in ours if document not in scores]
    assert all(dict(ours)[document] == pytest.approx(last, abs=1e-3) for document in beyond)
    for document, score in ours:
        if document in scores:
            assert score == pytest.approx(scores[document], abs=1e-3)


@pytest.mark.parametrize(("k1", "b"), [(0.9, 0.4), (1.2, 0.75)])
def test_rankings_are_those_of_pyserini(real_index, questions, k1, b):
    peer = anserini(real_index / "lucene", k1, b)
    with Searcher(real_index, SearchConfig(hits=100, k1=k1, b=b)) as searcher:
        for query in plain_queries(questions, {}):
            assert_same(searcher.search(query), peer.search(query.clauses[0].text, 100))
    peer.close()


def test_field_weights_are_those_of_pyserini(real_index, questions):
    peer = anserini(real_index / "lucene")
    weights = java_class("java.util.HashMap")()
    weights.put("title", java_class("java.lang.Float")(2.0))
    weights.put("abstract", java_class("java.lang.Float")(0.5))
    with Searcher(real_index, SearchConfig(hits=50)) as searcher:
        for query in plain_queries(questions, {"title": 2.0, "abstract": 0.5}):
            theirs = peer.search_fields(query.clauses[0].text, weights, 50)
            assert_same(searcher.search(query), theirs)
    peer.close()


@pytest.mark.parametrize("rm3", [Rm3Config(), Rm3Config(5, 20, 0.3)])
def test_rm3_is_that_of_anserini(passages, questions, real_index, tmp_path, rm3):
    folder = tmp_path / "vectors"
    arguments = ["-collection", "JsonCollection", "-input", "", "-index", str(folder)]
    indexer = java_class("io.anserini.index.SimpleIndexer")([*arguments, "-storeDocvectors"])
    document = java_class("io.anserini.collection.JsonCollection$Document")
    for passage in passages:
        assert indexer.addJsonDocument(document.fromFields(passage.id, words_of(passage.text)))
    indexer.close()
    peer = anserini(folder)
    peer.set_rm3(rm3.terms, rm3.documents, rm3.query_weight)
    with Searcher(real_index, SearchConfig(hits=20, rm3=rm3)) as searcher:
        plain = Searcher(real_index, SearchConfig(hits=20))
        changed = 0
        for query in itertools.islice(plain_queries(questions, {}), 40):
            ours = searcher.search(query)
            assert_same(ours, peer.search(query.clauses[0].text, 20))
            changed += ids(ours) != ids(plain.search(query))
        plain.close()
    peer.close()
    assert changed > 10


def test_rm3_refuses_what_it_cannot_expand(index):
    with (
        Searcher(index, SearchConfig(rm3=Rm3Config())) as searcher,
        pytest.raises(InputError, match="question q: RM3 works on optional clauses"),
    ):
        searcher.search(bag("heart", field="title"))


def test_a_boosted_query_feeds_rm3_as_the_repeated_one(real_index, questions):
    with Searcher(real_index, SearchConfig(hits=10, rm3=Rm3Config())) as searcher:
        for question in questions[:5]:
            boosted = Query("q", (Clause(question.body, boost=3.0), Clause("heart failure")))
            repeated = bag(" ".join([question.body] * 3) + " heart failure")
            scores = dict(searcher.search(boosted))
            assert scores == pytest.approx(dict(searcher.search(repeated)), rel=1e-4)


def test_questions_are_looked_up_in_contents_unless_fields_are_weighted(questions):
    plain = next(plain_queries(questions, {}))
    assert plain == Query(questions[0].id, (Clause(questions[0].body),))
    weighted = next(plain_queries(questions, {"title": 2.0, "mesh": 1.0}))
    assert weighted == replace(
        plain,
        clauses=(
            Clause(questions[0].body, "title", 2.0),
            Clause(questions[0].body, "mesh", 1.0),
        ),
    )


def test_threads_never_mix_up_their_queries(real_index, questions):
    queries = list(plain_queries(questions, {}))
    with Searcher(real_index, SearchConfig(hits=30, threads=4)) as searcher:
        alone = {query.question_id: searcher.search(query) for query in queries}
        for _ in range(2):
            assert dict(searcher.search_all(queries)) == alone
        wrong = []

        def search(part):
            wrong.extend(q for q in part if searcher.search(q) != alone[q.question_id])

        threads = [threading.Thread(target=search, args=(queries[n::4] * 2,)) for n in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert wrong == []
