"""Ways to disguise one question side by side, at one demand: what each costs, what it protects, what it rests on."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tacit.channel.dense import even_mixture, expected_mse, gamma_diagonal_keep, map_privacy
from tacit.design.choose import margin_of_error
from tacit.design.exact import exact_front
from tacit.design.front import FrontPoint, front_of, measured_point
from tacit.design.optrr import optrr_front
from tacit.design.problem import DesignProblem
from tacit.design.settings import SearchEffort
from tacit.design.sweeps import permitted_channels
from tacit.display import Shown
from tacit.errors import InvalidInput

Matrix = NDArray[np.float64]

GENERATIONS = 2000
SAME_LEVEL = 1e-6  # privacies closer than this are one


@dataclass(frozen=True, eq=False)
class AdvisedChannel:
    """One way: its channel with its measures, and whether its promise holds only where the prior is right."""

    method: str
    needs_prior: bool
    point: FrontPoint
    margin: float  # half the widest 95% interval of a share

    def to_document(self) -> dict[str, Any]:
        return {
            "method": self.method,
            "needs_prior": self.needs_prior,
            "standard_error": self.margin / 1.959963984540054,
            "margin": self.margin,
            "n_reports": len(self.point.reports),
            **self.point.to_document(),
        }


@dataclass(frozen=True, repr=False, eq=False)
class Advice(Shown):
    """Channels for one question under one demand; those whose promise needs no prior come first, each kind by error.

    Parameters
    ----------
    gamma, delta, privacy : float
        The demands that were compared: an amplification, a bound on posteriors, and a least chance of a wrong guess.
    records : int
        Number of respondents of the errors.
    channels : tuple of AdvisedChannel
        The ways, best first.
    left_out : tuple of str
        Ways that could not be compared, and why.

    Examples
    --------
    >>> from tacit.design import advise
    >>> advice = advise([0.6, 0.3, 0.1], 1000, gamma=5, generations=50, seed=1)
    >>> advice.channels[0].method, advice.channels[0].needs_prior
    ('gamma-diagonal', False)
    """

    gamma: float
    delta: float
    privacy: float
    records: int
    prior: Matrix
    answers: tuple[str, ...]
    channels: tuple[AdvisedChannel, ...]
    left_out: tuple[str, ...] = ()

    plotted = "mse"

    def headline(self) -> str:
        return (
            f"{len(self.answers)} answers, {self.records:,} respondents: amplification {self.gamma:.4g} whatever the prior, "
            f"or posteriors up to {self.delta:.4g} and privacy {self.privacy:.4g} where the prior is right"
        )

    def shown_rows(self) -> list[dict[str, Any]]:
        """One row for each way."""
        return [
            {
                "method": way.method,
                "needs prior": "yes" if way.needs_prior else "no",
                "gamma": f"{way.point.gamma:.4g}" if math.isfinite(way.point.gamma) else "infinite",
                "mse": f"{way.point.mse:.3g}",
                "margin": way.margin,
                "privacy": way.point.privacy,
                "posterior": way.point.worst_posterior,
                "reports": len(way.point.reports),
            }
            for way in self.channels
        ]

    def to_document(self) -> dict[str, Any]:
        return {
            "gamma": self.gamma,
            "delta": self.delta,
            "privacy": self.privacy,
            "records": self.records,
            "prior": self.prior.tolist(),
            "answers": list(self.answers),
            "channels": [way.to_document() for way in self.channels],
            "warnings": list(self.left_out),
        }


def advise(
    prior: ArrayLike,
    records: int,
    *,
    gamma: float | None = None,
    delta: float | None = None,
    privacy: float | None = None,
    answers: Sequence[str] | None = None,
    generations: int = GENERATIONS,
    polish: bool = False,
    seed: int | None = None,
) -> Advice:
    """Gamma-diagonal, exact under gamma, exact under delta, OptRR and Warner for one question, in one table.

    A demand on amplification holds whatever the truth is; one on posteriors only where the prior is right. Where one of
    the two is given, the other is the one that protects alike under the prior: `delta` as the worst posterior of `gamma`
    there. Without `privacy` the channels under `delta` keep that of the exact channel under `gamma`.

    Parameters
    ----------
    prior : array
        Expected share of each answer.
    records : int
        Number of respondents.
    gamma, delta : float, optional
        Largest amplification, and how sure any report may make anyone of any answer. At least one of them.
    privacy : float, optional
        Least chance that the best guess is wrong, for the channels under delta.
    answers : sequence of str, optional
        Names of the answers.
    generations, polish, seed
        Of OptRR's search.

    Returns
    -------
    Advice

    Raises
    ------
    InvalidInput
        Where no demand is given, or the bounds leave no channel.

    Examples
    --------
    >>> from tacit.design import advise
    >>> advice = advise([0.5, 0.3, 0.2], 2000, gamma=4, generations=50, seed=1)
    >>> sorted(way.method for way in advice.channels if not way.needs_prior)
    ['exact under gamma', 'gamma-diagonal']
    """
    free = DesignProblem.of(prior, records, answers=answers)
    gamma, delta = _both(free.prior, gamma, delta)
    problem = DesignProblem.of(prior, records, delta=delta, answers=answers)
    ways = _Ways(problem)
    left_out: list[str] = []
    first: list[tuple[str, bool, Callable[[], FrontPoint]]] = [
        ("exact under gamma", False, lambda: exact_front(prior, records, gamma=gamma, answers=answers).points[0]),
        ("gamma-diagonal", False, lambda: ways.gamma_diagonal(gamma)),
    ]
    channels = _advised_channels(first, problem, left_out)
    level = privacy if privacy is not None else channels[0].point.privacy
    if not 0 <= level < problem.most_privacy:
        raise InvalidInput(
            f"privacy is {level:g}; without any report the best guess is wrong with chance {problem.most_privacy:.4g}, so ask "
            "for less than that."
        )
    effort = SearchEffort(generations=generations, polish=polish, seed=seed)
    second: list[tuple[str, bool, Callable[[], FrontPoint]]] = [
        (
            "exact under delta",
            True,
            lambda: exact_front(prior, records, delta=delta, privacy=level, answers=answers).points[0],
        ),
        ("optrr", True, lambda: ways.cheapest(optrr_front(problem, effort).points, level)),
        ("warner", True, lambda: ways.cheapest(ways.warner(), level)),
    ]
    channels += _advised_channels(second, problem, left_out)
    ranked = sorted(channels, key=_rank)
    return Advice(gamma, delta, level, problem.records, problem.prior, problem.answers, tuple(ranked), tuple(left_out))


def _rank(way: AdvisedChannel) -> tuple[bool, float, bool]:
    """Promises without a prior first, then by error; of channels that err alike, the simpler before the exact one."""
    return way.needs_prior, float(f"{way.point.mse:.6g}"), way.method.startswith("exact")


def _both(prior: Matrix, gamma: float | None, delta: float | None) -> tuple[float, float]:
    """The two demands, one from the other where only one is given: alike in the worst posterior under the prior."""
    if gamma is None and delta is None:
        raise InvalidInput("State a demand: gamma (an amplification), or delta (the largest posterior), or both.")
    largest = float(prior.max())
    if gamma is not None and not (gamma > 1 and math.isfinite(gamma)):
        raise InvalidInput(f"gamma is {gamma:g}; it must be finite and above 1 (1 would say nothing at all).")
    if gamma is None:
        DesignProblem.of(prior, 1, delta=delta)
        assert delta is not None
        if delta >= 1:
            raise InvalidInput(
                "With delta = 1 nothing is promised, so there is nothing to compare. Choose a smaller one."
            )
        gamma = delta * (1 - largest) / (largest * (1 - delta))
    if delta is None:
        delta = largest * gamma / (largest * gamma + 1 - largest)
    return gamma, delta


@dataclass(frozen=True)
class _Ways:
    problem: DesignProblem

    def gamma_diagonal(self, gamma: float) -> FrontPoint:
        n = self.problem.n_answers
        return measured_point(even_mixture(n, gamma_diagonal_keep(n, gamma)), self.problem)

    def warner(self) -> list[FrontPoint]:
        prior = self.problem.prior
        channels = permitted_channels(self.problem, "warner")
        usable = [each for each in channels if math.isfinite(expected_mse(each, prior, 1))]
        return [measured_point(each, self.problem) for each in usable if map_privacy(each, prior) >= 0]

    def cheapest(self, points: Sequence[FrontPoint], level: float) -> FrontPoint:
        """The channel of least error with at least this privacy."""
        enough = [point for point in points if point.privacy >= level - SAME_LEVEL]
        if not enough:
            most = max((point.privacy for point in points), default=0.0)
            raise InvalidInput(f"none of its channels has privacy {level:.4g}; the most is {most:.4g}.")
        return min(enough, key=lambda point: point.mse)


def _advised_channels(
    ways: Sequence[tuple[str, bool, Callable[[], FrontPoint]]], problem: DesignProblem, left_out: list[str]
) -> list[AdvisedChannel]:
    """Each way's channel; what cannot be made is left out with the reason."""
    channels = []
    for method, needs_prior, make in ways:
        try:
            point = make()
        except InvalidInput as reason:
            left_out.append(f"{method}: {reason}")
            continue
        front = front_of(problem, method, 0.0, [point])
        channels.append(AdvisedChannel(method, needs_prior, point, margin_of_error(point, front, problem.records)))
    return channels
