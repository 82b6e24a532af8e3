"""Channels that treat all records alike: gamma-diagonal and subset selection, as one law.

Both report a set of k of the n joint answers (k = 1: a single one) that holds the truth with chance a and any other
answer with chance b. Pairs of members have two chances as well, so every error has a closed form.
"""

from __future__ import annotations

from dataclasses import dataclass

from tacit.channel.kinds.mixture import MixtureChannel
from tacit.channel.kinds.subset import SubsetChannel
from tacit.channel.protocol import Channel


@dataclass(frozen=True)
class SetLaw:
    """Chances of a symmetric channel: that the set holds the truth, another answer, or two given answers."""

    answers: int
    members: int
    holds: float
    background: float
    with_truth: float  # both of two answers, one of which is true
    without: float  # both of two answers, neither of which is true

    @property
    def contrast(self) -> float:
        return self.holds - self.background

    @property
    def information(self) -> float:
        """One report's information about each interaction of the attributes, for a uniform truth.

        In units that do not depend on what else is asked, so that questionnaires can be added up.
        """
        k, n = self.members, self.answers
        return self.contrast**2 * (n - 1) / (k * (n - k))


def set_law(channel: Channel) -> SetLaw | None:
    """The chances of a channel that treats all records alike; None for others."""
    if isinstance(channel, SubsetChannel):
        n, k, holds = channel.size, channel.members, channel.holds
        rest = (k - 1) / (n - 1)
        hold_both = rest * (k - 2) / (n - 2) if n > 2 else 0.0
        fill_both = k * rest / (n - 2) if n > 2 else 0.0
        without = holds * hold_both + (1 - holds) * fill_both
        return SetLaw(n, k, holds, channel.background, holds * rest, without)
    if isinstance(channel, MixtureChannel) and channel.personal is None and channel.keep < 1:
        background = (1 - channel.keep) / channel.size
        return SetLaw(channel.size, 1, channel.keep + background, background, 0.0, 0.0)
    return None


def information(gamma: float, answers: int, members: int) -> float:
    """The information of one report of subset selection with amplification `gamma`."""
    k, n = members, answers
    spread = 1 + (gamma - 1) * k / n
    return ((gamma - 1) / spread) ** 2 * k * (n - k) / (n * n * (n - 1))


def best_members(gamma: float, answers: int) -> int:
    """How many members make a set tell most, within the amplification: about one in ``gamma + 1`` of the answers."""
    guess = answers / (gamma + 1)
    near = {min(max(int(guess) + step, 1), answers - 1) for step in (0, 1)}
    return max(sorted(near), key=lambda members: information(gamma, answers, members))
