"""Regression with a disguised outcome against statsmodels' on the clear one; corrected scores of few and of many people."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np

from benchmarks.ratio import Ratio
from benchmarks.timing import cpu_medians

ROWS, COVARIATES = 1_000_000, 10
FEW, MANY = 20_000, 2_000_000


def run() -> Iterator[Ratio]:
    yield outcome()
    yield tallied()


def tallied() -> Ratio:
    """A logit whose outcome and covariates are disguised, from tallies of whole reports: the same work for any number."""
    import tacit
    from tacit import Attribute, Dataset, Scheme, Tally, channels
    from tacit.schema import Schema
    from tacit.table import Table

    schema = Schema((Attribute("y", ("no", "yes")), Attribute("town", tuple("abc")), Attribute("age", tuple("1234"))))
    scheme = Scheme.of(schema, [([name], channels.gamma_diagonal(19)) for name in ("y", "town")])
    generator = np.random.default_rng(1)
    tallies = {}
    for rows in (FEW, MANY):
        town, age = generator.integers(0, 3, rows), generator.integers(0, 4, rows)
        yes = generator.random(rows) < 1 / (1 + np.exp(0.5 - 0.4 * (town == 1) - 0.1 * age))
        truth = Dataset(Table.from_codes(schema, {"y": yes.astype(np.uint8), "town": town, "age": age}))
        tallies[f"{rows:,} people"] = Tally.of(tacit.disguise(truth, scheme, seed=rows))
    seconds = cpu_medians(
        {name: partial(tacit.regress, tally, "y ~ town + age") for name, tally in tallies.items()}, repeats=9
    )
    detail = ", ".join(f"{name} {value * 1000:.1f} ms" for name, value in seconds.items())
    few, many = seconds.values()
    ratio = many / few
    return Ratio("Corrected-score logit on tallies", ratio, 1.3, "times as long for a hundred times as many", detail)


def outcome() -> Ratio:
    import statsmodels.api as sm

    from tacit.regression.families import Binary
    from tacit.regression.likelihood import LikelihoodProblem, OutcomeLikelihoods, fit_likelihood

    generator = np.random.default_rng(1)
    x = np.column_stack([np.ones(ROWS), generator.normal(size=(ROWS, COVARIATES))])
    truth = generator.random(ROWS) < 1 / (1 + np.exp(-(x @ generator.normal(size=COVARIATES + 1) * 0.3)))
    u = generator.random(ROWS)
    reports = np.where(u < 2 / 3, truth, u < 5 / 6).astype(int)
    law = np.array([[5 / 6, 1 / 6], [1 / 6, 5 / 6]])
    problem = LikelihoodProblem(Binary(("no", "yes"), "logit"), x, OutcomeLikelihoods(law[reports]), np.ones(ROWS))
    seconds = cpu_medians(
        {
            "tacit": lambda: fit_likelihood(problem),
            "statsmodels": lambda: sm.Logit(truth.astype(float), x).fit(disp=0),
        },
        repeats=3,
    )
    detail = ", ".join(f"{name} {value:.2f} s" for name, value in seconds.items())
    ratio = seconds["tacit"] / seconds["statsmodels"]
    return Ratio(
        "Logit with a disguised outcome, 1M rows, 10 covariates", ratio, 0.6, "times statsmodels' clear one", detail
    )
