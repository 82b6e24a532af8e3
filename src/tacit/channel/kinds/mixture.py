"""Tell the truth with some chance, else report a draw that says nothing of it.

Warner's channel, uniform perturbation, FRAPP's gamma-diagonal and the unrelated question are all mixtures
(`tacit.channel.mixing`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.channel.base import Array, Channel, Codes
from tacit.channel.chances import (
    checked_chance,
    checked_distribution,
    checked_gamma,
    integer_weights,
    numerator,
    numerator_below,
)
from tacit.channel.codes import (
    checked_axes,
    joint_codes,
    outer_product,
    split_codes,
)
from tacit.channel.dense import gamma_diagonal_keep, warner_keep
from tacit.channel.mixing import MixtureLaw
from tacit.channel.recipe import Kind, Parameters, Recipe, Shape
from tacit.errors import InvalidInput
from tacit.randomness import ONE, Randomness, coins, uniform_below

# From here on the compiled kernel earns its import.
COMPILED_ROWS = 1 << 20
# The kernel numbers the stretches, at most twice as many as the choices, in 32 bits.
COMPILED_CHOICES = 1 << 30
CHUNK_ROWS = 1 << 16


@dataclass(frozen=True, eq=False)
class MixtureChannel(MixtureLaw):
    """A mixture that can be sampled: a coin, then the truth or the alternative.

    `coin` is the integer over 2**32 that a word must stay below for the truth to be reported. With `others` the
    alternative is a uniform *other* record (Warner), so the coin is the diagonal chance itself; else it is a draw from
    `personal`, and the coin is the chance to keep. `personal` is None for uniform, or holds integer weights: one array
    over the joint domain, or one per attribute.
    """

    kind: str
    parameters: dict[str, Any]
    shape: tuple[int, ...]
    coin: int
    others: bool = False
    personal: tuple[NDArray[np.int64], ...] | None = None

    @cached_property
    def exact_keep(self) -> Fraction:
        if not self.others:
            return Fraction(self.coin, ONE)
        return warner_keep(self.size, Fraction(self.coin, ONE))

    @property
    def is_even(self) -> bool:
        return self.personal is None

    @property
    def personal_factors(self) -> tuple[Array, ...] | None:
        if self.personal is None:
            return tuple(np.full(size, 1 / size) for size in self.shape)
        if len(self.personal) == len(self.shape):
            return tuple(weights / ONE for weights in self.personal)
        return None

    def program(self) -> dict[str, Any]:
        return {"toss": self.coin, "heads": {"same": 1}, "tails": self._alternative_program()}

    def _alternative_program(self) -> dict[str, Any]:
        if self.personal is None:
            return {"even": "other" if self.others else "any"}
        if len(self.personal) < len(self.shape):
            return {"weigh": self.personal[0].tolist(), "into": list(self.shape)}
        programs = [
            {"weigh": weights.tolist(), "into": [size]} for weights, size in zip(self.personal, self.shape, strict=True)
        ]
        if len(programs) == 1:
            return programs[0]
        return {"each": [[[place], program] for place, program in enumerate(programs)]}

    def caveat(self) -> str | None:
        if self.kind != "mixture" or len(self.shape) == 1 or self.keep <= 0:
            return None
        return (
            "whether a report is the record or the harmless draw can often be told from the report itself, because real "
            "records are correlated and draws are not; the chance to keep is no protection, amplification is."
        )

    def is_invertible(self) -> bool:
        if self.others:
            # If p differs from 1/n only by the rounding of chances, nothing is kept: the difference is rounding.
            return 2 * abs(self.size * self.coin - ONE) > self.size
        return self.keep != 0

    @property
    def rarest(self) -> Fraction:
        if self.personal is None:
            return Fraction(1, self.size)
        return math.prod((Fraction(int(weights.min()), ONE) for weights in self.personal), start=Fraction(1))

    @property
    def matrix(self) -> Array:
        law = super().matrix
        if self.others:  # keep and noise only add up to the coin's chance within a rounding error
            np.fill_diagonal(law, self.coin / ONE)
        return law

    @cached_property
    def personal_distribution(self) -> Array:
        if self.personal is None:
            return np.full(self.shape, 1 / self.size)
        return outer_product([weights / ONE for weights in self.personal]).reshape(self.shape)

    def sample(self, truths: Sequence[Codes], randomness: Randomness) -> tuple[Codes, ...]:
        if self.coin == ONE:
            return tuple(column.copy() for column in truths)
        if len(self.shape) == 1 and self.personal is None:
            return (self._sample_one(truths[0], self.shape[0], randomness),)
        if self.others:
            codes = self._sample_one(joint_codes(truths, self.shape), self.size, randomness)
            return split_codes(codes, self.shape)
        keeps = coins(randomness, self.coin, len(truths[0]))
        drawn = self._draw_personal(len(keeps), randomness)
        return tuple(
            np.where(keeps, truth, noise.astype(truth.dtype)) for truth, noise in zip(truths, drawn, strict=True)
        )

    def _draw_personal(self, count: int, randomness: Randomness) -> Sequence[Codes]:
        if self.personal is None:
            return [uniform_below(randomness, size, count) for size in self.shape]
        drawn = [
            np.searchsorted(np.cumsum(weights), randomness.words(count).astype(np.int64), side="right")
            for weights in self.personal
        ]
        return drawn if len(drawn) == len(self.shape) else split_codes(drawn[0], self.shape)

    def _sample_one(self, truth: Codes, size: int, randomness: Randomness) -> Codes:
        """Coin and uniform alternative of one column, both from a single word a row."""
        choices = size - 1 if self.others else size
        draw = mixture_codes
        if len(truth) >= COMPILED_ROWS and choices <= COMPILED_CHOICES:
            from tacit.channel.kinds._mixture_kernels import mixture_codes as draw
        out = np.empty_like(truth)
        for start in range(0, len(truth), CHUNK_ROWS):
            rows = slice(start, start + CHUNK_ROWS)
            chunk = truth[rows]
            again = draw(chunk, randomness.words(len(chunk)), self.coin, choices, self.others, out[rows])
            if len(again):
                values = uniform_below(randomness, choices, len(again))
                out[rows][again] = values + (self.others & (values >= chunk[again]))
        return out

    def marginal(self, axes: Sequence[int]) -> MixtureChannel | MarginalMixture:
        positions = checked_axes(axes, self.shape)
        return self if len(positions) == len(self.shape) else MarginalMixture(self, positions)


@dataclass(frozen=True, eq=False)
class MarginalMixture(MixtureLaw):
    """Some attributes of a mixture: again a mixture with the same keep (FRAPP eq. 28 is the uniform case)."""

    whole: MixtureChannel
    axes: tuple[int, ...]

    kind = "mixture"

    @property
    def parameters(self) -> dict[str, Any]:
        return {"keep": self.keep, "personal": self.personal_distribution.reshape(-1).tolist()}

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(self.whole.shape[axis] for axis in self.axes)

    @property
    def exact_keep(self) -> Fraction:
        return self.whole.exact_keep

    @property
    def is_even(self) -> bool:
        return self.whole.is_even

    @property
    def personal_factors(self) -> tuple[Array, ...] | None:
        factors = self.whole.personal_factors
        if factors is None:
            return (self.personal_distribution,) if len(self.axes) == 1 else None
        return tuple(factors[axis] for axis in self.axes)

    def program(self) -> dict[str, Any]:
        raise InvalidInput(
            "A mixture disguises the attributes of a group together, so some of them have no program of their own. Ask "
            "the channel of the whole group for its program."
        )

    def is_invertible(self) -> bool:
        return self.whole.is_invertible()

    @property
    def rarest(self) -> Fraction:
        personal = self.whole.personal
        if personal is None:
            return Fraction(1, self.size)
        if len(personal) == len(self.whole.shape):
            return math.prod((Fraction(int(personal[axis].min()), ONE) for axis in self.axes), start=Fraction(1))
        return Fraction(float(self.personal_distribution.min()))

    @cached_property
    def personal_distribution(self) -> Array:
        personal = self.whole.personal
        if personal is None:
            return np.full(self.shape, 1 / self.size)
        if len(personal) == len(self.whole.shape):
            return outer_product([personal[axis] / ONE for axis in self.axes])
        summed = tuple(axis for axis in range(len(self.whole.shape)) if axis not in self.axes)
        return self.whole.personal_distribution.sum(axis=summed)

    def sample(self, truths: Sequence[Codes], randomness: Randomness) -> tuple[Codes, ...]:
        # What the other attributes are does not matter for these columns.
        given = dict(zip(self.axes, truths, strict=True))
        anything = np.zeros_like(truths[0])
        drawn = self.whole.sample([given.get(axis, anything) for axis in range(len(self.whole.shape))], randomness)
        return tuple(drawn[axis] for axis in self.axes)

    def marginal(self, axes: Sequence[int]) -> MixtureChannel | MarginalMixture:
        positions = checked_axes(axes, self.shape)
        return self.whole.marginal([self.axes[axis] for axis in positions])


def mixture_codes(
    truth: Codes, words: NDArray[np.uint32], coin: int, choices: int, others: bool, out: Codes
) -> NDArray[np.intp]:
    """Reports into `out`; returns the rows whose alternative must be drawn again.

    A word below the coin keeps the truth. The others are equally likely, so they are cut into `choices` stretches of
    one even width; the few left over after the last stretch say nothing and are drawn anew. Where there are fewer such
    words than twice the choices, all of them are.
    """
    rest = words.astype(np.int64) - coin
    keeps = rest < 0
    width = (ONE - coin) // (2 * choices) * 2  # even, so that the compiled twin divides 31 bits
    value = rest // max(width, 1)
    again = np.flatnonzero(~keeps & (rest >= width * choices))
    if others:
        value += value >= truth
    out[:] = np.where(keeps, truth, value)
    return again


def warner(p: float) -> Recipe:
    """Report the truth with chance `p`, else another answer, all others alike (Warner 1965).

    Parameters
    ----------
    p : float
        Chance of the truth.

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
    >>> channels.warner(0.75).build((2,)).amplification
    3.0
    """
    return Recipe("warner", {"p": p})


def make_warner(shape: Shape, parameters: Parameters) -> Channel:
    coin = numerator(checked_chance("p, the chance of the truth,", parameters["p"]))
    return MixtureChannel("warner", parameters, shape, coin, others=True)


def uniform_perturbation(q: float) -> Recipe:
    """Keep the truth with chance `q`, else report any answer, all alike (the truth included).

    Parameters
    ----------
    q : float
        Chance to keep the truth.

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
    >>> channels.uniform_perturbation(0.5).build((2,)).amplification
    3.0
    """
    return Recipe("uniform-perturbation", {"q": q})


def make_uniform_perturbation(shape: Shape, parameters: Parameters) -> Channel:
    coin = numerator(checked_chance("q, the chance to keep the truth,", parameters["q"]))
    return MixtureChannel("uniform-perturbation", parameters, shape, coin)


def gamma_diagonal(gamma: float) -> Recipe:
    """The truth `gamma` times as likely as any other record (FRAPP's DET-GD).

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
    >>> channels.gamma_diagonal(3).build((2,)).matrix.tolist()
    [[0.75, 0.25], [0.25, 0.75]]
    """
    return Recipe("gamma-diagonal", {"gamma": gamma})


def make_gamma_diagonal(shape: Shape, parameters: Parameters) -> Channel:
    gamma = checked_gamma(parameters["gamma"])
    return MixtureChannel("gamma-diagonal", parameters, shape, _kept_below(gamma, math.prod(shape)))


def _kept_below(gamma: float, size: int) -> int:
    """The largest chance to keep the truth that has at most the amplification gamma, as an integer over 2**32."""
    return numerator_below(gamma_diagonal_keep(size, Fraction(gamma)))


def mixture(keep: float, personal: Any = "uniform") -> Recipe:
    """Keep the truth with chance `keep`, else report a draw from `personal` (the unrelated question).

    Parameters
    ----------
    keep : float
        Chance to keep the truth.
    personal : sequence of float, or of such sequences
        How the unrelated answer is distributed: over all joint answers, or for each attribute. Evenly by default.

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
    >>> channels.mixture(0.5, [0.5, 0.5]).build((2,)).matrix.tolist()
    [[0.75, 0.25], [0.25, 0.75]]
    """
    plain = personal.tolist() if isinstance(personal, np.ndarray) else personal
    return Recipe("mixture", {"keep": keep, "personal": plain})


def make_mixture(shape: Shape, parameters: Parameters) -> Channel:
    coin = numerator(checked_chance("keep, the chance to keep the truth,", parameters["keep"]))
    personal = parameters.get("personal", "uniform")
    if personal == "uniform":
        return MixtureChannel("mixture", parameters, shape, coin)
    lists = _distributions(personal)
    sizes = shape if len(lists) > 1 or len(shape) == 1 else (math.prod(shape),)
    lengths = [len(distribution) for distribution in lists]
    if lengths != list(sizes):
        raise InvalidInput(
            f"`personal` must hold one distribution for each of {len(shape)} attributes, of lengths {list(shape)}, or "
            f"one over all {math.prod(shape)} joint answers; its lengths are {lengths}."
        )
    weights = tuple(integer_weights(checked_distribution("`personal`", distribution)) for distribution in lists)
    return MixtureChannel("mixture", parameters, shape, coin, personal=weights)


def _distributions(personal: Any) -> Sequence[Sequence[float]]:
    """The distributions `personal` holds: one per attribute, or a single one."""
    if isinstance(personal, list | tuple) and personal:
        if all(isinstance(entry, list | tuple) for entry in personal):
            return personal
        if not any(isinstance(entry, list | tuple) for entry in personal):
            return [personal]
    raise InvalidInput(
        f"`personal` must be 'uniform', one distribution per attribute, or one over the joint domain, not {personal!r}."
    )


def _keep_for(shape: Shape, gamma: float) -> float:
    return _kept_below(checked_gamma(gamma), math.prod(shape)) / ONE


def _diagonal_for(shape: Shape, gamma: float) -> float:
    return numerator_below(Fraction(checked_gamma(gamma)) / (Fraction(gamma) + math.prod(shape) - 1)) / ONE


# Under one amplification all of them are the gamma-diagonal channel, but for the rounding of their chances.
KINDS = {
    "warner": Kind(
        make_warner,
        warner,
        ("p",),
        lambda shape, gamma: {"p": _diagonal_for(shape, gamma)},
        no_better_than="gamma-diagonal",
    ),
    "uniform-perturbation": Kind(
        make_uniform_perturbation,
        uniform_perturbation,
        ("q",),
        lambda shape, gamma: {"q": _keep_for(shape, gamma)},
        no_better_than="gamma-diagonal",
    ),
    "gamma-diagonal": Kind(make_gamma_diagonal, gamma_diagonal, ("gamma",), lambda _, gamma: {"gamma": gamma}),
    "mixture": Kind(
        make_mixture,
        mixture,
        ("keep",),
        lambda shape, gamma: {"keep": _keep_for(shape, gamma), "personal": "uniform"},
        optional=("personal",),
        no_better_than="gamma-diagonal",
    ),
}
