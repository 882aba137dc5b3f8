import json
import subprocess
import sys
from dataclasses import replace
from itertools import islice

import pytest

from hybrid_ir.entities.spacy_models import open_spacy_tagger
from hybrid_ir.entities.tagging import (
    LEXICON,
    EntityConfig,
    Identified,
    Union,
    merged,
    open_tagger,
)
from hybrid_ir.errors import InputError
from hybrid_ir.records import Entity

SENTENCE = "warfarin causes bleeding"


@pytest.fixture(scope="module")
def rules(tmp_path_factory):
    """A folder of a pipeline of rules: one name as the trained one finds it, two others."""
    import spacy

    nlp = spacy.blank("en")
    names = [("warfarin", "CHEMICAL"), ("causes bleeding", "EFFECT"), ("aspirin", "DRUG")]
    nlp.add_pipe("entity_ruler").add_patterns(
        [{"label": label, "pattern": name, "id": "D014859"} for name, label in names]
    )
    folder = tmp_path_factory.mktemp("rules")
    nlp.to_disk(folder)
    return str(folder)


def test_importing_the_interface_imports_no_library():
    code = (
        "import sys, hybrid_ir.entities.tagging\n"
        "print(sorted({'spacy', 'numpy', 'torch', 'scispacy'} & sys.modules.keys()))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.fixture
def both(sound_model, rules):
    """The trained pipeline and the one of rules, as one tagger."""
    return Union([open_spacy_tagger(str(sound_model), 2), open_spacy_tagger(rules, 2)], batch=2)


def without_ids(tagged):
    return [tuple(replace(entity, mesh_id=None) for entity in entities) for entities in tagged]


def test_several_models_give_what_any_of_them_finds(both):
    assert list(both.tag([SENTENCE, "", "aspirin"])) == [
        (
            Entity("warfarin", "CHEMICAL", 0, 8, "D014859"),  # both find it, one knows its id
            Entity("causes bleeding", "EFFECT", 9, 24, "D014859"),
            Entity("bleeding", "DISEASE", 16, 24),
        ),
        (),
        (
            Entity("aspirin", "CHEMICAL", 0, 7),
            Entity("aspirin", "DRUG", 0, 7, "D014859"),
        ),
    ]


def test_the_order_of_the_models_does_not_matter(sound_model, rules):
    models = (str(sound_model), rules)
    one, other = (open_tagger(EntityConfig(models=order)) for order in (models, models[::-1]))
    assert list(one.tag([SENTENCE])) == list(other.tag([SENTENCE]))


def test_ids_are_looked_up_for_names_without_one(sound_model, rules):
    tagger = Identified(open_spacy_tagger(str(sound_model), 2), open_spacy_tagger(rules, 2))
    assert list(tagger.tag([SENTENCE, ""])) == [
        (Entity("warfarin", "CHEMICAL", 0, 8, "D014859"), Entity("bleeding", "DISEASE", 16, 24)),
        (),
    ]
    assert tagger.labels == {"CHEMICAL", "DISEASE"}


def test_an_id_of_a_part_of_the_name_or_beside_a_known_one_does_not_count(rules, tmp_path):
    import spacy

    nlp = spacy.blank("en")
    nlp.add_pipe("entity_ruler").add_patterns(
        [
            {"label": "LONG", "pattern": "warfarin sodium"},
            {"label": "KNOWN", "pattern": "aspirin", "id": "D001241"},
        ]
    )
    nlp.to_disk(tmp_path)
    tagger = Identified(open_spacy_tagger(str(tmp_path), 2), open_spacy_tagger(rules, 2))
    assert list(tagger.tag(["warfarin sodium, aspirin"])) == [
        (Entity("warfarin sodium", "LONG", 0, 15), Entity("aspirin", "KNOWN", 17, 24, "D001241"))
    ]


def test_the_lexicon_gives_the_ids_of_a_models_entities(sound_model):
    tagger = open_tagger(EntityConfig(models=(str(sound_model),)))
    (entities,) = tagger.tag(["warfarin treats diabetes"])
    assert entities[0] == Entity("warfarin", "CHEMICAL", 0, 8, "D014859")


def test_the_lexicon_and_a_model_together(sound_model):
    names = (LEXICON, str(sound_model))
    alone = [open_tagger(EntityConfig(models=(name,))) for name in names]
    together = open_tagger(EntityConfig(models=names))
    texts = [SENTENCE, "", "lithium worsens psoriasis in Crohn's disease"]
    found = [list(tagger.tag(texts)) for tagger in (*alone, together)]
    for lexicon, model, union in zip(*found, strict=True):
        assert merged(without_ids([[*lexicon, *model]])[0]) == without_ids([union])[0]


def test_only_entities_with_the_given_labels_are_kept(sound_model, rules):
    tagger = open_tagger(EntityConfig(models=(str(sound_model), rules), labels=("DISEASE", "DRUG")))
    assert without_ids(tagger.tag([SENTENCE])) == [(Entity("bleeding", "DISEASE", 16, 24),)]
    assert tagger.labels == {"DISEASE", "DRUG"}


def test_a_label_that_no_model_gives_is_refused(rules):
    with pytest.raises(InputError, match="expected some of CHEMICAL, DRUG, EFFECT, got 'chem") as e:
        open_tagger(EntityConfig(models=(rules,), labels=("chemikal", "Efect", "DRUG")))
    assert "did you mean CHEMICAL?" in str(e.value)
    assert "did you mean EFFECT?" in str(e.value)


def test_an_endless_stream_is_tagged_as_it_comes(rules):
    def endless():
        while True:
            yield "aspirin"

    tagged = open_tagger(EntityConfig(models=(rules,), batch=4)).tag(endless())
    assert list(islice(tagged, 6)) == [(Entity("aspirin", "DRUG", 0, 7, "D014859"),)] * 6


@pytest.mark.parametrize("batch", [1, 2, 5])
def test_the_batch_decides_nothing(sound_model, rules, batch):
    texts = [SENTENCE, "aspirin", "", "lithium worsens psoriasis", SENTENCE]
    models = (str(sound_model), rules)
    expected = [next(open_tagger(EntityConfig(models=models)).tag([text])) for text in texts]
    assert list(open_tagger(EntityConfig(models=models, batch=batch)).tag(texts)) == expected


def test_the_faults_of_all_models_are_told_at_once(rules):
    with pytest.raises(InputError, match="what is to find the entities cannot be used") as error:
        open_tagger(EntityConfig(models=("en_ner_craft_md", rules, "no/where")))
    assert "en_ner_craft_md-0.5.4.tar.gz" in str(error.value)
    assert "got 'no/where'" in str(error.value)


@pytest.mark.parametrize(
    "wrong", [{"models": ()}, {"models": ("a", "a")}, {"models": (" ",)}, {"batch": 0}]
)
def test_settings_that_cannot_be_used_are_refused(wrong):
    with pytest.raises(InputError, match=next(iter(wrong))):
        EntityConfig(**wrong)


def test_the_identity_is_that_of_the_models(sound_model, rules):
    names = (str(sound_model), rules)
    parts = [open_spacy_tagger(name, 1).identity for name in names]
    lexicon = open_tagger(EntityConfig()).identity["union"][0]
    identity = open_tagger(EntityConfig(models=names)).identity
    assert identity == {"mesh": lexicon, "of": {"union": parts}}
    assert parts[0] != parts[1]
    assert json.loads(json.dumps(identity)) == identity


def test_merged_orders_by_start_then_the_longer_then_the_label():
    entities = [Entity("b", "X", 2, 3), Entity("a", "Y", 0, 1), Entity("a", "X", 0, 1)]
    longer = Entity("ab", "Z", 0, 2)
    assert merged([*entities, longer]) == (longer, entities[2], entities[1], entities[0])
