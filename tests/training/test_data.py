"""Whole questions: which rows they get, in which order."""

from collections import Counter
from dataclasses import replace
from itertools import groupby

from hybrid_ir.records import Gold, PseudoDocument, Question, Ranked, Snippet, SyntheticPair
from training.asked import Asked
from training.data import Material, stage_one, stage_two
from training.data_config import StageTwoConfig, TrainDataConfig
from training.negatives import Amount, Bm25Mining, Mining, NegativesConfig
from training.passages import Passages

TEXTS = {str(n): f"text{n} of{n} document{n} number{n}" for n in range(200)}
PASSAGES = Passages(TEXTS.get, len(TEXTS), list(TEXTS).__getitem__)
RANKING = tuple(Ranked(str(n), 100.0 - n) for n in range(100))
NONE = Amount(0)


def asked(id_, *documents, synthetic=()):
    return Asked(id_, f"Body of {id_}?", Gold(id_, "enriched", documents, (), (), None), synthetic)


def config(negatives=None, **settings):
    return TrainDataConfig(negatives=negatives or NegativesConfig(), **settings)


def material(settings, *questions, run=None, teacher=None, near=None):
    documents = {question.id: question.documents for question in questions}
    return Material(settings, PASSAGES, near or {}, documents, run or {}, teacher or {}, Counter())


def rows_of(settings, *questions, bm25=None, **others):
    made = material(settings, *questions, **others)
    rows = list(stage_one(questions, bm25 or [()] * len(questions), made))
    return rows, made.dropped


def test_each_positive_gets_a_random_negative():
    rows, dropped = rows_of(config(), asked("a", "1", "2", "3"))
    assert [row.label for row in rows] == [1.0] * 3 + [0.0] * 3
    assert [row.document_id for row in rows[:3]] == ["1", "2", "3"]
    assert {row.document_id for row in rows[3:]}.isdisjoint({"1", "2", "3"})
    assert {row.source for row in rows[3:]} == {"random"}
    assert all(row.text == TEXTS[row.document_id] for row in rows)
    assert all((row.question, row.stage, row.weight) == ("Body of a?", 1, 1.0) for row in rows)
    assert not dropped


def test_numbers_are_a_positive_or_a_question():
    negatives = NegativesConfig(
        Amount(3, "question"), Bm25Mining(2, "positive", 10, 100), Mining(1, "question", 5, 20)
    )
    rows, _ = rows_of(
        config(negatives), asked("a", "150", "151"), bm25=[RANKING], run={"a": RANKING[::-1]}
    )
    counts = Counter(row.source for row in rows)
    assert counts == {"gold": 2, "random": 3, "bm25": 2 * 2, "run": 1}
    ranks = [int(row.document_id) + 1 for row in rows if row.source == "bm25"]
    assert ranks == sorted(ranks, reverse=True)
    assert all(10 <= rank <= 100 for rank in ranks)
    (mined,) = (row for row in rows if row.source == "run")
    assert 100 - 20 <= int(mined.document_id) <= 100 - 5


def test_caps_hold_for_each_kind():
    pairs = tuple(
        SyntheticPair("a", "Body of a?", "list", f"a.m.{n}", f"made {n} up", 1, "passage", "m")
        for n in range(5)
    )
    settings = config(max_positives=2, max_synthetic=3, max_negatives=4)
    rows, dropped = rows_of(settings, asked("a", *"12345678", synthetic=pairs))
    assert Counter(row.source for row in rows) == {"gold": 2, "synthetic": 3, "random": 4}
    assert dropped == {
        "gold positive above the cap": 8 - 2,
        "synthetic positive above the cap": 5 - 3,
        "negative above the cap": (2 + 3) * 1 - 4,
    }


def test_what_is_above_the_cap_is_no_negative_either():
    settings = config(NegativesConfig(NONE, Bm25Mining(9, "question", 1, 5)), max_positives=1)
    rows, _ = rows_of(settings, asked("a", *"01234"), bm25=[RANKING])
    assert not rows  # all of the window is right


def test_a_negative_that_holds_a_marked_snippet_is_none_though_snippets_are_no_positives():
    gold = Gold(
        "a",
        "enriched",
        ("1",),
        (Snippet("1", "abstract", 0, 1, "of7 document7 number7"),),
        (),
        None,
    )
    window = Bm25Mining(9, "question", 7, 9)
    settings = config(NegativesConfig(NONE, window), positives=("documents",))
    rows, dropped = rows_of(settings, Asked("a", "A?", gold), bm25=[RANKING])
    assert [row.document_id for row in rows if not row.label] == ["8", "6"]
    assert dropped["bm25 negative: nearly repeats a positive"] == 1


def test_questions_without_positives_or_negatives_are_left_out_and_counted():
    settings = config(NegativesConfig(NONE, Bm25Mining(1, "question", 1, 5)))
    three = [asked("a"), asked("b", "150"), asked("c", "151")]
    rows, dropped = rows_of(settings, *three, bm25=[RANKING, (), RANKING])
    assert {row.question_id for row in rows} == {"c"}
    assert dropped == {
        "question of stage 1 without a positive": 1,
        "question of stage 1 short of negatives": 1,
        "question of stage 1 without a negative": 1,
    }


