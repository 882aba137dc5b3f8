"""The questions of stage 1."""

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from hybrid_ir.records import Gold, Question, Snippet, SyntheticPair
from training.asked import questions_to_train_on, shuffled
from training.batches import Batch
from training.leaks import Golden, body_key, guard_of, without_leaks

GUARD = guard_of([Question("t", "What is a target?", "list")], [Batch(12, 1)], None)
GOLDENS = [
    Golden(
        Question("a", "First?", "list"),
        Gold("a", "enriched", ("1",), (Snippet("2", "abstract", 0, 1, "x"),), (), None),
    ),
    Golden(Question("b", "Second?", "list"), Gold("b", "enriched", (), (), (), None)),
]


def pair(question_id, question, source, label=1, document="9"):
    return SyntheticPair(question_id, question, "list", document, "text", label, source, "m")


def test_written_passages_go_with_their_question_and_written_questions_stand_alone():
    dropped = Counter()
    passage, question = pair("a", "First?", "passage"), pair("9.m.0", "Written?", "question")
    asked = questions_to_train_on(GOLDENS, [passage, question], GUARD, 0, dropped)
    found = {one.id: one for one in asked}
    assert found["a"].synthetic == (passage,)
    assert found["a"].documents == {"1", "2", "9"}
    assert (found["9.m.0"].body, found["9.m.0"].gold) == ("Written?", None)
    assert found["b"].synthetic == ()
    assert not dropped


def test_pairs_of_the_target_or_of_questions_that_are_not_used_are_left_out():
    dropped = Counter()
    pairs = [
        pair("t", "Other words?", "passage"),
        pair("9.m.0", "what is A target", "question"),
        pair("later", "Of a later batch?", "passage"),
        pair("a", "First?", "passage", label=0),
        pair("a", "Not the first?", "question"),
    ]
    asked = questions_to_train_on(GOLDENS, pairs, GUARD, 0, dropped)
    assert sorted(one.id for one in asked) == ["a", "b"]
    assert not any(one.synthetic for one in asked)
    assert dropped == {
        "synthetic pair has a target question's id": 1,
        "synthetic pair has a target question's body": 1,
        "synthetic pair has a question of no golden file that is used": 1,
        "synthetic pair is not of label 1": 1,
        "synthetic pair has the id of a golden question, but another question": 1,
    }


def test_the_order_is_the_seeds():
    assert shuffled(range(9), 1) == shuffled(range(9), 1)
    assert len({tuple(shuffled(range(9), seed)) for seed in range(9)}) == 9


IDS, BODIES = (
    st.sampled_from("abcdefgh"),
    st.sampled_from(["Is u?", "is U", "Is v?", "IS  V!", "W?"]),
)
ASKED = st.builds(Question, IDS, BODIES, st.just("list"))
PAIRS = st.builds(pair, IDS, BODIES, st.sampled_from(["passage", "question"]))


@given(st.lists(ASKED), st.lists(ASKED, min_size=1), st.lists(PAIRS))
def test_no_question_of_the_target_gets_through_and_no_other_is_lost(questions, targets, pairs):
    guard, dropped = guard_of(targets, [Batch(12, 1)], None), Counter()
    goldens = [Golden(one, Gold(one.id, "enriched", (), (), (), None)) for one in questions]
    kept = without_leaks(goldens, guard, dropped)
    asked = questions_to_train_on(kept, pairs, guard, 0, dropped)
    ids, bodies = {one.id for one in targets}, {body_key(one.body) for one in targets}
    assert all(one.id not in ids and body_key(one.body) not in bodies for one in asked)
    assert all(pair.question_id not in ids for one in asked for pair in one.synthetic)
    assert all(body_key(pair.question) not in bodies for one in asked for pair in one.synthetic)
    used = sum(len(one.synthetic) for one in asked)
    assert sum(dropped.values()) == len(questions) - len(kept) + len(pairs) - used
    harmless = {
        one.id
        for one in questions
        if not any(o.id in ids or body_key(o.body) in bodies for o in questions if o.id == one.id)
    }
    assert harmless <= {one.id for one in asked}
