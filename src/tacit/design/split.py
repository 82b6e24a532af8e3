"""The best split questionnaire: who is asked what, when every respondent may spend all of gamma on it.

Each respondent is dealt one set T of attributes with chance pi_T and reports their joint answer by subset selection with
the full amplification. By symmetry the information about a table is diagonal in its interactions: about S it is
``lambda_S = sum over T containing S of pi_T g_T``, and the weighted variance of the wanted tables is ``sum C_S / lambda_S``.
That is convex in pi, and a multiplicative update finds the optimum with a certificate.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from tacit.channel import Recipe, gamma_diagonal, subset
from tacit.channel.base import Array
from tacit.channel.chances import checked_gamma
from tacit.channel.scheme import Scheme
from tacit.channel.symmetry import best_members, information
from tacit.design.targets import Target
from tacit.errors import InvalidInput
from tacit.schema import Schema

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

MOST_IN_FULL = 16  # attributes of which all 2**16 sets are tried; beyond, those of few attributes
MOST_SETS = 20_000  # that are tried then
MOST_ATTRIBUTES = 24
# A report names joint answers, so a questionnaire must stay within what a respondent's device and a file can list.
MOST_CELLS = 1 << 14
# Rarer questionnaires are not worth their place; the dealing is optimised again without them.
RAREST = 0.002


@dataclass(frozen=True, eq=False)
class SplitDesign:
    """A scheme that deals questionnaires, and how near it is to the best one.

    `cost` is the weighted variance of the wanted tables times the number of respondents; no dealing of such
    questionnaires has a smaller one than `lower_bound`.
    """

    scheme: Scheme
    gamma: float
    targets: tuple[Target, ...]
    cost: float
    lower_bound: float

    @property
    def dealing(self) -> dict[tuple[str, ...], float]:
        """The chance of each set of attributes."""
        return {arm.groups[0].names: arm.probability for arm in self.scheme.questionnaires}


def split_questionnaire(
    schema: Schema, targets: Sequence[Target], gamma: float, *, public: Sequence[str] = (), tolerance: float = 1e-3
) -> SplitDesign:
    """The dealing with the least weighted variance of the targets, within `tolerance` of the best.

    Attributes that no target names are not asked at all, unless they are stated to be `public`.

    >>> from tacit import Attribute, Schema
    >>> from tacit.design.targets import itemset_targets
    >>> schema = Schema(tuple(Attribute(name, ("no", "yes")) for name in ("smokes", "drinks", "works")))
    >>> design = split_questionnaire(schema, itemset_targets(schema, schema.names, 2), gamma=19)
    >>> sorted(len(asked) for asked in design.dealing)
    [2, 2, 2, 3]
    """
    if checked_gamma(gamma) == 1:
        raise InvalidInput("With gamma = 1 reports say nothing, so nothing can be designed. Choose a larger gamma.")
    names = _private(schema, targets, public)
    schema = schema.select([name for name in schema.names if name in names or name in public])
    longest = max(len(target.attributes) for target in targets)
    lattice = _lattice(names, schema.shape(names), gamma, longest)
    needs = lattice.needs(targets)
    dealing, cost, bound = _optimum(lattice, needs, tolerance)
    return SplitDesign(_scheme(schema, lattice, dealing), gamma, tuple(targets), cost, bound)


def _private(schema: Schema, targets: Sequence[Target], public: Sequence[str]) -> tuple[str, ...]:
    named = {name for target in targets for name in target.attributes}
    both = [schema[name].name for name in public if name in named]
    if both:
        raise InvalidInput(f"{both[0]!r} is public, so no table of disguised answers can hold it. Decide for one.")
    names = tuple(name for name in schema.names if name in named)
    if not names:
        raise InvalidInput("There is no table to be estimated, so there is nothing to design for.")
    if len(names) > MOST_ATTRIBUTES:
        raise InvalidInput(
            f"A split questionnaire is designed for at most {MOST_ATTRIBUTES} attributes, not {len(names)}: there are too many "
            "sets of them. Choose fewer, or make some public."
        )
    for target in targets:
        if not target.weight > 0:
            raise InvalidInput(f"The weight of a table must be above 0, not {target.weight!r}.")
        cells = math.prod(schema.shape(target.attributes))
        if cells > MOST_CELLS:
            raise InvalidInput(
                f"The joint domain of {', '.join(target.attributes)} has {cells:,} answers, too many to be asked at once "
                f"(at most {MOST_CELLS:,}). Ask for smaller tables, or for shorter itemsets."
            )
    return names


@dataclass(frozen=True, eq=False)
class _SetLattice:
    """Sets of the attributes, numbered by bits: what asking each of them tells, and which interactions are in which."""

    names: tuple[str, ...]
    shape: tuple[int, ...]
    gamma: float

    @cached_property
    def numbers(self) -> NDArray[np.int64]:
        """The sets that may be asked."""
        return np.arange(1 << len(self.names))

    @cached_property
    def interactions(self) -> NDArray[np.int64]:
        return self.numbers

    def cells(self) -> Array:
        cells = np.ones(len(self.numbers))
        for position, size in enumerate(self.shape):
            cells *= np.where(self.numbers >> position & 1, float(size), 1.0)
        return cells

    def tells(self) -> Array:
        """Information of one report of each questionnaire; none where it cannot be asked."""
        sizes, which = np.unique(self.cells(), return_inverse=True)
        return np.array([self.information_of(cells) for cells in sizes])[which]

    def information_of(self, cells: float) -> float:
        if not 1 < cells <= MOST_CELLS:
            return 0.0
        return information(self.gamma, int(cells), best_members(self.gamma, int(cells)))

    def needs(self, targets: Sequence[Target]) -> Array:
        """How much one over the information about each interaction adds to the weighted variance."""
        needs = np.zeros(len(self.interactions))
        sizes = dict(zip(self.names, self.shape, strict=True))
        for target in targets:
            numbers, factors = np.zeros(1, dtype=np.int64), np.full(1, target.weight)
            for name in target.attributes:
                d = sizes[name]
                inside = numbers + (1 << self.names.index(name))
                numbers = np.concatenate([numbers, inside])
                factors = np.concatenate([factors / d**2, factors * (1 - 1 / d) / d])
            np.add.at(needs, np.searchsorted(self.interactions, numbers), factors)
        needs[0] = 0.0
        return needs

    def over_supersets(self, values: Array) -> Array:
        """For each interaction the sum over all questionnaires that hold it."""
        return over_supersets(values)

    def over_subsets(self, values: Array) -> Array:
        """For each questionnaire the sum over all interactions within it."""
        return over_subsets(values)

    def steepest_elsewhere(self, within: Array) -> float:
        """The steepest slope that a questionnaire which was not tried can have."""
        return 0.0


@dataclass(frozen=True, eq=False)
class _FewAtATime(_SetLattice):
    """The sets of few attributes only, for many attributes; the bound still speaks of all."""

    longest: int = 2  # wanted interaction
    most: int = 2  # attributes asked at once

    @cached_property
    def numbers(self) -> NDArray[np.int64]:
        return self._up_to(self.most)

    @cached_property
    def interactions(self) -> NDArray[np.int64]:
        return self._up_to(self.longest)

    def _up_to(self, size: int) -> NDArray[np.int64]:
        bits = [1 << position for position in range(len(self.names))]
        return np.sort([sum(each) for k in range(size + 1) for each in itertools.combinations(bits, k)])

    @cached_property
    def _holds(self) -> csr_matrix:
        """Which interaction is within which questionnaire."""
        from scipy import sparse

        inside = [np.flatnonzero(self.numbers & each == each) for each in self.interactions]
        rows = np.repeat(np.arange(len(inside)), [len(each) for each in inside])
        columns = np.concatenate(inside)
        return sparse.csr_matrix((np.ones(len(rows)), (rows, columns)), shape=(len(inside), len(self.numbers)))

    def over_supersets(self, values: Array) -> Array:
        return np.asarray(self._holds @ values)

    def over_subsets(self, values: Array) -> Array:
        return np.asarray(self._holds.T @ values)

    def steepest_elsewhere(self, within: Array) -> float:
        """Larger sets hold at most the strongest interactions of each length, and tell no more than the smallest such set."""
        lengths = np.array([int(number).bit_count() for number in self.interactions])
        smallest = np.cumprod(np.sort(np.array(self.shape, dtype=np.float64)))
        steepest = 0.0
        for size in range(self.most + 1, len(self.names) + 1):
            held = 0.0
            for length in range(1, self.longest + 1):
                strongest = np.sort(within[lengths == length])[::-1]
                held += float(strongest[: math.comb(size, length)].sum())
            steepest = max(steepest, held * self.information_of(float(smallest[size - 1])))
        return steepest


def _lattice(names: tuple[str, ...], shape: tuple[int, ...], gamma: float, longest: int) -> _SetLattice:
    if len(names) <= MOST_IN_FULL:
        return _SetLattice(names, shape, gamma)
    most, count = longest, sum(math.comb(len(names), k) for k in range(longest + 1))
    while count + math.comb(len(names), most + 1) <= MOST_SETS:
        most += 1
        count += math.comb(len(names), most)
    if count > 2 * MOST_SETS:
        raise InvalidInput(
            f"{len(names)} attributes have {count:,} sets of up to {longest}, too many to design for. Ask for shorter itemsets, "
            f"or for at most {MOST_IN_FULL} attributes."
        )
    return _FewAtATime(names, shape, gamma, longest, most)


def over_supersets(values: Array) -> Array:
    """For each set the sum over all sets that contain it."""
    total = values.copy()
    for bit in range(len(values).bit_length() - 1):
        split = total.reshape(-1, 2, 1 << bit)
        split[:, 0] += split[:, 1]
    return total


def over_subsets(values: Array) -> Array:
    """For each set the sum over all sets within it."""
    total = values.copy()
    for bit in range(len(values).bit_length() - 1):
        split = total.reshape(-1, 2, 1 << bit)
        split[:, 1] += split[:, 0]
    return total


def _optimum(lattice: _SetLattice, needs: Array, tolerance: float) -> tuple[Array, float, float]:
    """The dealing, its cost, and a lower bound of every dealing's cost."""
    tells = lattice.tells()
    useful = (tells > 0) & (lattice.over_subsets(needs) > 0)
    dealing, cost, bound = _descend(lattice, useful / useful.sum(), tells, needs, tolerance)
    # Of many attributes every set is rare: then those that are rare among them.
    rare = min(RAREST, 0.1 * float(dealing.max()))
    common = np.where(dealing >= rare, dealing, 0.0)
    if (lattice.over_supersets(common)[needs > 0] > 0).all() and (common < dealing).any():
        trimmed, trimmed_cost, _ = _descend(lattice, common / common.sum(), tells, needs, tolerance)
        if trimmed_cost <= cost * 1.01:
            return trimmed, trimmed_cost, bound
    return dealing, cost, bound


