"""What a design is asked for: the expected distribution of the answers, the number of records and the bounds."""

from __future__ import annotations

import numbers
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tacit.channel.dense import wanted_variances
from tacit.design.certificate import Aim
from tacit.design.wanted import WantedNumbers, named_attribute, wanted_numbers, wanted_shares
from tacit.errors import InvalidInput
from tacit.schema import Attribute

Matrix = NDArray[np.float64]

# A prior read from a file has been rounded to a few digits; more than this is a mistake, not rounding.
PRIOR_SUM_ERROR = 1e-6


class Posed(NamedTuple):
    """A problem as the compiled kernels take it."""

    prior: Matrix
    accuracy: Matrix  # [guess, truth]: what each guess is worth
    is_exact: bool  # only the exact guess counts, which saves time
    delta: float  # how sure a report may make anyone; 1 for no bound


@dataclass(frozen=True, eq=False)
class DesignProblem:
    """A prior without zeros, a number of records, an optional bound on every posterior; checked when made."""

    prior: Matrix
    records: int
    delta: float | None = None
    answers: tuple[str, ...] = ()
    accuracy: Matrix | None = field(default=None)
    purpose: WantedNumbers | None = None  # the shares of all answers where it is None

    @classmethod
    def of(
        cls,
        prior: ArrayLike,
        records: int,
        *,
        delta: float | None = None,
        answers: Sequence[str] | None = None,
        accuracy: ArrayLike | None = None,
        purpose: str | WantedNumbers | None = None,
    ) -> DesignProblem:
        """The problem with its parts checked and the prior made to sum to one exactly."""
        checked = _checked_prior(prior)
        names = tuple(map(str, answers)) if answers is not None else numbered_answers(len(checked))
        if len(names) != len(checked):
            raise InvalidInput(f"There are {len(names)} answers but {len(checked)} prior probabilities; give one each.")
        if len(set(names)) < len(names):
            raise InvalidInput(f"An answer is named twice: {', '.join(names)}. Give each answer a name of its own.")
        _check_records(records)
        _check_delta(delta, checked)
        if isinstance(purpose, str):
            purpose = wanted_numbers(purpose, Attribute(named_attribute(purpose) or "the question", names))
        if purpose is not None and purpose.is_of_shares:
            purpose = None
        return cls(checked, int(records), delta, names, _checked_accuracy(accuracy, len(checked)), purpose)

    @property
    def n_answers(self) -> int:
        return len(self.prior)

    @property
    def least_privacy(self) -> float:
        """The lowest MAP privacy a channel that uses up the posterior bound can have."""
        return 1 - self.posterior_cap

    @property
    def most_privacy(self) -> float:
        """How often (by how much, under another accuracy) a guess from the prior alone is wrong; no report adds to it."""
        return 1 - float((self.prior if self.accuracy is None else self.accuracy @ self.prior).max())

    @property
    def posterior_cap(self) -> float:
        return 1.0 if self.delta is None else self.delta

    @property
    def for_kernels(self) -> Posed:
        """The problem for the kernels; a guess is worth one if it is right, unless another accuracy was given."""
        is_exact = self.accuracy is None
        worth = np.eye(self.n_answers) if self.accuracy is None else self.accuracy
        return Posed(self.prior, worth, is_exact, float(self.posterior_cap))

    @cached_property
    def wanted(self) -> WantedNumbers:
        return self.purpose or wanted_shares(self.n_answers)

    @cached_property
    def aim(self) -> Aim:
        """What the exact design minimises; other numbers than shares are taken around their mean, so that it is a variance."""
        return Aim(self.prior, self._centred_weights.T * np.sqrt(self.wanted.importances * self._scale))

    @cached_property
    def _centred_weights(self) -> Matrix:
        weights = self.wanted.weights
        return weights if self.wanted.is_of_shares else weights - (weights @ self.prior)[:, None]

    @cached_property
    def _scale(self) -> float:
        """What makes the trace of ``sum omega v v^T`` the number of answers."""
        return self.n_answers / float(self.wanted.importances @ (self._centred_weights**2).sum(axis=1))

    def mse(self, trace: float) -> float:
        """Mean squared error of the best estimate when ``trace(V J^-1)`` of the aim is `trace` (OptRR's utility)."""
        of_mean = float(((self.aim.factor.T @ self.prior) ** 2).sum())
        return (trace - of_mean) / (self._scale * self.records)

    def mse_of(self, matrix: Matrix) -> float:
        """Mean squared error of the wanted numbers under a channel; infinite where one of them cannot be estimated."""
        variances = wanted_variances(matrix, self.prior, self.wanted.weights)
        return float(self.wanted.importances @ variances) / self.records


def numbered_answers(n_answers: int) -> tuple[str, ...]:
    """What answers are called where only their shares were given: 1, 2, ..."""
    return tuple(str(i + 1) for i in range(n_answers))


def closeness(n_answers: int) -> Matrix:
    """Accuracy of a guess about ordered answers: one when right, falling evenly to zero at the far end."""
    codes = np.arange(n_answers)
    return 1 - np.abs(codes[:, None] - codes) / max(n_answers - 1, 1)


def _checked_prior(prior: ArrayLike) -> Matrix:
    try:
        checked = np.asarray(prior, dtype=np.float64)
    except (TypeError, ValueError):
        raise InvalidInput(
            f"A prior is a list of shares such as [0.5, 0.3, 0.2], not {prior!r}. tacit.design.named_prior makes one by name."
        ) from None
    if checked.ndim != 1 or len(checked) < 2:
        raise InvalidInput(f"A design needs a prior over at least two answers, not {checked.size}.")
    if not np.isfinite(checked).all() or (checked <= 0).any():
        where = int(np.flatnonzero(~(checked > 0) | ~np.isfinite(checked))[0])
        message = f"Prior probability number {where + 1} is {checked[where]:g}; all must be positive. "
        raise InvalidInput(message + "Leave out answers nobody gives, or merge them with a neighbour.")
    if abs(checked.sum() - 1) > PRIOR_SUM_ERROR:
        message = f"The prior sums to {checked.sum():.6g}, not 1. Divide its entries by their sum."
        raise InvalidInput(message)
    return checked / checked.sum()


def _check_records(records: int) -> None:
    if not isinstance(records, numbers.Real) or not records >= 1 or records != int(records):
        raise InvalidInput(f"records is {records!r}; it must be a whole number of at least 1.")


def _check_delta(delta: float | None, prior: Matrix) -> None:
    if delta is None:
        return
    largest = float(prior.max())
    if not delta <= 1:
        raise InvalidInput(f"delta is {delta:g}; it is a probability, at most 1. Leave it out for no bound.")
    if not delta > largest + 1e-9:
        message = f"delta is {delta:g}, but the most frequent answer has prior {largest:.6g}: no channel makes anyone "
        message += "less sure of it than that (OptRR, theorem 5). "
        raise InvalidInput(message + f"Choose delta above {largest:.6g}, at most 1.")


def _checked_accuracy(accuracy: ArrayLike | None, n_answers: int) -> Matrix | None:
    if accuracy is None:
        return None
    checked = np.asarray(accuracy, dtype=np.float64)
    if checked.shape != (n_answers, n_answers):
        raise InvalidInput(f"accuracy has shape {checked.shape}; it must be [guess, truth] of {n_answers} answers.")
    if not ((checked >= 0) & (checked <= 1)).all():
        raise InvalidInput("accuracy[guess, truth] must lie between 0 (worthless) and 1 (exact).")
    return checked
