"""The certified design over many posteriors: those the dual asks for are generated, and what is not needed is pruned."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray

from tacit.design.certificate import Aim, Dual
from tacit.design.interior import solve_design
from tacit.design.posteriors import uniform_and_capped
from tacit.design.relaxation import relaxed_dual
from tacit.errors import InvalidInput

if TYPE_CHECKING:
    from tacit.design._pricing_kernels import Prices

Matrix = NDArray[np.float64]
Codes = NDArray[np.int64]

CERTIFIED_GAP = 1e-6
SINGULAR_GAP = 1e-3
# Below this all vertices are used at once; above, those the dual asks for are added round by round.
FEW_VERTICES = 1500
ADDED_PER_ROUND = 400
MOST_ROUNDS = 40
# Every set of so many answers can be gone through in a second; beyond, the relaxation alone proves.
MOST_ENUMERATED = 22
MOST_ANSWERS = 40
ENOUGH_RELAXED = 0.01  # gap to the relaxation's bound at which the search for more posteriors ends
CLIMBS_PER_ANSWER = 30  # random sets from which posteriors are searched uphill
# Chances below this are what an interior point leaves on posteriors that are not used.
NEGLIGIBLE = 1e-9
BARELY_USED = 1e-7  # what a coarse solution leaves on them


@dataclass(frozen=True, eq=False)
class CertifiedDesign:
    """The posteriors used, their chances, and a dual that holds for every vertex there is."""

    posteriors: Matrix
    chances: Matrix
    dual: Dual

    def trace(self, aim: Aim) -> float:
        """``trace(V J^-1)`` of the design."""
        return aim.trace(self.posteriors, self.chances)


class Vertices(Protocol):
    """Posteriors to choose from, too many to use at once."""

    def first(self, aim: Aim, budget: float | None) -> tuple[Matrix, Dual | None]:
        """Some posteriors to start with, and a dual that is known to hold for all."""
        ...

    def asked_for(self, dual: Dual, aim: Aim, wanted: int) -> tuple[Matrix, float]:
        """The posteriors that exceed the dual most, and the largest excess of all; infinite where that is not known."""
        ...


@dataclass(frozen=True, eq=False)
class Listed:
    """Vertices that are all at hand."""

    posteriors: Matrix

    def first(self, aim: Aim, budget: float | None) -> tuple[Matrix, Dual | None]:
        rng = np.random.default_rng(0)  # the choice of the first vertices moves the work, not the answer
        return self.posteriors[rng.choice(len(self.posteriors), size=FEW_VERTICES, replace=False)], None

    def asked_for(self, dual: Dual, aim: Aim, wanted: int) -> tuple[Matrix, float]:
        violations = dual.violations(self.posteriors)
        strongest = np.argpartition(-violations, wanted)[:wanted]
        return self.posteriors[strongest[violations[strongest] > 0]], float(violations.max())


@dataclass(frozen=True, eq=False)
class Capped:
    """All posteriors under a bound: uniform on a set, or as many entries delta as fit and the rest; never listed."""

    n_answers: int
    delta: float

    @property
    def n_capped(self) -> int:
        fit = math.floor(1 / self.delta + NEGLIGIBLE)
        return fit if 1 - fit * self.delta > NEGLIGIBLE and fit < self.n_answers else 0

    @property
    def count(self) -> int:
        """About how many there are."""
        return 2**self.n_answers + (math.comb(self.n_answers, self.n_capped) * self.n_answers if self.n_capped else 0)

    @property
    def least_size(self) -> int:
        return math.ceil(1 / self.delta - NEGLIGIBLE)

    def first(self, aim: Aim, budget: float | None) -> tuple[Matrix, Dual | None]:
        """Posteriors that meet the relaxation's dual or nearly so, others, and that dual."""
        dual = relaxed_dual(aim, self.delta if budget is None else budget, self.delta)
        rng = np.random.default_rng(0)  # the choice of the first vertices moves the work, not the answer
        # Random posteriors too: those that meet the dual may be few, and tell nothing about some answers.
        sets = self._random_sets(rng, aim.prior, None)
        some = [self._climb_sets(dual, aim.prior), self._posteriors(sets, np.full(len(sets), -1))]
        if self.n_capped:
            sets = self._random_sets(rng, aim.prior, self.n_capped)
            free = (sets[:, None] >> np.arange(self.n_answers) & 1) == 0
            rests = np.where(free, rng.random(free.shape), -1.0).argmax(axis=1)
            some.append(self._posteriors(sets, rests))
        return np.vstack(some), dual

    def asked_for(self, dual: Dual, aim: Aim, wanted: int) -> tuple[Matrix, float]:
        from tacit.design import _pricing_kernels

        if self.n_answers > MOST_ENUMERATED:
            climbed = self._climb_sets(dual, aim.prior)
            violations = dual.violations(climbed)
            return climbed[np.argsort(-violations)][: min(wanted, int((violations > 0).sum()))], math.inf
        asked = _pricing_kernels.among_all(self._prices(dual), wanted, 0.0)
        return self._posteriors(asked.sets, asked.rests), float(asked.largest)

    def _prices(self, dual: Dual) -> Prices:
        from tacit.design._pricing_kernels import Prices

        return Prices(
            dual.root @ dual.root.T, dual.price, dual.budget_price, self.delta, self.least_size, self.n_capped
        )

    def _climb_sets(self, dual: Dual, prior: Matrix) -> Matrix:
        from tacit.design import _pricing_kernels

        prices, rng = self._prices(dual), np.random.default_rng(int(dual.price.view(np.uint64).sum() >> 1))
        even = _pricing_kernels.uphill(prices, self._random_sets(rng, prior, None))
        strongest = np.unique(even.sets, return_index=True)[1]
        strongest = strongest[np.argsort(-even.excess[strongest])][: CLIMBS_PER_ANSWER * self.n_answers]
        asked = [
            _pricing_kernels.PricedPosteriors(even.sets[strongest], even.rests[strongest], even.excess[strongest], 0.0)
        ]
        if self.n_capped:
            asked.append(_pricing_kernels.uphill_capped(prices, self._random_sets(rng, prior, self.n_capped)))
        sets, rests = (np.concatenate([getattr(each, name) for each in asked]) for name in ("sets", "rests"))
        return self._posteriors(*np.unique(np.stack([sets, rests]), axis=1))

    def _random_sets(self, rng: np.random.Generator, prior: Matrix, size: int | None) -> Codes:
        """Codes of random sets, of one size or of all that are permitted; half of them hold frequent answers rather."""
        count = CLIMBS_PER_ANSWER * self.n_answers
        if size is None:  # the largest entry is spread evenly, not the number of answers
            sizes = np.round(1 / rng.uniform(1 / self.n_answers, 1 / self.least_size, count)).astype(np.int64)
        else:
            sizes = np.full(count, size)
        drawn = rng.gumbel(size=(count, self.n_answers))
        drawn[::2] += np.log(prior)
        ranks = (-drawn).argsort(axis=1).argsort(axis=1)
        codes: Codes = ((ranks < sizes[:, None]) << np.arange(self.n_answers)).sum(axis=1)
        return codes

    def _posteriors(self, sets: Codes, rests: Codes) -> Matrix:
        members = (sets[:, None] >> np.arange(self.n_answers) & 1).astype(np.float64)
        capped = rests >= 0
        made = np.where(capped[:, None], self.delta * members, members / members.sum(axis=1, keepdims=True))
        made[np.flatnonzero(capped), rests[capped]] = 1 - self.n_capped * self.delta
        return made


