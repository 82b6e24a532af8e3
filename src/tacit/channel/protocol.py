"""What every channel can do. A channel is a linear map from the distribution of truths to that of reports.

A channel belongs to one group of attributes: `shape` holds the number of answers of each. What it maps to is a *tally*
of its reports: an array with one axis per report column. A column that shows one answer has a slot per answer. A column
that shows a set has a slot per member, and a last slot that counts every report; so a set is tallied per member and
everything stays linear. Arrays may carry further axes behind the group's own.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from tacit.errors import InvalidInput
from tacit.randomness import Randomness
from tacit.schema import Attribute
from tacit.table.coded import code_type

Array = NDArray[np.float64]
Codes = NDArray[Any]  # integer codes of one column: rows, or rows x members for a set, or rows x answers for bits

# A dense matrix beyond this is a mistake of whoever asks for it: 2**24 entries are 128 MB.
MATRIX_ENTRIES = 1 << 24


class Estimator(Protocol):
    """How the truth is estimated from a tally: the part of a channel that a sum over attributes has as well."""

    @property
    def shape(self) -> tuple[int, ...]:
        """Number of answers of each attribute."""

    @property
    def tally_shape(self) -> tuple[int, ...]:
        """Shape of a tally of its report columns."""

    def is_invertible(self) -> bool:
        """Whether the distribution of the truth can be estimated from reports."""

    def solve(self, tally: Array, guess: Array | None = None) -> Array:
        """Unbiased estimate of the truth; `guess` is where it should be most precise, if there is a choice."""

    def solve_adjoint(self, weights: Array, guess: Array | None = None) -> Array:
        """Weights on reports whose mean is the estimate of ``sum(weights * truth)``: ``shape`` to ``tally_shape``."""

    def solve_squares(self, tally: Array, guess: Array | None = None) -> Array:
        """Mean square of one report's contribution to `solve`, for each truth."""

    def solve_pairs(self, tally: Array, guess: Array | None = None) -> Array:
        """Mean product of one report's contributions: ``(truths, truths)`` before the further axes."""

    def conjunction(self, masks: Sequence[NDArray[np.bool_]]) -> list[tuple[tuple[int, ...], Array]]:
        """Weight tables on report columns whose product estimates "every attribute within its mask"."""


class Channel(Estimator, Protocol):
    """The law of a report given the truth, after all of the respondent's own draws."""

    @property
    def kind(self) -> str:
        """Its name in the scheme document."""

    @property
    def parameters(self) -> dict[str, Any]:
        """Its parameters in the scheme document."""

    @property
    def has_marginals(self) -> bool:
        """Whether the reports of some attributes alone are again reports of a simple channel."""

    @property
    def has_choice(self) -> bool:
        """Whether there are more reports than truths, so that there are many unbiased estimators."""

    @property
    def amplification(self) -> float:
        """Largest ratio of two chances of the same report; needs no prior."""

    @property
    def matrix(self) -> Array:
        """The dense law ``matrix[report, truth]`` of whole reports, in the order of `reports`."""

    def reports(self) -> tuple[Codes, ...]:
        """Every possible report, as columns, in the order of the rows of `matrix`."""

    def report_attributes(self, attributes: Sequence[Attribute]) -> tuple[Attribute, ...]:
        """The columns of its reports, given the attributes of its group."""

    def sample(self, truths: Sequence[Codes], randomness: Randomness) -> tuple[Codes, ...]:
        """One report for each true record, column by column."""

    def apply(self, truth: Array) -> Array:
        """Expected tally of one report when the truth has this distribution: ``shape`` to ``tally_shape``."""

    def adjoint(self, weights: Array) -> Array:
        """Expected weight of a report, given each truth: ``tally_shape`` to ``shape``."""

    def marginal(self, axes: Sequence[int]) -> Channel:
        """The channel of some of the attributes, where `has_marginals`."""

    def margin(self, axes: Sequence[int]) -> Estimator:
        """What estimates some of the attributes: their marginal channel, or the whole group's estimate, summed."""


def flat(array: Array, axes: int) -> Array:
    """`array` with its first `axes` axes as one and all others as a second."""
    size = int(np.prod(array.shape[:axes]))
    return array.reshape(size, -1)


def checked_matrix_size(n_reports: int, n_truths: int) -> None:
    if n_reports * n_truths > MATRIX_ENTRIES:
        # The logarithm also holds numbers that a float does not.
        raise InvalidInput(
            f"A dense matrix of about 10**{math.log10(n_reports):.0f} reports by 10**{math.log10(n_truths):.0f} truths is "
            "too large to write out. Ask for a marginal of fewer attributes."
        )


def checked_axes(axes: Sequence[int], shape: tuple[int, ...]) -> tuple[int, ...]:
    kept = tuple(axes)
    if not kept or list(kept) != sorted(set(kept)) or not all(0 <= axis < len(shape) for axis in kept):
        raise InvalidInput(f"A marginal needs ascending positions among {len(shape)} attributes, not {kept}.")
    return kept


def outer(masks: Sequence[NDArray[np.bool_]]) -> Array:
    """The indicator of a product of per-attribute sets, as an array over the joint domain."""
    result: Array = np.ones(())
    for mask in masks:
        result = np.multiply.outer(result, mask.astype(np.float64))
    return result


def joint_labels(attributes: Sequence[Attribute]) -> tuple[str, ...]:
    """Names of the joint answers of a group, in the order of their codes."""
    labels = [""]
    for position, attribute in enumerate(attributes):
        joint = "+" if position else ""
        labels = [label + joint + answer for label in labels for answer in attribute.answers]
    return tuple(labels)


def joint_name(attributes: Sequence[Attribute]) -> str:
    return "+".join(attribute.name for attribute in attributes)


def joint_codes(columns: Sequence[Codes], shape: tuple[int, ...]) -> NDArray[np.int64]:
    """One code per record for several columns: mixed radix, the last column fastest."""
    codes = columns[0].astype(np.int64)
    for column, size in zip(columns[1:], shape[1:], strict=True):
        codes *= size
        codes += column
    return codes


def split_codes(codes: NDArray[np.int64], shape: tuple[int, ...]) -> tuple[Codes, ...]:
    """The columns whose joint codes these are."""
    columns: list[Codes] = []
    for size in reversed(shape[1:]):
        codes, digit = np.divmod(codes, size)
        columns.append(digit.astype(code_type(size)))
    return (codes.astype(code_type(shape[0])), *reversed(columns))


def grid(shape: tuple[int, ...]) -> tuple[Codes, ...]:
    """Every record of a joint domain, as columns, in the order of their joint codes."""
    return split_codes(np.arange(int(np.prod(shape)), dtype=np.int64), shape)
