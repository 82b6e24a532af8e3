"""The risk of a release as the field states it: prosecutor, journalist and marketer, and uniques of the population.

A prosecutor knows that the person is in the table, a journalist does
not, a marketer links everybody. Estimates of population uniques are models of a random sample, not bounds.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln, hyp2f1

from tacit.errors import InvalidInput

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Uniques:
    """How many people of the population are estimated to be unique in it, by two models."""

    zayatz: float
    pitman: float


Basis = Literal["table", "size", "weights"]
BASIS_WORDS: dict[Basis, str] = {
    "table": "counted",
    "size": "estimated from the number of people",
    "weights": "estimated from the weights",
}


@dataclass(frozen=True)
class Journalist:
    """The chance that the person found is the right one, for who does not know who is in the table.

    From a table of the population it is counted; from its size or from survey weights it is expected under a model: each
    person of the population was drawn with the same chance as the others of the class.
    """

    highest: float
    mean: float
    basis: Basis


@dataclass(frozen=True)
class HouseholdRisk:
    """The chance that a household (or a person with several rows) is found by any of its rows, over all of them."""

    highest: float
    mean: float


@dataclass(frozen=True)
class Risk:
    """Chances of being re-identified, highest and mean over the rows; `marketer` is the expected share linked right.

    What a journalist risks needs the population; without it it is not known, and at most the prosecutor's.
    """

    prosecutor_highest: float
    prosecutor_mean: float
    journalist: Journalist | None
    marketer: float
    population: int | None
    uniques: Uniques | None
    k_map: int | None = None  # fewest people of the population in a class
    presence: tuple[float, float] | None = None  # least and greatest share of a class's people who are in the table
    household: HouseholdRisk | None = None  # where it is known whose rows they are

    def to_document(self) -> dict[str, Any]:
        """The risk for JSON."""
        return {
            "prosecutor": {"highest": self.prosecutor_highest, "mean": self.prosecutor_mean},
            "journalist": None if self.journalist is None else asdict(self.journalist),
            "marketer": self.marketer,
            "population": self.population,
            "population_uniques": None if self.uniques is None else asdict(self.uniques),
            "k_map": self.k_map,
            "presence": None if self.presence is None else list(self.presence),
            "household": None if self.household is None else asdict(self.household),
        }

    def measures(self) -> Iterator[tuple[str, str]]:
        """What is known of the risk, as names and values to be read."""
        yield "prosecutor's risk: highest, mean", f"{self.prosecutor_highest:.2%}, {self.prosecutor_mean:.2%}"
        if self.journalist is not None:
            name = f"journalist's risk, {BASIS_WORDS[self.journalist.basis]}: highest, mean"
            yield name, f"{self.journalist.highest:.2%}, {self.journalist.mean:.2%}"
        yield "marketer's risk", f"{self.marketer:.2%}"
        if self.household is not None:
            name = "a household or person found by any of its rows: highest, mean"
            yield name, f"{self.household.highest:.2%}, {self.household.mean:.2%}"
        if self.uniques is not None:
            estimated = f"{self.uniques.zayatz:,.0f} (Zayatz), {self.uniques.pitman:,.0f} (Pitman)"
            yield "unique in the population, estimated", estimated
        if self.k_map is not None and self.presence is not None:
            yield "people in a class, at least (k-map)", f"{self.k_map:,}"
            yield "presence: least, greatest", f"{self.presence[0]:.3f}, {self.presence[1]:.3f}"


@dataclass(frozen=True, eq=False)
class KnownClasses:
    """The people of the population in each class of a table: counted, or summed from survey weights."""

    people: NDArray[np.float64]  # [class]
    basis: Basis
    size: int  # of the whole population
    unmatched: int = 0  # people whom no class holds

    @classmethod
    def by_weights(
        cls,
        sums: Array,
        classes: NDArray[np.int64],
        counts: NDArray[np.int64],
        persons: NDArray[np.int64] | None = None,
    ) -> KnownClasses:
        """The people that each class stands for; entries are rows alike (`counts` of them) with the sum of their weights.

        Where rows have `persons`, each counts once in a class, with the mean weight of the person's rows there: two visits of
        somebody who stands for 100 people do not stand for 200.
        """
        if persons is None:
            # A class stands for its own rows at least.
            people = np.maximum(np.bincount(classes, sums), np.bincount(classes, counts))
            return cls(people, "weights", round(float(people.sum())))
        width = int(persons.max()) + 1
        pairs, pair = np.unique(classes * width + persons, return_inverse=True)
        means = np.bincount(pair.ravel(), sums) / np.bincount(pair.ravel(), counts)
        people = np.maximum(np.bincount(pairs // width, means), np.bincount(pairs // width))
        rows_of = np.bincount(persons, counts)
        everyone = np.bincount(persons, sums)[rows_of > 0] / rows_of[rows_of > 0]
        return cls(people, "weights", max(len(everyone), round(float(everyone.sum()))))


def risk_of(
    class_sizes: NDArray[np.int64], population: int | KnownClasses | None = None, persons: int | None = None
) -> Risk:
    """The risk of rows in classes of these sizes; the population by its size, or by its people in each class.

    Where classes are counted in `persons`, who may be in several of them, it is said how many there are.
    """
    sizes = np.asarray(class_sizes, dtype=np.int64)
    rows = int(sizes.sum())
    classes_known = population if isinstance(population, KnownClasses) else None
    number = population if isinstance(population, int) else None if classes_known is None else classes_known.size
    drawn = rows if persons is None else persons
    if number is not None and number < drawn:
        raise InvalidInput(
            f"The population has {number:,} people, fewer than the {drawn:,} {'rows' if persons is None else 'persons'} of the "
            "table. Give the number of all "
            "people the rows were drawn from."
        )
    mean = len(sizes) / rows
    base = Risk(1 / int(sizes.min()), mean, None, mean, number, None)
    if number is None:
        return base
    uniques = (
        Uniques(zayatz(sizes, number), pitman(sizes, number))
        if classes_known is None or classes_known.basis != "table"
        else None
    )
    chances = _chances(sizes, classes_known, drawn / number)
    average = math.fsum(sizes * chances) / rows  # exact: a release and its check list classes in different orders
    journalist = Journalist(float(chances.max()), average, "size" if classes_known is None else classes_known.basis)
    risk = replace(base, journalist=journalist, marketer=average, uniques=uniques)
    if classes_known is None or classes_known.basis != "table":
        return risk
    shares = sizes / classes_known.people
    least = 0.0 if classes_known.unmatched else float(shares.min())
    return replace(risk, k_map=int(classes_known.people.min()), presence=(least, float(shares.max())))


def average_risk(sizes_by_set: Sequence[NDArray[np.int64]]) -> float:
    """The prosecutor's risk on average over the rows (or persons) of the classes; of several sets, where a class is smallest."""
    sizes = min(sizes_by_set, key=lambda sizes: int(sizes.min()))
    return len(sizes) / int(sizes.sum())


