"""Estimates are unbiased, their errors true and their intervals cover, for every kind of channel."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binomtest, chi2, norm

import tacit
from tests.estimate.simulation import SCHEMES, marginal, people, simulated

FALSE_ALARM = 1e-6  # chance that a correct estimator fails one of these tests under another seed
REPEATS = 400
WANTED = {
    "one attribute": ["smokes"],
    "two groups": ["smokes", "drinks"],
    "another order": ["age", "smokes"],
    "with a public one": ["sex", "smokes", "age"],
}


def repeated(
    scheme: str, names: list[str], *, sampling: str = "population", n: int = 1500
) -> tuple[np.ndarray, np.ndarray]:
    """Estimates and standard errors over many seeds; for respondents always the same people."""
    same = people(n, np.random.default_rng(3)) if sampling == "respondents" else None
    found = [
        tacit.estimate(simulated(SCHEMES[scheme], n, seed, same), names, sampling=sampling) for seed in range(REPEATS)
    ]
    return (
        np.array([table.probabilities.ravel() for table in found]),
        np.array([table.standard_errors.ravel() for table in found]),
    )


def assert_true_errors(estimates: np.ndarray, errors: np.ndarray, truth: np.ndarray) -> None:
    """Mean z-score 0 and mean square 1, each at FALSE_ALARM over the cells tested."""
    varying = errors.mean(axis=0) > 1e-12
    assert np.allclose(estimates[:, ~varying], truth[~varying], atol=1e-9)
    # The mean over seeds against its own spread: no use is made of the stated errors.
    cells = varying.sum()
    if not cells:
        return
    spread = estimates[:, varying].std(axis=0, ddof=1)
    z = (estimates[:, varying].mean(axis=0) - truth[varying]) / spread * np.sqrt(len(estimates))
    assert np.abs(z).max() <= norm.isf(FALSE_ALARM / 2 / cells), f"biased: z = {z}"
    # The variance over seeds against the stated one; the stated one varies little at this sample size.
    ratio = estimates[:, varying].var(axis=0, ddof=1) / (errors[:, varying] ** 2).mean(axis=0)
    df = len(estimates) - 1
    low, high = chi2.ppf(FALSE_ALARM / 2 / cells, df) / df, chi2.isf(FALSE_ALARM / 2 / cells, df) / df
    assert (ratio >= low * 0.97).all(), f"stated errors too large: {ratio}"
    assert (ratio <= high * 1.03).all(), f"stated errors too small: {ratio}"


@pytest.mark.slow
@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("wanted", WANTED)
def test_estimates_are_unbiased_with_true_errors(scheme: str, wanted: str) -> None:
    names = WANTED[wanted]
    if scheme == "cut-and-paste" and len(names) > 3:
        pytest.fail("not meant to be asked")
    estimates, errors = repeated(scheme, names)
    assert_true_errors(estimates, errors, marginal(names).ravel())


@pytest.mark.slow
@pytest.mark.parametrize("scheme", [name for name in SCHEMES if name != "dealt"])
def test_errors_for_the_people_who_answered(scheme: str) -> None:
    names = ["smokes", "age"]
    estimates, errors = repeated(scheme, names, sampling="respondents")
    table = people(1500, np.random.default_rng(3))
    truth = np.bincount(table["smokes"].astype(int) * 3 + table["age"], minlength=6) / 1500
    assert_true_errors(estimates, errors, truth)


def test_the_check_notices_errors_that_are_a_fifth_too_small() -> None:
    estimates, errors = repeated("gamma", ["smokes", "drinks"])
    with pytest.raises(AssertionError, match="too small"):
        assert_true_errors(estimates, errors * 0.8, marginal(["smokes", "drinks"]).ravel())


def test_the_check_notices_a_bias_of_half_a_standard_error() -> None:
    estimates, errors = repeated("gamma", ["smokes", "drinks"])
    with pytest.raises(AssertionError, match="biased"):
        assert_true_errors(estimates + 0.5 * errors, errors, marginal(["smokes", "drinks"]).ravel())


@pytest.mark.slow
@pytest.mark.parametrize("scheme", SCHEMES)
def test_intervals_cover(scheme: str) -> None:
    names, truth = ["smokes", "age"], marginal(["smokes", "age"]).ravel()
    estimates, errors = repeated(scheme, names)
    for cell in range(truth.size):
        covered = np.abs(estimates[:, cell] - truth[cell]) <= norm.isf(0.025) * errors[:, cell]
        # The normal approximation costs a little at the rarest cells; a tenth of the misses is allowed for it.
        p_low = binomtest(int(covered.sum()), REPEATS, 0.945, alternative="less").pvalue
        p_high = binomtest(int(covered.sum()), REPEATS, 0.955, alternative="greater").pvalue
        assert min(p_low, p_high) >= FALSE_ALARM / 6 or covered.all(), f"coverage {covered.mean():.3f} in cell {cell}"


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("sampling", ["population", "respondents"])
def test_covariance_has_the_variances_on_its_diagonal(scheme: str, sampling: str) -> None:
    if scheme == "dealt" and sampling == "respondents":
        with pytest.raises(tacit.TacitError, match="who is in which of them is chance too"):
            tacit.estimate(simulated(SCHEMES[scheme], 500, 1), ["smokes"], sampling="respondents")
        return
    found = tacit.estimate(simulated(SCHEMES[scheme], 2000, 1), ["age", "smokes", "sex"], sampling=sampling)
    assert np.allclose(np.sqrt(np.maximum(np.diag(found.covariance), 0)), found.standard_errors.ravel(), atol=1e-9)


@pytest.mark.parametrize("scheme", SCHEMES)
def test_the_order_of_attributes_is_the_order_of_axes(scheme: str) -> None:
    reports = simulated(SCHEMES[scheme], 2000, 2)
    one, other = tacit.estimate(reports, ["age", "smokes"]), tacit.estimate(reports, ["smokes", "age"])
    assert np.allclose(one.probabilities, other.probabilities.T)
    assert np.allclose(one.standard_errors, other.standard_errors.T)


@pytest.mark.parametrize("scheme", ["warner", "gamma", "flip", "square", "tall-part", "subset", "unrelated"])
def test_margins_of_a_joint_estimate_are_the_estimates_of_its_parts(scheme: str) -> None:
    reports = simulated(SCHEMES[scheme], 2000, 2)
    joint = tacit.estimate(reports, ["age", "smokes"]).probabilities
    assert np.allclose(joint.sum(axis=0), tacit.estimate(reports, "smokes").probabilities)


def test_no_disguise_has_no_error_for_the_people_who_answered() -> None:
    found = tacit.estimate(simulated(SCHEMES["public"], 500, 1), ["smokes", "age"], sampling="respondents")
    assert found.standard_errors.max() == 0


@pytest.mark.slow
def test_covariances_between_cells_are_true() -> None:
    for scheme in ("gamma", "subset", "tall-part", "mask", "dealt"):
        tables = [tacit.estimate(simulated(SCHEMES[scheme], 1500, seed), ["smokes", "age"]) for seed in range(REPEATS)]
        seen = np.cov(np.array([table.probabilities.ravel() for table in tables]).T)
        stated = np.mean([table.covariance for table in tables[:20]], axis=0)
        scale = np.sqrt(np.outer(np.diag(stated), np.diag(stated)))
        # An empirical correlation over 400 repeats has a standard error of about 1/20.
        assert np.abs((seen - stated) / scale).max() < norm.isf(FALSE_ALARM / 72) / np.sqrt(REPEATS) * np.sqrt(2), (
            scheme
        )
