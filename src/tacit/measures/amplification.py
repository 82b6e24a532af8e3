"""From amplification to what it promises, and from a promise to the parameter that keeps it (FRAPP).

Amplification gamma bounds how much any report can shift the odds of anything about the person who sent it, whatever was
known before; its logarithm is the epsilon of local differential privacy.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tacit.channel.routing import MOST_COMPARED, Mask
from tacit.channel.scheme import Group
from tacit.errors import InvalidInput


def epsilon(gamma: float) -> float:
    """The epsilon of local differential privacy."""
    return math.log(gamma) if math.isfinite(gamma) else math.inf


def posterior_bound(share: float, gamma: float) -> float:
    """The surest anyone can become of a property that `share` of all people have: rho2 of (rho1, rho2) privacy."""
    if math.isinf(gamma):
        return 1.0
    return share * gamma / (share * gamma + 1 - share)


def gamma_between(rho1: float, rho2: float) -> float:
    """The largest amplification under which no property of prior `rho1` gets a posterior above `rho2`.

    >>> round(gamma_between(0.05, 0.50), 9)
    19.0
    """
    for name, value in (("rho1", rho1), ("rho2", rho2)):
        if not 0 < value < 1:
            raise InvalidInput(f"{name} must lie strictly between 0 and 1, not {value!r}.")
    if rho1 >= rho2:
        raise InvalidInput(
            f"rho2, how sure anyone may become, must exceed rho1, how sure they were before; {rho1!r} and {rho2!r} do not."
        )
    return rho2 * (1 - rho1) / (rho1 * (1 - rho2))


@dataclass(frozen=True)
class DeterminableRange:
    """What RAN-GD is advertised with: the posteriors of the matrices that one respondent may have drawn.

    The miner knows the range only; but respondents draw on their own, so the reports follow the expected matrix exactly,
    and the posterior that counts is `expected`. `largest_gamma` is the amplification of whoever drew the far end.
    """

    share: float
    low: float
    expected: float
    high: float
    largest_gamma: float


def determinable(share: float, drawn_odds: tuple[float, float, float]) -> DeterminableRange:
    """Posteriors of a property of prior `share`, for the least, the expected and the most odds that may be drawn."""
    low, expected, high = drawn_odds
    # A draw far below the truth's chance makes the other records the likelier ones.
    steepest = max(max(odds, 1 / odds if odds else math.inf) for odds in (low, high))
    least, usual, most = (posterior_bound(share, odds) for odds in (low, expected, high))
    return DeterminableRange(share, least, usual, most, steepest)


def determinable_range(share: float, gamma: float, alpha: float, n: int) -> DeterminableRange:
    """`determinable` of the randomized gamma-diagonal channel on n records, as FRAPP publishes it."""
    x = 1 / (gamma + n - 1)

    def odds(r: float) -> float:
        other = x - r / (n - 1)
        return (gamma * x + r) / other if other > 0 else math.inf

    return determinable(share, (odds(-alpha), odds(0.0), odds(alpha)))


def binary_pse(keep: float, share: float, personal: float) -> float:
    """PSE of a yes/no entry under an unrelated question (electronic surveys study).

    `share` is the true chance of a yes, `personal` that of the harmless question. The printed closed form drops
    ``2 * personal`` from its first term; this one agrees with the definition everywhere.
    """
    yes = keep * share + (1 - keep) * personal
    no = 1 - yes
    from_yes = (keep + (1 - keep) * personal) * (1 - keep) * personal / yes if yes > 0 else 0.0
    from_no = (1 - keep) * (1 - personal) * (keep + (1 - keep) * (1 - personal)) / no if no > 0 else 0.0
    return 2 * share * (1 - share) * (from_yes + from_no)


def coins_guessed(theta: float, groups: int) -> float:
    """Chance to guess the coins of so many flipped groups, without any other knowledge (multi-group study)."""
    return max(theta, 1 - theta) ** groups


Array = NDArray[np.float64]

# Ratios of so many pairs are formed at a time: 32 MB.
RATIOS = 1 << 22


def answer_amplification(group: Group, axis: int, situations: Iterable[Mask]) -> float:
    """The largest ratio of two chances of one report, for records that differ in one answer and what routing forces.

    Where a law is too large to list, any two records count: never less than the truth.
    """
    if not group.channel.is_small:
        return group.channel.amplification
    if not group.is_routed:
        return group.channel.answer_amplification(axis)
    if len(group.legal) > MOST_COMPARED:
        return group.channel.amplification
    law = group.law
    return max((_between(law, *group.legal.differing(axis, possible)) for possible in situations), default=1.0)


def amplification_among(group: Group, possible: Mask) -> float:
    """The largest ratio of two chances of one report, among the records that are possible.

    Where a law is too large to list, any two records count: never less than the truth.
    """
    if possible.sum() < 2:
        return 1.0
    if possible.all() or not group.channel.is_small:
        return group.channel.amplification
    columns = group.law[:, possible]
    return _largest(columns.max(axis=1), columns.min(axis=1)) if columns.shape[1] else 1.0


# The public answers that decide what a group of questions asks, and the amplification of the group after these answers.
Situation = tuple[Mapping[str, str], float]

# Beyond so many public situations a group counts with its worst, which is never less than the truth (static/whole.js).
MOST_SITUATIONS = 1 << 14


def amplification_together(groups: Sequence[Sequence[Situation]]) -> float:
    """The largest amplification of all groups together, over the public situations that can occur.

    Each group lists every combination of the public answers it depends on, also of those that decide which public
    questions are asked. Groups that share no public answer multiply; worst cases that exclude each other never meet.

    >>> young, old = {"age": "young"}, {"age": "old"}
    >>> amplification_together([[(young, 3.0), (old, 1.0)], [(young, 1.0), (old, 2.0)]])
    3.0
    """
    last = {name: index for index, situations in enumerate(groups) for name in situations[0][0]}
    rows: list[Situation] = [({}, 1.0)]
    for index, situations in enumerate(groups):
        before, names = list(rows[0][0]), list(situations[0][0])
        shared = [name for name in names if name in before]
        added = [name for name in names if name not in before and last[name] > index]
        table = _by_answers(_worst_of(situations, [*shared, *added]), shared)
        if len(rows) * max(map(len, table.values())) > MOST_SITUATIONS:
            table = _by_answers(_worst_of(situations, shared), shared)
            added = []
        joined = [
            ({**answers, **more}, gamma * other)
            for answers, gamma in rows
            for more, other in table[tuple(answers[name] for name in shared)]
        ]
        rows = _worst_of(joined, [name for name in [*before, *added] if last[name] > index])
    return max(gamma for _, gamma in rows)


def _worst_of(situations: Iterable[Situation], names: Sequence[str]) -> list[Situation]:
    """The situations grouped by these answers only, each with its largest amplification."""
    worst: dict[tuple[str, ...], float] = {}
    for answers, gamma in situations:
        key = tuple(answers[name] for name in names)
        worst[key] = max(worst.get(key, 1.0), gamma)
    return [(dict(zip(names, key, strict=True)), gamma) for key, gamma in worst.items()]


def _by_answers(situations: Iterable[Situation], names: Sequence[str]) -> dict[tuple[str, ...], list[Situation]]:
    table = defaultdict(list)
    for answers, gamma in situations:
        table[tuple(answers[name] for name in names)].append((answers, gamma))
    return table


def _between(law: Array, first: NDArray[np.int64], second: NDArray[np.int64]) -> float:
    step = max(1, RATIOS // len(law))
    starts = range(0, len(first), step)
    return max((_largest(law[:, first[at : at + step]], law[:, second[at : at + step]]) for at in starts), default=1.0)


def _largest(high: Array, low: Array) -> float:
    if ((high > 0) & (low == 0)).any():
        return math.inf
    return float((high[low > 0] / low[low > 0]).max(initial=1.0))
