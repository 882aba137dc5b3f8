"""Queries of questions and what was written about them, by hand and on real Lucene indexes."""

import itertools
import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hybrid_ir.bioasq.questions import read_questions
from hybrid_ir.config import load_config
from hybrid_ir.entities.lexicon import load_lexicon
from hybrid_ir.errors import InputError
from hybrid_ir.expansion import (
    QUESTION_KEY,
    Change,
    ExpansionConfig,
    by_text,
    config_of,
    entity_set,
    expanded,
)
from hybrid_ir.files import read_jsonl, read_lines
from hybrid_ir.records import (
    QUESTION_TYPES,
    Clause,
    Document,
    Entity,
    PseudoDocument,
    Query,
    Question,
    Tagged,
)
from hybrid_ir.retrieval.bm25 import SearchConfig, Searcher
from hybrid_ir.retrieval.index import IndexConfig
from hybrid_ir.retrieval.indexing import build_index

QUESTION = Question("q", "Does aspirin help?", "yesno")


def named(*names):
    return tuple(Entity(name, "X", 0, len(name)) for name in names)


def text(generator, sample=0, weight=1.0, words="some words"):
    return PseudoDocument("q", generator, sample, "p", words, weight)


TEXTS = [text("a", words="Aspirin helps."), text("b", words="No stroke.")]
ENTITIES = {
    QUESTION_KEY: named("aspirin"),
    ("a", 0): named("Aspirin", "stroke", "ASPIRIN"),
    ("b", 0): named("stroke", "heparin"),
}


PAPER = ExpansionConfig(repeat=2.0, source="entities")
"""The paper's batch 3; the defaults may be others."""


def clauses(config, texts=TEXTS, entities=ENTITIES, question=QUESTION):
    """Give (text, boost) of the one query's clauses."""
    (query,) = expanded(question, texts, entities, config)
    assert (query.question_id, query.variant) == ("q", "")
    return [(clause.text, clause.boost) for clause in query.clauses]


def test_the_query_of_the_paper_as_one_text():
    config = replace(PAPER, repeat=3, form="repetition", weights=False)
    assert expanded(QUESTION, TEXTS, ENTITIES, config) == (
        Query(
            "q",
            (
                Clause(
                    "Does aspirin help? Does aspirin help? Does aspirin help?"
                    " Aspirin stroke stroke heparin"
                ),
            ),
        ),
    )


def test_the_query_of_the_paper_as_weighted_clauses():
    assert clauses(replace(PAPER, repeat=3)) == [
        ("Does aspirin help?", 3.0),
        ("Aspirin stroke", 1.0),
        ("stroke heparin", 1.0),
    ]


def test_a_set_has_each_name_once_whatever_its_case():
    assert entity_set(named("IL-2", "il-2", "Straße", "STRASSE", "IL 2")) == (
        "IL-2",
        "Straße",
        "IL 2",
    )
    assert entity_set(()) == ()


def test_mentions_count_as_often_as_they_are_made_and_a_text_is_its_words():
    assert clauses(replace(PAPER, source="mentions"))[1:] == [
        ("Aspirin stroke ASPIRIN", 1.0),
        ("stroke heparin", 1.0),
    ]
    whole = replace(PAPER, source="text")
    assert clauses(whole, entities={})[1:] == [("Aspirin helps.", 1.0), ("No stroke.", 1.0)]
    assert not whole.needs_entities


SAMPLES = [text("a", 0, 0.5), text("a", 1, 1.0), text("a", 2, 0.5), text("a", 3, 0.0)]
OF_SAMPLES = {
    ("a", 0): named("stroke", "heparin"),
    ("a", 1): named("Stroke"),
    ("a", 2): named("HEPARIN", "statin"),
    ("a", 3): named("gold", "stroke"),
}


def test_samples_of_a_generator_are_one_set_and_the_heaviest_weight_wins():
    assert clauses(PAPER, SAMPLES, OF_SAMPLES)[1:] == [
        ("Stroke", 1.0),
        ("heparin statin", 0.5),
    ]


def test_a_text_of_weight_0_is_left_out_unless_weights_are():
    for source in ("entities", "mentions", "text"):
        config = replace(PAPER, source=source)
        assert clauses(config, SAMPLES[3:], OF_SAMPLES) == [("Does aspirin help?", 2.0)]
    unweighted = replace(PAPER, weights=False)
    assert clauses(unweighted, SAMPLES, OF_SAMPLES)[1:] == [("stroke heparin statin gold", 1.0)]
    mentions = replace(PAPER, weights=False, source="mentions")
    assert [boost for _, boost in clauses(mentions, SAMPLES, OF_SAMPLES)[1:]] == [1.0] * 4


