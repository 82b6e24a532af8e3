"""The relaxation: its inequalities hold at every posterior, and its bound is below and near the exact one."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from tacit.design import named_prior
from tacit.design.certificate import Aim, Dual
from tacit.design.column_generation import Capped, certified_design
from tacit.design.interior import single_thread
from tacit.design.posteriors import uniform_and_capped
from tacit.design.relaxation import MomentLimits, relaxed_dual


@pytest.fixture(autouse=True)
def _one_thread() -> Iterator[None]:
    with single_thread():
        yield


def moments_of(posterior: np.ndarray, moments: MomentLimits) -> np.ndarray:
    """The moments of a channel that always says the same."""
    x, second, largest = np.zeros(moments.size), np.outer(posterior, posterior), posterior.max()
    if np.allclose(posterior[posterior > 0], largest):
        x[: moments.square], x[moments.square] = second[moments.i, moments.j], largest**2
        return x
    full = np.isclose(posterior, moments.delta)
    left = (posterior > 0) & ~full
    x[moments.full], x[moments.left], x[moments.capped] = full, left, 1
    for i in range(moments.n):
        for j in range(moments.n):
            if i != j:
                x[moments.ordered[i, j]] = full[i] and left[j]
                if moments.n_capped > 1:
                    x[moments.twice[i, j]] = full[i] and full[j]
    return x


@pytest.mark.parametrize(("n", "delta"), [(5, 0.75), (5, 0.4), (6, 0.3), (5, 0.5), (4, 1.0)])
def test_every_posterior_keeps_every_inequality(n: int, delta: float) -> None:
    moments = MomentLimits(n, delta)
    for posterior in uniform_and_capped(n, delta):
        x = moments_of(posterior, moments)
        assert (moments.rows @ x - moments.constants - moments.of_prior @ posterior).max() <= 1e-15
        np.testing.assert_allclose(moments.equations @ x, moments.equations_of_prior @ posterior, atol=1e-15)
        second = np.outer(posterior, posterior)[moments.i, moments.j]
        np.testing.assert_allclose(moments.second() @ x, second, atol=1e-15)
        assert sum(value * x[k] for k, value in moments.right_guess().items()) == pytest.approx(posterior.max())


PRIORS = {
    "normal": named_prior("normal", 8),
    "gamma": named_prior("gamma", 7),
    "skewed": np.array([0.52, 0.2, 0.1, 0.08, 0.05, 0.03, 0.02]),
}


@pytest.mark.parametrize("name", PRIORS)
@pytest.mark.parametrize("delta", [0.36, 0.6, 0.75, 1.0])
def test_its_bound_holds_at_every_posterior_and_is_within_two_percent(name: str, delta: float) -> None:
    prior = PRIORS[name]
    if delta <= prior.max():
        return
    vertices = uniform_and_capped(len(prior), delta)
    for share in (0.0, 0.4, 0.8, 0.97):
        budget = delta - share * (delta - prior.max())
        dual = relaxed_dual(Aim.of_shares(prior), budget, delta)
        assert dual.violations(vertices).max() <= 0
        exact = certified_design(vertices, Aim.of_shares(prior), budget).trace(Aim.of_shares(prior))
        assert 0.98 * exact <= dual.least_trace(prior, budget) <= exact * (1 + 1e-6)


def test_going_through_all_sets_gives_the_listed_violations() -> None:
    prior = PRIORS["normal"]
    for delta in (0.36, 0.75):
        vertices = uniform_and_capped(8, delta)
        dual = certified_design(vertices, Aim.of_shares(prior), 0.3).dual
        wrong = Dual(1.05 * dual.root, 1.05 * dual.value, dual.price, dual.budget_price)
        listed = wrong.violations(vertices)
        asked, largest = Capped(8, delta).asked_for(wrong, Aim.of_shares(prior), 20)
        assert largest == pytest.approx(listed.max(), rel=1e-12)
        strongest = np.sort(listed)[::-1][:20]
        np.testing.assert_allclose(np.sort(wrong.violations(asked))[::-1], strongest, rtol=1e-9)


def test_generated_posteriors_are_permitted_and_their_design_is_the_exact_one() -> None:
    prior = PRIORS["normal"]
    vertices = uniform_and_capped(8, 0.75)
    generated = certified_design(Capped(8, 0.75), Aim.of_shares(prior), 0.4)
    assert generated.posteriors.max() <= 0.75 + 1e-12
    np.testing.assert_allclose(generated.posteriors.sum(axis=1), 1)
    assert generated.trace(Aim.of_shares(prior)) == pytest.approx(
        certified_design(vertices, Aim.of_shares(prior), 0.4).trace(Aim.of_shares(prior)), rel=1e-6
    )


def test_climbing_stands_in_for_going_through_all_sets(monkeypatch: pytest.MonkeyPatch) -> None:
    """Beyond the number of answers that can be gone through, the gap is to the relaxation's bound."""
    prior = PRIORS["gamma"]
    exact = certified_design(uniform_and_capped(7, 0.4), Aim.of_shares(prior), 0.35).trace(Aim.of_shares(prior))
    monkeypatch.setattr("tacit.design.column_generation.MOST_ENUMERATED", 3)
    climbed = certified_design(Capped(7, 0.4), Aim.of_shares(prior), 0.35)
    assert climbed.dual.least_trace(prior, 0.35) <= exact * (1 + 1e-9)
    assert exact * (1 - 1e-9) <= climbed.trace(Aim.of_shares(prior)) <= 1.03 * exact