def household_risk(
    sizes: NDArray[np.int64], classes: NDArray[np.int64], counts: NDArray[np.int64], persons: NDArray[np.int64]
) -> HouseholdRisk:
    """The risk that any row of a household is found: 1 - prod(1 - 1/f) over its rows (Templ, Kowarik and Meindl 2015).

    f is the number of different households in the row's class; it is taken as if rows were found independently.
    """
    with np.errstate(divide="ignore"):  # alone in a class: found for certain
        missed = np.bincount(persons, counts * np.log1p(-1 / sizes[classes]))
    chances = -np.expm1(missed[np.bincount(persons, counts) > 0])
    return HouseholdRisk(float(chances.max()), float(chances.mean()))


def _chances(sizes: NDArray[np.int64], known: KnownClasses | None, share: float) -> Array:
    """In each class the (expected) chance to be the one who is looked for: 1/F."""
    if known is not None and known.basis == "table":
        return 1 / known.people
    drawn = np.full(len(sizes), share) if known is None else np.minimum(1.0, sizes / known.people)
    return expected_inverse(sizes, drawn)


def expected_inverse(sizes: NDArray[np.int64], drawn: Array) -> Array:
    """E(1/F | f): F people of whom each was drawn with the chance `drawn`, f of them (Benedetti and Franconi 1998).

    r times the integral of u^(f-1)/(r+u) over [0, 1] with r = drawn/(1-drawn): logarithms for one and two rows, and 1/f
    where everybody was drawn.
    """
    whole = drawn >= 1 - 1e-12
    odds = np.where(whole, 1.0, drawn / np.where(whole, 1.0, 1 - drawn))
    # Pfaff's transformation keeps the argument within [0, 1), where the series converges.
    inverse = hyp2f1(1.0, 1.0, sizes + 1.0, 1 / (1 + odds)) * odds / (1 + odds) / sizes
    return np.where(whole, 1 / sizes, inverse)


def _frequencies(sizes: NDArray[np.int64]) -> tuple[Array, Array]:
    values, counts = np.unique(sizes, return_counts=True)
    return values.astype(np.float64), counts.astype(np.float64)


def zayatz(sizes: NDArray[np.int64], population: int) -> float:
    """Population uniques: each sample unique times the chance that it is one there (Zayatz 1991)."""
    values, counts = _frequencies(sizes)
    share = min(1.0, float(values @ counts) / population)  # persons may be in several classes
    ones = float(counts[values == 1].sum())
    if not ones:
        return 0.0
    among = ones / float((counts * values * (1 - share) ** (values - 1)).sum())
    return ones * among / share


def pitman(sizes: NDArray[np.int64], population: int) -> float:
    """Population uniques under Pitman's sampling model, fitted by likelihood (Hoshino 2001)."""
    from scipy.optimize import minimize

    values, counts = _frequencies(sizes)
    classes, rows = float(counts.sum()), float(values @ counts)

    def cost(point: Array) -> float:
        alpha = 1 / (1 + np.exp(-point[0]))
        theta = np.exp(point[1]) - alpha
        steps = np.arange(1, int(classes))
        whole = float(np.log(theta + steps * alpha).sum()) - (gammaln(theta + rows) - gammaln(theta + 1))
        larger = values >= 2
        within = gammaln(values[larger] - alpha) - gammaln(1 - alpha)
        return -(whole + float(counts[larger] @ within))

    starts = [(-1.0, 1.0), (0.0, 4.0), (2.0, 6.0)]
    best = min((minimize(cost, start, method="Nelder-Mead") for start in starts), key=lambda solution: solution.fun)
    alpha = 1 / (1 + np.exp(-best.x[0]))
    theta = np.exp(best.x[1]) - alpha
    log_uniques = (
        np.log(population)
        + gammaln(theta + 1)
        + gammaln(theta + alpha + population - 1)
        - gammaln(theta + alpha)
        - gammaln(theta + population)
    )
    return float(min(np.exp(log_uniques), population))
