"""What every channel can do, and the dense way to do it. A channel is a linear map from truths to reports.

A channel belongs to one group of attributes: `shape` holds the number of answers of each. What it maps to is a *tally*
of its reports: an array with one axis per report column. A column that shows one answer has a slot per answer. A column
that shows a set has a slot per member, and a last slot that counts every report; so a set is tallied per member and
everything stays linear. Arrays may carry further axes behind the group's own.

A kind says its `shape`, `kind`, `parameters`, `tally_shape`, `reports`, `matrix`, `report_attributes` and `program`.
Everything else follows from these here, by writing the matrix out; a kind overrides what it knows better.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tacit.channel import dense
from tacit.channel.codes import (
    Array,
    Codes,
    checked_axes,
    flat,
    grid,
    joint_codes,
    outer,
    outer_product,
    row_products,
    slots,
)
from tacit.channel.dense import UNKNOWN, Figures
from tacit.channel.program import WordDraws, compile_program
from tacit.channel.recipe import Recipe
from tacit.channel.symmetry import Orbits, SetLaw
from tacit.errors import InvalidInput, NotEstimable
from tacit.randomness import Randomness
from tacit.schema import Attribute, Shows
from tacit.table.coded import code_type
from tacit.table.hashed import Hashing

__all__ = ["Array", "Channel", "Codes", "Estimator", "Figures", "Margin", "Orbits", "ProductTerm", "SetLaw", "Summed"]

Masks = Sequence[NDArray[np.bool_]]
Factor = Codes | Array | None

# A dense matrix of 2**22 chances takes 32 MB and well under a second.
DENSE_ENTRIES = 1 << 22
# Beyond this a joint distribution is not written out.
JOINT_CELLS = 1 << 22
# Beyond this the inverse multiplies rounding errors into the digits that matter.
LARGEST_CONDITION = 1e12
WORDS_AT_ONCE = 1 << 10


@dataclass(frozen=True, eq=False)
class ProductTerm:
    """One of few terms, each a product over the attributes, that add up to a table of rows by truths.

    A factor is None (1 for every answer), a column of codes (1 for the answer of each row, 0 for all others), or numbers
    for each row and answer.
    """

    scale: Array
    factors: tuple[Factor, ...]

    def written_out(self, shape: tuple[int, ...]) -> Array:
        """The term for every row and every joint answer: ``(rows, truths)``."""
        rows = len(self.scale)
        parts = [_written_factor(factor, rows, size) for factor, size in zip(self.factors, shape, strict=True)]
        return self.scale[:, None] * row_products(parts)


def _written_factor(factor: Factor, rows: int, size: int) -> Array:
    if factor is None:
        return np.ones((rows, size))
    return slots(factor, size) if factor.ndim == 1 else factor


class Estimator:
    """How the truth is estimated from a tally: the part of a channel that a sum over attributes has as well."""

    if TYPE_CHECKING:  # whoever estimates has them as fields or as properties

        @property
        def shape(self) -> tuple[int, ...]:
            """Number of answers of each attribute."""

        @property
        def tally_shape(self) -> tuple[int, ...]:
            """Shape of a tally of its report columns."""

    def is_invertible(self) -> bool:
        """Whether the distribution of the truth can be estimated from reports."""
        raise NotImplementedError

    def left_inverse(self, guess: Array | None = None) -> Array:
        """``L`` with ``L @ tally`` the estimate, of least variance where the truth of the group is `guess`."""
        raise NotImplementedError

    def _reports_and_contributions(self, tally: Array, guess: Array | None) -> tuple[Array, Array]:
        """What each possible report contributes, ``(truths, reports)``, and the share of each report in a tally."""
        raise NotImplementedError

    def _behind(self, tally: Array) -> tuple[int, ...]:
        return tally.shape[len(self.tally_shape) :]

    def solve(self, tally: Array, guess: Array | None = None) -> Array:
        """Unbiased estimate of the truth; `guess` is where it should be most precise, if there is a choice."""
        solved = self.left_inverse(guess) @ flat(tally, len(self.tally_shape))
        return solved.reshape(self.shape + self._behind(tally))

    def solve_adjoint(self, weights: Array, guess: Array | None = None) -> Array:
        """Weights on reports whose mean is the estimate of ``sum(weights * truth)``: ``shape`` to ``tally_shape``."""
        behind = weights.shape[len(self.shape) :]
        return (self.left_inverse(guess).T @ flat(weights, len(self.shape))).reshape(self.tally_shape + behind)

    def solve_squares(self, tally: Array, guess: Array | None = None) -> Array:
        """Mean square of one report's contribution to `solve`, for each truth."""
        contributions, shares = self._reports_and_contributions(tally, guess)
        return (contributions**2 @ shares).reshape(self.shape + self._behind(tally))

    def solve_pairs(self, tally: Array, guess: Array | None = None) -> Array:
        """Mean product of one report's contributions: ``(truths, truths)`` before the further axes."""
        contributions, shares = self._reports_and_contributions(tally, guess)
        pairs = np.einsum("uv,wv,vb->uwb", contributions, contributions, shares, optimize=True)
        return pairs.reshape(len(contributions), len(contributions), *self._behind(tally))

    def conjunction(self, masks: Masks) -> list[tuple[tuple[int, ...], Array]]:
        """Weight tables on report columns whose product estimates "every attribute within its mask"."""
        return [(tuple(range(len(self.tally_shape))), self.solve_adjoint(outer(masks)))]


