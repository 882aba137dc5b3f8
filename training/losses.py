"""Losses of a cross-encoder, as functions of the logits of one batch.

``logits``, ``labels``, ``weights`` and ``teacher`` have the shape (lists, passages), with ``mask``
false where a list has fewer passages; ``bce`` sees lists of one. A passage of weight w counts as w
copies of it would. Every loss is the mean over the lists, so that equal parts of a batch, computed
apart, average to the loss of the whole.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from training.settings import Loss

MU = 10.0
"""The weight of NDCG-Loss2 beside LambdaRank in NDCG-Loss2++, as in the LambdaLoss paper."""

RELEVANT = 0.5
"""Labels above it are positives."""


@dataclass(frozen=True, slots=True)
class Lists:
    """One batch: what is known of its passages, each of shape (lists, passages)."""

    labels: Tensor
    weights: Tensor
    teacher: Tensor
    mask: Tensor


def loss_of(name: Loss, logits: Tensor, lists: Lists) -> Tensor:
    """Compute a loss in float32.

    Args:
        name: Which.
        logits: Of shape (lists, passages); what the mask leaves out may be anything finite.
        lists: What is to be learnt.
    """
    logits = logits.float()
    match name:
        case "bce":
            return _bce(logits, lists)
        case "pairwise":
            return _ranknet(logits, lists, torch.ones_like(logits)[:, :, None])
        case "infonce":
            return _infonce(logits, lists)
        case "lambda":
            return _lambda(logits, lists)
        case "listnet":
            return _listnet(logits, lists)
        case "margin_mse":
            return _margin_mse(logits, lists)


def _bce(logits: Tensor, lists: Lists) -> Tensor:
    losses = nn.functional.binary_cross_entropy_with_logits(
        logits, lists.labels, weight=lists.weights, reduction="none"
    )
    return _mean_in_lists(losses, lists.mask)


def _mean_in_lists(losses: Tensor, mask: Tensor) -> Tensor:
    """Average over what the mask leaves in each list, then over the lists."""
    flat, kept = losses.flatten(1), mask.flatten(1)
    sums = torch.where(kept, flat, 0.0).sum(1)
    return (sums / kept.sum(1).clamp(min=1)).mean()


def _better(lists: Lists) -> tuple[Tensor, Tensor]:
    """Say of which pairs (i, j) passage i has the higher label, and what each pair weighs."""
    higher = lists.labels[:, :, None] > lists.labels[:, None, :]
    both = lists.mask[:, :, None] & lists.mask[:, None, :]
    return higher & both, lists.weights[:, :, None] * lists.weights[:, None, :]


def _ranknet(logits: Tensor, lists: Lists, gains: Tensor) -> Tensor:
    """Burges et al. 2005: log(1 + exp(s_j - s_i)) wherever i is to be above j."""
    better, weights = _better(lists)
    losses = nn.functional.softplus(logits[:, None, :] - logits[:, :, None])
    return _mean_in_lists(losses * weights * gains, better)


def _lambda(logits: Tensor, lists: Lists) -> Tensor:
    """Wang et al. 2018, NDCG-Loss2++: RankNet's losses times what an exchange does to NDCG."""
    hidden = logits.detach().masked_fill(~lists.mask, -torch.inf)
    ranks = hidden.argsort(dim=1, descending=True, stable=True).argsort(dim=1)
    relevance = torch.where(lists.mask, 2**lists.labels - 1, 0.0)
    places = torch.arange(logits.shape[1], device=logits.device)
    discounts = 1 / torch.log2(places + 2.0)
    best = (relevance.sort(dim=1, descending=True).values * discounts).sum(1, keepdim=True)
    gain = relevance / best.clamp(min=1e-10)
    gap = (ranks[:, :, None] - ranks[:, None, :]).abs()
    by_gap = torch.cat([torch.zeros_like(discounts[:1]), -discounts.diff()])
    change = (discounts[ranks][:, :, None] - discounts[ranks][:, None, :]).abs()
    gains = (MU * by_gap[gap] + change) * (gain[:, :, None] - gain[:, None, :]).abs()
    return _ranknet(logits, lists, gains)


def _log_counts(lists: Lists) -> Tensor:
    """Give log(weight): added to a logit, it makes w copies of a passage; -inf for none.

    A weight of 0 becomes a tiny one: a list of nothing has no gradient.
    """
    return torch.where(lists.mask, lists.weights.clamp(min=1e-12), 0.0).log()


def _infonce(logits: Tensor, lists: Lists) -> Tensor:
    """Van den Oord et al. 2018: each positive against the negatives of its list."""
    positive = lists.mask & (lists.labels > RELEVANT)
    negatives = (logits + _log_counts(lists)).masked_fill(positive, -torch.inf)
    against = negatives.logsumexp(1, keepdim=True)
    losses = torch.logaddexp(logits, against) - logits
    return _mean_in_lists(losses * lists.weights, positive)


def _listnet(logits: Tensor, lists: Lists) -> Tensor:
    """Cao et al. 2007: cross-entropy between the top-one probabilities of labels and scores."""
    counts = _log_counts(lists)
    wanted = (lists.labels + counts).softmax(1)
    found = logits - (logits + counts).logsumexp(1, keepdim=True)
    return -torch.where(wanted > 0, wanted * found, 0.0).sum(1).mean()


def _margin_mse(logits: Tensor, lists: Lists) -> Tensor:
    """Hofstaetter et al. 2020: the teacher's margin between each positive and each negative."""
    better, weights = _better(lists)
    margins = logits[:, :, None] - logits[:, None, :]
    wanted = lists.teacher[:, :, None] - lists.teacher[:, None, :]
    return _mean_in_lists((margins - wanted) ** 2 * weights, better)
