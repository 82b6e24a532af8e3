"""What a split gains (ID3, C4.5, CART)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np

from tacit.channel.base import Array

Criterion = Literal["gain", "ratio", "gini"]
CRITERIA = ("gain", "ratio", "gini")


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
