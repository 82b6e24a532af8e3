"""Regression with a disguised outcome against the clear-data one of statsmodels, in the same run."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from benchmarks.ratio import Ratio
from benchmarks.timing import cpu_medians

ROWS, COVARIATES = 1_000_000, 10


def run() -> Iterator[Ratio]:
    import statsmodels.api as sm

    from tacit.regression.families import Binary
    from tacit.regression.likelihood import LikelihoodProblem, OutcomeLikelihoods, fitted

    generator = np.random.default_rng(1)
    x = np.column_stack([np.ones(ROWS), generator.normal(size=(ROWS, COVARIATES))])
    truth = generator.random(ROWS) < 1 / (1 + np.exp(-(x @ generator.normal(size=COVARIATES + 1) * 0.3)))
    u = generator.random(ROWS)
    reports = np.where(u < 2 / 3, truth, u < 5 / 6).astype(int)
    law = np.array([[5 / 6, 1 / 6], [1 / 6, 5 / 6]])
    problem = LikelihoodProblem(Binary(("no", "yes"), "logit"), x, OutcomeLikelihoods(law[reports]), np.ones(ROWS))
    seconds = cpu_medians(
        {
            "tacit": lambda: fitted(problem),
            "statsmodels": lambda: sm.Logit(truth.astype(float), x).fit(disp=0),
        },
        repeats=3,
    )
    detail = ", ".join(f"{name} {value:.2f} s" for name, value in seconds.items())
    ratio = seconds["tacit"] / seconds["statsmodels"]
    yield Ratio(
        "Logit with a disguised outcome, 1M rows, 10 covariates", ratio, 0.6, "times statsmodels' clear one", detail
    )