class Channel(Estimator):
    """The law of a report given the truth, after all of the respondent's own draws."""

    # Whether the reports of some attributes alone are again reports of a simple channel.
    has_marginals: bool = False
    # Whether `shown_contributions` are known: a report counts for a conjunction by which of its answers it shows.
    counts_by_shown: bool = False

    if TYPE_CHECKING:

        @property
        def kind(self) -> str:
            """Its name in the scheme document."""

        @property
        def parameters(self) -> dict[str, Any]:
            """Its parameters in the scheme document."""

        @property
        def matrix(self) -> Array:
            """The dense law ``matrix[report, truth]`` of whole reports, in the order of `reports`."""

    # A report looks like a record, unless a kind says otherwise.

    @property
    def shows(self) -> Shows:
        """What a column of its reports shows: one answer, a set of them, one bit per answer, or a bucket of a hash."""
        return "one"

    @property
    def sums_to_one(self) -> bool:
        """Whether each report's contributions to `solve` add up to one."""
        return True

    @property
    def treats_answers_alike(self) -> bool:
        """Whether every answer has the same error under an even prior, so that one of them stands for all."""
        return False

    @property
    def tally_shape(self) -> tuple[int, ...]:
        return self.shape

    def reports(self) -> tuple[Codes, ...]:
        """Every possible report, as columns, in the order of the rows of `matrix`."""
        return grid(self.tally_shape)

    def report_attributes(self, attributes: Sequence[Attribute]) -> tuple[Attribute, ...]:
        """The columns of its reports, given the attributes of its group."""
        return tuple(attributes)

    def program(self) -> dict[str, Any]:
        """The sampler as a tree of whole numbers (`tacit.channel.program`): what a respondent's device runs."""
        raise NotImplementedError

    @property
    def size(self) -> int:
        """Number of joint answers of the group."""
        return math.prod(self.shape)

    @property
    def n_reports(self) -> int:
        """Number of possible reports."""
        return math.prod(self.tally_shape) if self._shows_one else len(self.reports()[0])

    @property
    def report_members(self) -> int:
        """How many answers a report names if it is a set; 0 if it is not a set."""
        return 0

    @property
    def is_small(self) -> bool:
        """Whether its matrix may be written out in a moment."""
        return self.n_reports * self.size <= DENSE_ENTRIES

    @property
    def has_choice(self) -> bool:
        """Whether there are more reports than truths, so that there are many unbiased estimators."""
        return False

    @property
    def is_clear(self) -> bool:
        """Whether its reports are the truths themselves."""
        return False

    @property
    def _shows_one(self) -> bool:
        """Whether every column of a report shows one answer, so that a tally counts whole reports."""
        return self.shows == "one"

    def sample(self, truths: Sequence[Codes], randomness: Randomness) -> tuple[Codes, ...]:
        """One report for each true record, column by column: here by running the program for one after the other."""
        node = compile_program(self.program(), self.shape)
        draws = WordDraws(_next_word(randomness))
        records = np.column_stack([column.astype(np.int64) for column in truths]).tolist()
        digits = np.array([node.run(tuple(record), draws) for record in records], dtype=np.int64)
        return self._columns_of(digits.reshape(len(records), len(node.report_radices)))

    def _columns_of(self, digits: NDArray[np.int64]) -> tuple[Codes, ...]:
        """The columns of reports that are given as the digits of a program."""
        if self.shows == "set":
            return (digits.astype(code_type(self.size)),)
        if self.shows == "hashed":
            return (digits.astype(np.uint32),)
        if self.shows == "bits":
            return tuple(np.split(digits.astype(np.bool_), np.cumsum(self.shape)[:-1], axis=1))
        return tuple(digits[:, place].astype(code_type(size)) for place, size in enumerate(self.tally_shape))

    # What is expected of reports, and what they say of the truth.

    @cached_property
    def _slots(self) -> Array:
        """What each possible report adds to each cell of a tally: ``(reports, cells)``."""
        return self._slots_of(self.reports())

    def _slots_of(self, columns: Sequence[Codes]) -> Array:
        """What each of some reports adds to each cell of a tally: ``(rows, cells)``."""
        if self.shows == "hashed":
            holding = Hashing(self.size, self.program()["hash"]["buckets"]).holding(columns[0])
            return np.concatenate([holding, np.ones((len(holding), 1))], axis=1)
        return row_products([slots(*pair) for pair in zip(columns, self.tally_shape, strict=True)])

    def apply(self, truth: Array) -> Array:
        """Expected tally of one report when the truth has this distribution: ``shape`` to ``tally_shape``."""
        shares = self.matrix @ flat(truth, len(self.shape))
        cells = shares if self._shows_one else self._slots.T @ shares
        return cells.reshape(self.tally_shape + truth.shape[len(self.shape) :])

    def adjoint(self, weights: Array) -> Array:
        """Expected weight of a report, given each truth: ``tally_shape`` to ``shape``."""
        of_reports = flat(weights, len(self.tally_shape))
        of_reports = of_reports if self._shows_one else self._slots @ of_reports
        return (self.matrix.T @ of_reports).reshape(self.shape + self._behind(weights))

    def chances(self, columns: Sequence[Codes]) -> Array:
        """Chance of each of some reports, given each truth: ``(rows, truths)``."""
        if self._shows_one:
            return self.matrix[joint_codes(columns, self.tally_shape)]
        return self.matrix[self._rows_of(columns)]

    def _rows_of(self, columns: Sequence[Codes]) -> NDArray[np.intp]:
        """Which row of the matrix each of these reports is."""
        listed, asked = (
            np.column_stack([column.reshape(len(column), -1) for column in rows]).astype(np.int64)
            for rows in (self.reports(), columns)
        )
        _, places = np.unique(np.concatenate([listed, asked]), axis=0, return_inverse=True)
        places = places.reshape(-1)
        row_at = np.full(int(places.max()) + 1, -1)
        row_at[places[: len(listed)]] = np.arange(len(listed))
        rows = row_at[places[len(listed) :]]
        if (rows < 0).any():
            raise InvalidInput(
                f"One of the reports cannot come from the channel {self.kind!r}. Give the scheme that the reports were "
                "disguised with."
            )
        return rows

    def chance_terms(self, columns: Sequence[Codes]) -> tuple[ProductTerm, ...] | None:
        """`chances` as a short sum of products over the attributes; None if there is no such sum."""
        return self._only_factor(self.chances(columns)) if len(self.shape) == 1 else None

    def _only_factor(self, table: Array) -> tuple[ProductTerm, ...]:
        return (ProductTerm(np.ones(len(table)), (table,)),)

    # The inverse.

    def is_invertible(self) -> bool:
        condition = self.condition_number()
        return condition is None or condition <= LARGEST_CONDITION

    def _check_invertible(self) -> None:
        if not self.is_invertible():
            raise NotEstimable(
                f"The reports of the channel {self.kind!r} do not tell some different truths apart, so the truth cannot be "
                "estimated from them. Choose other parameters."
            )

    def left_inverse(self, guess: Array | None = None) -> Array:
        self._check_invertible()
        even = np.full(self.size, 1 / self.size)
        if self._shows_one:
            return dense.best_inverse(self.matrix, even if guess is None else guess.reshape(-1))
        return np.asarray(np.linalg.pinv(self._slots.T @ self.matrix))

    def _reports_and_contributions(self, tally: Array, guess: Array | None) -> tuple[Array, Array]:
        left = self.left_inverse(guess)
        if self._shows_one:
            return left, flat(tally, len(self.tally_shape))
        # Such a tally does not count whole reports, but their shares are expected to be those of the estimated truth.
        shares = self.matrix @ flat(self.solve(tally, guess), len(self.shape))
        return left @ self._slots.T, shares

    def inverse(self, columns: Sequence[Codes], guess: Array | None = None) -> Array:
        """What each of some reports contributes to the estimate of each truth: ``(rows, truths)``."""
        left = self.left_inverse(guess)
        if self._shows_one:
            return left.T[joint_codes(columns, self.tally_shape)]
        return self._slots_of(columns) @ left.T

    def inverse_terms(self, columns: Sequence[Codes]) -> tuple[ProductTerm, ...] | None:
        """`inverse` as a short sum of products over the attributes; None if there is no such sum, or several inverses."""
        if len(self.shape) > 1 or self.has_choice:
            return None
        return self._only_factor(self.inverse(columns))

    def shown_contributions(self, codes: Codes, shown: NDArray[np.bool_]) -> Array:
        """What reports contribute to "all of these answers are true", by which of the answers they show.

        Rows of `codes` hold one answer per attribute, rows of `shown` say which of them a report shows:
        ``(rows of codes, rows of shown)``. Only where `counts_by_shown`.
        """
        raise NotImplementedError

    def margin(self, axes: Sequence[int]) -> Estimator:
        """What estimates some of the attributes: their marginal channel, or the whole group's estimate, summed."""
        positions = checked_axes(axes, self.shape)
        if self.has_marginals:
            return self.marginal(positions)
        return self if len(positions) == len(self.shape) else Summed(self, positions)

    def marginal(self, axes: Sequence[int]) -> Channel:
        """The channel of some of the attributes, where `has_marginals`."""
        if len(checked_axes(axes, self.shape)) < len(self.shape):
            raise InvalidInput(
                f"Under the channel {self.kind!r} part of a group cannot be estimated by itself. Estimate all attributes "
                "of the group together, then add up the answers of those you do not need."
            )
        return self

    def summed_squares(self, axes: Sequence[int]) -> float:
        """Summed mean square of one report's contributions to the cells of a margin, if all truths are alike."""
        if not axes:
            return 1.0
        law = self.marginal(axes) if self.has_marginals else self
        even = np.full(law.shape, 1 / law.size)
        return float(self.margin(axes).solve_squares(law.apply(even)).sum())

    # Likelihood: closed forms and symmetries.

    def most_likely(self, frequencies: Array) -> Array | None:
        """The maximum likelihood estimate for reports of these frequencies; None if it has no closed form."""
        return None

    def orbits(self) -> Orbits | None:
        """The orbits of records that no report leaves; None if they are not small."""
        return None

    def set_law(self) -> SetLaw | None:
        """The chances of a channel that treats all records alike."""
        return None

    # Privacy.

    @property
    def amplification(self) -> float:
        """Largest ratio of two chances of the same report; needs no prior."""
        return dense.amplification(self.matrix)

    def answer_amplification(self, axis: int) -> float:
        """Largest ratio of two chances of one report, of records that differ in one attribute only."""
        rows = np.moveaxis(self.matrix.reshape(-1, *self.shape), axis + 1, -1).reshape(-1, self.shape[axis])
        return dense.amplification(rows)

    def figures(self, prior: Array) -> Figures:
        """What a whole report reveals of the whole record, for a prior over the joint answers."""
        return dense.dense_figures(self.matrix, prior.reshape(-1)) if self.is_small else UNKNOWN

    def answer_figures(self, axis: int, prior: Array) -> Figures:
        """What a whole report reveals of one attribute, for a prior over the joint answers."""
        if len(self.shape) == 1:
            return self.figures(prior)
        if not self.is_small:
            return UNKNOWN
        others = tuple(other for other in range(len(self.shape)) if other != axis)
        law = dense.attribute_law(self.matrix, self.shape, axis, prior)
        return dense.dense_figures(law, prior.sum(axis=others))

    def independent_figures(self, priors: Sequence[Array]) -> Figures:
        """`figures` where the attributes are independent, each with a prior of its own."""
        return self.figures(outer_product(priors)) if self.size <= JOINT_CELLS else UNKNOWN

    def independent_answer_figures(self, axis: int, priors: Sequence[Array]) -> Figures:
        """`answer_figures` where the attributes are independent."""
        return self.answer_figures(axis, outer_product(priors)) if self.size <= JOINT_CELLS else UNKNOWN

    def accurate_map_privacy(self, prior: Array, accuracy: Array) -> float:
        """How often the best guesser is wrong, where `accuracy[guess, truth]` says what a guess is worth."""
        return dense.map_privacy(self.matrix, prior.reshape(-1), accuracy)

    def singular_extremes(self) -> tuple[float, float] | None:
        """Largest and smallest singular value of the matrix; None if the matrix is too large."""
        return dense.singular_extremes(self.matrix) if self.is_small else None

    def condition_number(self) -> float | None:
        """Ratio of the extreme singular values: how much inverting may magnify noise; None if unknown."""
        extremes = self.singular_extremes()
        return None if extremes is None else dense.condition(extremes)

    def itemset_condition(self, length: int) -> float | None:
        """How much the relative error of an itemset of so many answers can grow (FRAPP); None if undefined."""
        return None

    def better_instead(self) -> dict[str, tuple[Recipe, bool]]:
        """More private channels of the same usefulness, by name: a recipe, and whether each attribute gets its own."""
        return {}

    def caveat(self) -> str | None:
        """One sentence that only this kind needs beside its figures."""
        return None

    def drawn_odds(self) -> tuple[float, float, float] | None:
        """Odds of the truth against another record: the least, the expected and the most that a respondent may have drawn.

        Only for channels in which each respondent draws a matrix of their own.
        """
        return None

    def coin_guessed(self) -> float | None:
        """How often a guess of the respondent's coin is right, without other knowledge; None if there is no single coin."""
        return None


