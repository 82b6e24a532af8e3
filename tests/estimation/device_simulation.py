"""Studies with devices, simulated: people with a trait, reports by the device's law, and what is estimated from them."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

import tacit
from tacit.channel.devices import DeviceDesign, design

TRUTH = 0.3
PEOPLE = 1000
# Device, its chances, the classes of people, and the truth of what it leaves open.
CASES = {
    "warner": ("p=.75", [0.7, 0.3], {}),
    "unrelated-question": ("p=.6,y=1/4", [0.7, 0.3], {}),
    "forced-response": ("truth=2/3,yes=1/6", [0.7, 0.3], {}),
    "crosswise": ("p=.2", [0.7, 0.3], {}),
    "triangular": ("p=1/4", [0.7, 0.3], {}),
    "mangat": ("p=.6", [0.7, 0.3], {}),
    "kuk": ("p1=.75,p2=.25,k=3", [0.7, 0.3], {}),
    "mirrored-question": ("p=.75", [0.7, 0.3], {}),
    "disguised-response": ("p=.75", [0.7, 0.3], {}),
    "cheating-detection": ("p=1:.2,2:.7", [0.5, 0.3, 0.2], {"cheaters": 0.2}),
    "stochastic-lie-detector": ("p=1:1/6,2:5/6", [0.7, 0.24, 0.06], {"t": 0.8}),
    "extended-crosswise": ("p=1:.2,2:.8", [0.7, 0.3], {}),
    "matrix": ("rows=.8,.1;.1,.2;.1,.7", [0.7, 0.3], {}),
    "unrelated-question, y unknown": ("p=1:.75,2:.25", [0.42, 0.28, 0.18, 0.12], {"y": 0.4}),
}


@dataclass(frozen=True)
class Scores:
    """z-scores of the share, of each open parameter, and whether each interval holds the truth."""

    shares: NDArray[np.float64]
    opens: dict[str, NDArray[np.float64]]
    covered: NDArray[np.bool_]


def made(case: str) -> DeviceDesign:
    return design(case.split(",")[0], CASES[case][0])


def reported(device: DeviceDesign, classes: NDArray[np.intp], samples: NDArray[np.intp], random) -> NDArray[np.intp]:
    """One report for each person, by the law of the person's sample."""
    draws = random.random(len(classes))
    ladders = np.stack([np.cumsum(sample.matrix, axis=0) for sample in device.samples])
    return (draws[:, None] > ladders[samples, :, classes]).sum(axis=1)


def simulated(case: str, seeds: int, *, clusters: int = 0) -> Scores:
    device = made(case)
    shares, covered, opens = [], [], {name: [] for name in CASES[case][2]}
    for seed in range(seeds):
        random = np.random.default_rng([1965, seed])
        table, options = _study(device, case, random, clusters)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            found = tacit.prevalence(table, "item", device, sample="sample" if "sample" in table else None, **options)
        yes = found["yes"]
        shares.append((yes.share - TRUTH) / yes.standard_error)
        covered.append(yes.low <= TRUTH <= yes.high)
        for name, truth in CASES[case][2].items():
            parameter = found.parameters[name]
            opens[name].append((parameter.estimate - truth) / parameter.standard_error)
    return Scores(np.array(shares), {name: np.array(scores) for name, scores in opens.items()}, np.array(covered))


def _study(device: DeviceDesign, case: str, random, clusters: int):
    chances = np.array(CASES[case][1])
    samples = np.arange(PEOPLE) % len(device.samples)
    options = {}
    if clusters:
        # Clusters differ in their share of carriers; weights differ between people and go with nothing.
        cluster = np.arange(PEOPLE) * clusters // PEOPLE
        tilt = random.beta(6, 6, clusters) * 2
        carriers = np.minimum(chances[-1] * tilt[cluster], 1)
        classes = (random.random(PEOPLE) < carriers).astype(np.intp)
        options = {"clusters": "cluster", "weights": "weight", "strata": "stratum"}
    else:
        classes = random.choice(len(chances), PEOPLE, p=chances)
    codes = reported(device, classes, samples, random)
    table = {"item": [device.reports[code] for code in codes]}
    if len(device.samples) > 1:
        table["sample"] = [device.samples[number].name for number in samples]
    if clusters:
        table |= {"cluster": cluster, "weight": random.uniform(0.5, 2, PEOPLE), "stratum": cluster % 4}
    return table, options