def test_generators_are_chosen_in_the_order_named():
    assert clauses(replace(PAPER, generators=("b",)))[1:] == [("stroke heparin", 1.0)]
    assert [t for t, _ in clauses(replace(PAPER, generators=("b", "a")))[1:]] == [
        "stroke heparin",
        "Aspirin stroke",
    ]
    assert clauses(replace(PAPER, generators=("c",)))[1:] == []


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (Change(repeat=4.0), [(QUESTION.body, 4.0), ("Aspirin stroke", 1), ("stroke heparin", 1)]),
        (Change(source="text"), [(QUESTION.body, 2.0), ("Aspirin helps.", 1), ("No stroke.", 1)]),
        (Change(generators=("b",)), [(QUESTION.body, 2.0), ("stroke heparin", 1)]),
        (Change(repeat=0.0), [("Aspirin stroke", 1), ("stroke heparin", 1)]),
    ],
)
def test_what_one_type_has_otherwise_leaves_the_others_alone(change, expected):
    config = replace(PAPER, by_type={"list": change})
    for kind in QUESTION_TYPES:
        found = clauses(config, question=replace(QUESTION, type=kind))
        assert found == (expected if kind == "list" else clauses(PAPER))


def test_a_type_can_take_all_generators_again():
    config = replace(PAPER, generators=("a",), by_type={"list": Change(generators=())})
    assert config_of("list", config).generators == ()
    assert config_of("yesno", config).generators == ("a",)


def test_entities_are_needed_where_any_setting_takes_them():
    assert PAPER.needs_entities
    assert not replace(PAPER, source="text").needs_entities
    assert not replace(PAPER, source="text", by_type={"list": Change(repeat=3)}).needs_entities
    for more in (
        {"mesh": 0.5},
        {"question_entities": True},
        {"by_type": {"list": Change(source="mentions")}},
    ):
        assert replace(PAPER, source="text", **more).needs_entities


def test_queries_to_be_fused_are_the_question_and_one_a_generator():
    config = replace(PAPER, fused=True, repeat=2.0)
    own = Clause("Does aspirin help?", boost=2.0)
    assert expanded(QUESTION, TEXTS, ENTITIES, config) == (
        Query("q", (own,), "question"),
        Query("q", (own, Clause("Aspirin stroke")), "a"),
        Query("q", (own, Clause("stroke heparin")), "b"),
    )
    nothing_found = ENTITIES | {("b", 0): ()}
    variants = [query.variant for query in expanded(QUESTION, TEXTS, nothing_found, config)]
    assert variants == ["question", "a"]
    repeated = replace(config, form="repetition", weights=False)
    assert expanded(QUESTION, TEXTS, ENTITIES, repeated)[1] == Query(
        "q", (Clause("Does aspirin help? Does aspirin help? Aspirin stroke"),), "a"
    )


def test_entities_of_the_question_are_added_once_more_and_looked_up_as_mesh():
    entities = ENTITIES | {QUESTION_KEY: named("aspirin", "Aspirin", "pain")}
    config = replace(PAPER, question_entities=True, mesh=0.5)
    (query,) = expanded(QUESTION, TEXTS[:1], entities, config)
    assert query.clauses == (
        Clause("Does aspirin help?", boost=2.0),
        Clause("aspirin pain"),
        Clause("aspirin pain", "mesh", 0.5),
        Clause("Aspirin stroke"),
    )
    (query,) = expanded(QUESTION, [], ENTITIES | {QUESTION_KEY: ()}, config)
    assert query.clauses == (Clause("Does aspirin help?", boost=2.0),)
    (query,) = expanded(QUESTION, [], entities, replace(config, form="repetition", weights=False))
    assert query.clauses == (
        Clause("Does aspirin help? Does aspirin help? aspirin pain"),
        Clause("aspirin pain", "mesh", 0.5),
    )


def test_entities_by_question_and_text():
    first, second = named("aspirin"), named("stroke")
    tagged = [Tagged("q", "", 0, first), Tagged("q", "a", 1, second), Tagged("r", "", 0, ())]
    assert by_text(tagged) == {
        "q": {QUESTION_KEY: first, ("a", 1): second},
        "r": {QUESTION_KEY: ()},
    }


