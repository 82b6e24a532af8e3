"""Intervals of very many answers: what all cells share is found at once, not cell by cell."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tacit import Attribute, Dataset, Scheme, channels, disguise, estimate
from tacit.estimation import uncertainty
from tacit.estimation.uncertainty import _one_line
from tacit.table import Table


def test_one_line_survives_the_rounding_of_very_many_cells() -> None:
    rng = np.random.default_rng(1)
    shares = [share / share.sum() for share in rng.exponential(size=(3, 300_000))]
    # Each draw's squares are off by what a sum over so many cells loses.
    squares = [4.6 * (1 + off) + 0.25 * share for share, off in zip(shares, (0, 3e-11, -2e-11), strict=True)]
    assert _one_line(squares, shares) == pytest.approx(4.85, rel=1e-9)


def test_cells_that_are_not_alike_are_no_line() -> None:
    rng = np.random.default_rng(2)
    shares = list(rng.dirichlet(np.ones(100), size=3))
    other = np.linspace(1, 1.001, 100)
    assert _one_line([other + share for share in shares], shares) is None


@pytest.mark.slow
def test_a_million_answers_have_intervals(monkeypatch: pytest.MonkeyPatch) -> None:
    answers, reports = 1_000_000, 20_000
    scheme = Scheme.of([Attribute("code", tuple(map(str, range(answers))))], [(["code"], channels.hadamard(math.e))])
    codes = np.random.default_rng(3).integers(0, answers, reports).astype(np.uint32)
    table = estimate(disguise(Dataset(Table(scheme.schema, {"code": codes})), scheme, seed=4), "code")
    monkeypatch.setattr(uncertainty, "BLOCK_ENTRIES", None)  # cell by cell would take days
    interval = table.interval()
    assert ((interval.low >= 0) & (interval.low <= interval.high) & (interval.high <= 1)).all()
    # Every report counts for or against an answer: N Var is ((e + 1) / (e - 1))^2 for a rare one.
    assert reports * np.median(table.standard_errors) ** 2 == pytest.approx(
        ((math.e + 1) / (math.e - 1)) ** 2, rel=0.03
    )
