"""The groups that a wanted table touches, and how each is estimated."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tacit.channel import uniform_perturbation
from tacit.channel.base import Array, Channel, Estimator
from tacit.channel.scheme import Group, Questionnaire
from tacit.schema import Attribute


@dataclass(frozen=True, eq=False)
class Part:
    """One group's share of a table: its report columns, the attributes they tell of, and the estimator between them.

    `channel` is the law of these columns given the `covered` attributes; it differs from the estimator only where the channel has
    no marginals, and then covers the whole group.
    """

    attributes: tuple[str, ...]
    columns: tuple[str, ...]
    estimator: Estimator
    channel: Channel
    covered: tuple[str, ...]  # the attributes the channel covers
    shows_one: bool  # whether each report column shows one answer, not a set or bits
    guess: Array | None = None  # where the estimator should be most precise, if there is a choice

    @cached_property
    def tally_ndim(self) -> int:
        return len(self.estimator.tally_shape)


def identity(shape: tuple[int, ...]) -> Channel:
    """The channel of what is public: the truth with certainty."""
    return uniform_perturbation(1.0).build(shape)


def parts_for(questionnaire: Questionnaire, wanted: Sequence[str]) -> list[Part]:
    """One part for each group with a wanted attribute, and one for each wanted public attribute."""
    parts = [_group_part(group, wanted) for group in questionnaire.groups_of(wanted)]
    for attribute in questionnaire.public:
        if attribute.name in wanted:
            channel = identity((attribute.size,))
            parts.append(
                Part((attribute.name,), (attribute.name,), channel, channel, (attribute.name,), shows_one=True)
            )
    return parts


def _group_part(group: Group, wanted: Sequence[str]) -> Part:
    axes = [axis for axis, name in enumerate(group.names) if name in wanted]
    names = tuple(group.names[axis] for axis in axes)
    if group.channel.has_marginals:
        channel = group.channel.marginal(axes)
        reports = channel.report_attributes([group.attributes[axis] for axis in axes])
        return Part(names, _names(reports), channel, channel, names, _show_one(reports))
    reports = group.report_attributes
    return Part(names, _names(reports), group.channel.margin(axes), group.channel, group.names, _show_one(reports))


def _names(columns: Sequence[Attribute]) -> tuple[str, ...]:
    return tuple(column.name for column in columns)


def _show_one(columns: Sequence[Attribute]) -> bool:
    return all(column.shows == "one" for column in columns)


def columns_of(parts: Sequence[Part]) -> list[str]:
    return [column for group in parts for column in group.columns]


def attributes_of(parts: Sequence[Part]) -> list[str]:
    return [name for group in parts for name in group.attributes]


def solve(parts: Sequence[Part], tally: Array) -> Array:
    """The unbiased estimate: every part's inverse along its own axes; the big matrix is never built."""
    for group in parts:
        tally = _behind(group.estimator.solve(tally, group.guess), len(group.attributes))
    return tally


def solve_covered(parts: Sequence[Part], tally: Array) -> Array:
    """The unbiased estimate of everything that the parts' channels cover."""
    for group in parts:
        tally = _behind(group.channel.solve(tally, group.guess), len(group.covered))
    return tally


def solve_squares(parts: Sequence[Part], tally: Array) -> Array:
    """Mean square of one report's contribution to each cell of the estimate."""
    for group in parts:
        tally = _behind(group.estimator.solve_squares(tally, group.guess), len(group.attributes))
    return tally


def solve_pairs(parts: Sequence[Part], tally: Array) -> Array:
    """Mean product of one report's contributions to each two cells: ``(cells, cells)``."""
    for group in parts:
        tally = _behind(group.estimator.solve_pairs(tally, group.guess), 2)
    pairs = tally.transpose(*range(0, tally.ndim, 2), *range(1, tally.ndim, 2))
    cells = int(np.prod([np.prod(group.estimator.shape) for group in parts]))
    return pairs.reshape(cells, cells)


def solve_adjoint(parts: Sequence[Part], weights: Array) -> Array:
    """Weights on reports whose means are the estimates of weighted sums of cells; further axes come first."""
    for group in parts:
        weights = _behind(group.estimator.solve_adjoint(weights, group.guess), group.tally_ndim)
    return weights


def _behind(array: Array, axes: int) -> Array:
    """The first axes moved behind all others: after a round over the parts every axis is back in its place."""
    return np.moveaxis(array, range(axes), range(-axes, 0))


def apply(parts: Sequence[Part], truth: Array) -> Array:
    """Expected tally of one report, for a truth over everything that the parts' channels cover."""
    for group in parts:
        truth = _behind(group.channel.apply(truth), group.tally_ndim)
    return truth


def adjoint(parts: Sequence[Part], weights: Array) -> Array:
    """Expected weight of a report, given each truth over everything that the parts' channels cover."""
    for group in parts:
        weights = _behind(group.channel.adjoint(weights), len(group.covered))
    return weights
