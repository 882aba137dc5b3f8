import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from hybrid_ir.rerank.batches import Input, add, padded, take


def one(tokens, question=0, typed=True):
    ids = np.arange(1, tokens + 1, dtype=np.int32)
    return Input(question, ids, np.ones(tokens, np.int8) if typed else None)


def taken(inputs, tokens):
    waiting = []
    add(waiting, inputs)
    while waiting:
        yield take(waiting, tokens)


questions = st.lists(st.lists(st.integers(1, 40), max_size=12), max_size=6)


@given(questions, st.integers(1, 200))
def test_every_input_is_taken_once_and_within_the_budget(lengths, budget):
    inputs = [one(n, number) for number, ns in enumerate(lengths) for n in ns]
    batches = list(taken(inputs, budget))
    assert sorted(id(x) for batch in batches for x in batch) == sorted(map(id, inputs))
    for batch in batches:
        assert len(batch) == 1 or len(batch) * batch[-1].tokens <= budget
        assert [x.tokens for x in batch] == sorted(x.tokens for x in batch)


@given(questions, st.integers(1, 200))
def test_each_batch_holds_the_longest_input_of_the_oldest_question(lengths, budget):
    inputs = [one(n, number) for number, ns in enumerate(lengths) for n in ns]
    left = list(inputs)
    for batch in taken(inputs, budget):
        oldest = min(x.question for x in left)
        assert batch[-1].question == oldest
        assert batch[-1].tokens == max(x.tokens for x in left if x.question == oldest)
        left = [x for x in left if x not in batch]


def test_a_batch_is_filled_with_like_lengths_of_other_questions():
    inputs = [one(20, 0), one(19, 1), one(5, 0), one(18, 2), one(60, 1)]
    first, second, third = taken(inputs, 60)
    # the longest of question 0 has 20 tokens: 60 // 20 = 3 inputs, of 18, 19 and 20
    assert [(x.question, x.tokens) for x in first] == [(2, 18), (1, 19), (0, 20)]
    assert [(x.question, x.tokens) for x in second] == [(0, 5)]
    assert [(x.question, x.tokens) for x in third] == [(1, 60)]


def test_an_input_above_the_budget_is_a_batch_of_its_own():
    assert [len(batch) for batch in taken([one(50), one(50), one(10)], 49)] == [1, 1, 1]


def test_padding_is_on_the_right_and_masked():
    arrays = padded([one(1), one(3)], padding=9)
    assert arrays.ids.tolist() == [[1, 9, 9], [1, 2, 3]]
    assert arrays.mask.tolist() == [[1, 0, 0], [1, 1, 1]]
    assert arrays.types.tolist() == [[1, 0, 0], [1, 1, 1]]
    assert arrays.ids.dtype == arrays.mask.dtype == arrays.types.dtype == np.int64


def test_a_model_without_types_gets_none():
    assert padded([one(2, typed=False)], padding=0).types is None