def _descend(
    lattice: _SetLattice, dealing: Array, tells: Array, needs: Array, tolerance: float, max_steps: int = 20_000
) -> tuple[Array, float, float]:
    """The multiplicative algorithm for convex designs (Silvey, Titterington and Torsney 1978), with its certificate.

    The cost is homogeneous of degree -1, so its slopes ``d_T`` average to the cost itself under the dealing, and the
    square of the cost over the steepest slope bounds the cost of every dealing from below.
    """
    wanted = needs > 0
    best_bound = 0.0
    for _ in range(max_steps):
        information_amounts = lattice.over_supersets(dealing * tells)
        ratio = np.divide(needs, information_amounts, out=np.zeros_like(needs), where=wanted)
        cost = float(ratio.sum())
        within = np.divide(ratio, information_amounts, out=np.zeros_like(needs), where=wanted)
        slopes = tells * lattice.over_subsets(within)
        steepest = max(float(slopes.max()), lattice.steepest_elsewhere(within))
        best_bound = max(best_bound, cost**2 / steepest)
        allowed = slopes[dealing > 0].max()
        if allowed <= cost * (1 + tolerance):
            break
        dealing = dealing * np.sqrt(slopes)
        dealing /= dealing.sum()
    return dealing, cost, best_bound


def _scheme(schema: Schema, lattice: _SetLattice, dealing: Array) -> Scheme:
    cells = lattice.cells()
    questionnaires: list[tuple[str, float, list[tuple[list[str], Recipe]]]] = []
    for place in np.flatnonzero(dealing >= 2.0**-32):
        number = int(lattice.numbers[place])
        asked = [name for position, name in enumerate(lattice.names) if number >> position & 1]
        recipe = best_recipe(lattice.gamma, int(cells[place]))
        questionnaires.append((" & ".join(asked), float(dealing[place]), [(asked, recipe)]))
    if len(questionnaires) == 1:
        return Scheme.from_groups(schema, questionnaires[0][2])
    total = math.fsum(chance for _, chance, _ in questionnaires)
    return Scheme.dealt(schema, [(name, chance / total, groups) for name, chance, groups in questionnaires])


def best_recipe(gamma: float, answers: int) -> Recipe:
    """The channel that tells most of one of so many joint answers within the amplification."""
    members = best_members(gamma, answers)
    return gamma_diagonal(gamma) if members == 1 else subset(members, gamma)


def known_interactions(scheme: Scheme, names: Sequence[str], power: int = 1) -> NDArray[np.float64] | None:
    """Information per respondent about every set of `names`; None where a questionnaire is not symmetric.

    With a `power`, that power of each questionnaire's information, weighed by its chance.
    """
    asked = np.zeros(1 << len(names))
    for questionnaire in scheme.questionnaires:
        if questionnaire.public or len(questionnaire.groups) != 1:
            return None
        law = questionnaire.groups[0].channel.set_law()
        if law is None or not set(questionnaire.attributes) <= set(names):
            return None
        number = sum(1 << names.index(name) for name in questionnaire.attributes)
        asked[number] += questionnaire.probability * law.information**power
    return over_supersets(asked)
