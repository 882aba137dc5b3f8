"""Expanded queries on real Lucene indexes, with real texts and the entities in them."""

import itertools
import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hybrid_ir.bioasq.questions import read_questions
from hybrid_ir.entities.lexicon import load_lexicon
from hybrid_ir.errors import InputError
from hybrid_ir.expansion import (
    QUESTION_KEY,
    Change,
    ExpansionConfig,
    expanded,
)
from hybrid_ir.files import read_jsonl, read_lines
from hybrid_ir.records import (
    Document,
    Entity,
    PseudoDocument,
    Question,
)
from hybrid_ir.retrieval.bm25 import SearchConfig, Searcher
from hybrid_ir.retrieval.index import IndexConfig
from hybrid_ir.retrieval.indexing import build_index

QUESTION = Question("q", "Does aspirin help?", "yesno")
PAPER = ExpansionConfig(repeat=2.0, source="entities")


def named(*names):
    return tuple(Entity(name, "X", 0, len(name)) for name in names)


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
    (query,) = expanded(QUESTION, [], {QUESTION_KEY: named("aspirin")}, replace(PAPER, mesh=0.5))
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
    texts = [
        PseudoDocument("q", name, n, "p", words, weight)
        for n, (name, words, weight, _) in enumerate(written)
    ]
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