def posteriors_under(n_answers: int, delta: float) -> Matrix | Capped:
    """All posteriors a channel of least error may use under a bound: listed while they are few."""
    if n_answers > MOST_ANSWERS:
        raise InvalidInput(
            f"The exact front and its bound are for at most {MOST_ANSWERS} answers, not {n_answers}; beyond that there is no "
            "certified bound. Merge rare answers, or use the method optrr."
        )
    if Capped(n_answers, delta).count <= FEW_VERTICES:
        return uniform_and_capped(n_answers, delta)
    return Capped(n_answers, delta)


def certified_design(
    vertices: Matrix | Vertices, aim: Aim, budget: float | None, start: Matrix | None = None
) -> CertifiedDesign:
    """The design of least ``trace(V J^-1)`` over all `vertices` within the budget; `known` are some that may be of use."""
    if isinstance(vertices, np.ndarray):
        if len(vertices) <= FEW_VERTICES:
            design = solve_design(vertices, aim, budget)
            return CertifiedDesign(vertices, design.weights, design.dual)
        vertices = Listed(vertices)
    first, bound = vertices.first(aim, budget)
    return _generate_design(vertices, aim, budget, _distinct_posteriors(first, start), bound)


def _generate_design(
    vertices: Vertices, aim: Aim, budget: float | None, posteriors: Matrix, bound: Dual | None
) -> CertifiedDesign:
    """Solve over some posteriors and add those that the dual asks for, until the proof is closed or none is left."""
    prior, guessed = aim.prior, 0.0 if budget is None else budget
    # The prior itself is a permitted posterior (a report that says nothing) and makes every round feasible.
    posteriors = np.vstack([prior, posteriors])
    tolerance = 1e-4
    for _ in range(MOST_ROUNDS):
        design = solve_design(posteriors, aim, budget, tolerance)
        asked, largest = vertices.asked_for(design.dual, aim, max(ADDED_PER_ROUND, len(prior) ** 2 // 2))
        enough = certified_gap(aim) / 10
        if math.isfinite(largest):
            here = design.dual.shift(largest)
            bound = here if bound is None else max(here, bound, key=lambda each: each.least_trace(prior, guessed))
        elif bound is not None:
            enough = ENOUGH_RELAXED
        made = CertifiedDesign(posteriors, design.weights, bound or design.dual)
        gap = relative_gap(made, aim, budget)
        if gap <= enough or not len(asked):
            if tolerance <= 1e-9 or gap <= enough:
                break
            tolerance = 1e-9
        tolerance = min(tolerance, max(1e-9, 0.01 * gap))
        # Posteriors that got no chance stay: the dual is not unique, and they keep it from swinging back.
        posteriors = _distinct_posteriors(posteriors, asked)
    if tolerance <= 1e-9:
        return made
    used = made.chances > BARELY_USED  # solved well, the others' chances vanish
    final = solve_design(made.posteriors[used], aim, budget)
    return CertifiedDesign(made.posteriors[used], final.weights, made.dual)


def _distinct_posteriors(some: Matrix, others: Matrix | None) -> Matrix:
    """Both, each posterior once."""
    together = some if others is None else np.vstack([some, others])
    _, first = np.unique(together.round(12), axis=0, return_index=True)
    return together[np.sort(first)]


def certified_gap(aim: Aim) -> float:
    """The gap up to which an error counts as proved: what directions that are not wanted leave open is more than rounding."""
    return SINGULAR_GAP if aim.is_singular else CERTIFIED_GAP


def relative_gap(design: CertifiedDesign, aim: Aim, budget: float | None) -> float:
    """How far the design may be above the least trace, as a share of it."""
    bound = design.dual.least_trace(aim.prior, 0.0 if budget is None else budget)
    return design.trace(aim) / bound - 1


def prune_design(design: CertifiedDesign, aim: Aim, budget: float | None) -> CertifiedDesign:
    """A design of the same information with at most n(n+1)/2 + 1 posteriors (a basic solution of the linear program).

    The mean posterior is a linear function of the information, so the equations are those of its triangle, and the
    chance of a right guess is minimised: one more.
    """
    from scipy.optimize import linprog

    is_used = design.chances > NEGLIGIBLE
    posteriors, chances = design.posteriors[is_used], design.chances[is_used]
    root = np.linalg.cholesky(np.linalg.inv(aim.information(posteriors, chances)))
    white = (posteriors / aim.prior) @ root  # in these coordinates the information is the identity
    rows, columns = np.triu_indices(len(aim.prior))
    products = (white[:, rows] * white[:, columns]).T
    solution = linprog(posteriors.max(axis=1), A_eq=products, b_eq=products @ chances, method="highs-ds")
    if solution.x is None:
        return design
    basic = solution.x > NEGLIGIBLE
    refined = solve_design(posteriors[basic], aim, budget)
    return CertifiedDesign(posteriors[basic], refined.weights, design.dual)
