import os
from importlib.metadata import version
from importlib.util import find_spec

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hybrid_ir.entities.abbreviations import open_expanded
from hybrid_ir.entities.spacy_models import open_spacy_tagger
from hybrid_ir.entities.tagging import EntityConfig, open_tagger
from hybrid_ir.errors import InputError
from hybrid_ir.records import Entity

ABSTRACT = (
    "Spinal and bulbar muscular atrophy (SBMA) is an inherited disease. It is caused by the"
    " androgen receptor (AR). SBMA is rare, and SBMA progresses slowly."
)


@pytest.fixture(scope="module")
def rules(tmp_path_factory):
    """A folder of a pipeline that knows a few names."""
    import spacy

    nlp = spacy.blank("en")
    names = [
        ("SBMA", "DISEASE"),
        ("AR", "GENE"),
        ("androgen receptor", "GENE"),
        ("COPD", "DISEASE"),
    ]
    nlp.add_pipe("entity_ruler").add_patterns(
        [{"label": label, "pattern": name} for name, label in names]
    )
    folder = tmp_path_factory.mktemp("rules")
    nlp.to_disk(folder)
    return str(folder)


def found(text, name, label, nth=0):
    """Give the entity of the nth place where a name stands."""
    start = -1
    for _ in range(nth + 1):
        start = text.index(name, start + 1)
    return Entity(name, label, start, start + len(name))


@pytest.mark.skipif(find_spec("scispacy") is not None, reason="scispaCy is installed here")
def test_without_scispacy_the_cure_is_named_beside_other_faults(rules):
    with pytest.raises(InputError, match=r"pip install 'hybrid-ir\[scispacy\]'") as error:
        open_tagger(EntityConfig(models=(rules, "no/where"), abbreviations=True))
    assert "got 'no/where'" in str(error.value)


@pytest.mark.skipif(
    not os.environ.get("HYBRID_IR_EXPECT_SCISPACY"),
    reason="only of make test-scispacy's environment",
)
def test_this_is_the_environment_with_scispacy():
    assert int(version("numpy").split(".")[0]) == 1
    assert version("scispacy") >= "0.6.2"
    import scispacy.abbreviation

    assert scispacy.abbreviation.AbbreviationDetector


@pytest.mark.scispacy
def test_long_forms_become_entities_once_each(rules):
    tagger = open_expanded(open_spacy_tagger(rules, 2))
    assert list(tagger.tag([ABSTRACT])) == [
        (
            found(ABSTRACT, "Spinal and bulbar muscular atrophy", "DISEASE"),
            found(ABSTRACT, "SBMA", "DISEASE", 0),
            found(ABSTRACT, "androgen receptor", "GENE"),  # the rules know it, too
            found(ABSTRACT, "AR", "GENE"),
            found(ABSTRACT, "SBMA", "DISEASE", 1),
            found(ABSTRACT, "SBMA", "DISEASE", 2),
        )
    ]


@pytest.mark.scispacy
def test_an_abbreviation_before_its_explanation(rules):
    text = "Smokers: COPD (chronic obstructive pulmonary disease) is common."
    tagger = open_expanded(open_spacy_tagger(rules, 2))
    assert list(tagger.tag([text])) == [
        (
            found(text, "COPD", "DISEASE"),
            found(text, "chronic obstructive pulmonary disease", "DISEASE"),
        )
    ]


@pytest.mark.scispacy
def test_an_abbreviation_that_is_no_entity_is_left_alone(rules):
    text = "Myeloid derived suppressor cells (MDSC) accumulate; AR does not."
    tagger = open_expanded(open_spacy_tagger(rules, 2))
    assert list(tagger.tag([text])) == [(found(text, "AR", "GENE"),)]


@pytest.mark.scispacy
def test_a_long_text_is_expanded_to_its_end(rules):
    text = "Nothing of interest here. " * 500 + ABSTRACT  # 26 * 500 = 13,000 characters before
    tagger = open_expanded(open_spacy_tagger(rules, 2))
    (entities,) = tagger.tag([text])
    assert entities[0] == Entity(ABSTRACT[:34], "DISEASE", 13_000, 13_034)


@pytest.mark.scispacy
def test_the_setting_expands_whatever_the_models_find(rules):
    text = ABSTRACT + " Type 2 diabetes mellitus (T2DM)."
    tagger = open_tagger(EntityConfig(models=(rules,), abbreviations=True, labels=("DISEASE",)))
    (entities,) = tagger.tag([text])
    assert [entity.text for entity in entities] == [
        "Spinal and bulbar muscular atrophy",
        "SBMA",
        "SBMA",
        "SBMA",
    ]


@pytest.mark.scispacy
def test_the_identity_names_the_detectors_version(rules):
    tagger = open_spacy_tagger(rules, 2)
    expected = {"abbreviations": version("scispacy"), "of": tagger.identity}
    assert open_expanded(tagger).identity == expected


@pytest.mark.scispacy
@settings(max_examples=60)
@given(
    st.lists(
        st.sampled_from(
            [
                "SBMA",
                "AR",
                "(",
                ")",
                " ",
                "spinal bulbar muscular atrophy",
                "\ud800",
                "\0",
                ". ",
                "x",
            ]
        ),
        max_size=40,
    )
)
def test_offsets_hold_whatever_the_text(rules, parts):
    text = "".join(parts)
    tagger = open_expanded(open_spacy_tagger(rules, 2))
    (entities,) = tagger.tag([text])
    assert all(text[entity.start : entity.end] == entity.text for entity in entities)
