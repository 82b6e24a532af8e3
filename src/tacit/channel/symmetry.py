"""What makes a channel easier than its matrix: sets that treat all records alike, and orbits that no report leaves."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tacit.channel.codes import Array


@dataclass(frozen=True, eq=False)
class Orbits:
    """Records that can be reported as each other: ``places[orbit, member]``, all orbits with one law within.

    ``law[report, truth]`` is over the members of an orbit, in the order of `places`.
    """

    places: NDArray[np.int64]
    law: Array

    @classmethod
    def of_single_records(cls, size: int) -> Orbits:
        """Each record is an orbit by itself: it is reported as it is."""
        return cls(np.arange(size)[:, None], np.ones((1, 1)))


@dataclass(frozen=True)
class SetLaw:
    """Chances of a channel that treats all records alike, such as gamma-diagonal and subset selection.

    It reports a set of k of the n joint answers (k = 1: a single one) that holds the truth with chance a and any other
    answer with chance b. Pairs of members have two chances as well, so every error has a closed form.
    """

    answers: int
    members: int
    holds: float

    @property
    def background(self) -> float:
        """Chance that the set holds a given other answer."""
        return (self.members - self.holds) / (self.answers - 1)

    @property
    def contrast(self) -> float:
        return self.holds - self.background

    @property
    def with_truth(self) -> float:
        """Chance of two given answers together, one of which is true."""
        return self.holds * (self.members - 1) / (self.answers - 1)

    @property
    def without(self) -> float:
        """Chance of two given answers together, neither of which is true."""
        n, k = self.answers, self.members
        if n <= 2:
            return 0.0
        hold_both = (k - 1) * (k - 2) / ((n - 1) * (n - 2))
        fill_both = k * (k - 1) / ((n - 1) * (n - 2))
        return self.holds * hold_both + (1 - self.holds) * fill_both

    @property
    def information(self) -> float:
        """One report's information about each interaction of the attributes, for a uniform truth.

        In units that do not depend on what else is asked, so that questionnaires can be added up.
        """
        k, n = self.members, self.answers
        return self.contrast**2 * (n - 1) / (k * (n - k))


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
