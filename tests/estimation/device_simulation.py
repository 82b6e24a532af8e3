"""Studies with devices, simulated: people with a trait, reports by the device's law, and what is estimated from them.

Simple samples are drawn as counts: `tacit.prevalence` sees people only by how many gave which report, so studies with the
same counts have one estimate, which is made once. Complex samples are drawn person by person: four strata that are asked
in other proportions than they live in and differ in their shares, 40 clusters that differ too, and weights.
"""

from __future__ import annotations

import warnings
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

import tacit
from tacit.channel.devices import DeviceDesign, design
from tacit.estimation.prevalence_result import Prevalence
from tests.study_scores import CLUSTERS, PEOPLE, REPORTED, Scores, by_lots, chance_of

TRUTH = 0.3
# Device, its chances, the classes of people, and the truth of what it leaves open.
CASES: dict[str, tuple[str, list[float], dict[str, float]]] = {
    "warner": ("p=.75", [0.7, 0.3], {}),
    "unrelated-question": ("p=.6,y=1/4", [0.7, 0.3], {}),
    "forced-response": ("truth=2/3,yes=1/6", [0.7, 0.3], {}),
    "crosswise": ("p=.2", [0.7, 0.3], {}),
    "triangular": ("p=1/4", [0.7, 0.3], {}),
    "mangat": ("p=.6", [0.7, 0.3], {}),
    "kuk": ("p1=.75,p2=.25,k=3", [0.7, 0.3], {}),
    "mirrored-question": ("p=.75", [0.7, 0.3], {}),
    "disguised-response": ("p=.75", [0.7, 0.3], {}),
    "matrix": ("rows=.8,.1;.1,.2;.1,.7", [0.7, 0.3], {}),
    "extended-crosswise": ("p=1:.2,2:.8", [0.7, 0.3], {}),
    "cheating-detection": ("p=1:.2,2:.7", [0.5, 0.3, 0.2], {"cheaters": 0.2}),
    "stochastic-lie-detector": ("p=1:1/6,2:5/6", [0.7, 0.24, 0.06], {"t": 0.8}),
    "unrelated-question, y unknown": ("p=1:.75,2:.25", [0.42, 0.28, 0.18, 0.12], {"y": 0.4}),
}
# Which part of the population lives in each stratum, and by how much its share of carriers differs. A quarter of the
# respondents comes from each, so estimates without weights are off by .025.
STRATA = np.array([0.4, 0.3, 0.2, 0.1])
APART = np.array([0.05, -0.05, 0.05, -0.15])
CLOSENESS = 20.0  # of clusters to their stratum: their shares are drawn from Dirichlet distributions with this sum


def made(case: str) -> DeviceDesign:
    return design(case.split(",")[0], CASES[case][0])


def reported(device: DeviceDesign, classes: NDArray[np.intp], samples: NDArray[np.intp], random) -> NDArray[np.intp]:
    """One report for each person, by the law of the person's sample."""
    laws = np.stack([sample.matrix.T for sample in device.samples])
    return by_lots(random.random(len(classes)), laws[samples, classes])


def simulated(case: str, seeds: int, *, clustered: bool = False, stream: int = REPORTED) -> list[Scores]:
    """Of the share, and of each parameter that the device leaves open."""
    device, study = made(case), _clustered if clustered else _counted
    share = Scores("share", is_clustered=clustered)
    opens = {name: Scores(name, is_loose=True, is_clustered=clustered) for name in CASES[case][2]}
    for seed in range(seeds):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            estimated = study(case, device, chance_of(case, seed, stream))
        yes = estimated["yes"]
        share.add(yes.share, yes.standard_error, yes.low, yes.high, TRUTH)
        for name, truth in CASES[case][2].items():
            one = estimated.parameters[name]
            opens[name].add(one.estimate, one.standard_error, one.low, one.high, truth)
    return [share, *opens.values()]


def _counted(case: str, device: DeviceDesign, random: np.random.Generator) -> Prevalence:
    """A simple sample of people, half of them in each of two samples, as counts."""
    chances = np.array(CASES[case][1])
    each = PEOPLE // len(device.samples)
    return _from_counts(case, *(tuple(random.multinomial(each, law.matrix @ chances)) for law in device.samples))


@cache
def _from_counts(case: str, *counts: tuple[int, ...]) -> Prevalence:
    device = made(case)
    names = np.array(device.reports)
    table: dict[str, Any] = {"item": np.concatenate([np.repeat(names, sample) for sample in counts])}
    if len(counts) > 1:
        table["sample"] = np.repeat([str(sample.name) for sample in device.samples], [sum(each) for each in counts])
    return tacit.prevalence(table, "item", device, sample="sample" if len(counts) > 1 else None)


def _clustered(case: str, device: DeviceDesign, random: np.random.Generator) -> Prevalence:
    chances, carry = np.array(CASES[case][1]), np.argmax(device.shares, axis=0) == 1
    cluster = np.arange(PEOPLE) * CLUSTERS // PEOPLE
    stratum_of = np.arange(CLUSTERS) * len(STRATA) // CLUSTERS
    tilted = np.where(carry, 1 + APART[:, None] / TRUTH, 1 - APART[:, None] / (1 - TRUTH)) * chances
    own = np.array([random.dirichlet(CLOSENESS * tilted[stratum]) for stratum in stratum_of])
    classes = by_lots(random.random(PEOPLE), own[cluster])
    samples = np.arange(PEOPLE) % len(device.samples)
    codes = reported(device, classes, samples, random)
    stratum = stratum_of[cluster]
    table = {
        "item": np.array(device.reports)[codes],
        "cluster": cluster,
        "stratum": stratum,
        "weight": STRATA[stratum] * random.uniform(0.5, 1.5, PEOPLE),
        "sample": np.array([str(sample.name) for sample in device.samples])[samples],
    }
    name = "sample" if len(device.samples) > 1 else None
    return tacit.prevalence(table, "item", device, sample=name, weights="weight", strata="stratum", clusters="cluster")
