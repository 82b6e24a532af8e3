"""How people came into a sample: weights, strata, clusters, a finite population; and the errors that follow from it.

Every estimate is, near its value, a sum of one number per report. Reports of a cluster are added, clusters are compared
within their stratum, and what a device adds by chance stays even where everybody was asked (linearisation).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray
from scipy.special import stdtr, stdtrit

from tacit.channel.base import Array
from tacit.errors import InvalidInput, UnknownName
from tacit.estimation.repeats import Repeats, checked_repeats, redrawn
from tacit.table.columns import as_arrow, as_text, missing_values

Codes = NDArray[np.intp]
# What a stratum with one cluster gets: no error can be estimated from it.
Lonely = Literal["refuse", "centre"]


@dataclass(frozen=True, eq=False)
class SampleDesign:
    """Weights, strata and clusters of the respondents, checked; clusters are nested in strata.

    Make one by `SampleDesign.of` and give it to `tacit.estimate` as `sample`.

    Parameters
    ----------
    weights : array
        The weight of each respondent, above 0.
    strata, clusters : array of int
        Codes of each respondent's stratum and cluster; one name in two strata is two clusters.
    stratum_of : array of int
        The stratum of each cluster.
    sampled : array
        Of each stratum, which share of its population was asked; 0 where it is so small that errors need not know it.
    lonely : {"refuse", "centre"}
        What a stratum with a single cluster gets.
    repeats : Repeats, optional
        Errors from replicate weights or a bootstrap instead of linearised ones.

    Examples
    --------
    >>> design = SampleDesign.of(4, weights=[1, 1, 2, 2], clusters=["a", "a", "b", "c"])
    >>> design.n_clusters, design.degrees_of_freedom
    (3, 2)
    """

    weights: Array
    strata: Codes
    clusters: Codes
    stratum_of: Codes  # of each cluster
    sampled: Array  # of each stratum: which share of its population was asked
    lonely: Lonely = "refuse"
    has_clusters: bool = True
    n_people: int | None = None  # where the clusters are people who are not listed
    repeats: Repeats | None = None  # where errors come from estimating again

    @classmethod
    def of(
        cls,
        n: int,
        *,
        weights: Any = None,
        strata: Any = None,
        clusters: Any = None,
        sampled: Any = None,
        lonely: Lonely = "refuse",
        bootstrap: int | None = None,
        replicates: Any = None,
        replicate_scale: float | None = None,
        seed: int | None = None,
    ) -> SampleDesign:
        """A design for `n` respondents; whatever is not given is even: one stratum, everybody a cluster.

        Errors are linearised, or come from `bootstrap` repeats (repeatable by a `seed`), or from `replicates`: the
        weights of each respondent under each repeat, whose squared deviations are summed `replicate_scale` times (1/R if
        not said, (R-1)/R for a jackknife).
        """
        if lonely not in ("refuse", "centre"):
            raise UnknownName("Treatment of single clusters", str(lonely), ("refuse", "centre"))
        stratum, names = _value_codes("strata", strata, n)
        cluster, stratum_of = _cluster_codes(clusters, stratum, n)
        shares = _sampled_shares(sampled, stratum, len(names), n)
        has_clusters = clusters is not None
        again = Repeats.of(n, bootstrap=bootstrap, replicates=replicates, scale=replicate_scale, seed=seed)
        if again is not None and shares.any():
            raise InvalidInput(
                "Errors from a bootstrap or from replicate weights cannot make use of the sampled share. Leave out "
                "sampled, or leave out bootstrap and replicates."
            )
        design = cls(
            _checked_weights(weights, n), stratum, cluster, stratum_of, shares, lonely, has_clusters, repeats=again
        )
        design._check_lonely(names, np.bincount(stratum_of, minlength=len(names)))
        return design

    @classmethod
    def of_stored_table(
        cls,
        names: Sequence[str],
        stratum_of: Codes | None,
        rows: Array,
        group_strata: Codes,
        sampled: Array,
        repeats: Repeats | None = None,
    ) -> SampleDesign:
        """The design of a stored table whose people are not listed: strata by name, clusters by stratum."""
        shares = _sampled_shares(sampled, group_strata, len(names), len(group_strata))
        nobody = np.zeros(0, dtype=np.intp)
        listed = nobody if stratum_of is None else stratum_of
        sizes = rows if stratum_of is None else np.bincount(listed, minlength=len(names))
        people = int(rows.sum()) if stratum_of is None else None
        design = cls(np.zeros(0), nobody, nobody, listed, shares, "refuse", stratum_of is not None, people, repeats)
        design._check_lonely(names, sizes)
        return design

    @property
    def n_clusters(self) -> int:
        return len(self.stratum_of) if self.n_people is None else self.n_people

    @property
    def n_strata(self) -> int:
        return len(self.sampled)

    @property
    def degrees_of_freedom(self) -> int:
        """Clusters minus strata (replicates less one): what an interval's Student quantile uses."""
        if self.repeats is not None and self.repeats.columns is not None:
            return self.repeats.n - 1
        return max(self.n_clusters - self.n_strata, 1)

    @property
    def mean_weight(self) -> float:
        """Mean weight of the people."""
        return float(self.weights.mean())

    def _check_lonely(self, names: Sequence[str], sizes: NDArray[Any]) -> None:
        if self.lonely == "centre" and self.n_clusters > 1:
            return
        alone = np.flatnonzero((sizes == 1) & (self.sampled < 1))
        if len(alone):
            where = f"The stratum {names[alone[0]]!r}" if self.n_strata > 1 else "The sample"
            raise InvalidInput(
                f"{where} has only one cluster, so its error cannot be told from the data. Merge it with another "
                "stratum, or have it compared with the mean of all clusters (lonely='centre', --lonely centre)."
            )

    def variance_factors(self, sizes: Array) -> Array:
        """What is left of the variance of each stratum with so many clusters, with the correction for few of them."""
        return (1 - self.sampled) * np.where(sizes > 1, sizes / np.maximum(sizes - 1, 1), 1.0)

    def quantile(self, level: float) -> float:
        """Student's quantile of a two-sided interval."""
        return float(stdtrit(self.degrees_of_freedom, (1 + level) / 2))

    def p_value(self, score: float) -> float:
        """Two-sided, by Student's distribution."""
        return float(2 * stdtr(self.degrees_of_freedom, -abs(score)))

    def covariance(self, contributions: Array, noise: Array | None = None) -> Array:
        """Covariance of sums of ``contributions[report, estimate]``, which are centred.

        ``noise[stratum]`` is the covariance that the device's chance adds in it; it counts where people were not drawn
        from an endless population.
        """
        return self.covariance_of_clusters(added_by(self.clusters, contributions, self.n_clusters), noise)

    def covariance_of_clusters(self, totals: Array, noise: Array | None = None) -> Array:
        """Covariance of sums of contributions, from what each whole cluster adds."""
        sizes = np.bincount(self.stratum_of, minlength=self.n_strata).astype(np.float64)
        centres = added_by(self.stratum_of, totals, self.n_strata) / sizes[:, None]
        # A single cluster has no spread of its own: it is compared with the mean over all clusters.
        centres[sizes == 1] = totals.mean(axis=0)
        spread = totals - centres[self.stratum_of]
        factor = self.variance_factors(sizes)
        covariance = (spread * factor[self.stratum_of, None]).T @ spread
        if noise is not None:
            covariance = covariance + np.einsum("h,hij->ij", self.sampled, noise)
        return covariance

    def bootstrap(self, repeats: int, seed: int | None = None) -> Array:
        """``weights[repeat, report]``: clusters redrawn within strata, n-1 of n (Rao and Wu 1988, as rescaled weights)."""
        return np.array(list(self.replicates(repeats, seed)))

    def replicates(self, repeats: int, seed: int | None = None) -> Iterator[Array]:
        """The replicate weights of the bootstrap, one repeat after the other."""
        for factors in redrawn(self.stratum_of, self.n_strata, checked_repeats(repeats), seed):
            yield factors[self.clusters] * self.weights

    def weighings(self) -> Iterator[Array]:
        """The weights under which everything is estimated again; none where errors are linearised."""
        if self.repeats is None:
            return
        if self.repeats.columns is None:
            yield from self.replicates(self.repeats.n, self.repeats.seed)
        else:
            yield from self.repeats.columns.T

    @property
    def in_words(self) -> str:
        """Where the errors come from."""
        if self.repeats is not None:
            return f"from {self.repeats.n:,} repeats"
        return (
            f"linearised over {self.n_clusters:,} clusters in {self.n_strata:,} strata, Student's distribution with "
            f"{self.degrees_of_freedom:,} degrees of freedom"
        )


