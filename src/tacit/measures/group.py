"""What the reports of one group of attributes reveal about one person."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from tacit.channel.dense import UNKNOWN, Figures
from tacit.channel.scheme import Group
from tacit.measures.amplification import DeterminableRange, determinable, epsilon, posterior_bound
from tacit.measures.prior import Prior

# The published examples ask what happens to a property that one person in twenty has.
RARE_SHARE = 0.05


@dataclass(frozen=True)
class EntryMeasures:
    """PSE of one entry as the electronic surveys study defines it: from the entry's own column, where it has one.

    What the whole report tells of an answer is in `tacit.measures.whole_report`.
    """

    attribute: str
    pse: float | None


@dataclass(frozen=True)
class GroupMeasures:
    """What reports reveal of a group's joint answers; a figure that cannot be computed for the size is None.

    `pse` is the least of the entries' (electronic surveys study), `blind_privacy` how often the best guesser is wrong
    without any report, `determinable` the range that a randomized gamma-diagonal channel is advertised with, and
    `coin_guessed` how often a guess of a flip's coin is right without any other knowledge (multi-group study).
    """

    attributes: tuple[str, ...]
    kind: str
    questionnaire: str
    gamma: float
    map_privacy: float | None
    blind_privacy: float | None
    worst_posterior: float | None
    pse: float | None
    condition: float | None
    entries: tuple[EntryMeasures, ...]
    determinable: DeterminableRange | None
    coin_guessed: float | None

    @property
    def epsilon(self) -> float:
        return epsilon(self.gamma)

    def posterior_bound(self, share: float) -> float:
        """The surest anyone can become of something that `share` of all people have, whatever the prior is."""
        return posterior_bound(share, self.gamma)


def group_measures(group: Group, prior: Prior, questionnaire: str = "") -> GroupMeasures:
    """Every figure of one group under a prior."""
    channel, names = group.channel, group.names
    figures, entries = _figures(group, prior), _entries(group, prior)
    drawn = channel.drawn_odds()
    return GroupMeasures(
        attributes=names,
        kind=channel.kind,
        questionnaire=questionnaire,
        gamma=channel.amplification,
        map_privacy=figures.map_privacy,
        blind_privacy=_blind_privacy(prior, names),
        worst_posterior=figures.worst_posterior,
        pse=_least([entry.pse for entry in entries]),
        condition=channel.condition_number(),
        entries=tuple(EntryMeasures(name, entry.pse) for name, entry in zip(names, entries, strict=True)),
        determinable=None if drawn is None else determinable(RARE_SHARE, drawn),
        coin_guessed=channel.coin_guessed(),
    )


def _figures(group: Group, prior: Prior) -> Figures:
    """What a report reveals of all the group's answers together."""
    if prior.are_independent(group.names):
        return group.channel.independent_figures([prior.joint([name]) for name in group.names])
    return group.channel.figures(prior.joint(group.names)) if prior.is_joint_small(group.names) else UNKNOWN


def _entries(group: Group, prior: Prior) -> list[Figures]:
    channel, names = group.channel, group.names
    if channel.has_marginals:
        return [channel.marginal([axis]).figures(prior.joint([name])) for axis, name in enumerate(names)]
    if not prior.is_joint_small(names):
        return [UNKNOWN] * len(names)
    joint = prior.joint(names)
    return [channel.answer_figures(axis, joint) for axis in range(len(names))]


def _blind_privacy(prior: Prior, names: Sequence[str]) -> float | None:
    if prior.are_independent(names):
        return 1 - math.prod(float(prior.joint([name]).max()) for name in names)
    return 1 - float(prior.joint(names).max()) if prior.is_joint_small(names) else None


def _least(values: Sequence[float | None]) -> float | None:
    numbers = [value for value in values if value is not None]
    return min(numbers) if len(numbers) == len(values) else None
