"""A complex sample of which only sums are kept: people who are alike, within a cluster or a stratum, are one row.

A weighted tally, and a stored table grouped by its database, give for each such row the number of its people, the sum of their
weights and the sum of the squares. That is all that weighted estimates and their linearised errors ask for: people of one
row add the same number each, times their weight.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from tacit.channel.base import Array
from tacit.errors import InvalidInput
from tacit.estimation.complex_samples import Lonely, SampleDesign, added_by
from tacit.estimation.repeats import Repeats


@dataclass(frozen=True, eq=False)
class KeptRows:
    """Of each row its stratum, its cluster, its people, and the sums of their weights and squared weights."""

    strata: Sequence[str]
    clusters: Sequence[str] | None
    counts: Array
    sums: Array
    squares: Array

    def some(self, which: NDArray[np.bool_]) -> KeptRows:
        """Without the other rows."""
        at = np.flatnonzero(which).tolist()
        clusters = None if self.clusters is None else [self.clusters[row] for row in at]
        return KeptRows([self.strata[row] for row in at], clusters, self.counts[at], self.sums[at], self.squares[at])

    def design(self, *, lonely: Lonely = "refuse", bootstrap: int | None = None, seed: int | None = None) -> KeptSample:
        """The design of these people, clusters being nested in strata."""
        if bootstrap is not None and self.clusters is None:
            raise InvalidInput(
                "A bootstrap draws respondents again, and stored reports and tallies do not list them one by one. Name "
                "clusters, which are drawn instead, or give the path of the report file."
            )
        names, strata = np.unique(np.asarray(self.strata, dtype=np.str_), return_inverse=True)
        strata = strata.reshape(-1).astype(np.intp)
        people = np.bincount(strata, self.counts, len(names)).astype(np.float64)
        if self.clusters is None:
            clusters, stratum_of, sizes = np.arange(len(strata)), strata, people
        else:
            of_name = np.unique(np.asarray(self.clusters, dtype=np.str_), return_inverse=True)[1].reshape(-1)
            pairs, clusters = np.unique(strata * (int(of_name.max()) + 1) + of_name, return_inverse=True)
            clusters, stratum_of = clusters.reshape(-1), (pairs // (int(of_name.max()) + 1)).astype(np.intp)
            sizes = np.bincount(stratum_of, minlength=len(names)).astype(np.float64)
        made = KeptSample(
            weights=self.sums,
            strata=strata,
            clusters=clusters.astype(np.intp),
            stratum_of=stratum_of,
            sampled=np.zeros(len(names)),
            lonely=lonely,
            has_clusters=self.clusters is not None,
            n_people=int(people.sum()) if self.clusters is None else None,
            repeats=Repeats.of(len(strata), bootstrap=bootstrap, replicates=None, scale=None, seed=seed),
            people=people,
            squares=self.squares,
        )
        made._check_lonely([str(name) for name in names], sizes)
        return made


@dataclass(frozen=True, eq=False)
class KeptSample(SampleDesign):
    """The design of people of whom only sums are kept; `weights` are the sums of each row."""

    people: Array = field(default_factory=lambda: np.zeros(0))  # of each stratum
    squares: Array = field(default_factory=lambda: np.zeros(0))  # of each row: sum of squared weights

    @property
    def mean_weight(self) -> float:
        return float(self.weights.sum() / self.people.sum())

    def covariance(self, contributions: Array, noise: Array | None = None) -> Array:
        """Covariance of sums of contributions, each what all people of a row add together."""
        if self.has_clusters:
            return super().covariance(contributions, noise)
        factor = self.variance_factors(self.people)
        each = self.squares / self.weights**2 * factor[self.strata]
        totals = added_by(self.strata, contributions, self.n_strata)
        return (contributions * each[:, None]).T @ contributions - (totals * (factor / self.people)[:, None]).T @ totals
