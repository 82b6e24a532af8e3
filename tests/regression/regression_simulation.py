"""Regressions on simulated studies: people by a known model, reports by a device's law, and how far estimates are from the truth.

One case for each family and device and for disguised covariates, each as a simple sample and with weights and clusters.
Everybody's outcome comes from one lot in [0, 1), through the quantiles of the model. In clusters the lots go together (a
normal copula) and so do the numbers x, while the model holds for everybody as before, so its coefficients stay what they are.

Thousands of studies are fitted by `Fitting`, from codes and a design that is made here: reading columns and formulas takes
four times as long as the fit. `through_the_door` gives the same study to `tacit.regress`, and a test compares the two.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from numpy.typing import NDArray
from scipy.special import expit, ndtr, ndtri, pdtrik

import tacit
from tacit.channel.devices import DeviceDesign, design
from tacit.count.weighted import SampleColumns
from tacit.errors import NotEstimable
from tacit.estimation.complex_samples import SampleDesign
from tacit.estimation.device_reports import DIRECT
from tacit.regression.data import by_codes
from tacit.regression.fitting import Fitting, FormulaData, Sampling
from tacit.regression.formula import Design, read_formula
from tacit.regression.result import Regression
from tacit.regression.rows import AlikeRows
from tests.estimation.device_simulation import CASES as DEVICES
from tests.study_scores import CLUSTERS, PEOPLE, REPORTED, Scores, by_lots, chance_of

Array = NDArray[np.float64]
Codes = NDArray[np.intp]
LINE = np.array([-1.0, 0.6, 0.6])  # the intercept, a number x, and who is of the second kind
SECOND = np.array([-0.5, -0.5, 0.4])  # of a third answer
BETWEEN = np.array([-0.4, 1.0])  # thresholds of ordered answers
LEVELS = ("low", "mid", "top")
ALIKE = 0.1  # correlation of what decides the outcome of two people of a cluster


@dataclass(frozen=True)
class People:
    """Numbers, kinds and lots of the people of a study, and what they weigh where the sample is complex."""

    x: Array
    kind: Codes
    lots: Array
    weights: Array | None = None
    cluster: Codes | None = None

    @property
    def line(self) -> Array:
        return self.along(LINE)

    def along(self, line: Array) -> Array:
        return np.asarray(line[0] + line[1] * self.x + line[2] * self.kind)


@dataclass(frozen=True)
class Asked:
    """The reports of one disguised variable, and the sample of each."""

    device: DeviceDesign
    codes: Codes
    which: Codes


@dataclass(frozen=True)
class Study:
    """What is known of the people of one study, and how it is fitted."""

    asked: Mapping[str, Asked]
    clear: Mapping[str, Any]
    family: str


@dataclass(frozen=True)
class Case:
    """How one study is made and fitted, and what is true of it."""

    study: Callable[[People, np.random.Generator], Study]
    formula: str
    truth: Array
    opens: dict[str, float] = field(default_factory=dict)
    is_corrected: bool = False


def simulated(name: str, seeds: int, *, clustered: bool = False, stream: int = REPORTED) -> list[Scores]:
    """Of every coefficient, and of what the device leaves open."""
    case = CASES[name]
    scores: list[Scores] = []
    refused = 0
    for seed in range(seeds):
        try:
            fit = fitted(case, *made(name, seed, clustered=clustered, stream=stream))
        except NotEstimable:
            refused += 1
            continue
        if not scores:
            loose = case.is_corrected or bool(case.opens)
            scores = [Scores(term, loose, clustered) for term in (*fit.terms, *fit.open_parameters)]
        for each, one, truth in zip(scores, fit.coefficients, case.truth, strict=False):
            each.add(one.estimate, one.standard_error, one.low, one.high, truth)
        for each, own in zip(scores[len(case.truth) :], fit.parameters.values(), strict=True):
            each.add(own["estimate"], own["standard_error"], own["low"], own["high"], case.opens[each.name])
    for each in scores:
        each.left_out += refused
    return scores


def made(name: str, seed: int, *, clustered: bool, stream: int = REPORTED) -> tuple[People, Study]:
    random = chance_of(name, seed, stream)
    group = people(random, clustered=clustered)
    return group, CASES[name].study(group, random)


class _Data(FormulaData):
    """A design of an intercept, numbers, and the second answers of categories."""

    def design(self, frame: Any, people: Any, counts: Array, *, intercept: bool) -> Design:
        columns, terms = ([np.ones(len(frame))], ["Intercept"]) if intercept else ([], [])
        for name in self.formula.right.split(" + "):
            coded = isinstance(frame[name].dtype, pd.CategoricalDtype)
            terms.append(f"{name}[T.{frame[name].cat.categories[1]}]" if coded else name)
            columns.append(frame[name].cat.codes.to_numpy() if coded else frame[name].to_numpy())
        return Design(np.stack(columns, axis=1).astype(np.float64), terms, self.predicts_nobody)

    def predicts_nobody(self, data: Any) -> Array:
        raise NotImplementedError("These studies predict nobody.")


@dataclass(frozen=True)
class _Sampling(Sampling):
    sample: SampleDesign | None = None

    def design(self, rows: AlikeRows, kept: Any) -> SampleDesign | None:
        return self.sample


def fitted(case: Case, group: People, study: Study) -> Regression:
    """The fit of a study from its codes."""
    parts = tuple(by_codes(name, one.device, one.codes, one.which) for name, one in study.asked.items())
    layout = _Data(_formula(case.formula), parts, pd.DataFrame(dict(study.clear)))
    sample = None
    if group.weights is not None and group.cluster is not None:
        one, several = np.zeros(PEOPLE, dtype=np.intp), np.zeros(CLUSTERS, dtype=np.intp)
        sample = SampleDesign(group.weights, one, group.cluster, several, np.zeros(1))
    sampling = _Sampling(SampleColumns(), "refuse", None, None, sample)
    nothing = pa.table({"row": pa.nulls(PEOPLE)})
    rows = AlikeRows(nothing, np.ones(PEOPLE))
    return Fitting(layout, rows, case.formula, sampling, study.family, None, 0.95).result()


_formula = cache(read_formula)


def through_the_door(case: Case, group: People, study: Study) -> Regression:
    """The same by `tacit.regress`, from columns of words and numbers."""
    columns, options = dict(study.clear), {}
    for name, one in study.asked.items():
        columns[name] = np.array(one.device.reports)[one.codes]
        if len(one.device.samples) > 1 or one.device.direct is not None:
            names = [*(str(sample.name or 1) for sample in one.device.samples), one.device.direct]
            columns["sample"] = np.array(names)[np.where(one.which == DIRECT, -1, one.which)]
            options["sample"] = "sample"
    if group.weights is not None:
        columns |= {"w": group.weights, "cluster": group.cluster}
        options |= {"weights": "w", "clusters": "cluster"}
    devices = {name: one.device for name, one in study.asked.items()}
    return tacit.regress(columns, case.formula, devices=devices, family=study.family, **options)


def people(random: np.random.Generator, *, clustered: bool) -> People:
    kind = random.integers(0, 2, PEOPLE)
    if not clustered:
        return People(random.normal(size=PEOPLE), kind, random.random(PEOPLE))
    cluster = np.arange(PEOPLE) * CLUSTERS // PEOPLE
    x, decides = (
        np.sqrt(ALIKE) * random.normal(size=CLUSTERS)[cluster] + np.sqrt(1 - ALIKE) * random.normal(size=PEOPLE)
        for _ in range(2)
    )
    return People(x, kind, ndtr(decides), random.uniform(0.5, 2, PEOPLE), cluster)


def reported(device: DeviceDesign, classes: NDArray[Any], random: np.random.Generator) -> Asked:
    """Reports by the law of everybody's sample."""
    which = random.integers(0, len(device.samples), PEOPLE)
    laws = np.stack([each.matrix.T for each in device.samples])
    return Asked(device, by_lots(random.random(PEOPLE), laws[which, classes]), which)


