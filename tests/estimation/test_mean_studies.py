"""Whole studies of means: planned against reached errors, and how often intervals hold the truth.

The soak run repeats each setting 2,000 times (docs/notes/means-measured.md has its figures); every change runs a tenth.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pytest
from scipy import stats

from tacit import Attribute, Dataset, Scheme, disguise, estimate
from tacit.design.question import Purpose, choose_channel
from tacit.estimation.numbers import MeanEstimate
from tests.statistics import FALSE_ALARM

SOAK = os.environ.get("TACIT_SOAK") == "1"
STUDIES = 2000 if SOAK else 200
SETTINGS: list[tuple[int, float, Purpose, int]] = [
    (steps, gamma, purpose, n)
    for steps in (5, 11)
    for gamma in (7 / 3, 9.0)
    for purpose in ("mean", "both", "shares")
    for n in (200, 1000, 5000)
]
# One of each kind of setting where not everything is run.
RUN = SETTINGS if SOAK else SETTINGS[::9]


@dataclass(frozen=True)
class Study:
    """One setting, simulated again and again."""

    steps: int
    gamma: float
    purpose: Purpose
    n: int
    skewed: bool

    @property
    def shares(self) -> np.ndarray:
        weights = 0.6 ** np.arange(self.steps) if self.skewed else np.ones(self.steps)
        return np.asarray(weights / weights.sum())

    @property
    def truth(self) -> float:
        return float(self.shares @ np.arange(self.steps))

    @property
    def planned(self) -> float:
        """The planned error of the mean, in ranges."""
        chosen = choose_channel(self.steps, self.gamma, self.purpose, range(self.steps)).chosen
        return math.sqrt(chosen.mean / self.n)

    def means(self) -> Iterator[tuple[MeanEstimate, MeanEstimate]]:
        """The mean of all, and the means of two public groups that do not differ."""
        answers = tuple(map(str, range(self.steps)))
        attributes = [Attribute("stress", answers, ordered=True), Attribute("group", ("a", "b"))]
        chosen = choose_channel(self.steps, self.gamma, self.purpose, range(self.steps)).chosen
        scheme = Scheme.of(attributes, [(["stress"], chosen.recipe)], public=["group"])
        rng = np.random.default_rng([self.steps, self.n, int(self.gamma * 10), len(self.purpose), int(self.skewed)])
        for _ in range(STUDIES):
            codes, groups = rng.choice(self.steps, self.n, p=self.shares), rng.integers(0, 2, self.n)
            truths = Dataset({"stress": np.array(answers)[codes], "group": np.array(["a", "b"])[groups]}, scheme.schema)
            reports = disguise(truths, scheme, seed=int(rng.integers(2**31)))
            table = estimate(reports, ["stress", "group"])
            yield estimate(reports, ["stress"]).mean("stress"), table.mean("stress")


def within(covered: int, least: float, most: float) -> bool:
    """Whether so many of the studies are compatible with a coverage between the bounds."""
    too_few = stats.binom.cdf(covered, STUDIES, least) < FALSE_ALARM
    too_many = stats.binom.sf(covered - 1, STUDIES, most) < FALSE_ALARM
    return not too_few and not too_many


@pytest.mark.soak
@pytest.mark.slow
@pytest.mark.parametrize("skewed", [False, True])
@pytest.mark.parametrize(("steps", "gamma", "purpose", "n"), RUN)
def test_means_reach_what_was_planned_and_their_intervals_hold(
    steps: int, gamma: float, purpose: Purpose, n: int, *, skewed: bool
) -> None:
    study = Study(steps, gamma, purpose, n, skewed)
    covered = differences = 0
    estimates = []
    for overall, grouped in study.means():
        ends = overall.interval()
        covered += bool(ends.low[0] <= study.truth <= ends.high[0])
        estimates.append(float(overall.means[0]))
        (row,) = grouped.differences()
        differences += bool(row["low"] <= 0 <= row["high"])
    assert within(covered, 0.93, 0.97), f"{covered} of {STUDIES}"
    assert within(differences, 0.93, 0.97), f"{differences} of {STUDIES} differences"
    reached = float(np.std(estimates, ddof=1)) / (steps - 1)
    if not skewed:  # the plan is for even answers: 5%, beside the Monte Carlo error of a standard deviation
        room = 0.05 + stats.norm.isf(FALSE_ALARM / 2) / math.sqrt(2 * STUDIES)
        assert abs(reached / study.planned - 1) <= room


def test_the_mean_of_eleven_steps_has_the_error_that_thresholds_can_give() -> None:
    chosen = choose_channel(11, 7 / 3, "mean", range(11)).chosen
    assert math.sqrt(chosen.mean) <= 1.23  # ranges / sqrt(N); the least of any channel is 1.2197
