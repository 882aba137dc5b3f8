"""Entities and queries as artefacts: what is made anew, what is counted, what is refused."""

import json
import shutil
from dataclasses import replace

import pytest

from hybrid_ir.bioasq.raw import write_raw
from hybrid_ir.entities.tagging import EntityConfig
from hybrid_ir.errors import InputError
from hybrid_ir.expansion import Change, ExpansionConfig
from hybrid_ir.files import read_jsonl, write_jsonl
from hybrid_ir.manifests import read_manifest
from hybrid_ir.pipeline.expansion import MOST_FAULTS, entities, expand
from hybrid_ir.records import Clause, PseudoDocument, Query, Tagged

IDS = [f"{number:024x}" for number in range(3)]
BODIES = ["Does aspirin help?", "What of the heart and of stroke?", "Which one is it?"]
SETS = ExpansionConfig(repeat=2.0, source="entities")
TEXTS = [
    (0, "a", "Aspirin prevents stroke, and aspirin is cheap."),
    (0, "b", "Heparin."),
    (1, "a", "Nothing to be named here."),
    (1, "b", "Heparin and warfarin."),
    (2, "a", "Aspirin."),
    (2, "b", "Aspirin."),
]


def written(*texts, weight=1.0):
    return [PseudoDocument(IDS[n], name, 0, "p", words, weight) for n, name, words in texts]


@pytest.fixture
def questions(tmp_path):
    path = tmp_path / "batch.json"
    kinds = ("yesno", "list", "factoid")
    write_raw(
        path,
        [
            {"id": id_, "body": body, "type": kind}
            for id_, body, kind in zip(IDS, BODIES, kinds, strict=True)
        ],
    )
    return path


@pytest.fixture
def pseudo(tmp_path):
    path = tmp_path / "pseudo.jsonl"
    write_jsonl(path, written(*TEXTS))
    return path


@pytest.fixture
def output(tmp_path):
    return tmp_path / "made" / "queries.jsonl"


def times(output):
    """Time stamps of queries and entities, each with its manifest."""
    return {path.name: path.stat().st_mtime_ns for path in output.parent.iterdir()}


def test_queries_stand_in_the_order_of_the_questions_and_are_counted(questions, pseudo, output):
    manifest = expand(questions, [pseudo], output, SETS)
    queries = list(read_jsonl(output, Query))
    assert queries == [
        Query(
            IDS[0],
            (Clause(BODIES[0], boost=2.0), Clause("Aspirin stroke"), Clause("Heparin")),
        ),
        Query(IDS[1], (Clause(BODIES[1], boost=2.0), Clause("Heparin warfarin"))),
        Query(IDS[2], (Clause(BODIES[2], boost=2.0), Clause("Aspirin"), Clause("Aspirin"))),
    ]
    del manifest.info["seconds"]
    assert manifest.info == {
        "questions": 3, "queries": 3, "of_other_questions": 0,
        "without_texts": 0, "with_texts_that_add_nothing": 0, "with_an_empty_query": 0,
        "lacking_a_generator": 1,  # nothing is named in the second question's text of a
    }  # fmt: skip
    tagged = list(read_jsonl(output.with_name("queries.entities.jsonl"), Tagged))
    assert [(text.question_id, text.generator) for text in tagged] == [
        (id_, generator) for id_ in IDS for generator in ("", "a", "b")
    ]
    found = read_manifest(output.with_name("queries.entities.jsonl")).info
    # Nothing is named in the third question and in the second one's text of a.
    assert (found["texts"], found["without_entities"]) == (3 + 6, 2)
    assert found["entities"] == sum(len(text.entities) for text in tagged)


def test_texts_of_several_files_are_taken_together_and_can_be_packed(
    questions, pseudo, output, tmp_path
):
    expand(questions, [pseudo], output, SETS)
    parts = [tmp_path / "a.jsonl.gz", tmp_path / "b.jsonl.gz"]
    for path, name in zip(parts, "ab", strict=True):
        write_jsonl(path, (text for text in written(*TEXTS) if text.generator == name))
    packed = tmp_path / "packed.jsonl.gz"
    expand(questions, parts, packed, SETS)
    assert list(read_jsonl(packed, Query)) == list(read_jsonl(output, Query))
    assert (tmp_path / "packed.entities.jsonl.gz").exists()


