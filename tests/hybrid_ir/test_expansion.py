"""Queries of questions and what was written about them, by hand."""

from dataclasses import replace

import pytest

from hybrid_ir.config import load_config
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
from hybrid_ir.records import (
    QUESTION_TYPES,
    Clause,
    Entity,
    PseudoDocument,
    Query,
    Question,
    Tagged,
)

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
