"""How a routed block is disguised: the ways to do it under one amplification, and the one with the least error.

A block is a sensitive filter with all that is asked only after it. Whatever disguises it acts on its legal records, so
that the amplification holds for everything the block sends:

- *dealt*: chance deals each respondent one question with the filters before it, and all the protection is spent on that;
- *exact*: the best channel on all legal records, while they are few;
- *subset* selection and *gamma-diagonal* on all legal records;
- *drawn*: every question by itself, where whoever was not asked sends an answer drawn at random.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.channel.chances import integer_weights
from tacit.channel.dense import even_mixture, gamma_diagonal_keep
from tacit.channel.routing import Records
from tacit.design.staircase import Staircase, staircase
from tacit.randomness import ONE

Array = NDArray[np.float64]

# Legal records up to which every pattern of a report is tried.
EXACT_RECORDS = 6
# Shares of the protection that are tried for the filters, where every question is disguised by itself.
DRAWN_TRIES = 8
# Reports by records of a law that a page can work through.
LARGEST_LAW = 1 << 16
# Where every question is disguised by itself the law is a product, and inverted whole.
LARGEST_DRAWN = 1 << 14
# Singular values below this share of the largest tell nothing; a share told only up to this is not told.
NOTHING = 1e-10
UNTOLD = 1e-7
ROUNDING_STEPS = (0.0, 1e-8, 1e-7, 1e-6, 1e-5, 1e-4)


@dataclass(frozen=True, eq=False)
class BlockWay:
    """One way to disguise a block: its channel, and the standard error of each question's shares times root N.

    `together` are the sets of questions whose joint shares it can estimate, beside those within them; None means all.
    """

    name: str
    channel: dict[str, Any]
    errors: dict[str, float]
    cost: float  # the mean variance over what is wanted
    n_reports: int
    together: tuple[tuple[str, ...], ...] | None = None


@dataclass(frozen=True, eq=False)
class Block:
    """The legal records of a routed block, and for each question the positions of what it depends on and of its own.

    `wanted` are the sets of questions (positions of attributes) whose joint shares are to be estimated.
    """

    records: Records
    closures: tuple[tuple[int, ...], ...]
    wanted: tuple[tuple[int, ...], ...]

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(attribute.name for attribute in self.records.attributes)

    def classes(self, positions: Sequence[int]) -> NDArray[np.int64]:
        """Which records agree in some attributes."""
        _, numbers = np.unique(self.records.codes[:, list(positions)], axis=0, return_inverse=True)
        return numbers.reshape(-1)

    @cached_property
    def prior(self) -> Array:
        """The even prior of its records."""
        return self.records.even()

    @cached_property
    def _shares(self) -> dict[tuple[int, ...], Array]:
        return {}

    def shares(self, positions: Sequence[int]) -> Array:
        """Indicators of the joint answers of some questions, of those to whom all of them were asked."""
        key = tuple(positions)
        if key not in self._shares:
            self._shares[key] = self._indicators(key)
        return self._shares[key]

    def _indicators(self, positions: tuple[int, ...]) -> Array:
        asked = self.records.asked_mask[:, list(positions)].all(axis=1)
        codes = self.records.codes[:, list(positions)]
        cells = np.unique(codes[asked], axis=0)
        return np.array([(codes == cell).all(axis=1) for cell in cells], dtype=np.float64)


def block_ways(block: Block, gamma: float) -> list[BlockWay]:
    """Every way to disguise the block within the amplification, the one with the least error first."""
    ways = [_dealt_way(block, gamma), *_subsets(block, gamma)]
    if len(block.records) <= EXACT_RECORDS:
        ways.append(_exact(block, gamma))
    drawn = _drawn_way(block, gamma)
    if drawn is not None:
        ways.append(drawn)
    return sorted((way for way in ways if way is not None), key=lambda way: way.cost)


def _importance(block: Block) -> Array:
    """One row for each wanted share; every wanted table counts alike."""
    tables = [block.shares(positions) for positions in block.wanted]
    return np.vstack([table / math.sqrt(len(table)) for table in tables])


def _dealt_way(block: Block, gamma: float) -> BlockWay | None:
    closures = _largest(block)
    parts = [block.classes(closure) for closure in closures]
    stairs = staircase(parts, gamma, block.prior, _importance(block))
    if stairs.chances.size > LARGEST_LAW:
        return None
    labels = [_label(block, closures[question], parts[question], chosen) for question, chosen in _reports(stairs)]
    names = tuple(tuple(block.names[place] for place in closure) for closure in closures)
    matrix = _dealt_matrix(stairs, parts, gamma)
    return _list_law("dealt", block, matrix, labels, None if len(closures) == 1 else names)


def _dealt_matrix(stairs: Staircase, parts: Sequence[NDArray[np.int64]], gamma: float) -> Array:
    """The chances as multiples of 2**-32, part by part, so that records which a part does not tell apart stay so."""
    chances = np.array([stairs.chances[stairs.parts == place].sum(axis=0)[0] for place in range(len(parts))])
    weights = np.empty(stairs.chances.shape, dtype=np.int64)
    for place, (classes, whole) in enumerate(zip(parts, integer_weights(chances), strict=True)):
        _, first = np.unique(classes, return_index=True)
        mine = stairs.parts == place
        weights[mine] = _within(stairs.chances[np.ix_(mine, first)], gamma, int(whole))[:, classes]
    return np.asarray(weights / ONE, dtype=np.float64)


def _largest(block: Block) -> list[tuple[int, ...]]:
    """What is dealt: a question, or questions wanted together, with all the filters before them."""
    joint = [
        tuple(sorted({place for position in positions for place in block.closures[position]}))
        for positions in block.wanted
    ]
    return [places for places in dict.fromkeys(joint) if not any(set(places) < set(other) for other in joint)]


def _exact(block: Block, gamma: float) -> BlockWay | None:
    everything = np.arange(len(block.records))
    stairs = staircase([everything], gamma, block.prior, _importance(block))
    places = tuple(range(len(block.names)))
    labels = [_label(block, places, everything, chosen) for _, chosen in _reports(stairs)]
    return _list_law("exact", block, _within(stairs.chances, gamma) / ONE, labels)


def _reports(stairs: Staircase) -> list[tuple[int, frozenset[int]]]:
    return list(zip(stairs.parts.tolist(), stairs.favoured, strict=True))


def _label(block: Block, positions: Sequence[int], classes: NDArray[np.int64], chosen: frozenset[int]) -> str:
    """What a report favours, in words: the questions, and the answers it speaks for."""
    asked = [block.names[place] for place in positions]
    answers = []
    for kind in sorted(chosen):
        record = block.records.answers[int(np.flatnonzero(classes == kind)[0])]
        answers.append("+".join(record[place] for place in positions))
    return f"{'+'.join(asked)}: {' | '.join(answers)}"


def _drawn_way(block: Block, gamma: float) -> BlockWay | None:
    """Each question on its own, whoever was not asked sending a drawn answer; the law of the block is enumerated."""
    asked_codes = [
        [code for code, answer in enumerate(attribute.answers) if answer != "not asked"]
        for attribute in block.records.attributes
    ]
    sizes = [len(codes) for codes in asked_codes]
    if math.prod(sizes) * len(block.records) > LARGEST_DRAWN:
        return None

    filters = {place for closure in block.closures for place in closure[:-1]}

    def law(filter_gamma: float, other: float) -> Array:
        chances = np.ones((1, len(block.records)))
        for axis, (codes, size) in enumerate(zip(asked_codes, sizes, strict=True)):
            each = filter_gamma if axis in filters else other
            column = np.full((block.records.shape[axis], size), 1 / size)
            column[codes] = even_mixture(size, gamma_diagonal_keep(size, each))
            by_record = column[block.records.codes[:, axis]].T
            chances = (chances[:, None, :] * by_record[None, :, :]).reshape(-1, len(block.records))
        return chances

    asked_answers = [
        [attribute.answers[code] for code in codes]
        for attribute, codes in zip(block.records.attributes, asked_codes, strict=True)
    ]
    labels = ["+".join(answers) for answers in itertools.product(*asked_answers)]
    ways = []
    for filter_gamma in np.geomspace(1, gamma, DRAWN_TRIES + 2)[1:-1]:
        if _amplification(law(filter_gamma, 1.0)) > gamma:
            break
        other = _largest_within(partial(law, float(filter_gamma)), gamma)
        ways.append(_list_law("drawn", block, _within(law(filter_gamma, other), gamma) / ONE, labels))
    return min((way for way in ways if way is not None), key=lambda way: way.cost, default=None)


def _largest_within(law: Callable[[float], Array], gamma: float) -> float:
    """The largest amplification of single questions whose whole law keeps within `gamma`."""
    low, high = 1.0, gamma
    for _ in range(40):
        middle = (low + high) / 2
        chances = law(middle)
        low, high = (middle, high) if _amplification(chances) <= gamma else (low, middle)
    return low


def _amplification(chances: Array) -> float:
    return float((chances.max(axis=1) / chances.min(axis=1)).max())


def _subsets(block: Block, gamma: float) -> list[BlockWay]:
    """Gamma-diagonal, which is subset selection of one record, and the best size of subset."""
    n = len(block.records)
    made = [_subset(block, gamma, size) for size in range(1, max(2, n // 2 + 1))]
    best = min(made, key=lambda way: way.cost)
    return [made[0]] if best is made[0] else [made[0], best]


def _subset(block: Block, gamma: float, size: int) -> BlockWay:
    def variances(shares: Array) -> Array:
        return np.array([_subset_variance(block, gamma, size, share) for share in shares])

    channel = (
        {"kind": "gamma-diagonal", "gamma": gamma} if size == 1 else {"kind": "subset", "size": size, "gamma": gamma}
    )
    errors = {name: math.sqrt(variances(block.shares([place])).max()) for place, name in enumerate(block.names)}
    cost = float(np.mean([variances(block.shares(positions)).mean() for positions in block.wanted]))
    return BlockWay(str(channel["kind"]), channel, errors, cost, math.comb(len(block.records), size))


def _subset_variance(block: Block, gamma: float, size: int, share: Array) -> float:
    """Variance of one report's contribution to a share: how many of its records are in an even set, truth favoured."""
    n, inside = len(share), int(share.sum())
    p = float(share @ block.prior)
    hold = gamma * size / (gamma * size + n - size)
    other = size * (gamma * (size - 1) + n - size) / ((n - 1) * (gamma * size + n - size))

    def moments(chance: float, extra: int, marked: int, draws: int) -> tuple[float, float]:
        """First two moments of `extra` plus the marked ones among draws from the other records, with this chance."""
        mean = draws * marked / (n - 1)
        spread = mean * (1 - marked / (n - 1)) * ((n - 1 - draws) / (n - 2) if n > 2 else 0.0)
        return chance * (extra + mean), chance * (spread + (extra + mean) ** 2)

    cases = [
        moments(p * hold, 1, inside - 1, size - 1),
        moments(p * (1 - hold), 0, inside - 1, size),
        moments((1 - p) * hold, 0, inside, size - 1),
        moments((1 - p) * (1 - hold), 0, inside, size),
    ]
    first, second = (sum(case[place] for case in cases) for place in (0, 1))
    return (second - first**2) / (hold - other) ** 2


