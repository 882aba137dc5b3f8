import pytest
from hypothesis import given
from hypothesis import strategies as st

from hybrid_ir.errors import InputError
from hybrid_ir.records import Clause, Document, Query
from hybrid_ir.retrieval.bm25 import SearchConfig, Searcher
from hybrid_ir.retrieval.fields import exact_word, words_of, year_window
from hybrid_ir.retrieval.index import IndexConfig, analyzer
from hybrid_ir.retrieval.indexing import build_index
from hybrid_ir.retrieval.jvm import java_class

DOCUMENTS = [
    Document("1", "heart", year=2009, publication_types=("Journal Article", "Review")),
    Document("2", "heart", year=2010, publication_types=("Systematic Review",)),
    Document("3", "heart stroke", year=2020, publication_types=("Letter",)),
    Document("4", "stroke", year=2021, publication_types=("Research Support, U.S. Gov't, P.H.S.",)),
    Document("5", "heart", year=987),
    Document("6", "heart"),
]


@pytest.fixture(scope="module")
def searcher(tmp_path_factory):
    folder = tmp_path_factory.mktemp("fields") / "index"
    build_index(DOCUMENTS, folder, IndexConfig(fields=("publication_type", "year")))
    with Searcher(folder) as opened:
        yield opened


def found(searcher, *clauses):
    return sorted(id_ for id_, _ in searcher.search(Query("q", clauses)))


@pytest.mark.parametrize(
    ("text", "ids"),
    [
        ("Review", ["1"]),
        ("  review ", ["1"]),
        ("SYSTEMATIC review", ["2"]),
        ("Review; Systematic Review", ["1", "2"]),
        ("Article", []),
        ("Journal", []),
        ("Reviews", []),
        ("Research Support, U.S. Gov't, P.H.S.", ["4"]),
        ("Research Support U S Gov t P H S", []),
    ],
)
def test_a_publication_type_is_one_value(searcher, text, ids):
    assert found(searcher, Clause(text, "publication_type", operator="filter")) == ids


@pytest.mark.parametrize(
    ("text", "ids"),
    [
        ("2010", ["2"]),
        ("2009;2021", ["1", "4"]),
        ("2010-2020", ["2", "3"]),
        ("2010 - 2020 ; 987", ["2", "3", "5"]),
        ("2010-", ["2", "3", "4"]),
        ("-2009", ["1", "5"]),
        ("900-1000", ["5"]),
        ("2011-2019", []),
    ],
)
def test_a_year_is_a_value_or_a_window(searcher, text, ids):
    assert found(searcher, Clause(text, "year", operator="filter")) == ids


def test_a_filter_keeps_scores_and_lets_nothing_in_that_has_no_word(searcher):
    heart = searcher.search(Query("q", (Clause("heart"),)))
    window = Clause("2010-", "year", operator="filter")
    filtered = searcher.search(Query("q", (Clause("heart"), window)))
    assert filtered == tuple(hit for hit in heart if hit.item in ("2", "3"))
    assert searcher.search(Query("q", (Clause("the"), window))) == ()


def test_must_not_leaves_out(searcher):
    heart = Clause("heart")
    letters = Clause("Letter; Review", "publication_type", operator="must_not")
    assert found(searcher, heart, letters) == ["2", "5", "6"]
    assert found(searcher, heart, Clause("stroke", operator="must_not")) == ["1", "2", "5", "6"]
    nothing = Clause("the", operator="must_not")
    assert found(searcher, heart, nothing) == ["1", "2", "3", "5", "6"]


def test_an_exact_value_adds_its_boost_however_rare_it_is(searcher):
    alone = dict(searcher.search(Query("q", (Clause("heart"),))))
    for text, id_ in (("Review", "1"), ("Letter", "3")):
        boosted = Query("q", (Clause("heart"), Clause(text, "publication_type", 2.5)))
        assert dict(searcher.search(boosted))[id_] == pytest.approx(alone[id_] + 2.5)


@pytest.mark.parametrize(
    ("field", "text", "message"),
    [
        ("year", "20l0", "field year: expected 2019, 2010-2020, 2010- or -2020, got ['20l0']"),
        ("year", "2020-2010", "got ['2020-2010']"),
        ("year", "2010;-;x", "got ['-', 'x']"),
        ("year", " ", "expected values separated by ';', got ' '"),
        ("publication_type", ";", "expected values separated by ';', got ';'"),
    ],
)
def test_a_text_that_means_nothing_to_the_field_is_refused(searcher, field, text, message):
    with pytest.raises(InputError) as caught:
        searcher.search(Query("q", (Clause(text, field, operator="filter"),)))
    assert message in str(caught.value)


def test_questions_are_not_looked_up_in_exact_fields():
    with pytest.raises(InputError, match="fields of words, not publication_type or year"):
        SearchConfig(fields={"title": 1.0, "year": 1.0})


@pytest.mark.parametrize(
    ("value", "window"),
    [
        ("2019", ("2019", "2019")),
        ("19", ("0019", "0019")),
        ("1-20", ("0001", "0020")),
        ("20102020", None),
        ("٢٠١٩", None),
        ("", None),
        ("2010-2020-", None),
    ],
)
def test_windows_of_years(value, window):
    assert year_window(value) == window


@given(st.text(min_size=1), st.sampled_from(["porter", "krovetz", "none"]), st.booleans())
def test_no_analysis_changes_an_exact_word(value, stemmer, keep_stopwords):
    word = exact_word(value)
    utils = java_class("io.anserini.analysis.AnalyzerUtils")
    assert list(utils.analyze(analyzer(stemmer, keep_stopwords), word)) == [word]


@given(st.lists(st.text("aA01z' ,-é", max_size=6), min_size=2, max_size=2))
def test_words_are_equal_only_where_values_are(values):
    first, second = (" ".join(value.lower().split()) for value in values)
    assert (exact_word(values[0]) == exact_word(values[1])) == (first == second)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("no effects.METHODS: We", "no effects. METHODS: We"),
        ("(n=5).MATERIALS AND METHODS: We", "(n=5). MATERIALS AND METHODS: We"),
        ("in 40%.RESULTS (95% CI): ", "in 40%.RESULTS (95% CI): "),
        ("of mRNA: it", "of mRNA: it"),
        ("anti-DNA: it", "anti-DNA: it"),
        ("p.Val600Glu: it", "p.Val600Glu: it"),
        ("no label.RESULTS of", "no label.RESULTS of"),
        ("METHODS: We.", "METHODS: We."),
    ],
)
def test_a_section_label_begins_a_new_word(text, words):
    assert words_of(text) == words


def test_the_word_before_a_glued_label_is_found(tmp_path):
    build_index([Document("1", "", "It had effects.METHODS: We")], tmp_path / "i", IndexConfig())
    with Searcher(tmp_path / "i", SearchConfig()) as opened:
        assert [hit.item for hit in opened.search(Query("q", (Clause("effect"),)))] == ["1"]


def test_nothing_but_must_not_is_refused(searcher):
    letters = Clause("Letter", "publication_type", operator="must_not")
    with pytest.raises(InputError, match=r"question q: every clause is must_not.*add a clause"):
        searcher.search(Query("q", (letters, Clause("heart", operator="must_not"))))
    assert found(searcher, Clause("2020", "year", operator="filter"), letters) == []
    assert searcher.search(Query("q", ())) == ()