def added_by(codes: Codes, values: Array, n: int) -> Array:
    """Sums of the rows of `values` that share a code, ``(n, columns)``."""
    return np.stack([np.bincount(codes, column, n) for column in values.T], axis=1).astype(np.float64)


def _checked_weights(weights: Any, n: int) -> Array:
    if weights is None:
        return np.ones(n)
    try:
        values = np.asarray(weights, dtype=np.float64)
    except (TypeError, ValueError):
        raise InvalidInput("Weights must be numbers above 0, one for each respondent.") from None
    _checked_length("weights", values, n)
    wrong = ~(np.isfinite(values) & (values > 0))
    if wrong.any():
        row = int(np.argmax(wrong))
        raise InvalidInput(
            f"The weight in row {row + 1:,} is {values[row]:g}; weights must be above 0. Leave out who does not count."
        )
    return values


def _checked_length(what: str, values: NDArray[Any], n: int) -> None:
    if values.shape != (n,):
        raise InvalidInput(f"There are {values.size:,} {what} for {n:,} respondents; each needs one.")


def _value_codes(what: str, values: Any, n: int) -> tuple[Codes, list[str]]:
    """Codes of the different values, compared as text, and their names in order."""
    if values is None:
        return np.zeros(n, dtype=np.intp), [""]

    texts = as_text(as_arrow({what: values}).column(what))
    _checked_length(what, np.empty(len(texts)), n)
    absent = missing_values(texts)
    if absent.any():
        raise InvalidInput(
            f"The {what} have no value in row {int(np.argmax(absent)) + 1:,}; every respondent needs one."
        )
    encoded = pc.dictionary_encode(pc.utf8_trim_whitespace(texts)).combine_chunks()
    encoded = encoded.chunk(0) if isinstance(encoded, pa.ChunkedArray) else encoded
    names = np.array([str(name) for name in encoded.dictionary.to_pylist()])
    order = np.argsort(names)
    rank = np.empty(len(order), dtype=np.intp)
    rank[order] = np.arange(len(order))
    return rank[encoded.indices.to_numpy(zero_copy_only=False)], [str(name) for name in names[order]]