def _next_word(randomness: Randomness) -> Callable[[], int]:
    """Words one by one, drawn in blocks."""
    words: Iterator[int] = iter(())

    def one() -> int:
        nonlocal words
        for word in words:
            return word
        words = iter(randomness.words(WORDS_AT_ONCE).tolist())
        return next(words)

    return one


@dataclass(frozen=True, eq=False)
class Margin(Estimator):
    """The estimate of some attributes of a group, by the channel of the whole group."""

    channel: Channel
    axes: tuple[int, ...]

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(self.channel.shape[axis] for axis in self.axes)

    @property
    def tally_shape(self) -> tuple[int, ...]:
        return self.channel.tally_shape


class Summed(Margin):
    """The estimate of a group whose channel has no marginals, summed over the attributes that are not asked for."""

    @property
    def _others(self) -> tuple[int, ...]:
        return tuple(axis for axis in range(len(self.channel.shape)) if axis not in self.axes)

    def is_invertible(self) -> bool:
        return self.channel.is_invertible()

    def _sum_over_others(self, truths: Array) -> Array:
        """From the joint answers of the group, along the first axis, to the cells that are asked for."""
        shaped = truths.reshape(*self.channel.shape, *truths.shape[1:])
        return flat(shaped.sum(axis=self._others), len(self.axes))

    def left_inverse(self, guess: Array | None = None) -> Array:
        return self._sum_over_others(self.channel.left_inverse(guess))

    def _reports_and_contributions(self, tally: Array, guess: Array | None) -> tuple[Array, Array]:
        contributions, shares = self.channel._reports_and_contributions(tally, guess)
        return self._sum_over_others(contributions), shares

    def solve(self, tally: Array, guess: Array | None = None) -> Array:
        return self.channel.solve(tally, guess).sum(axis=self._others)

    def solve_adjoint(self, weights: Array, guess: Array | None = None) -> Array:
        shape, behind = self.channel.shape, weights.shape[len(self.shape) :]
        broadcast_shape = tuple(size if axis in self.axes else 1 for axis, size in enumerate(shape))
        spread = np.broadcast_to(weights.reshape(broadcast_shape + behind), shape + behind)
        return self.channel.solve_adjoint(spread, guess)
