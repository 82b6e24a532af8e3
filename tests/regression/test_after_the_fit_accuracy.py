"""How true the newer estimates of studies are: 2,000 studies each under TACIT_SOAK, a tenth of them else.

`python -m tests.regression.test_after_the_fit_accuracy` prints the table of docs/notes/study-accuracy.md.
"""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest

import tacit
from tacit.errors import NotEstimable

STUDIES = 2000 if os.environ.get("TACIT_SOAK") else 200


class Draw(NamedTuple):
    """One study: how far the estimate is off in errors, whether the interval holds the truth, and p of what is true."""

    z: float
    is_covered: bool
    p: float


def _disguise(truth: Any, g: np.random.Generator, p: float) -> Any:
    return np.where(g.random(len(truth)) < p, truth, ~truth).astype(int)


def _of_share(share: Any, truth: float, p: float) -> Draw:
    return Draw((share.share - truth) / share.standard_error, share.low <= truth <= share.high, p)


def list_experiment(g: np.random.Generator, n: int) -> Draw:
    arm, carries = g.integers(0, 2, n), g.random(n) < 0.4
    frame = {"arm": arm, "count": g.binomial(3, 0.4, n) + carries * (arm == 1)}
    result = tacit.prevalence(frame, "count", "list-experiment", "items=0:3,1:4", sample="arm", against=0.4)
    return _of_share(result["yes"], 0.4, result.test.p)


def amounts(g: np.random.Generator, n: int) -> Draw:
    amount = g.gamma(4, 10, n)
    frame = {"z": np.where(g.random(n) < 0.6, amount, g.uniform(0, 60, n)), "g": g.integers(0, 2, n)}
    result = tacit.prevalence(frame, "z", "eriksson", "p=.6,mean=30", by="g")
    return _of_share(result["mean"], 40.0, result.overall.p)


def profile(g: np.random.Generator, n: int) -> Draw:
    x = g.normal(size=n)
    truth = g.random(n) < 1 / (1 + np.exp(0.5 - 0.0 * x))
    c = tacit.regress({"y": _disguise(truth, g, 0.85), "x": x}, "y ~ x", devices={"y": "warner p=.85"})["x"]
    return Draw(c.estimate / c.standard_error, c.low <= 0 <= c.high, c.p)


def rao_scott(g: np.random.Generator, n: int) -> Draw:
    cluster = np.repeat(np.arange(30), math.ceil(n / 30))[:n]
    treated = g.permutation(np.repeat([0, 1], 15))[cluster]
    truth = g.random(n) < 1 / (1 + np.exp(-0.5 * g.normal(size=30)[cluster]))
    frame = {"y": _disguise(truth, g, 0.85), "t": treated, "c": cluster}
    c = tacit.regress(frame, "y ~ t", devices={"y": "warner p=.85"}, clusters="c")["t"]
    return Draw(c.estimate / c.standard_error, c.low <= 0 <= c.high, c.p)


def anchor(g: np.random.Generator, n: int) -> Draw:
    x = g.normal(size=n)
    truth, random = g.random(n) < 0.4, g.random(n) < 0.2
    reports = [np.where(random, g.random(n) < 0.5, _disguise(t, g, 0.85) == 1) * 1 for t in (truth, np.zeros(n, bool))]
    frame = {"y": reports[0], "a": reports[1], "x": x}
    c = tacit.regress(frame, "y ~ x", devices={"y": "crosswise p=.85"}, control="a=0")["x"]
    return Draw(c.estimate / c.standard_error, c.low <= 0 <= c.high, c.p)


def correlation(g: np.random.Generator, n: int) -> Draw:
    frame = {name: _disguise(g.random(n) < 0.4, g, 0.85) for name in "xy"}
    pair = tacit.correlations(frame, ["x", "y"], devices=dict.fromkeys("xy", "warner p=.85")).pairs[0]
    return Draw((pair.estimate or 0.0) / (pair.standard_error or 1.0), pair.low <= 0 <= pair.high, pair.p)


CASES: dict[str, Callable[[np.random.Generator, int], Draw]] = {
    each.__name__: each for each in (list_experiment, amounts, profile, rao_scott, anchor, correlation)
}


def figures(name: str, n: int, studies: int) -> dict[str, float]:
    draws = []
    for seed in range(studies):
        try:
            draws.append(CASES[name](np.random.default_rng([seed, n]), n))
        except NotEstimable:
            continue
    z, covered, p = (np.array(column) for column in zip(*draws, strict=True))
    return {
        "fitted": len(draws) / studies,
        "mean": float(z.mean()),
        "deviation": float(z.std()),
        "coverage": float(covered.mean()),
        "rejected": float((p < 0.05).mean()),
    }


@pytest.mark.soak
@pytest.mark.slow
@pytest.mark.parametrize("n", [200, 1000])
@pytest.mark.parametrize("name", CASES)
def test_estimates_intervals_and_tests_are_true(name: str, n: int) -> None:
    """Means within .1 of an error, coverage .93 to .97, tests at .05 reject .035 to .065; with a tenth, five errors more."""
    found = figures(name, n, STUDIES)
    slack = 0.0 if STUDIES >= 2000 else 5 / math.sqrt(STUDIES)
    share = slack * math.sqrt(0.05 * 0.95)
    assert abs(found["mean"]) < 0.1 + slack
    assert 0.93 - share < found["coverage"] < 0.97 + share
    assert 0.035 - share < found["rejected"] < 0.065 + share
    assert found["fitted"] > 0.99 - share


if __name__ == "__main__":
    sys.stdout.write(
        "| estimate | N | fitted | mean z | deviation | coverage | rejects at .05 |\n|---|---|---|---|---|---|---|\n"
    )
    for case in CASES:
        for size in (200, 1000):
            cells = " | ".join(f"{value:.3f}" for value in figures(case, size, STUDIES).values())
            sys.stdout.write(f"| {case.replace('_', ' ')} | {size:,} | {cells} |\n")
            sys.stdout.flush()
