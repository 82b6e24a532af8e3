"""How much whole reports tell of single answers, under a joint distribution of all answers.

Everything is a sum over records of the chance of a report; group by group it is the channel applied along its axes, so
the law of the whole report is never written out.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tacit.channel.dense import Figures
from tacit.channel.routing import NOT_ASKED
from tacit.channel.scheme import Group, Questionnaire
from tacit.measures.prior import Prior
from tacit.schema import Attribute

Array = NDArray[np.float64]

# The joint answers of all groups that are looked at together, and the whole reports on them, that are enumerated.
MOST_TRUTHS = 1 << 20
MOST_REPORTS = 1 << 22
# Of one question: its answers times its reports.
MOST_ENTRIES = 1 << 20


@dataclass(frozen=True, eq=False)
class Component:
    """Groups and public attributes whose answers are not independent of each other."""

    groups: tuple[Group, ...]
    public: tuple[Attribute, ...]

    @property
    def names(self) -> list[str]:
        return [name for group in self.groups for name in group.names] + [attribute.name for attribute in self.public]

    @property
    def is_enumerable(self) -> bool:
        """Whether every whole report can be looked at."""
        open_answers = math.prod(attribute.size for attribute in self.public)
        truths = math.prod(math.prod(group.shape) for group in self.groups) * open_answers
        if truths > MOST_TRUTHS or not all(is_enumerable(group) for group in self.groups):
            return False
        reports = math.prod(max(n_reports(group), math.prod(group.shape)) for group in self.groups)
        return reports * open_answers <= MOST_REPORTS


def components(questionnaire: Questionnaire, prior: Prior) -> list[Component]:
    """The groups of a questionnaire, those together whose answers the prior connects."""
    homes: list[set[str]] = [set(group.names) for group in questionnaire.groups]
    homes += [{attribute.name} for attribute in questionnaire.public]
    links = [set(names) for names in prior.parts] if prior.table is None else [set(questionnaire.attributes)]
    for link in links:
        touched = [home for home in homes if home & link]
        if len(touched) > 1:
            homes = [home for home in homes if not home & link] + [set().union(*touched)]
    made = []
    for home in homes:
        groups = tuple(group for group in questionnaire.groups if set(group.names) <= home)
        public = tuple(attribute for attribute in questionnaire.public if attribute.name in home)
        if groups:
            made.append(Component(groups, public))
    return made


def exposures(component: Component, joint: Array) -> dict[str, Figures]:
    """The figures of every disguised answer of a component, for a distribution of all its answers.

    `joint` has an axis for each attribute: those of the groups in their order, then the public ones.
    """
    sizes = [math.prod(group.shape) for group in component.groups] + [public.size for public in component.public]
    table = joint.reshape(sizes)
    named = {}
    for position, group in enumerate(component.groups):
        seen = table
        for other, another in enumerate(component.groups):
            if other != position:
                seen = np.moveaxis(_reported_along(another, np.moveaxis(seen, other, 0)), 0, other)
        answers_by_reports = np.moveaxis(seen, position, 0).reshape(sizes[position], -1)
        for axis, attribute in enumerate(group.attributes):
            named[attribute.name] = _figures(group, axis, answers_by_reports, attribute)
    return named


def _figures(group: Group, axis: int, table: Array, attribute: Attribute) -> Figures:
    """`table` holds the group's joint answers by everything else that is reported."""
    codes = np.indices(group.shape)[axis].reshape(-1)
    sums = _AnswerSums()
    for code, answer in enumerate(attribute.answers):
        sums.add(_reported_along(group, np.where((codes == code)[:, None], table, 0.0)), is_own=answer != NOT_ASKED)
    return sums.figures()


class _AnswerSums:
    """Sums over the answers, for every whole report; not being asked is no answer to the question itself."""

    def __init__(self) -> None:
        self.everyone: Array = np.zeros(())
        self.asked: Array = np.zeros(())
        self.best: Array = np.zeros(())
        self.squares: Array = np.zeros(())

    def add(self, chances: Array, *, is_own: bool) -> None:
        self.everyone = self.everyone + chances
        if is_own:
            self.asked = self.asked + chances
            self.best = np.maximum(self.best, chances)
            self.squares = self.squares + chances**2

    def figures(self) -> Figures:
        share = float(self.asked.sum())
        if share <= 0:  # nobody is asked
            return Figures(1.0, 0.0, 1.0)
        occurs = self.asked > 0
        worst = float((self.best[occurs] / self.everyone[occurs]).max())
        drawn = float((self.squares[occurs] / self.asked[occurs]).sum())
        return Figures(1 - float(self.best.sum()) / share, worst, 1 - drawn / share)


def _reported_along(group: Group, table: Array) -> Array:
    """From the group's joint answers (the first axis) to its whole reports."""
    rest = table.shape[1:]
    if _shows_one(group):
        applied = group.channel.apply(table.reshape(*group.shape, -1))
        return applied.reshape(-1, *rest)
    return (group.channel.matrix @ table.reshape(len(table), -1)).reshape(-1, *rest)


def n_reports(group: Group) -> int:
    if _shows_one(group):
        return math.prod(column.size for column in group.report_attributes)
    return len(group.channel.matrix)


def is_enumerable(group: Group) -> bool:
    """Whether every report of a group can be looked at."""
    if math.prod(group.shape) > MOST_TRUTHS or is_long(group):
        return False
    return _shows_one(group) or group.channel.is_small


def is_long(group: Group) -> bool:
    """Whether it is one question with so many answers that its channel's own figures, without a list, are the quicker."""
    return (
        len(group.names) == 1 and group.records is None and group.channel.size * group.channel.n_reports > MOST_ENTRIES
    )


def _shows_one(group: Group) -> bool:
    return all(column.shows == "one" for column in group.report_attributes)


def blind(shares: Array, attribute: Attribute) -> Figures:
    """The figures of an answer without any report."""
    chances = shares[[answer != NOT_ASKED for answer in attribute.answers]]
    chances = chances / chances.sum() if chances.sum() > 0 else chances
    return Figures(1 - float(chances.max()), float(chances.max()), 1 - float((chances**2).sum()))
