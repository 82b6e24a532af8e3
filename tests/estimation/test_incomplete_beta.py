"""The functions for small tables are scipy's, and a small estimate does without scipy."""

from __future__ import annotations

import itertools
import subprocess
import sys

import numpy as np
import pytest
from scipy import special

from tacit.estimation import incomplete_beta as small
from tacit.estimation.incomplete_beta import incomplete_beta, log_gamma, normal_quantiles


@pytest.mark.parametrize("n", [1.0, 7.5, 300.0, 2e4])
def test_the_incomplete_beta_function_is_scipys(n: float) -> None:
    rng = np.random.default_rng(2)
    share = rng.uniform(0, 1, 300)
    a = np.maximum(n * share, 1e-300)
    x = np.clip(share + rng.normal(0, 3, 300) * np.sqrt(share * (1 - share) / n), 0, 1)
    x[:3] = 0, 1, 0.5
    expected = special.betainc(a, n - a + 1, x)
    np.testing.assert_allclose(incomplete_beta(a, n - a + 1, x), expected, rtol=1e-8, atol=1e-12)


def test_the_other_two_are_scipys_too() -> None:
    chances = np.array([0, 1e-12, 0.025, 0.5, 0.975, 1])
    np.testing.assert_allclose(normal_quantiles(chances), special.ndtri(chances), rtol=1e-12)
    numbers = np.array([1e-3, 0.5, 1, 7, 1e6])
    np.testing.assert_allclose(log_gamma(numbers), special.gammaln(numbers), rtol=1e-13, atol=1e-13)


def test_a_small_estimate_with_its_intervals_imports_neither_scipy_nor_pandas() -> None:
    program = """
import sys, tacit
scheme = tacit.Scheme.of([tacit.Attribute("x", ("no", "yes"))], [(["x"], tacit.channels.warner(0.75))])
from tacit.table import Table
import numpy as np
reports = tacit.Reports(scheme, (Table(scheme.questionnaires[0].report_schema, {"x": np.arange(50) % 2}),))
tacit.estimate(reports, "x").to_document()
print([name for name in ("scipy", "pandas", "numba", "sklearn", "ibis") if name in sys.modules])
"""
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"


def test_scipy_is_taken_where_it_is_here_already_or_has_been_wanted_often(monkeypatch: pytest.MonkeyPatch) -> None:
    """Thousands of intervals by the functions for small tables took forty times as long as by scipy's."""
    people = np.array([50.0])
    monkeypatch.setattr(small, "_CALLS", itertools.count())
    assert not small.is_few(2, people)  # this test imported scipy
    monkeypatch.delitem(sys.modules, "scipy.special")
    assert small.is_few(2, people)
    assert not small.is_few(small.FEW_CELLS + 1, people)
    assert not small.is_few(2, people * small.FEW_PEOPLE)
    monkeypatch.setattr(small, "_CALLS", itertools.count(small.FEW_CALLS + 1))
    assert not small.is_few(2, people)
