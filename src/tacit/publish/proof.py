"""The least loss for a given k, with a certificate: branch and bound, best bound first.

The penalty is a sum over attributes and refining only makes classes smaller, so a node that forces some cuts and forbids
others has the lower bound computed in `_proof_kernels`. At any time the smallest bound among the open nodes is a lower bound
for every generalization there is. Where rows may be suppressed, refining may cost rows, and nothing is proven.
"""

from __future__ import annotations

import heapq
import itertools
import math
import time
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tacit.errors import InvalidInput
from tacit.publish._proof_kernels import FORBIDDEN, FORCED, OPEN, Instance, Paths, bound, merge_inseparable
from tacit.publish.problem import NWP, STRENGTH, Bits, Problem
from tacit.publish.watch import Progress

ROUNDING = 1e-10
REPORT_EVERY = 0.2  # seconds
BRANCHES_TRIED = 6  # cuts that a node could be split by


@dataclass(frozen=True, eq=False)
class Proof:
    """The best generalization known, and a bound that none beats."""

    bits: Bits
    nwp: float
    lower_bound: float
    nodes: int
    seconds: float  # of the processor
    complete: bool  # False when interrupted; the bound is true all the same

    @property
    def gap(self) -> float:
        """How much better the unknown best could be, as a share of the best known."""
        return (self.nwp - self.lower_bound) / self.nwp if self.nwp > 0 else 0.0

    @property
    def is_proven(self) -> bool:
        return self.nwp - self.lower_bound <= ROUNDING


def provable(problem: Problem) -> str | None:
    """Why there is no proof for this problem; None where there is."""
    demand = problem.demand
    if demand.people >= 0:
        return "it counts the rows of classes, and not the people of the population"
    if demand.limit > 0:
        return "where rows may be suppressed, nothing is proven"
    if (problem.space.levels >= 0).any():
        return "hierarchies replace the cuts it decides on, unless every attribute has one"
    if math.prod(map(int, problem.tally.sizes)) >= 2**63:
        return "the quasi-identifiers have too many combinations to number"
    return None


def refuse_unprovable(problem: Problem) -> None:
    """Stop where there is no proof, with a way on."""
    reason = provable(problem)
    if reason:
        raise InvalidInput(f"Method 'exact' cannot be used here: {reason}. Use method 'search'.")


def prove(
    problem: Problem,
    start: Bits,
    seconds: float,
    progress: Progress | None = None,
    *,
    nodes: int | None = None,
    within: float = 0.0,
) -> Proof:
    """Improve on the publishable `start` until nothing better can exist, or CPU seconds or nodes are spent, or Ctrl-C.

    With `nodes` and enough seconds the bound is the same on every machine. Nothing better by more than the share `within`
    of the loss is enough.
    """
    refuse_unprovable(problem)
    began, complete = time.process_time(), True
    tree = _Tree(problem, start)
    try:
        tree.probe_root(began + seconds)
        reported = began
        while time.process_time() - began < seconds and (nodes is None or tree.nodes < nodes):
            if not tree.is_open or tree.lower_bound >= (1 - within) * tree.best:
                break
            tree.step()
            if progress and time.process_time() - reported > REPORT_EVERY:
                reported = time.process_time()
                gap = tree.best - tree.lower_bound
                progress((reported - began) / seconds, f"proving: {tree.best:.4f}, at most {gap:.4f} from the least")
    except KeyboardInterrupt:
        complete = False  # what is known so far is the answer
    return Proof(tree.best_bits, tree.best, tree.lower_bound, tree.nodes, time.process_time() - began, complete)


