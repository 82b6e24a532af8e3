"""Regressions on simulated studies: people by a known model, reports by a device's law, and how far estimates are from the truth.

One case for each family and device, for disguised covariates, and with weights and clusters.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

import tacit
from tacit.channel.devices import DeviceDesign, design
from tacit.errors import NotEstimable

Array = NDArray[np.float64]
PEOPLE, CLUSTERS = 1000, 40
LINE = np.array([-0.5, 0.7, 0.6])  # the intercept, a number x, and who is of the second kind
LEVELS = ("low", "mid", "top")


@dataclass(frozen=True)
class Case:
    """How one study is made and fitted, and what is true of it."""

    study: Callable[[np.random.Generator], tuple[dict[str, Any], dict[str, Any]]]
    formula: str
    truth: Array
    opens: dict[str, float] = field(default_factory=dict)
    clustered: bool = False
    kind: str = "likelihood"


@dataclass(frozen=True)
class Scores:
    """By seed and coefficient: distances from the truth in standard errors, and whether intervals hold it."""

    z: Array
    covered: NDArray[np.bool_]
    opens: Array
    refused: int
    at_edge: int


def simulated(name: str, seeds: range) -> Scores:
    case = CASES[name]
    z, covered, opens, refused, at_edge = [], [], [], 0, 0
    for seed in seeds:
        frame, options = case.study(np.random.default_rng([1965, seed]))
        try:
            fit = tacit.regress(frame, case.formula, **options)
        except NotEstimable:
            refused += 1
            continue
        ends = np.array([(c.low, c.high) for c in fit.coefficients])
        errors = fit.standard_errors
        if case.opens:
            ((value, error),) = fit.open_parameters.values()
            if error is None:
                at_edge += 1
                continue
            opens.append((value - next(iter(case.opens.values()))) / error)
        z.append((fit.estimates - case.truth) / errors)
        covered.append((ends[:, 0] <= case.truth) & (case.truth <= ends[:, 1]))
    return Scores(np.array(z), np.array(covered), np.array(opens), refused, at_edge)


def people(random: np.random.Generator, shared: float = 0.0) -> tuple[dict[str, Any], Array]:
    """A number, a kind, and the predictor of everybody; clusters may share a part of it."""
    x, kind = random.normal(size=PEOPLE), random.integers(0, 2, PEOPLE)
    line = LINE[0] + LINE[1] * x + LINE[2] * kind
    cluster = np.arange(PEOPLE) * CLUSTERS // PEOPLE
    line = line + shared * random.normal(size=CLUSTERS)[cluster]
    return {"x": x, "kind": kind, "cluster": cluster, "w": random.uniform(0.5, 2, PEOPLE)}, line


def reported(made: DeviceDesign, classes: NDArray[Any], random: np.random.Generator) -> dict[str, Any]:
    """Reports by the law of everybody's sample, and the samples."""
    sample = random.integers(0, len(made.samples), PEOPLE)
    ladders = np.stack([np.cumsum(each.matrix, axis=0) for each in made.samples])
    codes = (random.random(PEOPLE)[:, None] > ladders[sample, :, classes]).sum(axis=1)
    columns: dict[str, Any] = {"r": np.array(made.reports)[np.minimum(codes, len(made.reports) - 1)]}
    if len(made.samples) > 1:
        columns["sample"] = np.array([each.name for each in made.samples])[sample]
    return columns


def _options(made: DeviceDesign, **others: Any) -> dict[str, Any]:
    return {"devices": {"r": made}, "sample": "sample" if len(made.samples) > 1 else None, **others}


def _binary(device: str, parameters: str, family: str = "logit") -> Case:
    made = design(device, parameters)

    def study(random: np.random.Generator) -> tuple[dict[str, Any], dict[str, Any]]:
        frame, line = people(random)
        noise = random.normal(size=PEOPLE) if family == "probit" else random.logistic(size=PEOPLE)
        carries = noise < line
        return frame | reported(made, carries.astype(int), random), _options(made, family=family)

    return Case(study, "r ~ x + kind", LINE)


def _opened(device: str, parameters: str, name: str, share: float) -> Case:
    """Devices that tell more: classes of people beyond yes and no."""
    made = design(device, parameters)

    def study(random: np.random.Generator) -> tuple[dict[str, Any], dict[str, Any]]:
        frame, line = people(random)
        chance = 1 / (1 + np.exp(-line))
        carries, lot = random.random(PEOPLE) < chance, random.random(PEOPLE)
        if device == "stochastic-lie-detector":
            classes = np.where(carries, np.where(lot < share, 1, 2), 0)
        elif device == "cheating-detection":
            classes = np.where(carries, 1, np.where(lot < share / (1 - chance), 2, 0))
        else:
            classes = 2 * carries + (lot < share)
        return frame | reported(made, classes, random), _options(made)

    return Case(study, "r ~ x + kind", LINE, {name: share})


