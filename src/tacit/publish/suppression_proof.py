"""A bound on the loss where rows may be suppressed: branch and bound on shared-out rows, target by target.

The bound of a node is that of `_suppression_kernels`, and where it does not do the sharper one of `_central_kernels`. That
there is no release below a low target is shown sooner than that there is none below the best known, since more cuts and blocks
are ruled out on the way. So targets below the best known loss are refuted one after the other, each by a tree of its own, and
the last one refuted is a bound; the shares of the rows go on from tree to tree and are good from the start. A node is split by
a stretch of cuts of one attribute: some of them are made, or none.
"""

from __future__ import annotations

import heapq
import itertools
import math

import numpy as np
from numpy.typing import NDArray

from tacit.publish._central_kernels import bound_by_blocks
from tacit.publish._proof_kernels import FORBIDDEN, FORCED, OPEN, Instance, merge_inseparable
from tacit.publish._share_kernels import average_shares
from tacit.publish._suppression_kernels import Charges, bound_shared, cost_beside, dearest_paths, trace_dearest
from tacit.publish._sure_class_kernels import UNSURE
from tacit.publish.problem import NWP, STRENGTH, Bits, Problem

# Targets, as shares of the best known loss; the last is the loss itself.
TARGETS = (0.5, 0.76, 0.84, 0.9, 0.93, 0.95, 0.97, 0.98, 0.99, 1.0)
# Bounds are sums of a few hundred terms below one; differences below this are rounding.
ROUNDING = 1e-10
ROUNDS, RATE = 2, 8.0  # in which the shares of a node are moved
CENTRAL_ROUNDS = 1  # the same by the blocks of a central attribute; near the target there are more
MOST_SHARES = 2**26  # kept for central attributes: half a gigabyte
WAYS_TRIED = 3  # of splitting a node
WORTH = 0.1  # of what is missing to the target: a stretch of cuts to split by costs at least this much if none is made
MEMORY = 0.1  # how fast the mean gain by making cuts of an attribute follows the latest
LEAST_GAIN = 1e-4  # of a way in choosing by which cut to split
FIRST_PRICE = 0.1  # of a suppressed row
# What a central attribute is expected to gain, as a share of the best known loss, if all of its blocks are usable.
FIRST_GAIN = 0.3
FEWEST_ANSWERS = 5  # below, an attribute gains nothing: its few cuts are as well tried one by one
DOUBLING = 0.05  # of the best known loss: about what the least bound gains while the number of nodes doubles
NODE_BLOCKS = 25  # blocks that take as long as the rest of a node

Status = NDArray[np.uint8]
Far = NDArray[np.int64]
Node = tuple[Status, Far]
Floats = NDArray[np.float64]
Places = NDArray[np.int64] | None  # of every combination among the merged ones; None where none is merged


