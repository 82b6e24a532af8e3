"""Latent classes: within one class the answers of a person are independent of each other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from tacit.channel.codes import Array, Codes
from tacit.joint._class_kernels import cell_sums, expectation, row_products, row_shares
from tacit.joint.ascent import ARRIVED, MOST_STEPS, Climb, climb, twice
from tacit.joint.evidence import GroupReports, WholeReports
from tacit.joint.products import Turn

# How far the two halves of a split class start apart, as the standard deviation of a logarithm.
SPLIT = 0.3


@dataclass(frozen=True, eq=False)
class LatentClasses:
    """``sum_k weights[k] prod_j factors[j][k, answer_j]``: a distribution of whole records that is never written out."""

    weights: Array  # (classes,)
    factors: tuple[Array, ...]  # for each attribute (classes, answers)

    name = "latent classes"

    @property
    def n_classes(self) -> int:
        return len(self.weights)

    @property
    def n_parameters(self) -> int:
        return len(self.weights) - 1 + sum(len(self.weights) * (factor.shape[1] - 1) for factor in self.factors)

    @property
    def arrays(self) -> tuple[Array, ...]:
        return (self.weights, *self.factors)

    def with_arrays(self, arrays: Sequence[Array]) -> LatentClasses:
        return LatentClasses(arrays[0], tuple(arrays[1:]))

    def describe(self) -> str:
        return "independent answers" if self.n_classes == 1 else f"{self.n_classes} latent classes"

    def log_chance(self, record: Sequence[Codes]) -> Array:
        """Logarithm of the chance of each whole record."""
        logs = np.log(np.maximum(self.weights, 1e-300)) + sum(
            np.log(np.maximum(factor.T[codes], 1e-300)) for factor, codes in zip(self.factors, record, strict=True)
        )
        return log_sum(logs)

    def marginal(self, attributes: Sequence[int]) -> Array:
        """The joint distribution of some attributes, one axis each."""
        table = self.weights
        for j in attributes:
            table = table[..., None] * self.factors[j].reshape(self.n_classes, *(1,) * (table.ndim - 1), -1)
        return table.sum(axis=0)

    def draw(self, people: int, rng: np.random.Generator) -> list[Codes]:
        """Whole records drawn at random, column by column."""
        classes = rng.choice(self.n_classes, size=people, p=self.weights / self.weights.sum())
        columns = [np.zeros(people, dtype=np.int64) for _ in self.factors]
        for k in range(self.n_classes):
            here = np.flatnonzero(classes == k)
            for column, factor in zip(columns, self.factors, strict=True):
                column[here] = rng.choice(factor.shape[1], size=len(here), p=factor[k] / factor[k].sum())
        return columns

    def report_logs(self, reports: WholeReports) -> Array:
        """Log-likelihood of each report."""
        return self._shares(reports)[0]

    def _shares(self, reports: WholeReports) -> tuple[Array, Array]:
        """Log-likelihood of each report, and the posterior of its classes."""
        if not reports.groups:
            return np.zeros(reports.n_rows), np.repeat(self.weights[None, :], reports.n_rows, axis=0)
        logs, shares = row_shares(reports.crossing.rows, _crossed_chances(self, reports), self.weights)
        return logs + _offsets(self, reports), shares

    def answers(self, reports: WholeReports) -> list[Array]:
        """Posterior of each answer of every attribute, ``(rows, answers)``."""
        _, shares = self._shares(reports)
        made: list[Array] = [shares @ factor for factor in self.factors]
        for group in reports.groups:
            posteriors = group.by_row().answers(self._group_factors(group), shares)
            for j, posterior in zip(group.attributes, posteriors, strict=True):
                made[j] = posterior / np.maximum(posterior.sum(axis=1, keepdims=True), 1e-300)
        return made

    def candidates(self, reports: WholeReports) -> Iterator[list[Codes]]:
        """Promising whole records for each report: the best of each class."""
        rows = np.arange(reports.n_rows)
        best = [np.broadcast_to(factor.argmax(axis=1), (reports.n_rows, self.n_classes)) for factor in self.factors]
        for group in reports.groups:
            records = group.law.component_records(self._group_factors(group))
            for j, codes in zip(group.attributes, records, strict=True):
                best[j] = codes[group.kinds]
        for k in range(self.n_classes):
            yield [codes[rows, k] for codes in best]

    def exchange_answers(self, attributes: Sequence[int], turn: Turn) -> LatentClasses:
        """The model with the answers of some attributes exchanged."""
        factors = list(self.factors)
        for j, exchange in zip(attributes, turn, strict=True):
            factors[j] = self.factors[j][:, np.argsort(exchange)]
        return LatentClasses(self.weights, tuple(factors))

    def _group_factors(self, group: GroupReports) -> list[Array]:
        return [self.factors[j] for j in group.attributes]


def log_sum(logs: Array) -> Array:
    """``log(sum(exp(logs)))`` over the last axis."""
    top = logs.max(axis=-1)
    safe = np.where(np.isfinite(top), top, 0.0)
    with np.errstate(divide="ignore"):
        return safe + np.log(np.exp(logs - safe[..., None]).sum(axis=-1))


def _chances(model: LatentClasses, reports: WholeReports) -> list[Array]:
    """Chance of each group's distinct reports in each class."""
    return [group.law.component_chances(model._group_factors(group)) for group in reports.groups]


