"""What the reports of one group of attributes reveal about one person."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from tacit.channel.flip import FlipChannel
from tacit.channel.mixture import MixtureChannel
from tacit.channel.onehot import MaskChannel
from tacit.channel.randomized import RandomizedGammaDiagonal
from tacit.channel.scheme import Group
from tacit.measures.amplification import DeterminableRange, coins_guessed, epsilon, posterior_bound, range_of
from tacit.measures.channel import channel_figures, condition_number, entry_figures, independent_figures
from tacit.measures.figures import UNKNOWN, Figures
from tacit.measures.mixture import even_mixture_figures
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
    """What is revealed of a group's joint answers; None where a figure cannot be computed for the size.

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
    entries = _entries(group, prior)
    if len(names) == 1:
        figures = entries[0]
    elif isinstance(channel, MaskChannel) and prior.are_independent(names):
        figures = independent_figures(entries)
    elif prior.is_joint_small(names):
        figures = channel_figures(channel, prior.joint(names))
    else:
        figures = _large_figures(group, prior)
    return GroupMeasures(
        attributes=names,
        kind=channel.kind,
        questionnaire=questionnaire,
        gamma=channel.amplification,
        map_privacy=figures.map_privacy,
        blind_privacy=_blind_privacy(prior, names),
        worst_posterior=figures.worst_posterior,
        pse=_least([entry.pse for entry in entries]),
        condition=condition_number(channel),
        entries=tuple(EntryMeasures(name, entry.pse) for name, entry in zip(names, entries, strict=True)),
        determinable=range_of(channel, RARE_SHARE) if isinstance(channel, RandomizedGammaDiagonal) else None,
        coin_guessed=coins_guessed(channel.chance, 1) if isinstance(channel, FlipChannel) else None,
    )


def _entries(group: Group, prior: Prior) -> list[Figures]:
    channel, names = group.channel, group.names
    if channel.has_marginals:
        return [channel_figures(channel.marginal([axis]), prior.joint([name])) for axis, name in enumerate(names)]
    if not prior.is_joint_small(names):
        return [UNKNOWN] * len(names)
    joint = prior.joint(names)
    return [entry_figures(channel, axis, joint) for axis in range(len(names))]


def _large_figures(group: Group, prior: Prior) -> Figures:
    """Figures of a domain too large to write out: only what evenness gives."""
    channel = group.channel
    if isinstance(channel, MixtureChannel) and channel.personal is None and prior.is_uniform(group.names):
        return even_mixture_figures(channel.keep, channel.size)
    return UNKNOWN


def _blind_privacy(prior: Prior, names: Sequence[str]) -> float | None:
    if prior.are_independent(names):
        return 1 - math.prod(float(prior.joint([name]).max()) for name in names)
    return 1 - float(prior.joint(names).max()) if prior.is_joint_small(names) else None


def _least(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return min(known) if len(known) == len(values) else None
