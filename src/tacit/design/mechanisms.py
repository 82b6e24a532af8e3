"""Every mechanism's parameters from one privacy demand, and how well its itemset estimates are conditioned (FRAPP)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from tacit.channel.chances import checked_gamma, numerator_below
from tacit.channel.mixture import MixtureLaw
from tacit.channel.onehot import CutAndPasteChannel, MaskChannel
from tacit.channel.protocol import Array, Channel
from tacit.channel.recipe import Recipe, cut_and_paste, gamma_diagonal, mask, randomized_gamma_diagonal_recipe
from tacit.channel.scheme import Scheme
from tacit.design.predict import predicted_errors
from tacit.errors import InvalidInput
from tacit.measures.amplification import cut_and_paste_chance, mask_chance
from tacit.randomness import ONE
from tacit.schema import Attribute, Schema


@dataclass(frozen=True)
class Mechanism:
    """A way to disguise whole records, with the parameters that keep the demanded amplification."""

    name: str
    title: str
    recipe: Recipe


def published_mechanisms(shape: Sequence[int], gamma: float, length: int = 3) -> tuple[Mechanism, ...]:
    """FRAPP's four mechanisms for records of this shape; cut-and-paste is chosen for itemsets up to `length`.

    >>> [mechanism.recipe.parameters for mechanism in published_mechanisms((4, 5, 5, 5, 2, 2), 19)][:1]
    [{'gamma': 19.0}]
    """
    gamma = checked_demand(gamma)
    half = alpha_limit(gamma, math.prod(shape)) / 2
    return (
        Mechanism("DET-GD", "gamma-diagonal", gamma_diagonal(gamma)),
        Mechanism("RAN-GD", "randomized gamma-diagonal", randomized_gamma_diagonal_recipe(gamma, half)),
        Mechanism("MASK", "one bit per answer", mask_recipe(gamma, len(shape))),
        Mechanism("C&P", "cut-and-paste", best_cut_and_paste(gamma, shape, length)),
    )


def checked_demand(gamma: float) -> float:
    if checked_gamma(gamma) == 1:
        raise InvalidInput("With gamma = 1 reports say nothing, so nothing could be estimated. Choose a larger gamma.")
    return float(gamma)


def alpha_limit(gamma: float, n: int) -> float:
    """The largest alpha of the randomized gamma-diagonal mechanism on n joint answers; the least is 0."""
    return min(gamma, n - 1) / (gamma + n - 1)


def mask_recipe(gamma: float, attributes: int) -> Recipe:
    """MASK with the largest chance to keep a bit; rounded down, so that the demand is met exactly."""
    return mask(numerator_below(Fraction(mask_chance(gamma, attributes))) / ONE)


def cut_and_paste_recipe(gamma: float, K: int, attributes: int) -> Recipe:
    """Cut-and-paste with the least chance of foreign items; rounded up, so that the demand is met exactly.

    The publication uses rho = .494 for K = 3 and gamma = 19; the bound allows .4514, which tells more.
    """
    least = cut_and_paste_chance(gamma, K, attributes)
    return cut_and_paste(K, min(-numerator_below(Fraction(-least)) / ONE, 1.0))


def best_cut_and_paste(gamma: float, shape: Sequence[int], length: int) -> Recipe:
    """The K, with its rho, that estimates itemsets of up to `length` answers best.

    Nothing is known of itemsets longer than K, and a K needs an amplification of at least K + 1.
    """
    largest = int(gamma) - 1
    if largest < 1:
        raise InvalidInput(f"Cut-and-paste needs an amplification of at least 2, not {gamma:g}. Use another mechanism.")
    wanted = min(length, largest)
    schema = Schema(tuple(Attribute(f"attribute {i}", tuple(map(str, range(d)))) for i, d in enumerate(shape)))
    options = [cut_and_paste_recipe(gamma, K, len(shape)) for K in range(wanted, min(largest, 2 * len(shape)) + 1)]

    def worst(recipe: Recipe) -> float:
        scheme = Scheme.of(schema, [(schema.names, recipe)])
        errors = predicted_errors(scheme, 1, wanted).by_length
        return max(math.inf if error is None else error for error in errors)

    return min(options, key=worst)


def condition_number(channel: Channel, length: int) -> float:
    """How much the relative error of an itemset table of this length can grow when the channel is inverted (FRAPP).

    Flat for a gamma-diagonal channel; for MASK and cut-and-paste that of the matrix between the numbers of the itemset's
    items in record and report. Infinite where nothing can be estimated.
    """
    if isinstance(channel, MixtureLaw):
        return 1 / abs(channel.keep) if channel.keep else math.inf
    if isinstance(channel, MaskChannel):
        return abs(2 * channel.chance - 1) ** -float(length) if channel.is_invertible() else math.inf
    if isinstance(channel, CutAndPasteChannel):
        if channel.contrast(length) == 0:
            return math.inf
        return float(np.linalg.cond(lumped(channel, length)))
    raise InvalidInput(f"The channel {channel.kind!r} has no condition number by itemset length.")


def lumped(channel: CutAndPasteChannel, length: int) -> Array:
    """``[shown, held]``: chance that a report shows so many of an itemset's items when the record holds so many."""
    law = np.zeros((length + 1, length + 1))
    rho = channel.background
    for held in range(length + 1):
        for w, chance in enumerate(channel.kept):
            for sure in range(min(held, w) + 1):
                ways = math.comb(held, sure) * math.comb(channel.whole - held, w - sure) / math.comb(channel.whole, w)
                free = length - sure
                for entered in range(free + 1):
                    others = math.comb(free, entered) * rho**entered * (1 - rho) ** (free - entered)
                    law[sure + entered, held] += chance * ways * others
    return law