def _crossed_chances(model: LatentClasses, reports: WholeReports) -> Array:
    unit = np.ones((1, model.n_classes))
    return row_products(reports.crossing.members, np.concatenate([*_chances(model, reports), unit]))


def _offsets(model: LatentClasses, reports: WholeReports) -> Array:
    offsets = np.zeros(reports.n_rows)
    for group in reports.groups:
        group_offsets = group.law.offsets(model._group_factors(group))
        offsets += group_offsets if isinstance(group_offsets, float) else group_offsets[group.kinds]
    return offsets


def class_step(model: LatentClasses, parts: Sequence[WholeReports], prior: float) -> tuple[LatentClasses, float]:
    """One step of EM, and the objective a person at the model it started from.

    `prior` people are added to every answer of every class, so that nothing becomes impossible by never being seen.
    """
    weights = np.full(model.n_classes, prior)
    totals = [np.full_like(factor, prior) for factor in model.factors]
    height = sum(prior * float(np.log(np.maximum(array, 1e-300)).sum()) for array in model.arrays) if prior else 0.0
    for reports in parts:
        crossing = reports.crossing
        reached, crossed_people = expectation(
            crossing.rows, _crossed_chances(model, reports), model.weights, reports.counts
        )
        height += reached + float(np.dot(reports.counts, _offsets(model, reports)))
        people = cell_sums(crossing.members, crossed_people, crossing.n_cells + 1)[:-1]
        in_classes = people[: reports.groups[0].law.n_reports].sum(axis=0)
        weights += in_classes
        seen: set[int] = set()
        start = 0
        for group in reports.groups:
            group_people, start = people[start : start + group.law.n_reports], start + group.law.n_reports
            seen.update(group.attributes)
            group_counts = group.law.component_counts(model._group_factors(group), group_people)
            for j, counts in zip(group.attributes, group_counts, strict=True):
                totals[j] += counts
        for j in set(range(len(totals))) - seen:
            # Answers to attributes that were not asked are expected to follow the class.
            totals[j] += in_classes[:, None] * model.factors[j]
    factors = tuple(total / np.maximum(total.sum(axis=1, keepdims=True), 1e-300) for total in totals)
    everybody = sum(reports.people for reports in parts)
    return LatentClasses(weights / weights.sum(), factors), height / everybody


def fit_classes(
    start: LatentClasses,
    parts: Sequence[WholeReports],
    *,
    prior: float = 0.5,
    arrived: float = ARRIVED,
    most_steps: int = MOST_STEPS,
) -> Climb[LatentClasses]:
    """The likeliest latent classes that climbing from `start` leads to."""
    return climb(start, lambda model: class_step(model, parts, prior), arrived=arrived, most_steps=most_steps)


def split(model: LatentClasses, rng: np.random.Generator, apart: float = SPLIT) -> LatentClasses:
    """Every class twice, a little apart."""
    factors = tuple(twice(factor, rng, apart) for factor in model.factors)
    return LatentClasses(np.tile(model.weights / 2, 2), factors)


def random_classes(shares: Sequence[Array], n_classes: int, rng: np.random.Generator) -> LatentClasses:
    """Classes scattered about the attributes' own shares."""
    factors = []
    for share in shares:
        scattered = rng.dirichlet(np.ones(len(share)), size=n_classes)
        factors.append(0.5 * scattered + 0.5 * np.asarray(share)[None, :])
    return LatentClasses(np.full(n_classes, 1 / n_classes), tuple(factors))