class _Tree:
    def __init__(self, problem: Problem, start: Bits) -> None:
        self._problem = problem
        self._instance = self._here = instance_of(problem)  # of the whole tree, and of the node in hand
        positions = len(self._instance.price)
        self._paths = Paths(
            np.zeros((positions, positions), np.int64),
            np.ones((positions, positions), np.bool_),
            np.empty((positions, positions)),
            np.empty(positions),
            np.empty(positions),
            np.empty(len(problem.weights)),
        )
        radices = [
            *problem.tally.sizes.tolist(),
            *[int(problem.demand.first_sensitive[-1])] * len(problem.tally.sensitive),
        ]
        # Numbers of combinations must fit 63 bits; else nothing is merged.
        self._radices = np.array(radices, np.uint64) if math.prod(radices) < 2**63 else None
        self._cuts = np.zeros(problem.n_bits, np.uint8)
        self._rise = np.zeros(problem.n_bits)
        self._age = itertools.count()
        self.best_bits = start.copy()
        self.best = float(problem.measure(start[None])[0, NWP])
        self.nodes = 0
        self._heap: list[tuple[float, int, NDArray[np.uint8]]] = []
        # Bound of the node in hand: it is no longer in the heap, and an interruption must not forget it.
        self._in_hand = math.inf
        self._push(0.0, np.zeros(problem.n_bits, np.uint8))

    @property
    def lower_bound(self) -> float:
        return min(self.best, self._in_hand, self._heap[0][0] if self._heap else math.inf)

    @property
    def is_open(self) -> bool:
        return self.lower_bound < self.best - ROUNDING

    def _bound(self, status: NDArray[np.uint8], *, is_counted: bool = False) -> float:
        """The bound of a node; `is_counted` where its forced cuts are those that were counted last."""
        target, demand = self.best - ROUNDING, self._problem.demand
        return float(bound(self._here, demand, status, target, self._paths, self._cuts, self._rise, is_counted))

    def _push(self, at_least: float, status: NDArray[np.uint8]) -> None:
        value = self._bound(status)
        if value < self.best - ROUNDING:
            heapq.heappush(self._heap, (max(at_least, value), next(self._age), status))

    def probe_root(self, deadline: float) -> None:
        """Decide cuts at the root by trying each both ways, then merge the answers that nothing separates."""
        if not self._heap:
            return
        root = self._take()
        decided = -1
        while decided != (decided := int((root != OPEN).sum())):
            for bit in np.flatnonzero(root == OPEN):
                if time.process_time() > deadline:
                    break
                for choice, opposite in ((FORCED, FORBIDDEN), (FORBIDDEN, FORCED)):
                    if root[bit] == OPEN and self._bound(_with(root, bit, choice)) >= self.best - ROUNDING:
                        root[bit] = opposite
            self._instance = self._here = self._merged_instance(root)
        self._push(self._in_hand, root)
        self._in_hand = math.inf

    def _merged_instance(self, status: NDArray[np.uint8]) -> Instance:
        """The instance with answers between which every cut is forbidden written as one."""
        if self._radices is None:
            return self._instance
        codes, counts, sensitive = merge_inseparable(self._instance, status, self._radices)
        return self._instance._replace(codes=codes, counts=counts, sensitive=sensitive)

    def _take(self) -> NDArray[np.uint8]:
        self._in_hand, _, status = heapq.heappop(self._heap)
        return status

    def step(self) -> None:
        """Take the node with the least bound: its own cuts are publishable and settle it, or it is split in two."""
        status = self._take()
        self.nodes += 1
        self._here = self._merged_instance(status)  # all below this node is bounded on these fewer combinations
        self._settle_or_split(status)
        self._in_hand = math.inf

    def _settle_or_split(self, status: NDArray[np.uint8]) -> None:
        bound = self._bound(status)  # again: since it was put aside, a better release may have been found
        if bound >= self.best - ROUNDING:
            return
        cuts = self._cuts.copy()
        measures = self._problem.measure(cuts[None])[0]
        if measures[STRENGTH] >= self._problem.k:
            if measures[NWP] < self.best:
                self.best, self.best_bits = float(measures[NWP]), cuts
            return
        open_cuts = np.flatnonzero(status == OPEN)
        candidates = open_cuts[cuts[open_cuts] == 1] if cuts[open_cuts].any() else open_cuts
        if not len(candidates):
            return
        for value, child in self._split(status, candidates, bound):
            if value < self.best - ROUNDING:
                heapq.heappush(self._heap, (max(self._in_hand, bound, value), next(self._age), child))

    def _split(
        self, status: NDArray[np.uint8], candidates: NDArray[np.intp], made: float
    ) -> list[tuple[float, NDArray[np.uint8]]]:
        """Both ways of the cut that raises the bound most, among those whose loss would cost most.

        Forcing a cut binds the other attributes, forbidding it raises the bound of its own; a cut is worth as much as both
        gains multiplied.
        """
        order = np.argsort(-self._rise[candidates])[:BRANCHES_TRIED]
        weak = self._paths.weak.copy()
        best: list[tuple[float, NDArray[np.uint8]]] = []
        most = -1.0
        for bit in candidates[order]:
            forced, forbidden = (_with(status, bit, choice) for choice in (FORCED, FORBIDDEN))
            sides = [(self._bound(forced), forced)]
            self._paths.weak[:] = weak  # forbidding a cut leaves the classes as they are
            sides.append((self._bound(forbidden, is_counted=True), forbidden))
            gains = [min(value, self.best) - made + 1e-9 for value, _ in sides]
            if gains[0] * gains[1] > most:
                most, best = gains[0] * gains[1], sides
            if max(gains) >= self.best - made:
                return sides  # one way is closed: nothing is split
        return best


def _with(status: NDArray[np.uint8], bit: np.intp, choice: int) -> NDArray[np.uint8]:
    changed = status.copy()
    changed[bit] = choice
    return changed


def instance_of(problem: Problem) -> Instance:
    """The tally, and the price of every block, as the kernels of the proof read them."""
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
    codes = tally.codes.astype(np.int64)
    return Instance(codes, tally.counts, sensitive, members, problem.space.first_bit, first_value, price)
