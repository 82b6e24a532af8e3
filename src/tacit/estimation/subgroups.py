"""People whose answers lie within some conditions, broken down by further attributes and a target: what miners ask for.

`everybody` is the door. A subgroup knows its estimated shares with their errors, covariances included, and the subgroups
within it. The numbers come from product rows where reports are such and few enough to hold, else from one table after the
other; a model may stand in for the estimates.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol, Self

import numpy as np

from tacit.channel.base import Array
from tacit.count.protocol import Source
from tacit.estimation.product_rows import report_rows
from tacit.estimation.result import ErrorRule, Sampling
from tacit.estimation.row_subgroups import RowSubgroup
from tacit.estimation.sampled_sources import is_weighted
from tacit.estimation.subgroup_numbers import AnswerBreakdown, ClassShares, Codes
from tacit.estimation.table_subgroups import TableSource, TableSubgroup
from tacit.estimation.uncertainty import open_answers
from tacit.schema import Attribute, Schema


class Subgroup(Protocol):
    """The people whose answers lie within a path of conditions, as far as the reports tell of them."""

    @property
    def by_level(self) -> bool:
        """Whether it pays to ask about many subgroups at once: then all are counted in one pass over the reports."""

    @property
    def error_rule(self) -> ErrorRule:
        """Which rule its errors follow."""

    def prepare(self, others: Sequence[Self]) -> None:
        """Count, in as few passes as possible, what splits of these people and of `others` need."""

    def shares(self) -> ClassShares: ...

    def by_answer(self) -> AnswerBreakdown:
        """For each attribute that leaves a choice, its table with the target, where they are told of together."""

    def covariance(self, attribute: Attribute, sampling: Sampling = "respondents") -> Array:
        """Covariance of an attribute's table: ``[answer, class, answer, class]``; for "respondents" of the disguise alone."""

    def within(self, attribute: Attribute, codes: Codes) -> Self:
        """Those of them who gave one of these answers."""


def everybody(origins: Sequence[Source], schema: Schema, target: str, *, with_errors: bool = True) -> Subgroup:
    """All people behind some sources, by the classes of a target.

    Without errors of the tables, where nobody will ask for them, they are quicker.
    """
    # Questions of which each respondent reports only some are told of table by table, as far as they go.
    rows = None
    if len(origins) == 1 and tells_all(origins[0]) and not is_weighted(origins):
        rows = report_rows(origins[0])
    if rows is not None:
        return RowSubgroup.everybody(rows, target, schema.attributes, with_errors)
    return TableSubgroup(TableSource(tuple(origins), schema), target, {})


def tells_all(source: Source) -> bool:
    """Whether no routed group is dealt in parts, so that all its answers have a joint estimate."""
    routed = [group for group in source.questionnaire.groups if group.records is not None]
    return all(group.channel.margin(range(len(group.names))).is_invertible() for group in routed)


def effective_people(subgroup: Subgroup) -> float:
    """How many people asked openly would tell as much of tables of two attributes as all the disguised ones do."""
    numbers = []
    for table in subgroup.by_answer():
        shares, covariance = table.shares.reshape(-1), subgroup.covariance(table.attribute, "population")
        numbers.append(open_answers(shares, np.diagonal(covariance.reshape(len(shares), -1))))
    return float(np.median(numbers)) if numbers else 0.0


@dataclass(frozen=True, eq=False)
class OpenSubgroup:
    """A subgroup of a model of whole records, with the errors that counting `people` undisguised records would have.

    Its size is the model's too, but where all conditions so far are about public attributes: there the reports tell it, and
    `counted` are its people as they do.
    """

    model: Subgroup
    people: float
    counted: Subgroup | None = None
    public: frozenset[str] = frozenset()

    @property
    def by_level(self) -> bool:
        return self.model.by_level

    @property
    def error_rule(self) -> ErrorRule:
        return "model"

    def prepare(self, others: Sequence[OpenSubgroup]) -> None:
        self.model.prepare([other.model for other in others])
        told = [each.counted for each in (self, *others) if each.counted is not None]
        if told:
            told[0].prepare(told[1:])

    def shares(self) -> ClassShares:
        own = self.model.shares()
        size = min(max(own.size, 0.0), 1.0)
        spread = np.diag(own.classes)
        modelled = ClassShares(
            own.size, size * (1 - size) / self.people, 0.0, own.classes,
            (spread - np.multiply.outer(own.classes, own.classes)) / self.people, spread / self.people,
        )  # fmt: skip
        if self.counted is None:
            return modelled
        told = self.counted.shares()
        return replace(modelled, size=told.size, size_variance=told.size_variance, size_disguise=told.size_disguise)

    def by_answer(self) -> AnswerBreakdown:
        return self.model.by_answer()

    def covariance(self, attribute: Attribute, sampling: Sampling = "respondents") -> Array:
        """A model's counts are uncertain for those who answered as well, so there is always some spread."""
        shares = next(table.shares for table in self.by_answer() if table.attribute.name == attribute.name)
        p = shares.reshape(-1)
        known = np.multiply.outer(p, p) if sampling == "population" else 0.0
        return ((np.diag(p) - known) / self.people).reshape(*shares.shape, *shares.shape)

    def within(self, attribute: Attribute, codes: Codes) -> OpenSubgroup:
        told = self.counted if attribute.name in self.public else None
        return OpenSubgroup(
            self.model.within(attribute, codes), self.people, told and told.within(attribute, codes), self.public
        )


@dataclass(frozen=True, eq=False)
class ModelledSubgroup:
    """A subgroup whose shares are those of a model, with the errors of what the reports tell without it."""

    model: Subgroup
    counted: Subgroup

    @property
    def by_level(self) -> bool:
        return self.model.by_level or self.counted.by_level

    @property
    def error_rule(self) -> ErrorRule:
        return self.counted.error_rule

    def prepare(self, others: Sequence[ModelledSubgroup]) -> None:
        self.model.prepare([other.model for other in others])
        self.counted.prepare([other.counted for other in others])

    def shares(self) -> ClassShares:
        own, counted = self.model.shares(), self.counted.shares()
        return replace(counted, size=own.size, classes=own.classes)

    def by_answer(self) -> AnswerBreakdown:
        return self.model.by_answer()

    def covariance(self, attribute: Attribute, sampling: Sampling = "respondents") -> Array:
        return self.counted.covariance(attribute, sampling)

    def within(self, attribute: Attribute, codes: Codes) -> ModelledSubgroup:
        return ModelledSubgroup(self.model.within(attribute, codes), self.counted.within(attribute, codes))
