from dataclasses import replace

import numpy as np
import pytest

from hybrid_ir.errors import InputError
from hybrid_ir.records import Ranked
from hybrid_ir.rerank.cascade import Pool, cascade, finished
from hybrid_ir.rerank.settings import CutoffConfig, RerankConfig, ScorerConfig, StageConfig

BM25 = ScorerConfig("bm25")


def pool(question_id="q1", count=5):
    """Give documents 1 to ``count``, 1 the best; the text of each is its number."""
    names = [str(number) for number in range(1, count + 1)]
    ranking = tuple(Ranked(name, float(count - place)) for place, name in enumerate(names))
    return Pool(question_id, f"body of {question_id}", ranking, {name: name for name in names})


def scorer_of(function, seen=None):
    """Score a text by a function of the number it is."""

    def score(questions):
        for candidates in questions:
            if seen is not None:
                seen.append((candidates.question_id, candidates.documents))
            yield np.array([function(int(text)) for text in candidates.texts], np.float64)

    return score


def stages(**configs):
    return RerankConfig(configs, cache=None)


def one(depth=5, **settings):
    return StageConfig(depth, {"a": BM25}, **settings)


def ran(config, scorers, *pools):
    faults = {}
    made = list(cascade(pools or [pool()], config, scorers, faults.__setitem__))
    return made, faults


def ids(ranking):
    return [item.item for item in ranking]


def test_each_stage_scores_only_the_best_of_the_stage_before():
    seen = []
    config = stages(first=one(4), second=one(2))
    scorers = {
        "first": {"a": scorer_of(lambda number: number, seen)},
        "second": {"a": scorer_of(lambda number: -number, seen)},
    }
    (made,), _ = ran(config, scorers)
    # of 5 documents 4 are scored: 4 3 2 1; of these 4 and 3, the other way round
    assert seen == [("q1", ("1", "2", "3", "4")), ("q1", ("4", "3"))]
    assert made.ranking == (Ranked("3", -3.0), Ranked("4", -4.0))


def test_documents_left_behind_follow_in_their_order_where_that_is_wanted():
    config = stages(first=one(4), second=one(2))
    scorers = {
        "first": {"a": scorer_of(lambda number: number)},
        "second": {"a": scorer_of(lambda number: -number)},
    }
    (made,), _ = ran(config, scorers)
    assert ids(finished(made, "drop")) == ["3", "4"]
    # left behind by the second stage: 2 and 1, before by the first: 5
    assert finished(made, "append") == (
        *made.ranking, Ranked("2", -5.0), Ranked("1", -6.0), Ranked("5", -7.0),
    )  # fmt: skip


def test_an_ensemble_is_the_weighted_sum_of_normalised_scores():
    config = stages(
        only=StageConfig(
            3, {"a": BM25, "b": replace(BM25, weight=2.0)}, first=0.5, normalisation="min_max"
        )
    )
    scorers = {"only": {"a": scorer_of(lambda n: 100 * n), "b": scorer_of(lambda n: n == 2)}}
    (made,), _ = ran(config, scorers, pool(count=3))
    # document 1: 0 + 2 * 0 + 0.5 * 1; 2: 1/2 + 2 * 1 + 0.5 / 2; 3: 1 + 0 + 0
    assert made.ranking == (Ranked("2", 2.75), Ranked("3", 1.0), Ranked("1", 0.5))


def test_a_lone_scorer_keeps_its_scores():
    (made,), _ = ran(stages(only=one()), {"only": {"a": scorer_of(lambda n: n * 1000.5)}})
    assert made.ranking[0] == Ranked("5", 5002.5)


@pytest.mark.parametrize(
    ("cutoff", "kept"),
    [
        (CutoffConfig(below_best=1.0), ["5", "4"]),
        (CutoffConfig(at_least=2.0), ["5", "4", "3", "2"]),
        (CutoffConfig(below_best=1.0, at_least=5.0), ["5"]),
        (CutoffConfig(at_least=99.0), ["5"]),
        (CutoffConfig(at_least=99.0, keep=3), ["5", "4", "3"]),
        (CutoffConfig(at_least=99.0, keep=30), ["5", "4", "3", "2", "1"]),
    ],
)
def test_a_cut_off_lets_the_best_pass(cutoff, kept):
    config = stages(only=one(cutoff=cutoff))
    (made,), _ = ran(config, {"only": {"a": scorer_of(lambda n: n)}})
    assert ids(made.ranking) == kept
    assert ids(finished(made, "append")) == ["5", "4", "3", "2", "1"]


def test_equal_scores_go_by_document_id():
    (made,), _ = ran(stages(only=one()), {"only": {"a": scorer_of(lambda _: 1.0)}}, pool(count=11))
    assert ids(made.ranking) == ["1", "2", "3", "4", "5"]


def test_a_question_whose_score_is_no_number_is_named_and_the_others_go_on():
    config = stages(first=one(), second=one())

    def nan_for_three(question):
        def score(questions):
            for candidates in questions:
                bad = candidates.question_id == question
                yield np.array([np.nan if bad and t == "3" else 1.0 for t in candidates.texts])

        return score

    scorers = {"first": {"a": nan_for_three("q1")}, "second": {"a": nan_for_three("q3")}}
    made, faults = ran(config, scorers, *[pool(f"q{n}") for n in range(1, 5)])
    assert [p.question_id for p in made] == ["q2", "q4"]
    assert list(faults) == ["q1", "q3"]
    assert "a gave 1 of 5 documents a score that is no finite number" in faults["q1"]
    assert "(first: 3: nan)" in faults["q1"]


def test_questions_stream_through_all_stages():
    taken = []

    def pools():
        for number in range(100):
            taken.append(number)
            yield pool(f"q{number}")

    config = stages(first=StageConfig(5, {"a": BM25, "b": BM25}), second=one())
    every = scorer_of(lambda n: n)
    scorers = {"first": {"a": every, "b": every}, "second": {"a": every}}
    stream = cascade(pools(), config, scorers, lambda *_: None)
    assert next(stream).question_id == "q0"
    assert taken == [0]


@pytest.mark.parametrize(
    "make",
    [
        lambda: StageConfig(),
        lambda: StageConfig(0, {"a": BM25}),
        lambda: StageConfig(5, {"a": BM25, "b": BM25}, normalisation="none"),
        lambda: StageConfig(5, {"a": BM25}, first=1.0, normalisation="none"),
        lambda: ScorerConfig("cross_encoder"),
        lambda: ScorerConfig("bm25", model="x"),
        lambda: CutoffConfig(below_best=-1.0),
        lambda: RerankConfig(),
    ],
)
def test_settings_that_cannot_be_used_are_refused(make):
    with pytest.raises(InputError, match="cannot be used"):
        make()
