"""What growing a tree asks about the people in a node, and about those in each of its branches."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, Self

import numpy as np
from numpy.typing import NDArray

from tacit.channel.base import Array
from tacit.schema import Attribute

Path = Mapping[str, NDArray[np.bool_]]
Codes = tuple[int, ...]


@dataclass(frozen=True, eq=False)
class DisguiseVariances:
    """Variances of the disguise alone, for just the people who answered: by class along the last axis, and of totals."""

    classes: Array
    totals: Array


@dataclass(frozen=True, eq=False)
class NodeShares:
    """Estimated shares of all people: of the whole node, and of each class within it.

    Variances are those of the population; `disguise` holds those of the disguise alone, for just the people who answered.
    """

    size: float
    size_variance: float
    classes: Array
    class_variances: Array
    disguise: DisguiseVariances


class People(Protocol):
    """The people whose answers lie within a path of conditions, as far as the reports tell of them."""

    def shares(self) -> NodeShares: ...

    def by_answer(self) -> list[tuple[Attribute, Array, Codes]]:
        """For each attribute that can still be split on, the shares ``[answer, class]`` and the answers that are left."""

    def contrast_variances(self, attribute: Attribute, branches: Sequence[Codes], contrasts: Array) -> Array:
        """Variances, of the disguise alone, of sums of the branches' shares weighed by ``contrasts[which, branch, class]``."""

    def within(self, attribute: Attribute, codes: Codes) -> Self:
        """Those of them who gave one of these answers."""


def narrowed(path: Path, attribute: Attribute, codes: Codes) -> dict[str, NDArray[np.bool_]]:
    """The path with one more condition, which includes any earlier one on the same attribute."""
    mask = np.zeros(attribute.size, dtype=np.bool_)
    mask[list(codes)] = True
    return {**path, attribute.name: mask}


def allowed_codes(path: Path, attribute: Attribute) -> Codes:
    """The answers that a path leaves."""
    if attribute.name not in path:
        return tuple(range(attribute.size))
    return tuple(path[attribute.name].nonzero()[0].tolist())


def independent_variances(found: DisguiseVariances, contrasts: Array) -> Array:
    """The same where branches are taken as uncorrelated.

    What the variance of a branch has beyond the sum of those of its classes is their covariance: all there is for two
    classes; for more it is dealt to pairs in proportion to their variances.
    """
    variances, others = found.classes, 1 - np.eye(found.classes.shape[1])
    pairs = variances[:, :, None] * variances[:, None, :] * others
    beyond, all_pairs = found.totals - variances.sum(axis=1), pairs.sum(axis=(1, 2))
    scale = np.divide(beyond, all_pairs, out=np.zeros_like(beyond), where=all_pairs > 0)
    covariance = pairs * scale[:, None, None] + variances[:, :, None] * (1 - others)
    return np.maximum(np.einsum("kbc,bcd,kbd->k", contrasts, covariance, contrasts), 0)
