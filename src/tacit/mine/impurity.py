"""How mixed the classes of a node are, and what a split gains (ID3, C4.5, CART)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np

from tacit.channel.protocol import Array

Criterion = Literal["gain", "ratio", "gini"]
CRITERIA = ("gain", "ratio", "gini")


def proportions(table: Array) -> Array:
    """Shares along the last axis, estimates below zero clipped; rows without mass are even."""
    clipped = np.maximum(table, 0)
    total = clipped.sum(axis=-1, keepdims=True)
    return np.divide(clipped, total, out=np.full_like(clipped, 1 / table.shape[-1]), where=total > 0)


def excess_variances(shares: Array, variances: Array, total_variance: Array) -> Array:
    """Variances of ``count - share * total`` along the last axis, for fixed shares.

    What the variance of the total has beyond the sum of those of its parts is their covariance: all there is for two
    classes; for more it is dealt to pairs in proportion to their variances.
    """
    everything, of_total = variances.sum(axis=-1, keepdims=True), np.asarray(total_variance)[..., None]
    pairs = variances * (everything - variances)
    dealt = np.divide(pairs, pairs.sum(axis=-1, keepdims=True), out=np.zeros_like(pairs), where=pairs > 0)
    with_total = variances + (of_total - everything) * dealt
    return np.maximum(variances - 2 * shares * with_total + shares**2 * of_total, 0)


def share_variances(counts: Array, variances: Array, total_variance: Array) -> Array:
    """Variances of the proportions along the last axis, by the delta method; without end where there is no mass."""
    total = counts.sum(axis=-1, keepdims=True)
    share = np.divide(counts, total, out=np.zeros_like(counts), where=total > 0)
    excess = excess_variances(share, variances, total_variance)
    return np.divide(excess, total**2, out=np.full_like(counts, np.inf), where=total > 0)


def split_worths(splits: Sequence[Array], criterion: Criterion) -> Array:
    """What is gained by each split, from its table ``[branch, class]`` of estimated shares.

    Estimates can be negative or exceed their sum; they are clipped here and only here.
    """
    from tacit.mine._tree_kernels import split_worths as worths

    widest = max(len(split) for split in splits)
    padded = np.zeros((len(splits), widest, splits[0].shape[1]))
    for place, split in enumerate(splits):
        padded[place, : len(split)] = split
    return worths(padded, CRITERIA.index(criterion))