@pytest.mark.parametrize(
    ("settings", "parts"),
    [
        (["repeat=-1"], ["repeat: expected 0 to 1,000, got -1.0"]),
        (["repeat=.nan"], ["repeat: expected 0 to 1,000, got nan"]),
        (["mesh=1001"], ["mesh: expected 0 to 1,000, got 1001.0"]),
        (
            ["repeat=2000", "mesh=-1", "by_type.list.repeat=-4"],
            ["got 2000.0", "mesh: expected", "repeat: expected 0 to 1,000, got -4.0"],
        ),
        (
            ["form=repetition", "repeat=1.5", "by_type.list.repeat=2.5"],
            ["whole numbers with form=repetition, got [1.5, 2.5]", "weights: expected false"],
        ),
        (["source=entitis"], ["expected one of ['entities', 'mentions', 'text']"]),
        (["by_type.lst.repeat=4"], ["some of yesno, factoid, list, summary, got lst"]),
        (["by_type.list.repet=4"], ["'by_type.list.repet'; did you mean 'by_type.list.repeat'?"]),
        (["by_type.list.source=txt"], ["by_type.list.source: Invalid value 'txt'"]),
        (["entities.labels=[GENE]"], ["entities: expected no settings unless source,"]),
        (["repet=4"], ["unknown key 'repet'; did you mean 'repeat'?"]),
    ],
)
def test_wrong_settings_are_refused_all_at_once(settings, parts):
    with pytest.raises(InputError) as caught:
        load_config(ExpansionConfig, None, settings)
    for part in parts:
        assert part in str(caught.value)


def test_settings_of_types_come_from_the_command_line():
    settings = ["by_type.list.repeat=4", "by_type.list.source=text", "by_type.yesno.generators=[a]"]
    assert load_config(ExpansionConfig, None, settings) == ExpansionConfig(
        by_type={"list": Change(4.0, "text"), "yesno": Change(generators=("a",))}
    )
    repeated = load_config(ExpansionConfig, None, ["form=repetition", "weights=false", "repeat=4"])
    assert repeated == ExpansionConfig(form="repetition", weights=False, repeat=4)


# On real indexes.


@pytest.fixture(scope="module")
def searcher(mini, tmp_path_factory):
    """A thousand real passages, all of which can be hits: nothing is cut off."""
    folder = tmp_path_factory.mktemp("expansion") / "index"
    real = itertools.islice(read_jsonl(mini / "documents.jsonl.gz", Document), 1000)
    build_index(real, folder, IndexConfig())
    with Searcher(folder, SearchConfig(hits=1000)) as opened:
        yield opened


@pytest.fixture(scope="module")
def written(mini):
    """Real questions, each with the texts of two generators and the entities of all."""
    questions = read_questions(mini / "test" / "12B1.questions.json")[::10]
    texts = [
        PseudoDocument(reply["id"], name, 0, "recorded", reply["pseudo_document"])
        for name in ("expert", "abstract")
        for _, line in read_lines(mini / "llm" / f"12B1.{name}.jsonl.gz")
        for reply in [json.loads(line)]
    ]
    tag = load_lexicon().tag
    found = []
    for question in questions:
        own = [text for text in texts if text.question_id == question.id]
        keys = [QUESTION_KEY, *((text.generator, text.sample) for text in own)]
        bodies = [question.body, *(text.text for text in own)]
        found.append((question, own, dict(zip(keys, tag(bodies), strict=True))))
    return found


@pytest.mark.parametrize("source", ["entities", "mentions", "text"])
@pytest.mark.parametrize("repeat", [1, 2, 4])
def test_a_repeated_text_and_a_boosted_clause_find_the_same(searcher, written, source, repeat):
    boosts = replace(PAPER, repeat=repeat, source=source, weights=False)
    for question, texts, entities in written:
        assert len(texts) == 2
        (query,) = expanded(question, texts, entities, boosts)
        (repeated,) = expanded(question, texts, entities, replace(boosts, form="repetition"))
        assert len(query.clauses) == 3
        assert repeated.clauses[0].text.startswith(" ".join([question.body] * repeat))
        ours, theirs = searcher.search(query), searcher.search(repeated)
        assert len(ours) > 0
        assert dict(ours) == pytest.approx(dict(theirs), rel=1e-5)
        assert [score for _, score in ours] == pytest.approx([s for _, s in theirs], rel=1e-5)
        assert same_order(ours, theirs)


