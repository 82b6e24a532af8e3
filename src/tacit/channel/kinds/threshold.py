"""Thresholds: "is it more than t?", with t drawn publicly and the answer to that disguised by a coin.

Ordered answers 0 to n - 1 have n - 1 gaps between them. Each respondent draws one, with chances that are public, and
reports it beside "above" or "not above", which is true with chance gamma / (1 + gamma). The threshold says nothing about the
respondent, so the amplification is the coin's. A mean needs little more than this: with gaps drawn in proportion to their
width its error is within half a percent of the least possible (FORMULAS 16). Shares of single answers are differences of two
thresholds, and are dear.
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
from tacit.channel.chances import checked_gamma, integer_weights, numerator_below, ratio
from tacit.channel.codes import checked_matrix_size
from tacit.channel.recipe import Kind, Parameters, Recipe, Shape
from tacit.errors import InvalidInput, NotEstimable
from tacit.randomness import ONE, Randomness, coins
from tacit.schema import Attribute
from tacit.table.coded import code_type


@dataclass(frozen=True, eq=False)
class ThresholdChannel(Channel):
    """A gap between two answers, drawn with chances in proportion to `widths`, and a disguised "above it?"."""

    shape: tuple[int, ...]
    gamma: float  # as demanded; the coin is rounded so that it is never exceeded
    widths: tuple[float, ...] | None = None  # of the gaps; alike where they are not given

    kind = "threshold"

    def __post_init__(self) -> None:
        checked_matrix_size(2 * self.gaps, self.size)

    @property
    def parameters(self) -> dict[str, Any]:
        return {"gamma": self.gamma} | ({} if self.widths is None else {"widths": list(self.widths)})

    @property
    def gaps(self) -> int:
        return self.size - 1

    @cached_property
    def weights(self) -> NDArray[np.int64]:
        """Chances of the gaps, over 2**32."""
        widths = np.ones(self.gaps) if self.widths is None else np.array(self.widths)
        return integer_weights(widths / widths.sum())

    @property
    def coin(self) -> int:
        return numerator_below(Fraction(self.gamma) / (1 + Fraction(self.gamma)))

    @property
    def tally_shape(self) -> tuple[int, ...]:
        return (self.gaps, 2)

    @property
    def has_choice(self) -> bool:
        return True

    @cached_property
    def matrix(self) -> Array:
        above = (np.arange(self.size) > np.arange(self.gaps)[:, None]).astype(np.float64)  # [gap, answer]
        says_above = above * self.coin + (1 - above) * (ONE - self.coin)
        chances = np.stack([ONE - says_above, says_above], axis=1) / ONE
        return (self.weights[:, None, None] / ONE * chances).reshape(2 * self.gaps, self.size)

    @property
    def amplification(self) -> float:
        return ratio(Fraction(self.coin), Fraction(ONE - self.coin))

    def program(self) -> dict[str, Any]:
        said = {"toss": self.coin, "heads": {"same": 1}, "tails": {"reverse": 1}}
        return {"above": self.weights.tolist(), "then": said}

    def report_attributes(self, attributes: Sequence[Attribute]) -> tuple[Attribute, ...]:
        (attribute,) = attributes
        limits = Attribute(f"{attribute.name}:threshold", attribute.answers[:-1], ordered=True)
        return limits, Attribute(f"{attribute.name}:above", ("no", "yes"))

    def sample(self, truths: Sequence[Codes], randomness: Randomness) -> tuple[Codes, ...]:
        ends = np.cumsum(self.weights)
        gaps = np.searchsorted(ends, randomness.words(len(truths[0])), side="right")
        is_true = coins(randomness, self.coin, len(gaps))
        above = (truths[0] > gaps) == is_true
        return gaps.astype(code_type(self.gaps)), above.astype(code_type(2))

    def is_invertible(self) -> bool:
        return 2 * self.coin != ONE

    def _check_invertible(self) -> None:
        if not self.is_invertible():
            raise NotEstimable(
                "With gamma = 1 'above' says nothing about the answer, so nothing can be estimated. Choose a larger gamma."
            )


def threshold(gamma: float, widths: Sequence[float] | None = None) -> Recipe:
    """Whether the answer lies above a threshold that is drawn publicly, disguised by a coin.

    For the mean of ordered answers: no channel of the same amplification is much better, and everybody understands what is sent.

    Parameters
    ----------
    gamma : float
        The largest amplification: how much likelier one truth may make a report than another.
    widths : sequence of float, optional
        The distances between neighbouring answers, in their order: thresholds are drawn in proportion to them. Without them
        all distances are alike.

    Returns
    -------
    Recipe
        What `Scheme.of` takes; ``build(shape)`` makes the channel.

    Raises
    ------
    InvalidInput
        When it is built for more than one attribute or with a parameter that cannot be kept.

    Examples
    --------
    >>> from tacit import channels
    >>> channel = channels.threshold(3).build((11,))
    >>> channel.amplification, channel.tally_shape
    (3.0, (10, 2))
    """
    return Recipe("threshold", {"gamma": gamma} | ({} if widths is None else {"widths": list(widths)}))


def make_threshold(shape: Shape, parameters: Parameters) -> Channel:
    if len(shape) != 1:
        raise InvalidInput(
            f"A threshold is drawn for the answers to one question; this group has {len(shape)}. Give each a group of its own."
        )
    if shape[0] < 3:
        raise InvalidInput(
            "Two answers have one threshold, so drawing it is no use. Ask them with the channel 'warner'."
        )
    return ThresholdChannel(shape, checked_gamma(parameters["gamma"]), _checked_widths(parameters.get("widths"), shape))


def _checked_widths(widths: Any, shape: Shape) -> tuple[float, ...] | None:
    if widths is None:
        return None
    gaps = shape[0] - 1
    if not isinstance(widths, list | tuple) or len(widths) != gaps:
        raise InvalidInput(
            f"{shape[0]} answers have {gaps} widths between them, not {widths!r}. Give one number for each."
        )
    if not all(isinstance(width, int | float) and math.isfinite(width) and width > 0 for width in widths):
        raise InvalidInput(f"The widths between answers must be numbers above 0, not {widths!r}.")
    return tuple(map(float, widths))


def _for_amplification(shape: Shape, gamma: float) -> Parameters | None:
    return {"gamma": gamma} if len(shape) == 1 and shape[0] > 2 else None


# For a mean it is better; what recommends channels by their shares need not try it.
KINDS = {
    "threshold": Kind(
        make_threshold, threshold, ("gamma",), _for_amplification, optional=("widths",), no_better_than="subset"
    )
}
