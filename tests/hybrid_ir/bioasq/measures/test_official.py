from __future__ import annotations

from typing import Any

import pytest

from hybrid_ir.bioasq.measures import official_line, read_gold, read_responses, readable_gold
from hybrid_ir.bioasq.measures.official import score_phase_a
from hybrid_ir.errors import InputError

SNIPPET = {
    "document": "http://www.ncbi.nlm.nih.gov/pubmed/1",
    "beginSection": "title",
    "endSection": "title",
    "offsetInBeginSection": 0,
    "offsetInEndSection": 4,
    "text": "text",
}
GOLD = [{"id": "q", "type": "factoid", "documents": ["a"], "exact_answer": [["a"]]}]


def test_the_line_of_phase_a() -> None:
    line = official_line(GOLD, [{"id": "q", "documents": ["b"]}], "A", 9)
    assert line.split() == ["0.0"] * 9 + ["9.999999999999997E-6"] + ["NaN"] * 4 + ["0.0"] * 6


def test_the_line_of_phase_b() -> None:
    line = official_line(GOLD, [{"id": "q", "exact_answer": [["x"], ["y"], ["a"]]}], "B", 9)
    assert line.split() == ["0.0", "0.0", "1.0", "0.3333333333333333"] + ["0.0"] * 6


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"exact_answer": None}, "exact_answer: expected text or a list, got null"),
        ({"exact_answer": True}, "exact_answer: expected text or a list, got True"),
        ({"exact_answer": ["a", "b"]}, r"exact_answer\[0\]: expected a list of texts, got 'a'"),
        ({"exact_answer": [[["a"]]]}, r"exact_answer\[0\]\[0\]: expected text, got a list of 1"),
        ({"documents": None}, "documents: expected a list, got null"),
        ({"documents": "a"}, "documents: expected a list, got 'a'"),
        ({"documents": ["a", None]}, r"documents\[1\]: expected text, got null"),
        ({"snippets": [SNIPPET | {"score": 1}]}, r"snippets\[0\]: unknown key 'score'"),
        ({"snippets": [SNIPPET | {"text": None}]}, r"snippets\[0\].text: expected text, got null"),
        (
            {"snippets": [SNIPPET, SNIPPET | {"beginSection": ["title"]}]},
            r"snippets\[1\].beginSection: expected text, got a list of 1",
        ),
        (
            {"snippets": [SNIPPET | {"offsetInEndSection": 4.5}]},
            r"snippets\[0\].offsetInEndSection: expected an integer of 32 bits, got 4.5",
        ),
        ({"snippets": [{"text": "a"}]}, r"snippets\[0\]: lacks beginSection, document"),
        ({"triples": [["a", "b", "c"]]}, r"triples\[0\]: expected an object"),
    ],
)
def test_what_kills_the_official_program_is_refused(change: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=f"question q: {message}"):
        official_line(GOLD, [{"id": "q"} | change], "A", 9)


def test_all_faults_are_named_at_once() -> None:
    faulty = [{"id": "q", "documents": None}, {}, {"id": "r", "type": None}]
    with pytest.raises(InputError) as caught:
        official_line(GOLD, faulty, "A", 9)
    message = str(caught.value)
    assert "dies on 3 of 3 questions" in message
    for part in ("question q: documents", "question number 2: id", "question r: type"):
        assert part in message


@pytest.mark.parametrize(
    "harmless",
    [
        {},
        {"body": None, "ideal_answer": {"any": "thing"}, "extra": [None]},
        {"documents": [7], "exact_answer": []},
        {"exact_answer": "a"},
        {"exact_answer": [[]]},
        {"exact_answer": [[1, 2.5]]},
        {"snippets": [SNIPPET | {"offsetInBeginSection": "0"}]},
    ],
)
def test_what_the_official_program_reads_is_scored(harmless: dict[str, Any]) -> None:
    assert len(official_line(GOLD, [{"id": "q"} | harmless], "A", 9).split()) == 20


def test_a_training_file_is_no_gold_until_it_is_made_one() -> None:
    training = [{"id": "q", "type": "factoid", "documents": None, "exact_answer": ["a", "b"]}]
    with pytest.raises(InputError, match="gold"):
        official_line(training, [{"id": "q"}], "A", 9)
    assert readable_gold(training) == [{"id": "q", "type": "factoid", "exact_answer": [["a", "b"]]}]


def test_a_gold_in_form_stays_the_same() -> None:
    (question,) = readable_gold(GOLD)
    assert question is GOLD[0]


def test_list_golds_are_nested_by_entity_and_stay_flat_for_edition_2() -> None:
    flat = [{"id": "q", "type": "list", "exact_answer": ["a", "b"]}]
    assert readable_gold(flat)[0]["exact_answer"] == [["a"], ["b"]]
    assert readable_gold(flat, 2)[0]["exact_answer"] == ["a", "b"]


def test_a_gold_with_a_question_twice_is_refused() -> None:
    with pytest.raises(InputError, match="twice"):
        official_line(GOLD * 2, GOLD, "A", 9)


def test_an_unknown_edition_is_refused() -> None:
    with pytest.raises(InputError, match="expected one of 2, 3, 5, 8, 9, got 4"):
        official_line(GOLD, GOLD, "A", 4)  # type: ignore[arg-type]


def test_triple_precision_is_that_of_the_filtered_list() -> None:
    def triple(name: str) -> dict[str, str]:
        return {"s": name, "p": "is", "o": "it"}

    gold = [{"id": "q", "snippets": [SNIPPET], "triples": [triple("a"), triple("b")]}]
    given = [{"id": "q", "triples": [triple("x"), triple("a")]}]
    triples = score_phase_a(read_gold(gold, 9), read_responses(given, 9), 9).triples
    assert triples.values[:4] == (1.0, 1 / 2, 2 * 0.5 / 1.5, (1 / 1) / 2)


def test_questions_without_gold_triples_do_not_count() -> None:
    gold = [{"id": "q", "snippets": [SNIPPET], "triples": []}]
    assert score_phase_a(read_gold(gold, 9), read_responses(gold, 9), 9).triples.values == (0,) * 5