def _several(family: str) -> Case:
    """Three answers by forced response, as unordered or ordered ones."""
    made = design("forced-response", "truth=.75", LEVELS)
    second = np.array([0.3, -0.5, 0.4])

    def study(random: np.random.Generator) -> tuple[dict[str, Any], dict[str, Any]]:
        frame, line = people(random)
        if family == "ordered":
            classes = np.digitize(line - LINE[0] + random.logistic(size=PEOPLE), [-0.6, 1.0])
        else:
            other = second[0] + second[1] * frame["x"] + second[2] * frame["kind"]
            weights = np.exp(np.stack([np.zeros(PEOPLE), line, other], axis=1))
            ladder = np.cumsum(weights / weights.sum(axis=1, keepdims=True), axis=1)
            classes = (random.random(PEOPLE)[:, None] > ladder).sum(axis=1)
        return frame | reported(made, classes, random), _options(made, family=family)

    truth = np.append(LINE[1:], [-0.6, 1.0]) if family == "ordered" else np.concatenate([LINE, second])
    return Case(study, "r ~ x + kind", truth)


def _covariate(family: str, *, both: bool = False, clustered: bool = False) -> Case:
    """The kind is disguised; with `both` the outcome is as well."""
    made = design("warner", "p=.85")
    asked = design("forced-response", "truth=.8,yes=.1")

    def study(random: np.random.Generator) -> tuple[dict[str, Any], dict[str, Any]]:
        frame, line = people(random, 0.3 if clustered and family == "linear" else 0.0)
        kind = frame.pop("kind")
        if family == "linear":
            y: Any = line + random.normal(size=PEOPLE)
        elif family == "poisson":
            y = random.poisson(np.exp(line / 2))
        else:
            y = (random.random(PEOPLE) < 1 / (1 + np.exp(-line))).astype(int)
        devices = {"r": made}
        if both:
            y, devices["y"] = reported(asked, y, random)["r"], asked
        frame |= {"y": y} | reported(made, kind, random)
        return frame, {"devices": devices, "family": family, **(SAMPLED if clustered else {})}

    truth = LINE / 2 if family == "poisson" else LINE
    return Case(study, "y ~ x + r", truth, clustered=clustered, kind="corrected scores")


SAMPLED = {"weights": "w", "clusters": "cluster"}


def _clustered() -> Case:
    """A probit model, whose coefficients shrink by a known factor where clusters share a normal part."""
    made, shared = design("forced-response", "truth=2/3,yes=1/6"), 0.4

    def study(random: np.random.Generator) -> tuple[dict[str, Any], dict[str, Any]]:
        frame, line = people(random, shared)
        carries = random.normal(size=PEOPLE) < line
        return frame | reported(made, carries.astype(int), random), _options(made, family="probit", **SAMPLED)

    return Case(study, "r ~ x + kind", LINE / np.sqrt(1 + shared**2), clustered=True)


def _with_direct() -> Case:
    """Half were asked directly; the arm stands in the formula and has no effect."""
    made = design("crosswise", "p=.2,direct=0")
    alone = design("crosswise", "p=.2")

    def study(random: np.random.Generator) -> tuple[dict[str, Any], dict[str, Any]]:
        frame, line = people(random)
        carries = random.random(PEOPLE) < 1 / (1 + np.exp(-line))
        arm = random.integers(0, 2, PEOPLE)
        said = reported(alone, carries.astype(int), random)["r"]
        frame |= {"arm": arm, "r": np.where(arm == 0, np.array(alone.reports)[carries.astype(int)], said)}
        return frame, {"devices": {"r": made}, "sample": "arm"}

    return Case(study, "r ~ x + kind + arm", np.append(LINE, 0.0))


CASES: dict[str, Case] = {
    "logit, warner": _binary("warner", "p=.85"),
    "logit, unrelated question": _binary("unrelated-question", "p=.7,y=1/4"),
    "logit, forced response": _binary("forced-response", "truth=3/4,yes=1/8"),
    "logit, crosswise": _binary("crosswise", "p=.15"),
    "logit, triangular": _binary("triangular", "p=1/4"),
    "logit, mangat": _binary("mangat", "p=.7"),
    "logit, kuk": _binary("kuk", "p1=.75,p2=.25,k=3"),
    "logit, mirrored question": _binary("mirrored-question", "p=.85"),
    "logit, disguised response": _binary("disguised-response", "p=.85"),
    "logit, matrix": _binary("matrix", "rows=.8,.1;.1,.2;.1,.7"),
    "logit, extended crosswise": _binary("extended-crosswise", "p=1:.15,2:.85"),
    "probit, forced response": _binary("forced-response", "truth=3/4,yes=1/8", "probit"),
    "multinomial, forced response": _several("multinomial"),
    "ordered, forced response": _several("ordered"),
    "logit, direct and crosswise": _with_direct(),
    "honesty, stochastic lie detector": _opened("stochastic-lie-detector", "p=1:.1,2:.9", "t", 0.75),
    "cheaters, cheating detection": _opened("cheating-detection", "p=1:.1,2:.7", "cheaters", 0.12),
    "y, unrelated question": _opened("unrelated-question", "p=1:.8,2:.2", "y", 0.4),
    "linear, disguised covariate": _covariate("linear"),
    "logit, disguised covariate": _covariate("logit"),
    "poisson, disguised covariate": _covariate("poisson"),
    "logit, disguised outcome and covariate": _covariate("logit", both=True),
    "probit with weights and clusters": _clustered(),
    "linear, disguised covariate, weights and clusters": _covariate("linear", clustered=True),
    "logit, disguised covariate, weights and clusters": _covariate("logit", clustered=True),
}