def _cluster_codes(clusters: Any, strata: Codes, n: int) -> tuple[Codes, Codes]:
    """Codes of the clusters, one name in two strata being two clusters; and the stratum of each."""
    if clusters is None:
        return np.arange(n, dtype=np.intp), strata
    codes, names = _value_codes("clusters", clusters, n)
    pairs, nested = np.unique(strata * len(names) + codes, return_inverse=True)
    return nested.reshape(-1).astype(np.intp), (pairs // len(names)).astype(np.intp)


def _sampled_shares(sampled: Any, strata: Codes, n_strata: int, n: int) -> Array:
    if sampled is None:
        return np.zeros(n_strata)
    try:
        values = np.asarray(sampled, dtype=np.float64)
    except (TypeError, ValueError):
        raise InvalidInput(f"The sampled share must be a number from 0 to 1, not {sampled!r}.") from None
    if values.ndim == 0:
        values = np.full(n, float(values))
    _checked_length("sampled shares", values, n)
    if not (np.isfinite(values).all() and (values >= 0).all() and (values <= 1).all()):
        bad = values[~((values >= 0) & (values <= 1))][0]
        raise InvalidInput(f"The sampled share of a population lies between 0 and 1; it cannot be {bad:g}.")
    shares = np.zeros(n_strata)
    shares[strata] = values
    if not np.array_equal(shares[strata], values):
        raise InvalidInput("The sampled share differs within a stratum; give one share for each stratum.")
    return shares
