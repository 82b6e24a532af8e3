"""A fit does not depend on the units and the origin of its covariates."""

from __future__ import annotations

import numpy as np
import pytest

import tacit
from tacit import Attribute, Scheme, channels
from tacit.errors import InvalidInput
from tacit.regression.even_terms import EvenTerms

RNG = np.random.default_rng(1789)
PEOPLE = 400
NUMBER = RNG.normal(size=PEOPLE)
THREE = np.where(
    RNG.random(PEOPLE) < 0.8, np.digitize(NUMBER + RNG.logistic(size=PEOPLE), [-1, 1]), RNG.integers(0, 3, PEOPLE)
)
LEVELS = Scheme.of([Attribute("level", ("1", "2", "3"))], [(["level"], channels.gamma_diagonal(8))])
YES_NO = {"devices": ["said: warner p=0.9"]}


def people(x: np.ndarray) -> dict[str, list[object]]:
    return {
        "x": x.tolist(),
        "said": np.where(THREE > 0, "yes", "no").tolist(),
        "level": np.array(["1", "2", "3"])[THREE].tolist(),
        "pay": (50_000 + 8_000 * (THREE > 0) + 3_000 * NUMBER).tolist(),
    }


@pytest.mark.parametrize("family", ["logit", "probit", "ordered", "multinomial"])
@pytest.mark.parametrize(("unit", "origin"), [(1.0, 2000.0), (20_000.0, 50_000.0), (1e-7, 0.0), (1.0, 1e7)])
def test_years_and_incomes_are_fitted_like_any_number(family: str, unit: float, origin: float) -> None:
    formula, law = ("said ~ x", YES_NO) if family in ("logit", "probit") else ("level ~ x", {"scheme": LEVELS})
    plain, moved = (tacit.regress(people(x), formula, family=family, **law) for x in (NUMBER, unit * NUMBER + origin))
    assert moved.log_likelihood == pytest.approx(plain.log_likelihood, abs=1e-6)
    slopes = [at for at, term in enumerate(plain.terms) if term.endswith("x")]
    assert moved.estimates[slopes] * unit == pytest.approx(plain.estimates[slopes], rel=1e-6)
    errors, moved_errors = (np.sqrt(np.diag(fit.covariance))[slopes] for fit in (plain, moved))
    assert moved_errors * unit == pytest.approx(errors, rel=1e-5)
    # At the same people the same shares: intercepts and thresholds take up the origin.
    shares, moved_shares = (
        [one.estimate for one in fit.predict({"x": x.tolist()})]
        for fit, x in ((plain, NUMBER[:5]), (moved, unit * NUMBER[:5] + origin))
    )
    assert np.allclose(moved_shares, shares, atol=1e-6)


def test_large_outcomes_are_solved_beside_a_disguised_covariate() -> None:
    # Steps were bounded as if every coefficient were that of a logit: an income of 50,000 was given as 400.
    fits = [tacit.regress(people(NUMBER) | {"y": y.tolist()}, "y ~ said + x", **YES_NO) for y in _pays()]
    assert all(fit.converged for fit in fits)
    assert fits[1].estimates == pytest.approx(fits[0].estimates * 1e4, rel=1e-9)
    assert fits[1].covariance == pytest.approx(fits[0].covariance * 1e8, rel=1e-9)


def _pays() -> list[np.ndarray]:
    pay = np.array(people(NUMBER)["pay"], dtype=np.float64)
    return [pay / 1e4, pay]


def test_even_terms_are_the_terms_again() -> None:
    x = np.column_stack([np.ones(50), RNG.normal(2000, 1, 50), RNG.integers(0, 2, 50)])
    even = EvenTerms.of(x)
    assert np.allclose(even.x, x @ even.back, atol=1e-9)
    assert np.allclose(even.x.mean(axis=0)[1:], 0, atol=1e-9)
    assert np.allclose((even.x**2).mean(axis=0), 1)


@pytest.mark.parametrize("column", [np.full(PEOPLE, 0.1), 3 * NUMBER - 7])
def test_a_column_that_follows_from_others_is_still_refused(column: np.ndarray) -> None:
    with pytest.raises(InvalidInput, match="not independent of each other"):
        tacit.regress(people(NUMBER) | {"z": column.tolist()}, "said ~ x + z", **YES_NO)
