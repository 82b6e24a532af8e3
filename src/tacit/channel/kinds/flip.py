"""Report the record, or its opposite: every yes a no and every no a yes (multi-group randomized response)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.channel.base import Array, Channel, Codes, Figures, Orbits, ProductTerm
from tacit.channel.chances import checked_chance, numerator
from tacit.channel.codes import checked_axes, checked_matrix_size, flat, joint_codes
from tacit.channel.dense import UNKNOWN
from tacit.channel.recipe import Kind, Parameters, Recipe, Shape
from tacit.errors import InvalidInput, NotEstimable
from tacit.randomness import ONE, Randomness, coins


@dataclass(frozen=True, eq=False)
class FlipChannel(Channel):
    """The record with chance theta, else the record with every binary answer reversed.

    Reversing all codes of a joint binary domain reverses the order of its cells, which is how it is computed here.
    """

    shape: tuple[int, ...]
    theta: float  # as declared; `chance` is what is sampled

    kind = "flip"
    has_marginals = True
    treats_answers_alike = True
    counts_by_shown = True

    def __post_init__(self) -> None:
        if any(size != 2 for size in self.shape):
            raise InvalidInput(
                f"A flip reverses yes and no, so every attribute of its group needs two answers, not {self.shape}. "
                "Use a gamma-diagonal or a uniform perturbation for more answers."
            )

    @property
    def parameters(self) -> dict[str, Any]:
        return {"theta": self.theta}

    @property
    def coin(self) -> int:
        return numerator(self.theta)

    @property
    def chance(self) -> float:
        return self.coin / ONE

    @property
    def is_clear(self) -> bool:
        return self.chance == 1

    def program(self) -> dict[str, Any]:
        return {"toss": self.coin, "heads": {"same": 1}, "tails": {"reverse": 1}}

    @property
    def amplification(self) -> float:
        # In a group of two or more a report leaves only two records possible: all others have chance zero.
        low, high = sorted((self.chance, 1 - self.chance))
        return high / low if low and len(self.shape) == 1 else math.inf

    @property
    def matrix(self) -> Array:
        size = 1 << len(self.shape)
        checked_matrix_size(size, size)
        identity = np.eye(size)
        return self.chance * identity + (1 - self.chance) * identity[::-1]

    def sample(self, truths: Sequence[Codes], randomness: Randomness) -> tuple[Codes, ...]:
        flipped = ~coins(randomness, self.coin, len(truths[0]))
        return tuple(truth ^ flipped.astype(truth.dtype) for truth in truths)

    def _mix(self, array: Array, same: float, opposite: float) -> Array:
        cells = flat(array, len(self.shape))
        return (same * cells + opposite * cells[::-1]).reshape(array.shape)

    def apply(self, truth: Array) -> Array:
        return self._mix(truth, self.chance, 1 - self.chance)

    def adjoint(self, weights: Array) -> Array:
        return self.apply(weights)

    def is_invertible(self) -> bool:
        return 2 * self.coin != ONE

    def _inverse(self) -> tuple[float, float]:
        if not self.is_invertible():
            raise NotEstimable(
                "With theta = 1/2 a record cannot be told from its opposite, so nothing can be estimated. "
                "Choose another theta, or an unrelated question (a mixture), which works at any chance above 0."
            )
        spread = 2 * self.chance - 1
        return self.chance / spread, -(1 - self.chance) / spread

    def solve(self, tally: Array, guess: Array | None = None) -> Array:
        return self._mix(tally, *self._inverse())

    def solve_adjoint(self, weights: Array, guess: Array | None = None) -> Array:
        return self.solve(weights)

    def solve_squares(self, tally: Array, guess: Array | None = None) -> Array:
        same, opposite = self._inverse()
        return self._mix(tally, same**2, opposite**2)

    def solve_pairs(self, tally: Array, guess: Array | None = None) -> Array:
        q = flat(tally, len(self.shape))
        size = len(q)
        same, opposite = self._inverse()
        pairs = np.zeros((size, size, q.shape[1]))
        cells = np.arange(size)
        pairs[cells, cells] = same**2 * q + opposite**2 * q[::-1]
        pairs[cells, cells[::-1]] = same * opposite * (q + q[::-1])
        return pairs.reshape(size, size, *tally.shape[len(self.shape) :])

    def left_inverse(self, guess: Array | None = None) -> Array:
        same, opposite = self._inverse()
        identity = np.eye(self.size)
        return same * identity + opposite * identity[::-1]

    def _two_terms(self, columns: Sequence[Codes], same: float, opposite: float) -> tuple[ProductTerm, ...]:
        rows = len(columns[0])
        reversed_ = tuple(1 - column for column in columns)
        return ProductTerm(np.full(rows, same), tuple(columns)), ProductTerm(np.full(rows, opposite), reversed_)

    def _two_cells(self, columns: Sequence[Codes], same: float, opposite: float) -> Array:
        table = np.zeros((len(columns[0]), self.size))
        rows, codes = np.arange(len(table)), joint_codes(columns, self.shape)
        table[rows, codes] = same
        table[rows, self.size - 1 - codes] += opposite
        return table

    def chances(self, columns: Sequence[Codes]) -> Array:
        return self._two_cells(columns, self.chance, 1 - self.chance)

    def chance_terms(self, columns: Sequence[Codes]) -> tuple[ProductTerm, ...]:
        return self._two_terms(columns, self.chance, 1 - self.chance)

    def inverse(self, columns: Sequence[Codes], guess: Array | None = None) -> Array:
        return self._two_cells(columns, *self._inverse())

    def inverse_terms(self, columns: Sequence[Codes]) -> tuple[ProductTerm, ...]:
        return self._two_terms(columns, *self._inverse())

    def shown_contributions(self, codes: Codes, shown: NDArray[np.bool_]) -> Array:
        same, opposite = self._inverse()
        each = np.where(shown.all(axis=1), same, 0.0) + np.where(shown.any(axis=1), 0.0, opposite)
        return np.broadcast_to(each, (len(codes), len(each)))

    def most_likely(self, frequencies: Array) -> Array | None:
        if not self.is_invertible():
            return None
        # How many are a record or its opposite is counted without error; only how they divide is estimated.
        report_shares = frequencies.reshape(-1)
        return np.clip(self.solve(frequencies).reshape(-1), 0, report_shares + report_shares[::-1]).reshape(self.shape)

    def orbits(self) -> Orbits:
        here = np.arange(self.size // 2)
        truth_chance = self.chance
        law = np.array([[truth_chance, 1 - truth_chance], [1 - truth_chance, truth_chance]])
        return Orbits(np.stack([here, self.size - 1 - here], axis=1), law)

    def answer_amplification(self, axis: int) -> float:
        return self.amplification

    def figures(self, prior: Array) -> Figures:
        """A report leaves two records: itself, and its opposite, which is the cell counted from the other end."""
        p = prior.reshape(-1)
        same, opposite = self.chance * p, (1 - self.chance) * p[::-1]
        seen = same + opposite
        possible = seen > 0
        same, opposite, seen = same[possible], opposite[possible], seen[possible]
        best = same.clip(min=opposite)
        return Figures(
            map_privacy=float(1 - best.sum()),
            worst_posterior=float((best / seen).max()),
            pse=float(1 - ((same**2 + opposite**2) / seen).sum()),
        )

    def answer_figures(self, axis: int, prior: Array) -> Figures:
        # The two records that a report leaves differ in every answer: whoever knows one answer knows the record.
        return self.figures(prior)

    def independent_figures(self, priors: Sequence[Array]) -> Figures:
        figures = super().independent_figures(priors)
        if figures is not UNKNOWN or any(np.ptp(prior) for prior in priors):
            return figures
        # All records are equally likely, so only the coin hides which of the two it was; on a domain of any size.
        return Figures(1 - self.coin_guessed(), self.coin_guessed(), 2 * self.chance * (1 - self.chance))

    def independent_answer_figures(self, axis: int, priors: Sequence[Array]) -> Figures:
        return self.independent_figures(priors)

    def singular_extremes(self) -> tuple[float, float]:
        return 1.0, abs(2 * self.chance - 1)

    def coin_guessed(self) -> float:
        return max(self.chance, 1 - self.chance)

    def better_instead(self) -> dict[str, tuple[Recipe, bool]]:
        """A flip of a whole group leaves two records possible, and on real records the likelier one is usually the true one.

        An unrelated question that keeps the record with chance ``|2 theta - 1|`` gives every single answer the same law up
        to a known reversal, so the same standard error, and nearly the same for tables within the group; but every record
        stays possible. Flipping every answer by its own coin has the same errors for single answers again and hides most,
        at larger errors for tables.
        """
        if len(self.shape) == 1:
            return {}
        unrelated = Recipe("mixture", {"keep": abs(2 * self.theta - 1), "personal": "uniform"})
        return {
            "an unrelated question on the same groups": (unrelated, False),
            "a coin of its own for every answer": (flip(self.theta), True),
        }

    def caveat(self) -> str | None:
        if len(self.shape) == 1:
            return None
        return (
            "a flip of a whole group leaves only two records possible, the report and its opposite. Whoever learns one "
            "answer of the group knows the others. On real records one of the two is usually far likelier, so a guesser "
            "mostly knows which one is true: do not count on theta."
        )

    def marginal(self, axes: Sequence[int]) -> FlipChannel:
        return FlipChannel((2,) * len(checked_axes(axes, self.shape)), self.theta)


def flip(theta: float) -> Recipe:
    """Report the binary record with chance `theta`, else its opposite (multi-group randomized response).

    Parameters
    ----------
    theta : float
        Chance of the record as it is.

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
    >>> channels.flip(0.75).build((2,)).amplification
    3.0
    >>> channels.flip(0.75).build((2, 2)).amplification
    inf
    """
    return Recipe("flip", {"theta": theta})


def make_flip(shape: Shape, parameters: Parameters) -> Channel:
    return FlipChannel(shape, checked_chance("theta, the chance of the true record,", parameters["theta"]))


def _for_amplification(shape: Shape, gamma: float) -> Parameters | None:
    """Only a flip of one answer has an amplification."""
    return {"theta": math.floor(gamma / (1 + gamma) * ONE) / ONE} if shape == (2,) else None


KINDS = {"flip": Kind(make_flip, flip, ("theta",), _for_amplification, no_better_than="gamma-diagonal")}