def _list_law(
    name: str,
    block: Block,
    matrix: Array,
    labels: Sequence[str],
    together: tuple[tuple[str, ...], ...] | None = None,
) -> BlockWay | None:
    """A way whose law is written out; None where it is too large for a page, or does not tell what is wanted."""
    if matrix.size > LARGEST_LAW:
        return None
    prior = block.prior
    left, values, right = np.linalg.svd(matrix, full_matrices=False)
    significant = values > values[0] * NOTHING
    left, values, right = left[:, significant], values[significant], right[significant]
    spread = np.linalg.inv((left / (matrix @ prior)[:, None]).T @ left)

    def variances(shares: Array) -> Array | None:
        coordinates = shares @ right.T
        if np.abs(coordinates @ right - shares).max() > UNTOLD:
            return None
        coordinates = coordinates / values
        return np.maximum(np.einsum("ci,ij,cj->c", coordinates, spread, coordinates) - (shares @ prior) ** 2, 0)

    wanted = [variances(block.shares(positions)) for positions in block.wanted]
    singles = [variances(block.shares([place])) for place in range(len(block.names))]
    if any(cells is None for cells in (*wanted, *singles)):
        return None
    errors = {
        name: math.sqrt(cells.max()) for name, cells in zip(block.names, singles, strict=True) if cells is not None
    }
    cost = float(np.mean([cells.mean() for cells in wanted if cells is not None]))
    channel = {"kind": "matrix", "matrix": matrix.tolist(), "reports": list(labels)}
    return BlockWay(name, channel, errors, cost, len(matrix), together)


def _within(chances: Array, gamma: float, total: int = ONE) -> NDArray[np.int64]:
    """The chances in proportion, as whole numbers whose columns sum to `total`.

    They are drawn together by a hair where rounding would exceed the amplification.
    """
    for hair in ROUNDING_STEPS:
        mixed = (1 - hair) * chances + hair * chances.mean(axis=1, keepdims=True)
        weights = np.stack([_largest_remainders(column, total) for column in mixed.T], axis=1)
        low, high = weights.min(axis=1), weights.max(axis=1)
        if low.min() > 0 and (high <= np.floor(low * gamma)).all():
            return weights
    raise AssertionError("a channel within the amplification stays within it when it is drawn together")


def _largest_remainders(shares: Array, total: int) -> NDArray[np.int64]:
    """Whole numbers in proportion to the shares that sum to `total`."""
    exact = shares / shares.sum() * total
    whole = np.floor(exact).astype(np.int64)
    missing = total - int(whole.sum())
    whole[np.argsort(whole - exact, kind="stable")[:missing]] += 1
    return whole
