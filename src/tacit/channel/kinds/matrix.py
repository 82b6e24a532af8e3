"""Any finite channel, given as a matrix; there may be more reports than truths."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.channel.base import Array, Channel, Codes
from tacit.channel.chances import SUM_TOLERANCE, integer_weights
from tacit.channel.codes import checked_matrix_size, joint_codes, joint_name, split_codes
from tacit.channel.dense import singular_extremes
from tacit.channel.recipe import Kind, Parameters, Recipe, Shape
from tacit.errors import InvalidInput, NotEstimable
from tacit.randomness import ONE, Randomness
from tacit.schema import Attribute
from tacit.table.coded import code_type


@dataclass(frozen=True, eq=False)
class MatrixChannel(Channel):
    """``weights[report, truth] / 2**32`` is the chance of a report; every column of `weights` sums to 2**32.

    Without `labels` the reports look like the truths.
    """

    shape: tuple[int, ...]
    weights: NDArray[np.int64]
    labels: tuple[str, ...] | None = None

    kind = "matrix"

    @classmethod
    def from_chances(
        cls, shape: tuple[int, ...], chances: Sequence[Sequence[float]] | Array, labels: Sequence[str] | None = None
    ) -> MatrixChannel:
        """The channel of ``chances[report][truth]``, rounded to multiples of 2**-32 by largest remainder."""
        matrix = checked_chances(chances, math.prod(shape))
        checked_labels(labels, len(matrix), math.prod(shape))
        columns = [integer_weights(column) for column in matrix.T]
        return cls(shape, np.stack(columns, axis=1), None if labels is None else tuple(map(str, labels)))

    @property
    def parameters(self) -> dict[str, Any]:
        parameters: dict[str, Any] = {"matrix": self.matrix.tolist()}
        if self.labels is not None:
            parameters["reports"] = list(self.labels)
        return parameters

    @cached_property
    def matrix(self) -> Array:
        return self.weights / ONE

    @property
    def tally_shape(self) -> tuple[int, ...]:
        return self.shape if self.labels is None else (len(self.labels),)

    def program(self) -> dict[str, Any]:
        return {"weigh": self.weights.T.tolist(), "into": list(self.tally_shape)}

    def report_attributes(self, attributes: Sequence[Attribute]) -> tuple[Attribute, ...]:
        if self.labels is None:
            return tuple(attributes)
        return (Attribute(joint_name(attributes), self.labels),)

    def sample(self, truths: Sequence[Codes], randomness: Randomness) -> tuple[Codes, ...]:
        truth = joint_codes(truths, self.shape)
        n_reports = len(self.weights)
        # One ascending list of thresholds for all columns: column u occupies the words from u * 2**32 on.
        thresholds = np.cumsum(self.weights, axis=0).T + (np.arange(self.size) * ONE)[:, None]
        keys = truth * ONE + randomness.words(len(truth))
        codes = np.searchsorted(thresholds.ravel(), keys, side="right") - truth * n_reports
        if self.labels is None:
            return split_codes(codes, self.shape)
        return (codes.astype(code_type(n_reports)),)

    @cached_property
    def _extremes(self) -> tuple[float, float]:
        return singular_extremes(self.matrix)

    def singular_extremes(self) -> tuple[float, float]:
        return self._extremes

    def _check_invertible(self) -> None:
        if not self.is_invertible():
            raise NotEstimable(
                f"The matrix is singular (condition number {self.condition_number():.3g}): some different truths give the same "
                "reports, so the truth cannot be estimated. Choose a matrix whose columns are linearly independent."
            )

    def left_inverse(self, guess: Array | None = None) -> Array:
        if self.n_reports > self.size:
            return super().left_inverse(guess)
        self._check_invertible()
        return np.linalg.inv(self.matrix).astype(np.float64)

    @property
    def has_choice(self) -> bool:
        return len(self.weights) > self.size


def checked_chances(chances: Sequence[Sequence[float]] | Array, n_truths: int) -> Array:
    """A matrix with non-negative entries and columns that sum to one, or a refusal that names the culprit."""
    try:
        matrix = np.asarray(chances, dtype=np.float64)
    except (TypeError, ValueError):
        raise InvalidInput("A matrix must be a list of rows of numbers, all of one length.") from None
    if matrix.ndim != 2 or matrix.shape[1] != n_truths:
        raise InvalidInput(
            f"The matrix must have one column per truth, {n_truths} here (matrix[report][truth]), but its shape is "
            f"{matrix.shape}."
        )
    checked_matrix_size(*matrix.shape)
    if not np.isfinite(matrix).all() or (matrix < 0).any():
        report, truth = np.argwhere(~(np.isfinite(matrix) & (matrix >= 0)))[0]
        raise InvalidInput(
            f"matrix[{report}][{truth}] is {matrix[report, truth]:g}; chances must be numbers of at least 0."
        )
    sums = matrix.sum(axis=0)
    worst = int(np.argmax(np.abs(sums - 1)))
    if abs(sums[worst] - 1) > SUM_TOLERANCE:
        raise InvalidInput(
            f"Column {worst} of the matrix sums to {sums[worst]:.9g}; every column (one truth's chances over the "
            "reports) must sum to 1. Are rows and columns swapped?"
        )
    return matrix / sums


def checked_labels(labels: Sequence[str] | None, n_reports: int, n_truths: int) -> None:
    if labels is None and n_reports != n_truths:
        raise InvalidInput(
            f"A matrix with {n_reports} reports for {n_truths} truths needs a label for each report: give `reports`."
        )
    if labels is not None and len(labels) != n_reports:
        raise InvalidInput(f"`reports` names {len(labels)} reports, but the matrix has {n_reports} rows.")


def matrix(chances: Any, reports: Sequence[str] | None = None) -> Recipe:
    """Any matrix ``chances[report][truth]``; `reports` names the reports where they are not the answers.

    Parameters
    ----------
    chances : sequence of rows
        ``chances[report][truth]``; every column sums to one.
    reports : sequence of str, optional
        Names of the reports, where they are not the answers.

    Returns
    -------
    Recipe
        What `Scheme.of` takes; ``build(shape)`` makes the channel.

    Raises
    ------
    InvalidInput
        When it is built with a parameter that cannot be kept.

    Examples
    --------
    >>> from tacit import channels
    >>> channels.matrix([[0.8, 0.3], [0.2, 0.7]]).build((2,)).matrix.round(3).tolist()
    [[0.8, 0.3], [0.2, 0.7]]
    """
    try:
        rows = [[float(chance) for chance in row] for row in chances]
    except (TypeError, ValueError):
        raise InvalidInput(
            f"A matrix is a list of rows of numbers, such as [[0.8, 0.2], [0.2, 0.8]], not {chances!r}."
        ) from None
    return Recipe("matrix", {"matrix": rows} | ({} if reports is None else {"reports": list(reports)}))


def make_matrix(shape: Shape, parameters: Parameters) -> Channel:
    return MatrixChannel.from_chances(shape, parameters["matrix"], parameters.get("reports"))


KINDS = {"matrix": Kind(make_matrix, matrix, ("matrix",), optional=("reports",))}