def test_gold_of_a_nearly_equal_question_is_no_negative():
    settings = config(NegativesConfig(NONE, Bm25Mining(9, "question", 1, 3)))
    two = [asked("a", "150"), asked("b", "0", "2")]
    near = {"a": frozenset({"b"}), "b": frozenset({"a"})}
    rows, dropped = rows_of(settings, *two, bm25=[RANKING, ()], near=near)
    assert [row.document_id for row in rows] == ["150", "1"]
    assert dropped["bm25 negative: is gold of a nearly equal question"] == 2


def test_a_teacher_scores_documents_only():
    gold = Gold("a", "enriched", ("1",), (Snippet("1", "abstract", 0, 6, "A part"),), (), None)
    settings = config(NegativesConfig(NONE, Bm25Mining(2, "question", 50, 51)))
    teacher = {"a": {"1": 3.5, "49": -1.0}}
    rows, _ = rows_of(settings, Asked("a", "A?", gold), bm25=[RANKING], teacher=teacher)
    assert [(row.source, row.document_id, row.teacher) for row in rows] == [
        ("gold", "1", 3.5),
        ("snippet", "1", None),
        ("bm25", "50", None),
        ("bm25", "49", -1.0),
    ]


def test_what_a_question_gets_depends_on_no_other():
    one, two = asked("a", "1", "2"), asked("b", "3")
    alone, _ = rows_of(config(), one)
    with_another, _ = rows_of(config(), two, one)
    assert alone == [row for row in with_another if row.question_id == "a"]


def test_another_seed_gives_other_negatives():
    rows, _ = rows_of(config(), asked("a", "1", "2", "3"))
    others, _ = rows_of(config(seed=1), asked("a", "1", "2", "3"))
    assert rows[:3] == others[:3]
    assert rows[3:] != others[3:]


def test_a_curriculum_goes_from_random_to_near_and_asks_for_as_many():
    negatives = NegativesConfig(NONE, Bm25Mining(2, "question", 1, 100))
    settings = config(negatives, curriculum=True)
    questions = [asked(f"q{n}", "150") for n in range(31)]
    rows, _ = rows_of(settings, *questions, bm25=[RANKING] * 31)
    groups = [list(group) for _, group in groupby(rows, key=lambda row: row.question_id)]
    assert [group[0].question_id for group in groups] == [f"q{n}" for n in range(31)]
    mined = [[row for row in group if row.source == "bm25"] for group in groups]
    # thirds of the way: none, one, both; the last question has step 3 of 3
    assert [len(found) for found in mined] == [0] * 10 + [1] * 10 + [2] * 11
    assert all(len(group) == 1 + 2 for group in groups)
    nearest = [min(int(row.document_id) for row in found) for found in mined if found]
    assert nearest == sorted(nearest, reverse=True)
    assert [row.document_id for row in mined[-1]] == ["1", "0"]


TARGETS = [Question("t1", "First target?", "list"), Question("t2", "Second target?", "list")]
PSEUDO = {
    "t1": [PseudoDocument("t1", "m", n, "p", f"written {n} for one", 0.5) for n in range(2)],
    "t2": [PseudoDocument("t2", "m", 0, "p", "composed for the second", 1.0)],
}


def second(stage2, texts=PSEUDO, bm25=((), ()), **others):
    made = material(TrainDataConfig(stage2=stage2), **others)
    return list(stage_two(TARGETS, texts, bm25, made)), made.dropped


def test_stage_2_has_pseudo_documents_with_their_weights_and_stated_negatives():
    rows, _ = second(StageTwoConfig())
    assert {row.stage for row in rows} == {2}
    right = [(row.question_id, row.weight, row.document_id) for row in rows if row.label]
    assert right == [("t1", 0.5, ""), ("t1", 0.5, ""), ("t2", 1.0, "")]
    wrong = [(row.source, row.weight) for row in rows if not row.label]
    assert wrong == [("random", 1.0)] * 3


def test_stage_2_may_take_other_questions_texts_as_negatives():
    stage2 = StageTwoConfig(NegativesConfig(NONE), Amount(1, "question"))
    rows, _ = second(stage2)
    wrong = [(row.question_id, row.text, row.source) for row in rows if not row.label]
    assert wrong[0] == ("t1", "composed for the second", "random")
    assert wrong[1][1] in {"written 0 for one", "written 1 for one"}
    assert [row.weight for row in rows if not row.label] == [1.0, 1.0]


def test_texts_of_a_nearly_equal_target_are_no_negatives():
    near = {"t1": frozenset({"t2"}), "t2": frozenset({"t1"})}
    stage2 = StageTwoConfig(NegativesConfig(NONE), Amount(1, "question"))
    rows, dropped = second(stage2, near=near)
    assert rows == []
    assert dropped["question of stage 2 without a negative"] == 2


def test_stage_2_mines_without_a_margin():
    stage2 = StageTwoConfig(NegativesConfig(NONE, Bm25Mining(3, "question", 1, 3)))
    rows, _ = second(stage2, bm25=[RANKING, RANKING])
    assert [row.document_id for row in rows if not row.label] == ["2", "1", "0"] * 2


def test_a_target_question_without_texts_is_counted():
    _, dropped = second(StageTwoConfig(), texts={"t1": PSEUDO["t1"]})
    assert dropped == {"question of stage 2 without a positive": 1}
    weighty = replace(StageTwoConfig(), least_weight=0.6)
    rows, _ = second(weighty)
    assert {row.question_id for row in rows} == {"t2"}