def test_whole_texts_need_no_entities(questions, pseudo, output):
    expand(questions, [pseudo], output, replace(SETS, source="text"))
    assert sorted(times(output)) == ["queries.jsonl", "queries.jsonl.manifest.json"]
    assert next(read_jsonl(output, Query)).clauses[1] == Clause(TEXTS[0][2])


def test_what_is_up_to_date_is_not_made_again(questions, pseudo, output):
    first = expand(questions, [pseudo], output, SETS)
    before = times(output)
    for verify in (False, True):
        assert expand(questions, [pseudo], output, SETS, verify) == first
    assert times(output) == before


def test_entities_are_kept_while_only_the_query_changes(questions, pseudo, output):
    expand(questions, [pseudo], output, SETS)
    before = times(output)
    for config in (
        replace(SETS, repeat=4.0),
        replace(SETS, repeat=4.0, source="mentions"),
        replace(SETS, repeat=4.0, fused=True),
        replace(SETS, repeat=4.0, by_type={"list": Change(repeat=1.0)}),
    ):
        expand(questions, [pseudo], output, config)
        after = times(output)
        changed = {name for name, time in after.items() if time != before[name]}
        assert changed == {"queries.jsonl", "queries.jsonl.manifest.json"}
        before = after


def test_entities_are_made_anew_for_other_texts_and_by_other_taggers(questions, pseudo, output):
    expand(questions, [pseudo], output, SETS)
    before = times(output)
    write_jsonl(pseudo, written(*TEXTS[:-1], (2, "b", "Warfarin.")))
    expand(questions, [pseudo], output, SETS)
    after = times(output)
    assert all(after[name] != before[name] for name in before)
    assert list(read_jsonl(output, Query))[2].clauses[2] == Clause("Warfarin")
    expand(questions, [pseudo], output, replace(SETS, entities=EntityConfig(labels=("DISEASE",))))
    assert all(time != after[name] for name, time in times(output).items())
    assert next(read_jsonl(output, Query)).clauses[1:] == (Clause("stroke"),)


def test_settings_that_change_no_entity_make_nothing_anew(questions, pseudo, output):
    expand(questions, [pseudo], output, SETS)
    before = times(output)
    expand(questions, [pseudo], output, replace(SETS, entities=EntityConfig(batch=7)))
    assert times(output) == before
    whole = replace(SETS, source="text")
    first = expand(questions, [pseudo], output, whole)
    assert expand(questions, [pseudo], output, whole) == first
    assert "entities" not in first.inputs


def test_a_damaged_artefact_is_made_anew(questions, pseudo, output):
    expand(questions, [pseudo], output, SETS)
    whole = output.read_bytes()
    output.write_bytes(whole[:-20])
    expand(questions, [pseudo], output, SETS)
    assert output.read_bytes() == whole


def test_gaps_are_reported_and_counted(questions, pseudo, output, caplog):
    write_jsonl(pseudo, written(*TEXTS[:3]))
    manifest = expand(questions, [pseudo], output, replace(SETS, repeat=0.0))
    nothing = "with_texts_that_add_nothing"  # the second: no entity in its text of a
    assert [manifest.info[name] for name in ("without_texts", nothing)] == [1, 1]
    assert (manifest.info["lacking_a_generator"], manifest.info["with_an_empty_query"]) == (0, 2)
    assert f"1 of 3 questions without texts (first: {IDS[2]})" in caplog.text
    assert f"1 of 3 questions with texts that add nothing (first: {IDS[1]})" in caplog.text
    assert f"2 of 3 questions with an empty query (first: {IDS[1]})" in caplog.text
    assert "of 6 texts have no entity" in caplog.text
    assert [query.question_id for query in read_jsonl(output, Query)] == IDS


