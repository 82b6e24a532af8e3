"""Hadamard response: one number that an answer's half of all numbers holds more often than the other half.

Number the n joint answers from 1 and let K be the power of two above n. The half of answer u are the K/2 numbers below K
that share an even number of bits with u: the positions where its row of Sylvester's matrix is +1 (Acharya, Sun and Zhang
2019). With ``tilt = 2 * holds - 1`` the chance of report v given u is ``(1 + tilt * H[u, v]) / K``, so applying and
inverting are fast Walsh transforms: K log K steps, and a report is one number whatever n is.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.channel.base import Array, Channel, Codes, Figures, Summed
from tacit.channel.chances import checked_gamma, numerator_below, ratio
from tacit.channel.codes import checked_axes, checked_matrix_size, flat, grid, joint_codes, joint_name
from tacit.channel.dense import UNKNOWN
from tacit.channel.recipe import Kind, Parameters, Recipe, Shape
from tacit.errors import InvalidInput, NotEstimable
from tacit.randomness import ONE, Randomness, coins, uniform_below
from tacit.schema import Attribute
from tacit.table.coded import code_type

# Numbers held at once where each cell of a sum has one for every report: 128 MB.
HELD = 1 << 24
# So few reports are looked at one by one.
FEW = 64
# A report is drawn from one word besides the coin's.
MOST_ANSWERS = ONE - 1


@dataclass(frozen=True, eq=False)
class HadamardChannel(Channel):
    """A number of the truth's half with chance gamma / (1 + gamma), else one of the other half."""

    shape: tuple[int, ...]
    gamma: float  # as demanded; the chance is rounded so that it is never exceeded

    kind = "hadamard"
    sums_to_one = False

    def __post_init__(self) -> None:
        if self.size > MOST_ANSWERS:
            raise InvalidInput(
                f"Hadamard response needs fewer than 2**32 joint answers; {' x '.join(map(str, self.shape))} are "
                f"{self.size:,}. Use smaller groups."
            )

    @property
    def parameters(self) -> dict[str, Any]:
        return {"gamma": self.gamma}

    @property
    def numbers(self) -> int:
        """K: how many different reports there are."""
        return 1 << self.size.bit_length()

    @property
    def n_reports(self) -> int:
        return self.numbers

    @property
    def tally_shape(self) -> tuple[int, ...]:
        return (self.numbers,)

    @property
    def treats_answers_alike(self) -> bool:
        return len(self.shape) == 1

    @property
    def coin(self) -> int:
        return numerator_below(Fraction(self.gamma) / (1 + Fraction(self.gamma)))

    @property
    def tilt(self) -> float:
        """How much likelier a number is for answers whose half holds it, in units of an even share."""
        return (2 * self.coin - ONE) / ONE

    @property
    def amplification(self) -> float:
        return ratio(Fraction(self.coin), Fraction(ONE - self.coin))

    def answer_amplification(self, axis: int) -> float:
        return self.amplification  # any two halves differ

    def program(self) -> dict[str, Any]:
        return {"toss": self.coin, "heads": {"half": [self.numbers, 0]}, "tails": {"half": [self.numbers, 1]}}

    def reports(self) -> tuple[Codes, ...]:
        return (np.arange(self.numbers, dtype=code_type(self.numbers)),)

    def report_attributes(self, attributes: Sequence[Attribute]) -> tuple[Attribute, ...]:
        return (Attribute(joint_name(attributes), tuple(map(str, range(self.numbers)))),)

    @property
    def matrix(self) -> Array:
        checked_matrix_size(self.numbers, self.size)
        return self.chances(self.reports())

    def sample(self, truths: Sequence[Codes], randomness: Randomness) -> tuple[Codes, ...]:
        rows = joint_codes(truths, self.shape) + 1
        odd = ~coins(randomness, self.coin, len(rows))
        drawn = uniform_below(randomness, self.numbers // 2, len(rows))
        # All bits but one are free: the lowest of the row's own, which makes the number of shared bits even or odd.
        lowest = rows & -rows
        below = drawn & (lowest - 1)
        report = ((drawn - below) << 1) | below
        report |= lowest * (_is_odd(report & rows) ^ odd)
        return (report.astype(code_type(self.numbers)),)

    def _signs(self, columns: Sequence[Codes]) -> Array:
        """The entries of Sylvester's matrix for some reports and all answers: ``(rows, answers)``."""
        shared = columns[0].astype(np.int64)[:, None] & np.arange(1, self.size + 1)
        return np.where(_is_odd(shared), -1.0, 1.0)

    def _transform(self, truths: Array) -> Array:
        """``H^T x`` for weights of the answers, along the first axis."""
        padded = np.zeros((self.numbers, truths.shape[1]))
        padded[1 : self.size + 1] = truths
        return walsh(padded)

    def _transformed_back(self, reports: Array) -> Array:
        """``H y`` for weights of the reports, along the first axis."""
        return walsh(reports)[1 : self.size + 1]

    def chances(self, columns: Sequence[Codes]) -> Array:
        return (1 + self.tilt * self._signs(columns)) / self.numbers

    def apply(self, truth: Array) -> Array:
        x = flat(truth, len(self.shape))
        shares = (x.sum(axis=0) + self.tilt * self._transform(x)) / self.numbers
        return shares.reshape(self.tally_shape + truth.shape[len(self.shape) :])

    def adjoint(self, weights: Array) -> Array:
        y = flat(weights, 1)
        means = (y.sum(axis=0) + self.tilt * self._transformed_back(y)) / self.numbers
        return means.reshape(self.shape + weights.shape[1:])

    def is_invertible(self) -> bool:
        return 2 * self.coin != ONE

    def _checked_tilt(self) -> float:
        if not self.is_invertible():
            raise NotEstimable(
                "With gamma = 1 both halves are equally likely, so nothing can be estimated. Choose a larger gamma."
            )
        return self.tilt

    def _check_invertible(self) -> None:
        self._checked_tilt()

    def solve(self, tally: Array, guess: Array | None = None) -> Array:
        p = self._transformed_back(flat(tally, 1)) / self._checked_tilt()
        return p.reshape(self.shape + tally.shape[1:])

    def solve_adjoint(self, weights: Array, guess: Array | None = None) -> Array:
        y = self._transform(flat(weights, len(self.shape))) / self._checked_tilt()
        return y.reshape(self.tally_shape + weights.shape[len(self.shape) :])

    def solve_squares(self, tally: Array, guess: Array | None = None) -> Array:
        # Every report counts for or against every answer by the same amount.
        everyone = flat(tally, 1).sum(axis=0) / self._checked_tilt() ** 2
        return np.broadcast_to(everyone, (self.size, len(everyone))).reshape(self.shape + tally.shape[1:])

    def solve_pairs(self, tally: Array, guess: Array | None = None) -> Array:
        # The product of two rows of Sylvester's matrix is a third one: that of the bits in which their numbers differ.
        numbers = np.arange(1, self.size + 1)
        products = walsh(flat(tally, 1))[numbers[:, None] ^ numbers]
        return (products / self._checked_tilt() ** 2).reshape(self.size, self.size, *tally.shape[1:])

    def left_inverse(self, guess: Array | None = None) -> Array:
        return self._signs(self.reports()).T / self._checked_tilt()

    def inverse(self, columns: Sequence[Codes], guess: Array | None = None) -> Array:
        return self._signs(columns) / self._checked_tilt()

    def margin(self, axes: Sequence[int]) -> HadamardChannel | SummedHadamard:
        positions = checked_axes(axes, self.shape)
        return self if len(positions) == len(self.shape) else SummedHadamard(self, positions)

    def summed_squares(self, axes: Sequence[int]) -> float:
        if axes:
            return super().summed_squares(axes)
        even = np.full(self.shape, 1 / self.size)
        return float(self.solve_adjoint(np.ones(self.shape)) ** 2 @ self.apply(even))

    def figures(self, prior: Array) -> Figures:
        """Without a matrix: sums over the answers are Walsh transforms of the prior and of its square."""
        p, tilt = prior.reshape(-1), self.tilt
        of_prior, of_squares = self._transform(np.stack([p, p**2], axis=1)).T
        seen = 1 + tilt * of_prior  # K times the chance of each report
        squares = (1 + tilt**2) * (p @ p) + 2 * tilt * of_squares
        inside, outside = self._likeliest(p)
        best = np.maximum((1 + tilt) * inside, (1 - tilt) * outside)
        possible = seen > 0
        return Figures(
            map_privacy=float(1 - best.sum() / self.numbers),
            worst_posterior=float((best[possible] / seen[possible]).max()),
            pse=float(1 - (squares[possible] / seen[possible]).sum() / self.numbers),
        )

    def _likeliest(self, p: Array) -> tuple[Array, Array]:
        """For each report the prior of the likeliest answer whose half holds it, and of the likeliest other one.

        Answer by answer, the likeliest first: each settles about half of the reports that are left, until few are.
        """
        likeliest = np.zeros((2, self.numbers))
        left = [np.arange(self.numbers), np.arange(1, self.numbers)]  # 0 shares no bit with any answer
        for answer in np.argsort(-p, kind="stable"):
            for side in (0, 1):
                mine = _is_odd(left[side] & (answer + 1)) == bool(side)
                likeliest[side, left[side][mine]] = p[answer]
                left[side] = left[side][~mine]
            if max(map(len, left)) <= FEW:
                break
        answers = np.arange(1, self.size + 1)
        for side in (0, 1):
            for report in left[side]:
                likeliest[side, report] = p[_is_odd(answers & report) == bool(side)].max(initial=0.0)
        return likeliest[0], likeliest[1]

    def answer_figures(self, axis: int, prior: Array) -> Figures:
        if len(self.shape) == 1:
            return self.figures(prior)
        if self.shape[axis] * self.numbers > HELD:
            return UNKNOWN
        indicators = grid(self.shape)[axis][:, None] == np.arange(self.shape[axis])
        parts = prior.reshape(-1)[:, None] * indicators
        joint = (parts.sum(axis=0) + self.tilt * self._transform(parts)) / self.numbers  # [report, answer]
        seen = joint.sum(axis=1)
        possible = seen > 0
        return Figures(
            map_privacy=float(1 - joint.max(axis=1).sum()),
            worst_posterior=float((joint[possible] / seen[possible, None]).max()),
            pse=float(1 - (joint[possible] ** 2 / seen[possible, None]).sum()),
        )

    def singular_extremes(self) -> tuple[float, float]:
        """From ``A^T A = (1 1^T + tilt^2 I) / K``: rows of Sylvester's matrix are orthogonal, and all but the first even."""
        return math.sqrt((self.size + self.tilt**2) / self.numbers), abs(self.tilt) / math.sqrt(self.numbers)


@dataclass(frozen=True, eq=False)
class SummedHadamard(Summed):
    """The estimate under Hadamard response, summed over the attributes that are not asked for."""

    channel: HadamardChannel

    def _contributions(self, cells: slice) -> Array:
        """What each report contributes to some of the cells: ``(reports, cells)``."""
        wanted = np.eye(math.prod(self.shape))[:, cells]
        return flat(self.solve_adjoint(wanted.reshape(*self.shape, -1)), 1)

    def left_inverse(self, guess: Array | None = None) -> Array:
        return self._contributions(slice(None)).T

    def _reports_and_contributions(self, tally: Array, guess: Array | None) -> tuple[Array, Array]:
        return self.left_inverse(), flat(tally, 1)

    def solve_squares(self, tally: Array, guess: Array | None = None) -> Array:
        q, cells = flat(tally, 1), math.prod(self.shape)
        step = max(1, HELD // len(q))
        blocks = [self._contributions(slice(start, start + step)) ** 2 for start in range(0, cells, step)]
        return np.concatenate([block.T @ q for block in blocks]).reshape(self.shape + tally.shape[1:])


def walsh(values: Array) -> Array:
    """Sylvester's matrix times `values`, along the first axis, whose length is a power of two."""
    rows, behind = values.shape
    step = 1
    while step < rows:
        pairs = values.reshape(rows // (2 * step), 2, step, behind)
        values = np.stack([pairs[:, 0] + pairs[:, 1], pairs[:, 0] - pairs[:, 1]], axis=1)
        step *= 2
    return values.reshape(rows, behind)


def _is_odd(numbers: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Whether each number has an odd number of bits."""
    folded = numbers.copy()
    for shift in (32, 16, 8, 4, 2, 1):
        folded ^= folded >> shift
    return folded % 2 == 1


def hadamard(gamma: float) -> Recipe:
    """One number, `gamma` times as likely if it is in the half of all numbers that belongs to the truth.

    Parameters
    ----------
    gamma : float
        The largest amplification: how much likelier one truth may make a report than another.

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
    >>> channels.hadamard(3).build((100_000,)).amplification
    3.0
    """
    return Recipe("hadamard", {"gamma": gamma})


def make_hadamard(shape: Shape, parameters: Parameters) -> Channel:
    return HadamardChannel(shape, checked_gamma(parameters["gamma"]))


def _for_amplification(shape: Shape, gamma: float) -> Parameters:
    return {"gamma": gamma}


KINDS = {"hadamard": Kind(make_hadamard, hadamard, ("gamma",), _for_amplification, no_better_than="subset")}
