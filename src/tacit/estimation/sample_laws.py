"""Shares from one or several samples that were asked with different chances: the unbiased estimate and its error.

Sample j holds a fixed part of the respondents, and its reports have the law ``q_j = A_j c``, c the shares of the classes
of people. What is wanted is linear in c. Weights on the reports of each sample with ``sum_j W_j A_j = wanted`` estimate it
without bias; those of least variance at a distribution c come from ``D = diag(q)``, as for a single channel.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tacit.channel.base import Array
from tacit.estimation.simplex import floor_shares, project_on_simplex

EM_STEPS = 50_000
EM_TOLERANCE = 1e-12  # how much the log-likelihood per report could still rise
HELD_STEPS = 100
HELD_TOLERANCE = 1e-4  # by how much a step may still change a share
TINY = float(np.finfo(np.float64).tiny)


@dataclass(frozen=True, eq=False)
class SampleLaws:
    """The laws ``matrix[report, class]`` of the samples, and the share of the respondents in each."""

    laws: tuple[Array, ...]
    shares: Array

    @classmethod
    def even(cls, laws: Sequence[Array]) -> SampleLaws:
        """Samples of one size."""
        return cls(tuple(laws), np.full(len(laws), 1 / len(laws)))

    @property
    def n_classes(self) -> int:
        return self.laws[0].shape[1]

    def weights(self, wanted: Array, classes: Array) -> list[Array]:
        """For each sample ``W[wanted, report]``, unbiased always and of least variance at this distribution."""
        information = np.zeros((self.n_classes, self.n_classes))
        pulled = []
        for law, share in zip(self.laws, self.shares, strict=True):
            expected = law @ classes
            # A report that nobody can give has no weight; any would do.
            inverse = np.divide(1.0, expected, out=np.zeros_like(expected), where=expected > 0)
            pulled.append(share * law.T * inverse)
            information += pulled[-1] @ law
        # A pseudo-inverse: classes may be more than the reports tell apart, as long as what is wanted is told.
        solved = wanted @ np.linalg.pinv(information, rcond=1e-11, hermitian=True)
        return [solved @ scaled_law for scaled_law in pulled]

    def covariance(self, weights: Sequence[Array], classes: Array) -> Array:
        """Covariance of one respondent's worth of the estimate: over N it is that of N respondents."""
        total = np.zeros((len(weights[0]), len(weights[0])))
        for law, share, weight in zip(self.laws, self.shares, weights, strict=True):
            expected = law @ classes
            mean = weight @ expected
            total += ((weight * expected) @ weight.T - np.outer(mean, mean)) / share
        return total

    def device_covariance(self, weights: Sequence[Array], classes: Array) -> list[Array]:
        """For each sample the mean covariance of a report's weights, given who answers: what chance alone adds."""
        made = []
        for law, weight in zip(self.laws, weights, strict=True):
            mean = weight @ law  # wanted x classes
            made.append((weight * (law @ classes)) @ weight.T - (mean * classes) @ mean.T)
        return made

    def first_guess(self, frequencies: Sequence[Array]) -> Array:
        """Where to be most precise: the unbiased estimate made for even classes, as a proper distribution."""
        even = np.full(self.n_classes, 1 / self.n_classes)
        weights = self.weights(np.eye(self.n_classes), even)
        return floor_shares(project_on_simplex(estimate_shares_of(weights, frequencies)))

    def most_likely(self, frequencies: Sequence[Array]) -> Array:
        """The distribution of the classes under which these reports are most likely (expectation maximization)."""
        classes = np.full(self.n_classes, 1 / self.n_classes)
        for _ in range(EM_STEPS):
            gain = self._gain(frequencies, classes)
            if gain.max() - 1 <= EM_TOLERANCE:  # by concavity no distribution is likelier by more than this
                break
            classes = classes * gain
            classes /= classes.sum()
        return classes

    def most_likely_with(self, frequencies: Sequence[Array], members: Array, share: float) -> Array:
        """The most likely distribution of the classes among those whose `members` have this share together.

        It is for variances, which do not change much with it, so a few digits do.
        """
        classes = share * members / members.sum() + (1 - share) * (1 - members) / (1 - members).sum()
        for _ in range(HELD_STEPS):
            after = classes * self._gain(frequencies, classes)
            inside, outside = (after * group / max(float(after @ group), TINY) for group in (members, 1 - members))
            after = share * inside + (1 - share) * outside
            if np.abs(after - classes).max() <= HELD_TOLERANCE:
                return after
            classes = after
        return classes

    def _gain(self, frequencies: Sequence[Array], classes: Array) -> Array:
        """By how much more of each class the reports speak than there is of it."""
        gain = np.zeros(self.n_classes)
        for law, share, seen in zip(self.laws, self.shares, frequencies, strict=True):
            expected = law @ classes
            ratio = np.divide(seen, expected, out=np.zeros_like(expected), where=expected > 0)
            gain += share * (law.T @ ratio)
        return gain


def estimate_shares_of(weights: Sequence[Array], frequencies: Sequence[Array]) -> Array:
    """What is wanted, from the shares of each sample's reports."""
    return np.sum([weight @ seen for weight, seen in zip(weights, frequencies, strict=True)], axis=0)