def test_only_the_generators_used_are_missed(questions, pseudo, output):
    write_jsonl(pseudo, written(*TEXTS[:3], TEXTS[5]))  # the second lacks b, the third a

    def lacking(**settings):
        config = replace(SETS, source="text", **settings)
        info = expand(questions, [pseudo], output, config).info
        return info["lacking_a_generator"], info["with_texts_that_add_nothing"]

    assert lacking() == (2, 0)
    assert lacking(generators=("a",)) == (0, 1)
    assert lacking(generators=("a",), by_type={"factoid": Change(generators=("b",))}) == (0, 0)


def test_texts_of_other_questions_are_left_out_and_counted(questions, pseudo, output, caplog):
    other = PseudoDocument("f" * 24, "a", 0, "p", "Other.")
    write_jsonl(pseudo, [other, *written(*TEXTS)])
    manifest = expand(questions, [pseudo], output, SETS)
    assert manifest.info["of_other_questions"] == 1
    assert f"{pseudo}: left out 1 text of other questions" in caplog.text
    assert [query.question_id for query in read_jsonl(output, Query)] == IDS


def test_texts_of_another_batch_are_refused(questions, pseudo, output):
    write_jsonl(pseudo, [PseudoDocument("f" * 24, "a", 0, "p", "Other.")])
    with pytest.raises(InputError, match=r"pseudo\.jsonl: has texts for none of the questions"):
        expand(questions, [pseudo], output, SETS)
    assert not output.parent.exists() or not times(output)


def test_everything_wrong_with_texts_is_said_at_once(questions, pseudo, output, tmp_path):
    more = tmp_path / "more.jsonl"
    heavy = written((2, "c", "x"), weight=2.0)
    write_jsonl(more, [*written(TEXTS[1], (2, "", "x")), *heavy])
    with pytest.raises(InputError) as caught:
        expand(questions, [pseudo, more], output, replace(SETS, source="text"))
    assert str(caught.value).splitlines() == [
        "these pseudo-documents cannot be used:",
        f"  {more}:1: question {IDS[0]} has sample 0 of 'b' twice (first in {pseudo}:2):"
        " leave one out",
        f"  {more}:2: question {IDS[2]}: expected a generator's name, got ''",
        f"  {more}:3: question {IDS[2]}: expected a weight from 0 to 1, got 2.0",
    ]
    assert not [*output.parent.iterdir()]


def test_a_file_given_twice_does_not_fill_the_screen(questions, pseudo, output):
    with pytest.raises(InputError) as caught:
        expand(questions, [pseudo, pseudo, pseudo], output, SETS)
    lines = str(caught.value).splitlines()
    assert len(lines) == 1 + MOST_FAULTS + 1
    assert lines[-1] == f"  and {2 * 6 - MOST_FAULTS} more"


@pytest.mark.parametrize(
    ("line", "part"),
    [
        ('{"question_id": "0', "not a PseudoDocument"),
        ("no JSON", "not a PseudoDocument"),
        ("[1]", "not a PseudoDocument"),
        ('{"question_id": "0"}', "generator"),
        ('{"id": "0", "pseudo_document": "x"}', "with provider: recorded"),
    ],
)
def test_a_line_that_is_no_text_is_named(questions, pseudo, output, line, part):
    pseudo.write_text(pseudo.read_text() + line + "\n")
    with pytest.raises(InputError, match=r"pseudo\.jsonl:7: ") as caught:
        expand(questions, [pseudo], output, SETS)
    assert part in str(caught.value)
    assert len(str(caught.value).splitlines()) == 1


def test_a_packed_file_that_ends_early_is_named(questions, output, tmp_path):
    pseudo = tmp_path / "pseudo.jsonl.gz"
    write_jsonl(pseudo, written(*TEXTS))
    pseudo.write_bytes(pseudo.read_bytes()[:-9])
    with pytest.raises(InputError, match=r"pseudo\.jsonl\.gz:\d+: cannot read on"):
        expand(questions, [pseudo], output, SETS)