def _clear(group: People) -> dict[str, Any]:
    return {"x": group.x, "kind": group.kind}


def _binary(device: str, family: str = "logit") -> Case:
    asked = design(device, DEVICES[device][0])

    def study(group: People, random: np.random.Generator) -> Study:
        chance = ndtr(group.line) if family == "probit" else expit(group.line)
        return Study({"r": reported(asked, (group.lots < chance).astype(int), random)}, _clear(group), family)

    return Case(study, "r ~ x + kind", LINE)


def _opened(device: str) -> Case:
    """Devices that tell more: classes of people beyond yes and no."""
    chances, _, opens = DEVICES[device]
    asked = design(device.split(",")[0], chances)
    ((name, share),) = opens.items()

    def study(group: People, random: np.random.Generator) -> Study:
        chance = expit(group.line)
        carries, lot = group.lots < chance, random.random(PEOPLE)
        if device == "stochastic-lie-detector":
            classes = np.where(carries, np.where(lot < share, 1, 2), 0)
        elif device == "cheating-detection":
            classes = np.where(carries, 1, np.where(lot < share / (1 - chance), 2, 0))
        else:
            classes = 2 * carries + (lot < share)
        return Study({"r": reported(asked, classes, random)}, _clear(group), "logit")

    return Case(study, "r ~ x + kind", LINE, {name: share})


