"""How mixed the classes of a node are, and what a split gains (ID3, C4.5, CART)."""

from __future__ import annotations

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


def entropy(table: Array) -> Array:
    """Entropy in bits of the proportions along the last axis."""
    p = proportions(table)
    return -(p * np.log2(p, out=np.zeros_like(p), where=p > 0)).sum(axis=-1)


def gini(table: Array) -> Array:
    """Chance that two draws from the proportions along the last axis differ."""
    return 1 - (proportions(table) ** 2).sum(axis=-1)


def split_worth(branches: Array, criterion: Criterion) -> float:
    """What is gained by a split, from its table ``[branch, class]`` of estimated shares.

    Estimates can be negative or exceed their sum; they are clipped here and only here.
    """
    clipped = np.maximum(branches, 0)
    total = clipped.sum()
    if total <= 0:
        return 0.0
    weights = clipped.sum(axis=1) / total
    impurity = gini if criterion == "gini" else entropy
    gain = float(impurity(clipped.sum(axis=0)) - weights @ impurity(clipped))
    if criterion != "ratio":
        return gain
    information = float(entropy(weights))
    return gain / information if information > 0 else 0.0