def same_order(ours, theirs):
    """Whether documents stand in one order, but for those whose scores are equal when rounded."""
    place = {document: number for number, (document, _) in enumerate(theirs)}
    scores = dict(ours)
    return all(
        place[first] < place[second] or scores[first] == pytest.approx(scores[second], rel=1e-5)
        for (first, _), (second, _) in itertools.pairwise(ours)
    )


def test_a_boost_of_the_question_changes_what_is_found(searcher, written):
    question, texts, entities = written[0]
    rankings = {
        searcher.search(expanded(question, texts, entities, replace(PAPER, repeat=n))[0])
        for n in (1.0, 4.0)
    }
    assert len(rankings) == 2


@pytest.fixture(scope="module")
def mesh(tmp_path_factory):
    """Documents whose MeSH says more than their words."""
    folder = tmp_path_factory.mktemp("mesh") / "index"
    documents = [
        Document("1", "A trial", mesh=("Aspirin", "Pain")),
        Document("2", "aspirin", mesh=("Humans",)),
        Document("3", "A review"),
    ]
    build_index(documents, folder, IndexConfig(fields=("mesh",)))
    with Searcher(folder) as opened:
        yield opened


def test_a_mesh_clause_finds_by_mesh(mesh):
    entities = {QUESTION_KEY: next(load_lexicon().tag([QUESTION.body]))}
    (plain,) = expanded(QUESTION, [], entities, PAPER)
    (query,) = expanded(QUESTION, [], entities, replace(PAPER, mesh=0.5))
    assert [document for document, _ in mesh.search(plain)] == ["2"]
    scores = dict(mesh.search(query))
    assert set(scores) == {"1", "2"}
    assert scores["2"] == dict(mesh.search(plain))["2"]
    (double,) = expanded(QUESTION, [], entities, replace(PAPER, mesh=1.0))
    assert dict(mesh.search(double))["1"] == pytest.approx(2 * scores["1"], rel=1e-6)


def test_a_mesh_clause_on_an_index_without_mesh_is_refused_with_the_cure(searcher):
    (query,) = expanded(QUESTION, [], ENTITIES, replace(PAPER, mesh=0.5))
    with pytest.raises(InputError, match=r"no field 'mesh' .*: index with fields=\[mesh\]"):
        searcher.search(query)


ANY = st.text(st.characters(exclude_categories=[]), max_size=30)
WORDS = st.one_of(ANY, st.sampled_from(["aspirin", "Aspirin", " ", "\0", "\ud800", "\udfff"]))
NAMES = st.lists(WORDS, max_size=4).map(lambda names: named(*names))


@st.composite
def configs(draw):
    whole = draw(st.booleans())
    repeats = st.integers(0, 1000) if whole else st.floats(0, 1000)
    change = Change(draw(st.none() | repeats), draw(st.sampled_from([None, "entities", "text"])))
    return ExpansionConfig(
        repeat=draw(repeats),
        source=draw(st.sampled_from(["entities", "mentions", "text"])),
        generators=draw(st.sampled_from([(), ("a",), ("b", "a"), ("c",)])),
        by_type=draw(st.sampled_from([{}, {"yesno": change}, {"list": change}])),
        weights=not whole and draw(st.booleans()),
        fused=draw(st.booleans()),
        question_entities=draw(st.booleans()),
        mesh=draw(st.floats(0, 1000)),
        form="repetition" if whole else "boosts",
    )


@given(
    body=WORDS,
    own=NAMES,
    written=st.lists(st.tuples(st.sampled_from("ab"), WORDS, st.floats(0, 1), NAMES), max_size=5),
    config=configs(),
)
def test_any_texts_give_queries_that_can_be_searched(mesh, body, own, written, config):
    question = Question("q", body, "yesno")
    texts = [text(name, n, weight, words) for n, (name, words, weight, _) in enumerate(written)]
    entities = {(name, n): names for n, (name, _, _, names) in enumerate(written)}
    queries = expanded(question, texts, {QUESTION_KEY: own, **entities}, config)
    assert len(queries) == 1 or config.fused
    assert len({query.variant for query in queries}) == len(queries)
    for query in queries:
        assert query.question_id == "q"
        for clause in query.clauses:
            assert clause.text.strip()
            assert 0 < clause.boost <= 1000
            assert clause.operator == "should"
        assert len(mesh.search(query)) <= 3