def _several(family: str) -> Case:
    """Three answers by forced response, as unordered or ordered ones."""
    asked = design("forced-response", "truth=2/3", LEVELS)

    def study(group: People, random: np.random.Generator) -> Study:
        if family == "ordered":
            below = expit(BETWEEN - (group.line - LINE[0])[:, None])
            chances = np.diff(below, axis=1, prepend=0.0, append=1.0)
        else:
            weights = np.exp(np.stack([np.zeros(PEOPLE), group.line, group.along(SECOND)], axis=1))
            chances = weights / weights.sum(axis=1, keepdims=True)
        return Study({"r": reported(asked, by_lots(group.lots, chances), random)}, _clear(group), family)

    truth = np.append(LINE[1:], BETWEEN) if family == "ordered" else np.concatenate([LINE, SECOND])
    return Case(study, "r ~ x + kind", truth)


def _covariate(family: str, device: str, *, both: bool = False) -> Case:
    """The kind is disguised; with `both` the outcome is as well."""
    hides, asked = design(device, DEVICES[device][0]), design("forced-response", "truth=2/3,yes=1/6")

    def study(group: People, random: np.random.Generator) -> Study:
        parts = {"r": reported(hides, group.kind, random)}
        carries = (group.lots < expit(group.line)).astype(int)
        clear: dict[str, Any] = {"x": group.x}
        if both:
            parts["y"] = reported(asked, carries, random)
        elif family == "linear":
            clear["y"] = group.line + ndtri(group.lots)
        else:
            clear["y"] = carries if family == "logit" else _poisson(group.lots, np.exp(group.line / 2))
        return Study(parts, clear, family)

    return Case(study, "y ~ x + r", LINE / 2 if family == "poisson" else LINE, is_corrected=True)


def _poisson(lots: Array, means: Array) -> Array:
    return np.maximum(np.ceil(pdtrik(np.maximum(lots, np.exp(-means)), means) - 1e-9), 0.0)


def _with_direct() -> Case:
    """Half were asked directly; the arm stands in the formula and has no effect."""
    asked = design("crosswise", "p=.2,direct=0")

    def study(group: People, random: np.random.Generator) -> Study:
        carries = (group.lots < expit(group.line)).astype(np.intp)
        arm = random.integers(0, 2, PEOPLE)
        said = reported(asked, carries, random)
        answers = Asked(asked, np.where(arm == 0, carries, said.codes), np.where(arm == 0, DIRECT, 0))
        return Study({"r": answers}, _clear(group) | {"arm": arm}, "logit")

    return Case(study, "r ~ x + kind + arm", np.append(LINE, 0.0))


def _of_outcomes() -> dict[str, Case]:
    """Mirrored questions and disguised responses have Warner's law."""
    others = [device for device in DEVICES if device not in ("mirrored-question", "disguised-response")]
    return {f"logit, {device}": _opened(device) if DEVICES[device][2] else _binary(device) for device in others}


CASES: dict[str, Case] = {
    **_of_outcomes(),
    "logit, direct and crosswise": _with_direct(),
    "probit, forced-response": _binary("forced-response", "probit"),
    "multinomial, forced-response": _several("multinomial"),
    "ordered, forced-response": _several("ordered"),
    "linear, covariate by warner": _covariate("linear", "warner"),
    "linear, covariate by mangat": _covariate("linear", "mangat"),
    "linear, covariate by kuk": _covariate("linear", "kuk"),
    "logit, covariate by crosswise": _covariate("logit", "crosswise"),
    "poisson, covariate by triangular": _covariate("poisson", "triangular"),
    "logit, covariate by warner, outcome by forced-response": _covariate("logit", "warner", both=True),
}
