"""Tree-structured models: every attribute depends on one other, or on none (Chow and Liu 1968); several trees may mix."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from tacit.channel.codes import Array, Codes
from tacit.joint._forest_kernels import Branches, likeliest, propagate
from tacit.joint.ascent import ARRIVED, MOST_STEPS, Climb, climb, twice
from tacit.joint.classes import SPLIT, log_sum
from tacit.joint.evidence import WholeReports
from tacit.joint.laws import LawTerm
from tacit.joint.products import Turn

# Products that the groups' sums of products may multiply to; beyond, a forest is too slow to fit.
MOST_TERMS = 64
# Numbers of evidence held at a time.
EVIDENCE_NUMBERS = 1 << 22


@dataclass(frozen=True, eq=False)
class Forest:
    """``sum_k weights[k] prod_j tables[j][k, parent's answer, answer_j]``; a root has one row instead of its parent's.

    ``parents[j]`` is the position of the attribute that j depends on, -1 for a root.
    """

    weights: Array  # (components,)
    parents: tuple[int, ...]
    tables: tuple[Array, ...]  # for each attribute (components, answers of its parent or 1, answers)

    name = "tree"

    @property
    def n_components(self) -> int:
        return len(self.weights)

    @property
    def n_parameters(self) -> int:
        cells = sum(table.shape[0] * table.shape[1] * (table.shape[2] - 1) for table in self.tables)
        return len(self.weights) - 1 + cells

    @property
    def arrays(self) -> tuple[Array, ...]:
        return (self.weights, *self.tables)

    def with_arrays(self, arrays: Sequence[Array]) -> Forest:
        return Forest(arrays[0], self.parents, tuple(arrays[1:]))

    def describe(self) -> str:
        return "one tree" if self.n_components == 1 else f"a mixture of {self.n_components} trees"

    @cached_property
    def _layout(self) -> _Layout:
        return _Layout.of(self.parents, [table.shape[2] for table in self.tables])

    @cached_property
    def _flat(self) -> Array:
        """The tables of all attributes in the order of the kernels, (components, cells)."""
        return np.concatenate([self.tables[j].reshape(self.n_components, -1) for j in self._layout.order], axis=1)

    def log_chance(self, record: Sequence[Codes]) -> Array:
        """Logarithm of the chance of each whole record."""
        logs = np.log(np.maximum(self.weights, 1e-300))[None, :] + np.zeros((len(record[0]), 1))
        for j, (parent, table) in enumerate(zip(self.parents, self.tables, strict=True)):
            above = record[parent] if parent >= 0 else np.zeros(len(record[j]), dtype=np.int64)
            logs = logs + np.log(np.maximum(table[:, above, record[j]].T, 1e-300))
        return log_sum(logs)

    def marginal(self, attributes: Sequence[int]) -> Array:
        """The joint distribution of some attributes, one axis each."""
        table = np.ones((self.n_components,))
        axes: list[int] = []
        for root in (j for j, parent in enumerate(self.parents) if parent < 0):
            subtree = self._below(root, set(attributes))
            if subtree is not None:
                subtree_table, of_root = subtree
                table = _outer(table, subtree_table[:, 0])
                axes += of_root
        table = np.tensordot(self.weights, table, axes=(0, 0))
        return table.transpose([axes.index(j) for j in attributes])

    def _below(self, j: int, wanted: set[int]) -> tuple[Array, list[int]] | None:
        """``(components, parent's answers, wanted attributes below j)``; None where none is wanted."""
        table = np.ones((self.n_components, self.tables[j].shape[2]))
        axes: list[int] = []
        for child in (c for c, parent in enumerate(self.parents) if parent == j):
            subtree = self._below(child, wanted)
            if subtree is not None:
                subtree_table, below = subtree
                table = _outer(table, subtree_table, shared=2)
                axes += below
        if j not in wanted:
            return (np.einsum("kpj,kj...->kp...", self.tables[j], table), axes) if axes else None
        joint = self.tables[j].reshape(*self.tables[j].shape, *(1,) * (table.ndim - 2)) * table[:, None]
        return joint, [j, *axes]

    def draw(self, people: int, rng: np.random.Generator) -> list[Codes]:
        """Whole records drawn at random, column by column."""
        components = rng.choice(self.n_components, size=people, p=self.weights / self.weights.sum())
        columns = [np.zeros(people, dtype=np.int64) for _ in self.tables]
        for j in self._layout.order:
            above = columns[self.parents[j]] if self.parents[j] >= 0 else np.zeros(people, dtype=np.int64)
            steps = self.tables[j].cumsum(axis=2)
            steps /= steps[:, :, -1:]
            columns[j] = (rng.random(people)[:, None] >= steps[components, above][:, :-1]).sum(axis=1)
        return columns

    def report_logs(self, reports: WholeReports) -> Array:
        """Log-likelihood of each report."""
        return np.concatenate([chunk.logs for chunk in self._propagate_part(reports)])

    def answers(self, reports: WholeReports) -> list[Array]:
        """Posterior of each answer of every attribute, ``(rows, answers)``."""
        wide = np.concatenate([made.answers for made in self._propagate_part(reports)])
        layout = self._layout
        places = {j: slice(layout.branches.slots[i], layout.branches.slots[i + 1]) for i, j in enumerate(layout.order)}
        return [np.maximum(wide[:, places[j]], 0.0) for j in range(len(self.tables))]

    def candidates(self, reports: WholeReports) -> Iterator[list[Codes]]:
        """Promising whole records for each report: the best of each component for each term."""
        layout = self._layout
        evidence = list(gathered_evidence(self, reports))
        for t in range(evidence[0].rows.shape[1]):
            for k in range(self.n_components):
                best = np.concatenate(
                    [
                        likeliest(
                            np.ascontiguousarray(chunk.rows[:, t]),
                            self._flat[k],
                            layout.branches,
                        )
                        for chunk in evidence
                    ]
                )
                yield [best[:, layout.order.index(j)] for j in range(len(self.tables))]

    def exchange_answers(self, attributes: Sequence[int], turn: Turn) -> Forest:
        """The model with the answers of some attributes exchanged."""
        places = {j: np.argsort(exchange) for j, exchange in zip(attributes, turn, strict=True)}
        tables = []
        for j, (parent, table) in enumerate(zip(self.parents, self.tables, strict=True)):
            rows = places.get(parent, np.arange(table.shape[1]))
            columns = places.get(j, np.arange(table.shape[2]))
            tables.append(table[:, rows][:, :, columns])
        return Forest(self.weights, self.parents, tuple(tables))

    def _propagate_part(self, reports: WholeReports) -> Iterator[_Propagated]:
        for evidence in gathered_evidence(self, reports):
            yield self.propagate_evidence(evidence)

    def propagate_evidence(self, evidence: ForestEvidence) -> _Propagated:
        layout = self._layout
        logs, counts, in_components, answers = propagate(
            evidence.rows,
            evidence.scales,
            evidence.free,
            evidence.counts,
            self.weights,
            self._flat,
            layout.branches,
        )
        return _Propagated(logs, counts, in_components, answers, evidence.counts)


@dataclass(frozen=True, eq=False)
class ForestEvidence:
    """Some reports as the kernels see them: ``rows[report, term, slot]`` and ``scales[report, term]``."""

    rows: Array
    scales: Array
    free: NDArray[np.bool_]  # terms that say nothing of any answer
    counts: Array


@dataclass(frozen=True, eq=False)
class _Propagated:
    logs: Array
    counts: Array
    in_components: Array
    answers: Array
    people: Array


@dataclass(frozen=True, eq=False)
class _Layout:
    """The forest as the kernels see it: its attributes by place, and where things are."""

    order: list[int]
    branches: Branches

    @classmethod
    def of(cls, parents: Sequence[int], sizes: Sequence[int]) -> _Layout:
        order: list[int] = []
        waiting = list(range(len(parents)))
        while waiting:
            ready = [j for j in waiting if parents[j] < 0 or parents[j] in order]
            order += ready
            waiting = [j for j in waiting if j not in ready]
        above = [order.index(parents[j]) if parents[j] >= 0 else -1 for j in order]
        spans = [sizes[parents[j]] * sizes[j] if parents[j] >= 0 else sizes[j] for j in order]
        slots = np.concatenate([[0], np.cumsum([sizes[j] for j in order])]).astype(np.int64)
        cells = np.concatenate([[0], np.cumsum(spans)]).astype(np.int64)
        return cls(order, Branches(np.array(above, dtype=np.int64), slots, cells))


def _outer(left: Array, right: Array, shared: int = 1) -> Array:
    """The product of two tables that share their first axes, further axes side by side."""
    wide = right.reshape(*right.shape[:shared], *(1,) * (left.ndim - shared), *right.shape[shared:])
    return left.reshape(*left.shape, *(1,) * (right.ndim - shared)) * wide


def n_terms(reports: WholeReports) -> int | None:
    """How many products the reports' sums multiply to; None where they are too many for a forest."""
    total = 1
    for group in reports.groups:
        terms = group.law.terms_of(MOST_TERMS)
        if terms is None or total * len(terms) > MOST_TERMS:
            return None
        total *= len(terms)
    return total


def gathered_evidence(model: Forest, reports: WholeReports) -> Iterator[ForestEvidence]:
    """What reports say of every answer, some reports at a time."""
    layout = model._layout
    per_row = (n_terms(reports) or 1) * int(layout.branches.slots[-1])
    step = max(1, EVIDENCE_NUMBERS // per_row)
    for start in range(0, max(reports.n_rows, 1), step):
        rows = slice(start, min(start + step, reports.n_rows))
        evidence, scales = _chunk(reports, layout, rows)
        yield ForestEvidence(evidence, scales, (evidence == 1).all(axis=(0, 2)), reports.counts[rows])


def _chunk(reports: WholeReports, layout: _Layout, rows: slice) -> tuple[Array, Array]:
    size = rows.stop - rows.start
    evidence = np.ones((size, 1, int(layout.branches.slots[-1])))
    scales = np.ones((size, 1))
    for group in reports.groups:
        terms = group.law.terms_of(MOST_TERMS)
        if terms is None:
            raise ValueError("A forest was asked about a group whose law has too many terms.")
        which = group.kinds[rows]
        evidence = np.tile(evidence, (1, len(terms), 1))
        scales = np.tile(scales, (1, len(terms)))
        each = evidence.shape[1] // len(terms)
        for t, term in enumerate(terms):
            here = slice(t * each, (t + 1) * each)
            scales[:, here] *= term.scale[which][:, None]
            _set_factors(evidence[:, here], term, group.attributes, which, layout)
    return evidence, scales


def _set_factors(
    evidence: Array, term: LawTerm, attributes: tuple[int, ...], which: NDArray[np.intp], layout: _Layout
) -> None:
    for j, factor in zip(attributes, term.factors, strict=True):
        if factor is None:
            continue
        place = layout.order.index(j)
        start, stop = layout.branches.slots[place], layout.branches.slots[place + 1]
        likelihoods = np.eye(stop - start)[factor[which]] if factor.ndim == 1 else factor[which]
        evidence[:, :, start:stop] *= likelihoods[:, None, :]


def forest_step(model: Forest, evidence: Sequence[ForestEvidence], prior: float) -> tuple[Forest, float]:
    """One step of EM, and the objective a person at the model it started from."""
    layout = model._layout
    weights = np.full(model.n_components, prior)
    counts = np.full_like(model._flat, prior)
    height = (
        prior * float(np.log(np.maximum(model._flat, 1e-300)).sum() + np.log(model.weights).sum()) if prior else 0.0
    )
    for chunk in evidence:
        expected = model.propagate_evidence(chunk)
        height += float(np.dot(expected.people, expected.logs))
        counts += expected.counts
        weights += expected.in_components
    tables: list[Array] = [np.empty(0)] * len(model.tables)
    cells = layout.branches.cells
    for place, j in enumerate(layout.order):
        cell_counts = np.maximum(counts[:, cells[place] : cells[place + 1]], 0).reshape(model.tables[j].shape)
        whole = cell_counts.sum(axis=2, keepdims=True)
        tables[j] = np.where(whole > 0, cell_counts / np.maximum(whole, 1e-300), model.tables[j])
    everybody = sum(float(chunk.counts.sum()) for chunk in evidence)
    return Forest(weights / weights.sum(), model.parents, tuple(tables)), height / everybody


def fit_forest(
    start: Forest,
    parts: Sequence[WholeReports],
    *,
    prior: float = 0.5,
    arrived: float = ARRIVED,
    most_steps: int = MOST_STEPS,
) -> Climb[Forest]:
    """The likeliest forest of the same branches that climbing from `start` leads to."""
    evidence = [chunk for reports in parts for chunk in gathered_evidence(start, reports)]
    return climb(start, lambda model: forest_step(model, evidence, prior), arrived=arrived, most_steps=most_steps)


def split_forest(model: Forest, rng: np.random.Generator, apart: float = SPLIT) -> Forest:
    """Every component twice, a little apart."""
    tables = tuple(twice(table, rng, apart) for table in model.tables)
    return Forest(np.tile(model.weights / 2, 2), model.parents, tables)


def branches(information: Array) -> tuple[int, ...]:
    """Parents of the forest whose branches carry most information in total; pairs that carry none stay apart (Prim)."""
    n = len(information)
    parents = [-1] * n
    joined: set[int] = set()
    while len(joined) < n:
        pairs = [
            (information[i, j], i, j) for i in joined for j in range(n) if j not in joined and information[i, j] > 0
        ]
        if pairs:
            _, parent, child = max(pairs)
            parents[child] = parent
        else:
            child = max((j for j in range(n) if j not in joined), key=lambda j: information[j].sum())
        joined.add(child)
    return tuple(parents)


def plant_forest(parents: Sequence[int], pair_table: Sequence[Sequence[Array]], shares: Sequence[Array]) -> Forest:
    """The forest with these branches whose pairs of neighbours have the given tables, as far as they are positive."""
    tables = []
    for j, parent in enumerate(parents):
        if parent < 0:
            tables.append(np.asarray(shares[j])[None, None, :])
            continue
        pair = pair_table[parent][j] + 0.02 * np.outer(shares[parent], shares[j])
        tables.append((pair / pair.sum(axis=1, keepdims=True))[None])
    return Forest(np.ones(1), tuple(parents), tuple(tables))