class SuppressionTree:
    """Nodes not yet refuted for the target in hand; `lower_bound` is true at any time."""

    def __init__(self, problem: Problem, start: Bits) -> None:
        self._problem, self.instance = problem, instance_of(problem)
        instance = self.instance
        positions, attributes = len(instance.price), len(problem.weights)
        square = (positions, positions)
        self._charges = Charges(
            np.zeros(square),
            np.zeros(square),
            np.ones(square, np.bool_),
            np.zeros(square),
            np.zeros(positions),
            np.zeros(positions),
            np.zeros(attributes),
            np.zeros(int(instance.first_value[-1])),
            np.zeros(1),
            np.concatenate([[0.0, *np.cumsum(problem.tally.marginal(j)) / problem.rows] for j in range(attributes)]),
        )
        self._shares = np.full(instance.codes.shape, 1 / attributes)
        self._central_shares: dict[int, Floats] = {}
        sensitive = [int(problem.demand.first_sensitive[-1])] * len(problem.tally.sensitive)
        radices = [*problem.tally.sizes.tolist(), *sensitive]
        # Numbers of combinations must fit 63 bits; else nothing is merged.
        self._radices = np.array(radices, np.uint64) if math.prod(radices) < 2**63 else None
        self._cuts = np.zeros(problem.n_bits, np.uint8)
        self._mean_gain = np.full(attributes, 0.01)
        self._central_price = np.full((attributes, 1), FIRST_PRICE)
        self._central_gain = np.where(problem.tally.sizes >= FEWEST_ANSWERS, FIRST_GAIN, -1.0)
        self._age = itertools.count()
        self.best_bits, self.best = start.copy(), float(problem.measure(start[None])[0, NWP])
        self.nodes = 0
        self._refuted, self._targets = 0.0, iter(TARGETS)
        self._heap: list[tuple[float, int, Node]] = []
        self._in_hand = 0.0  # bound of the node in hand
        self._aim()

    @property
    def lower_bound(self) -> float:
        """What is refuted, or what the tree in hand leaves open: no more than its target, unless that is the best known loss."""
        aimed = self._target if self._target < self.best - 2 * ROUNDING else math.inf
        unrefuted = min(aimed, self._in_hand, self._heap[0][0] if self._heap else math.inf)
        return min(self.best, max(self._refuted, unrefuted))

    @property
    def is_open(self) -> bool:
        return self.lower_bound < self.best - ROUNDING

    def probe_root(self, deadline: float) -> None:
        """Nothing is tried before the first step: every tree begins with what its target rules out."""

    def _aim(self) -> None:
        """Begin a tree for the next target."""
        self._target = self.best * next(self._targets) - ROUNDING
        self._heap, self._in_hand = [(0.0, next(self._age), self.root())], math.inf

    def root(self) -> Node:
        sizes = np.diff(self.instance.first_value)
        return np.zeros(self._problem.n_bits, np.uint8), np.repeat(sizes, sizes + 1)

    def bound(self, node: Node, rounds: int, central: int | None = None) -> float:
        """A loss that no release in this node is below, or the target in hand if that is less; decides cuts of the node."""
        here, merged_into = self._merged(node[0])
        shares = self._averaged(self._shares, merged_into, here)
        bound = self._bound(here, node, shares, rounds)
        if central is not None and bound < self._target:
            bound = self._bound_by_blocks(here, node, shares, central, rounds)
        return min(self._target, bound)

    def step(self) -> None:
        """Take the node with the least bound: its own cuts are publishable and settle it, or it is split in two."""
        if not self._heap:
            self._refuted = max(self._refuted, self._target)
            self._aim()
            return
        self._in_hand, _, node = heapq.heappop(self._heap)
        self.nodes += 1
        here, merged_into = self._merged(node[0])
        shares = self._averaged(self._shares, merged_into, here)
        bound = self._bound(here, node, shares, ROUNDS)
        self._shares = shares if merged_into is None else shares[merged_into]
        if bound < self._target:
            central, usable = self._central()
            sharper = self._bound_central(here, node, central, merged_into)
            gain = (min(sharper, self._target) - bound) / self.best / usable
            self._central_gain[central] += MEMORY * (gain - self._central_gain[central])
            bound = max(bound, sharper, self._in_hand)
            made = self._retrace(here, node) if bound < self._target else math.inf
            if made < self._target:
                self._settle_or_split(here, node, shares, bound, made, central)
        self._in_hand = math.inf

    def _central(self) -> tuple[int, float]:
        """The attribute whose blocks promise to sharpen the bound of the node in hand most, and which share of them is usable.

        It should gain more than could be had by splitting nodes in the same time, which grows with the number of its blocks.
        """
        charges, first_value, sizes = self._charges, self.instance.first_value, self._problem.tally.sizes
        blocks = np.empty(len(sizes))
        for j in range(len(sizes)):
            own = slice(int(first_value[j]) + j, int(first_value[j + 1]) + j + 1)
            blocks[j] = max(1, np.triu(charges.usable[own, own], 1).sum())
        share = blocks / np.maximum(1, sizes * (sizes + 1) // 2)
        central = int(np.argmax(self._central_gain * share - DOUBLING * np.log2(1 + blocks / NODE_BLOCKS)))
        return central, float(share[central])

    def _bound_central(self, here: Instance, node: Node, central: int, merged_into: Places) -> float:
        """The bound by the blocks of a central attribute; its shares go on from node to node, apart from those of others."""
        shares = self._averaged(self._central_shares.get(central, self._shares), merged_into, here)
        bound = self._bound_by_blocks(here, node, shares, central, CENTRAL_ROUNDS)
        if central in self._central_shares or (len(self._central_shares) + 1) * self._shares.size <= MOST_SHARES:
            self._central_shares[central] = shares if merged_into is None else shares[merged_into]
        return bound

    def _bound_by_blocks(self, here: Instance, node: Node, shares: Floats, central: int, rounds: int) -> float:
        demand, charges, price = self._problem.demand, self._charges, self._central_price[central]
        return float(bound_by_blocks(here, demand, *node, self._target, charges, shares, central, price, rounds, RATE))

    def _retrace(self, here: Instance, node: Node) -> float:
        """Shortest paths again, since the central attribute has decided cuts."""
        limit, charges = self._problem.demand.limit, self._charges
        return float(trace_dearest(here, limit, node[0], charges, self._target, self._cuts))

    def _bound(self, here: Instance, node: Node, shares: Floats, rounds: int) -> float:
        demand, charges = self._problem.demand, self._charges
        return float(bound_shared(here, demand, *node, self._target, charges, shares, self._cuts, rounds, RATE))

    def _merged(self, status: Status) -> tuple[Instance, Places]:
        """The instance with answers between which every cut is forbidden written as one."""
        if self._radices is None:
            return self.instance, None
        codes, counts, sensitive, merged_into = merge_inseparable(self.instance, status, self._radices)
        return self.instance._replace(codes=codes, counts=counts, sensitive=sensitive), merged_into

    def _averaged(self, shares: Floats, merged_into: Places, here: Instance) -> Floats:
        """The shares of the merged combinations."""
        if merged_into is None:
            return shares.copy()
        return average_shares(shares, self.instance.counts, merged_into, len(here.counts))

    def _settle_or_split(
        self, here: Instance, node: Node, shares: Floats, bound: float, made: float, central: int
    ) -> None:
        """`bound` is that of the node, `made` the part of it that shares alone make, to which ways of splitting are compared."""
        cuts = self._cuts.copy()
        measures = self._problem.measure(cuts[None])[0]
        if measures[STRENGTH] >= self._problem.k:
            if measures[NWP] < self.best:
                self.best, self.best_bits = float(measures[NWP]), cuts
                self._target = min(self._target, self.best - ROUNDING)
            if measures[NWP] <= bound + ROUNDING:
                return
        if (node[0] == OPEN).any():
            for value, child in self._split(here, node, shares, made, central):
                if value < self._target:
                    heapq.heappush(self._heap, (max(bound, value), next(self._age), child))

    def _split(self, here: Instance, node: Node, shares: Floats, made: float, central: int) -> list[tuple[float, Node]]:
        """Both ways of the stretch of cuts that raises the bound most: some of them are made, or none.

        Cuts of the central attribute come last, since all of its blocks are tried anyway.
        """
        limit, charges = self._problem.demand.limit, self._charges
        others = [j for j in range(len(self._problem.weights)) if j != central]
        stretches = [(j, self._stretch(here, node[0], made, j)) for j in others]
        if all(stretch is None for _, stretch in stretches):
            stretches = [(central, self._stretch(here, node[0], made, central))]
        ways = []
        for j, stretch in stretches:
            if stretch is not None:  # making none leaves the classes and what blocks are charged as they are
                none = with_none(here, node, j, *stretch)
                cost = float(dearest_paths(here, limit, none[0], charges, self._target))
                promise = self._mean_gain[j] * (max(0.0, min(cost, self._target) - made) + LEAST_GAIN)
                ways.append((-promise, j, stretch, cost, none))
        best: list[tuple[float, Node]] = []
        most = -1.0
        for _, j, stretch, cost, none in sorted(ways, key=lambda way: way[0])[:WAYS_TRIED]:
            some = with_some(here, node, j, *stretch)
            sides = [(self._bound(here, some, shares, 1), some), (cost, none)]
            gains = [max(0.0, min(value, self._target) - made) + LEAST_GAIN for value, _ in sides]
            self._mean_gain[j] += MEMORY * (gains[0] - self._mean_gain[j])
            if gains[0] * gains[1] > most:
                most, best = gains[0] * gains[1], sides
            if max(value for value, _ in sides) >= self._target:
                return sides  # one way is closed: nothing is split
        return best

    def _stretch(self, here: Instance, status: Status, made: float, j: int) -> tuple[int, int] | None:
        """The shortest stretch of cuts of an attribute which is worth much; None where all is decided."""
        size, bit = int(np.diff(here.first_value)[j]), int(here.first_bit[j])
        cost = np.empty((size + 1, size + 1))
        cost_beside(here, self._problem.demand.limit, status, self._charges, j, cost)
        open_cuts = np.flatnonzero(status[bit : bit + size - 1] == OPEN) + 1
        if not len(open_cuts):
            return None
        first, last = (ends.ravel() for ends in np.meshgrid(open_cuts, open_cuts, indexing="ij"))
        worth = cost[first, last]
        before = self._charges.before[int(here.first_value[j]) + j :]
        fit = (first <= last) & (worth < self._target) & (before[last] - before[first] <= UNSURE)
        if not fit.any():  # but for rounding some would
            return int(open_cuts[0]), int(open_cuts[0])
        first, last, worth = first[fit], last[fit], worth[fit]
        wanted = min(made + WORTH * (self._target - made), worth.max())
        length = np.where(worth >= wanted, last - first, size)
        choice = np.lexsort((-worth, length))[0]
        return int(first[choice]), int(last[choice])


def with_some(here: Instance, node: Node, j: int, first: int, last: int) -> Node:
    """The node in which one of these cuts of attribute `j` is made."""
    status, far = node[0].copy(), node[1].copy()
    base = int(here.first_value[j]) + j
    far[base : base + first] = np.minimum(far[base : base + first], last)
    if first == last:
        status[here.first_bit[j] + first - 1] = FORCED
    return status, far


def with_none(here: Instance, node: Node, j: int, first: int, last: int) -> Node:
    """The node in which none of them is."""
    status = node[0].copy()
    status[here.first_bit[j] + first - 1 : here.first_bit[j] + last] = FORBIDDEN
    return status, node[1].copy()


def instance_of(problem: Problem) -> Instance:
    """The tally, and the price of every block, as the kernels of both proofs read them."""
    tally = problem.tally
    first_value, sizes = problem.space.first_value, tally.sizes
    price = np.zeros((int(first_value[-1]) + len(sizes),) * 2)
    for j, size in enumerate(sizes):
        rows = np.concatenate([[0], np.cumsum(tally.marginal(j))]) / tally.rows
        for a, b in itertools.combinations(range(size + 1), 2):
            base = first_value[j] + j
            price[base + a, base + b] = problem.weights[j] * (rows[b] - rows[a]) * (b - a - 1) / max(1, size - 1)
    members = np.array([[j in members for j in range(len(sizes))] for members in tally.sets])
    sensitive = np.ascontiguousarray(tally.sensitive_codes)
    scale = problem.weights / np.maximum(1, sizes - 1)
    codes = tally.codes.astype(np.int64)
    return Instance(
        codes, tally.counts, sensitive, members, problem.space.first_bit, first_value, price, scale, tally.rows
    )