def test_unknown_generators_are_refused(questions, pseudo, output):
    config = replace(SETS, generators=("c",), by_type={"list": Change(generators=("a", "A"))})
    with pytest.raises(InputError, match="generators: expected some of a, b, got A, c"):
        expand(questions, [pseudo], output, config)
    pseudo.write_text("")
    with pytest.raises(InputError, match=r"pseudo\.jsonl: has no texts"):
        expand(questions, [pseudo], output, config)
    assert not output.exists()


def test_a_generator_called_as_the_query_of_the_question_is_refused(questions, pseudo, output):
    write_jsonl(pseudo, written((0, "question", "Aspirin.")))
    expand(questions, [pseudo], output, SETS)
    with pytest.raises(InputError, match="expected another name than 'question'"):
        expand(questions, [pseudo], output, replace(SETS, fused=True))


def test_nothing_is_written_over_an_input(questions, pseudo, tmp_path):
    before = pseudo.read_bytes()
    for config in (SETS, replace(SETS, source="text")):
        with pytest.raises(InputError, match="would be overwritten"):
            expand(questions, [pseudo], pseudo, config)
    taken = tmp_path / "x.entities.jsonl"
    shutil.copy(pseudo, taken)
    with pytest.raises(InputError, match="would be overwritten"):
        expand(questions, [taken], tmp_path / "x.jsonl", SETS)
    with pytest.raises(InputError, match="would be overwritten"):
        entities(questions, [pseudo], questions, EntityConfig())
    assert pseudo.read_bytes() == taken.read_bytes() == before


def test_a_folder_in_the_place_of_the_output_is_refused_before_any_work(questions, pseudo, output):
    output.mkdir(parents=True)
    for stage in (
        lambda: expand(questions, [pseudo], output, SETS),
        lambda: entities(questions, [pseudo], output, EntityConfig(models=("absent_model",))),
    ):
        with pytest.raises(InputError, match="it is a folder"):
            stage()
    assert [path.name for path in output.parent.iterdir()] == ["queries.jsonl"]


def test_entities_of_a_batch_alone(questions, tmp_path):
    output = tmp_path / "entities.jsonl"
    manifest = entities(questions, [], output, EntityConfig())
    tagged = list(read_jsonl(output, Tagged))
    assert [text.question_id for text in tagged] == IDS
    assert {(text.generator, text.sample) for text in tagged} == {("", 0)}
    for text, body in zip(tagged, BODIES, strict=True):
        assert all(body[e.start : e.end] == e.text for e in text.entities)
    assert [entity.text for entity in tagged[0].entities] == ["aspirin"]
    assert (manifest.info["texts"], manifest.info["without_entities"]) == (3, 1)
    assert manifest.info["of_other_questions"] == 0


def test_half_surrogates_are_told_and_leave_no_queries(questions, pseudo, output):
    """JSON can say them, UTF-8 cannot hold them."""
    line = json.dumps({"question_id": IDS[0], "generator": "a", "sample": 0, "prompt": "p"})
    pseudo.write_text(line[:-1] + ', "text": "\\ud800 aspirin"}\n')
    with pytest.raises(InputError, match=r"pseudo\.jsonl:1: not a PseudoDocument"):
        expand(questions, [pseudo], output, SETS)


def test_texts_that_weigh_nothing_or_are_blank_are_counted(questions, pseudo, output):
    whole = replace(SETS, source="text", generators=("a",))
    write_jsonl(pseudo, written(*TEXTS[:1], weight=0.0) + written((1, "a", "  ")))
    assert expand(questions, [pseudo], output, whole).info["with_texts_that_add_nothing"] == 2


def test_a_file_that_is_not_ours_is_not_overwritten(questions, pseudo, output):
    mine = output.with_name("queries.entities.jsonl")
    mine.parent.mkdir(parents=True, exist_ok=True)
    mine.write_text("precious")
    with pytest.raises(InputError, match=r"queries\.entities\.jsonl: would be overwritten"):
        expand(questions, [pseudo], output, SETS)
    assert mine.read_text() == "precious"
