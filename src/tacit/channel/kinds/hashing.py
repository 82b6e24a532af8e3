"""Local hashing: the bucket of the truth under a public hash, disguised, with the seed of the hash.

For questions with very many answers. Every answer falls into one of g buckets (`tacit.table.hashed`), and the respondent
reports the bucket of the truth through a gamma-diagonal channel on the buckets. The report then stands for all answers of
that bucket: subset selection in compact form, with the error of the best sets and a few bytes whatever n is (Wang,
Blocki, Li and Jha 2017). Two answers fall into two buckets independently, so the report holds the truth with chance
``holds`` and any other answer with chance 1 / g, exactly.
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

from tacit.channel.base import Array, Channel, Codes, Figures
from tacit.channel.chances import checked_gamma, numerator_below, ratio
from tacit.channel.codes import checked_matrix_size, flat, joint_codes, joint_labels, joint_name
from tacit.channel.holding import HoldingLaw
from tacit.channel.recipe import Kind, Parameters, Recipe, Shape
from tacit.errors import InvalidInput, NotEstimable
from tacit.randomness import ONE, Randomness, coins, uniform_below
from tacit.schema import Attribute
from tacit.table.hashed import WIDEST, Hashing

# Entries (reports x answers) of the sample of reports that is used when there are too many to list: 256 MB.
HELD = 1 << 25
# The least and the largest number of sampled seeds.
FEWEST_SEEDS, MOST_SEEDS = 64, 1024


@dataclass(frozen=True, eq=False)
class HashingChannel(HoldingLaw):
    """The bucket of the truth with chance gamma / (gamma + g - 1), else another; and the public seed of the hash."""

    shape: tuple[int, ...]
    gamma: float  # as demanded; the chance is rounded so that it is never exceeded

    kind = "local-hashing"
    shows = "hashed"
    sums_to_one = False
    treats_answers_alike = True

    def __post_init__(self) -> None:
        if self.hashing.width > WIDEST:
            raise InvalidInput(
                f"Local hashing into {self.buckets:,} buckets takes at most {1 << (WIDEST + 1 - self.hashing.bucket_bits):,} "
                f"joint answers; {' x '.join(map(str, self.shape))} are {self.size:,}. Use smaller groups."
            )

    @property
    def parameters(self) -> dict[str, Any]:
        return {"gamma": self.gamma}

    @cached_property
    def buckets(self) -> int:
        return best_buckets(self.gamma, self.size)

    @cached_property
    def hashing(self) -> Hashing:
        return Hashing(self.size, self.buckets)

    @property
    def coin(self) -> int:
        return numerator_below(true_bucket_chance(Fraction(self.gamma), self.buckets))

    @property
    def holds(self) -> float:
        """Chance that the reported bucket is the truth's."""
        return self.coin / ONE

    @property
    def background(self) -> float:
        """Chance that the reported bucket is that of a given other answer."""
        return 1 / self.buckets

    @property
    def n_reports(self) -> int:
        return self.buckets << 2 * self.hashing.width

    @property
    def amplification(self) -> float:
        holds = Fraction(self.coin, ONE)
        return ratio(holds * (self.buckets - 1), 1 - holds)

    def answer_amplification(self, axis: int) -> float:
        return self.amplification  # any two answers fall into different buckets under some seed

    def program(self) -> dict[str, Any]:
        return {
            "hash": {"width": self.hashing.width, "buckets": self.buckets},
            "then": {"toss": self.coin, "heads": {"same": 1}, "tails": {"even": "other"}},
        }

    def report_attributes(self, attributes: Sequence[Attribute]) -> tuple[Attribute, ...]:
        return (Attribute(joint_name(attributes), joint_labels(attributes), shows="hashed", buckets=self.buckets),)

    def reports(self) -> tuple[Codes, ...]:
        checked_matrix_size(self.n_reports, self.size)
        return (self._reports_of(np.arange(1 << 2 * self.hashing.width)),)

    def _reports_of(self, seeds: NDArray[np.int64]) -> NDArray[np.uint32]:
        """Every bucket under each of these seeds."""
        buckets = np.tile(np.arange(self.buckets), len(seeds))
        return self.hashing.digits(buckets, np.repeat(seeds, self.buckets))

    @property
    def matrix(self) -> Array:
        return self.chances(self.reports())

    def holding(self, columns: Sequence[Codes]) -> NDArray[np.bool_]:
        return self.hashing.holding(columns[0])

    def chances(self, columns: Sequence[Codes]) -> Array:
        of_seed = 0.25**self.hashing.width
        other = (1 - self.holds) / (self.buckets - 1)
        return np.where(self.holding(columns), self.holds * of_seed, other * of_seed)

    def sample(self, truths: Sequence[Codes], randomness: Randomness) -> tuple[Codes, ...]:
        truth = joint_codes(truths, self.shape).astype(np.uint32)
        reports = np.empty((len(truth), 3), dtype=np.uint32)
        for digit in (1, 2):
            reports[:, digit] = uniform_below(randomness, 1 << self.hashing.width, len(truth))
        true_buckets = self.hashing.bucket(truth, reports[:, 1], reports[:, 2])
        keeps = coins(randomness, self.coin, len(truth))
        drawn = uniform_below(randomness, self.buckets - 1, len(truth)).astype(np.uint32)
        reports[:, 0] = np.where(keeps, true_buckets, drawn + (drawn >= true_buckets))
        return (reports,)

    def is_invertible(self) -> bool:
        return self.coin * self.buckets > ONE

    def _check_invertible(self) -> None:
        if not self.is_invertible():
            raise NotEstimable(
                "With gamma = 1 every bucket is equally likely, so nothing can be estimated. Choose a larger gamma."
            )

    def solve_pairs(self, tally: Array, guess: Array | None = None) -> Array:
        pairs = super().solve_pairs(tally, guess)
        same = np.arange(self.size)
        pairs[same, same] = flat(self.solve_squares(tally, guess), len(self.shape)).reshape(-1, *tally.shape[1:])
        return pairs

    def _reports_and_contributions(self, tally: Array, guess: Array | None) -> tuple[Array, Array]:
        """Of all reports, or of every bucket under seeds that stand for all seeds.

        Three answers do not fall into buckets independently under this hash: neighbours share one more often. So sums of
        answers and pairs of them take their errors from the hash itself, not from a formula for ideal ones.
        """
        reports, times = self._typical_reports
        chances = times * self.chances([reports])
        return self.inverse([reports]).T, chances @ flat(self.solve(tally, guess), len(self.shape))

    @cached_property
    def _typical_reports(self) -> tuple[NDArray[np.uint32], float]:
        """A sample of the reports, and how many reports each of them represents."""
        seeds = self._typical_seeds(HELD // self.buckets)
        return self._reports_of(seeds), float(Fraction(1 << 2 * self.hashing.width, len(seeds)))

    def _typical_seeds(self, held: int) -> NDArray[np.int64]:
        """All seeds if they are few, else a fixed random sample of them."""
        every = 1 << 2 * self.hashing.width
        if self.is_small:
            return np.arange(every)
        wanted = min(max(held // self.size, FEWEST_SEEDS), MOST_SEEDS)
        return np.random.default_rng(0).integers(0, every, size=wanted, dtype=np.int64)

    def figures(self, prior: Array) -> Figures:
        """Means over a sample of seeds; the worst posterior is for a seed that puts the likeliest answer alone in its bucket."""
        if self.is_small:
            return super().figures(prior)
        p = np.sort(prior.reshape(-1))[::-1]
        order = np.argsort(-prior.reshape(-1), kind="stable")
        seeds = self._typical_seeds(HELD)
        digits = self.hashing.digits(np.zeros_like(seeds), seeds)
        buckets = (self.hashing.bucket(order, factor, shift) for _, factor, shift in digits)
        means = np.mean([self._seed_figures(p, answers) for answers in buckets], axis=0)
        gamma, top = self.amplification, float(p[0])
        return Figures(
            map_privacy=float(1 - means[0]),
            worst_posterior=gamma * top / (gamma * top + 1 - top) if math.isfinite(gamma) else 1.0,
            pse=float(1 - means[1]),
        )

    def _seed_figures(self, p: Array, buckets: NDArray[np.uint32]) -> tuple[float, float]:
        """Figures of one seed: the chance that the best guess is right, and the mean square of the posterior.

        `p` falls, `buckets` are those of its answers.
        """
        inside, outside = self.holds, (1 - self.holds) / (self.buckets - 1)
        mass = np.bincount(buckets, p, self.buckets)
        squares = np.bincount(buckets, p**2, self.buckets)
        first = np.full(self.buckets, len(p))
        first[buckets[::-1]] = np.arange(len(p))[::-1]  # the last to be written is the first that there is
        likeliest = np.append(p, 0.0)[first]
        best = np.sort(likeliest)[::-1]
        other = np.where(likeliest == best[0], best[1], best[0])
        seen = outside + (inside - outside) * mass
        spread = outside**2 * float(p @ p) + (inside**2 - outside**2) * squares
        return float(np.maximum(inside * likeliest, outside * other).sum()), float((spread / seen).sum())

    def singular_extremes(self) -> tuple[float, float]:
        """Columns of different answers meet like independent ones, so ``A^T A`` has two different entries."""
        outside = (1 - self.holds) / (self.buckets - 1)
        same, different = self.holds**2 + (self.buckets - 1) * outside**2, self.background
        scale = 0.5**self.hashing.width
        return (
            scale * math.sqrt(same + (self.size - 1) * different),
            scale * math.sqrt(max(same - different, 0.0)),
        )


def true_bucket_chance(gamma: Any, buckets: int) -> Any:
    """The chance to report the bucket of the truth, in fractions where `gamma` is one."""
    return gamma / (gamma + buckets - 1)


def rare_variance(gamma: float, buckets: int) -> float:
    """N times the variance of an answer that nobody has."""
    share = 1 / buckets
    return share * (1 - share) / (true_bucket_chance(gamma, buckets) - share) ** 2 if gamma > 1 else math.inf


def best_buckets(gamma: float, answers: int) -> int:
    """The power of two, near gamma + 1, that gives a rare answer the least variance.

    At most the power of two that holds all answers: where gamma is larger than that, gamma-diagonal tells more.
    """
    most = max((answers - 1).bit_length(), 1)
    return min((1 << bits for bits in range(1, most + 1)), key=lambda buckets: rare_variance(gamma, buckets))


def local_hashing(gamma: float) -> Recipe:
    """A bucket of the answers, `gamma` times as likely if it holds the truth, with the public seed of the hash.

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
    >>> channels.local_hashing(3).build((100_000,)).buckets
    4
    """
    return Recipe("local-hashing", {"gamma": gamma})


def make_local_hashing(shape: Shape, parameters: Parameters) -> Channel:
    return HashingChannel(shape, checked_gamma(parameters["gamma"]))


def _for_amplification(shape: Shape, gamma: float) -> Parameters:
    return {"gamma": gamma}


KINDS = {
    "local-hashing": Kind(make_local_hashing, local_hashing, ("gamma",), _for_amplification, no_better_than="subset")
}
