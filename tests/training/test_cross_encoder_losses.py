"""Losses, against arithmetic and against sentence-transformers' own."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from training.losses import Lists, loss_of

NAMES = ("bce", "pairwise", "infonce", "lambda", "listnet", "margin_mse")


def lists(labels, weights=None, teacher=None, mask=None):
    table = torch.tensor(labels)
    return Lists(
        table,
        torch.ones_like(table) if weights is None else torch.tensor(weights),
        torch.zeros_like(table) if teacher is None else torch.tensor(teacher),
        torch.ones_like(table, dtype=torch.bool) if mask is None else torch.tensor(mask),
    )


def value(name, logits, known):
    return loss_of(name, torch.tensor(logits), known).item()


def test_bce_is_the_weighted_mean():
    known = lists([[1.0], [0.0]], weights=[[1.0], [0.5]])
    positive, negative = -math.log(1 / (1 + math.exp(-2))), -math.log(1 - 1 / (1 + math.exp(-1)))
    assert value("bce", [[2.0], [1.0]], known) == pytest.approx((positive + 0.5 * negative) / 2)


def test_pairwise_is_the_mean_over_pairs_then_over_lists():
    known = lists([[1.0, 0.0, 0.0], [1.0, 0.0, 0.0]], mask=[[True] * 3, [True, True, False]])
    first = (math.log1p(math.exp(1 - 2)) + math.log1p(math.exp(3 - 2))) / 2
    second = math.log1p(math.exp(5 - 4))
    logits = [[2.0, 1.0, 3.0], [4.0, 5.0, 99.0]]
    assert value("pairwise", logits, known) == pytest.approx((first + second) / 2)


def test_infonce_sets_each_positive_against_the_negatives_only():
    known = lists([[1.0, 1.0, 0.0, 0.0]])
    against = math.exp(0.5) + math.exp(-1)
    losses = [-math.log(math.exp(s) / (math.exp(s) + against)) for s in (2.0, 1.0)]
    assert value("infonce", [[2.0, 1.0, 0.5, -1.0]], known) == pytest.approx(sum(losses) / 2)


def test_a_weight_of_one_half_is_half_a_copy():
    """A negative of weight 1 is as good as two of weight 1/2."""
    once = lists([[1.0, 0.0, 0.0]], weights=[[1.0, 1.0, 0.0]])
    halves = lists([[1.0, 0.0, 0.0]], weights=[[1.0, 0.5, 0.5]])
    for name in ("infonce", "listnet"):
        whole = value(name, [[1.0, 0.3, 0.3]], once)
        assert value(name, [[1.0, 0.3, 0.3]], halves) == pytest.approx(whole, abs=1e-6)


def test_margin_mse_learns_the_teachers_margin():
    known = lists([[1.0, 0.0]], teacher=[[5.0, 2.0]])
    assert value("margin_mse", [[4.0, 3.0]], known) == pytest.approx((1 - 3) ** 2)
    assert value("margin_mse", [[9.0, 6.0]], known) == pytest.approx(0)


def test_listnet_is_least_where_scores_equal_labels():
    known = lists([[1.0, 0.0]])
    p = math.e / (math.e + 1)
    entropy = -p * math.log(p) - (1 - p) * math.log(1 - p)
    assert value("listnet", [[1.0, 0.0]], known) == pytest.approx(entropy)
    assert value("listnet", [[0.0, 1.0]], known) > entropy


@given(st.data())
def test_what_the_mask_leaves_out_changes_nothing(data):
    name = data.draw(st.sampled_from([name for name in NAMES if name != "bce"]))
    size = data.draw(st.integers(2, 5))
    number = st.floats(-5, 5, width=32)
    row = data.draw(st.lists(number, min_size=size, max_size=size))
    labels = [1.0, *data.draw(st.lists(st.sampled_from([0.0, 1.0]), min_size=size - 2,
                                       max_size=size - 2)), 0.0]  # fmt: skip
    junk = data.draw(number)
    plain = value(name, [row], lists([labels], teacher=[row[::-1]]))
    padded = lists([[*labels, 1.0]], teacher=[[*row[::-1], 3.0]], mask=[[True] * size + [False]])
    assert value(name, [[*row, junk]], padded) == pytest.approx(plain, abs=1e-5)


@given(st.data())
def test_halves_of_a_batch_average_to_the_whole(data):
    name = data.draw(st.sampled_from([name for name in NAMES if name != "bce"]))
    number = st.floats(-5, 5, width=32)
    logits = data.draw(st.lists(st.lists(number, min_size=3, max_size=3), min_size=2, max_size=2))
    labels = [[1.0, 0.0, 0.0], [1.0, 1.0, 0.0]]
    whole = value(name, logits, lists(labels))
    parts = [value(name, [row], lists([known])) for row, known in zip(logits, labels, strict=True)]
    assert whole == pytest.approx(sum(parts) / 2, abs=1e-5)


@pytest.mark.parametrize("name", [name for name in NAMES if name != "bce"])
def test_gradients_are_numbers_even_where_weights_are_0(name):
    known = lists(
        [[1.0, 0.0, 0.0], [1.0, 0.0, 0.0]],
        weights=[[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]],
        mask=[[True] * 3, [True, True, False]],
    )
    logits = torch.tensor([[1.0, 2.0, 3.0], [1.0, 2.0, 0.0]], requires_grad=True)
    loss_of(name, logits, known).backward()
    assert torch.isfinite(logits.grad).all()
    assert logits.grad[1, 2] == 0


@pytest.mark.slow
def test_losses_equal_sentence_transformers(backbone, rows_of):
    """One list of one positive and four negatives; without weights the two agree."""
    from sentence_transformers import CrossEncoder
    from sentence_transformers.cross_encoder import losses as theirs

    torch.manual_seed(0)
    model = CrossEncoder(backbone, num_labels=1, max_length=48, device="cpu").eval()
    rows = rows_of(questions=1)
    question, texts = rows[0]["question"], [row["text"] for row in rows]
    labels = torch.tensor([row["label"] for row in rows])
    teacher = torch.tensor([row["teacher"] for row in rows])
    logits = model(model.preprocess([(question, text) for text in texts]))["scores"].view(1, -1)
    known = Lists(labels[None], torch.ones(1, 5), teacher[None], torch.ones(1, 5, dtype=torch.bool))
    listed = [[question], [texts]]
    wanted = {
        "listnet": theirs.ListNetLoss(model)(listed, [labels]),
        "pairwise": theirs.RankNetLoss(model)(listed, [labels]) * math.log(2),
        "lambda": theirs.LambdaLoss(model)(listed, [labels]) * math.log(2),
        "margin_mse": theirs.MarginMSELoss(model)(
            [[question], *([text] for text in texts)], [teacher]
        ),
    }  # theirs count in bits
    for name, expected in wanted.items():
        assert loss_of(name, logits, known).item() == pytest.approx(expected.item(), rel=1e-4), name
    pairs = theirs.BinaryCrossEntropyLoss(model)([[question] * 5, texts], labels)
    alone = Lists(*(table.T for table in (known.labels, known.weights, known.teacher, known.mask)))
    assert loss_of("bce", logits.T, alone).item() == pytest.approx(pairs.item(), rel=1e-4)
