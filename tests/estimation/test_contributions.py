"""Estimates are unbiased, their errors true and their intervals cover, for every kind of channel."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from scipy.stats import binomtest, norm

import tacit
from tacit import Scheme
from tacit.count.sources import sources
from tacit.estimation.contributions import counted_contributions
from tacit.estimation.simplex import floor_shares, project_on_simplex
from tests.estimation.simulation import (
    FALSE_ALARM,
    REPEATS,
    RESPONDENTS,
    SCHEMES,
    TRUTH,
    assert_true_errors,
    many_reports,
    marginal,
    repeated,
    respondents,
    simulated,
)

WANTED = {
    "one attribute": ("smokes",),
    "two groups": ("smokes", "drinks"),
    "another order": ("age", "smokes"),
    "with a public one": ("sex", "smokes", "age"),
}


@pytest.mark.soak
@pytest.mark.slow
@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("wanted", WANTED)
def test_estimates_are_unbiased_with_true_errors(scheme: str, wanted: str) -> None:
    names = WANTED[wanted]
    assert_true_errors(*repeated(scheme, names), marginal(names).ravel())


@pytest.mark.soak
@pytest.mark.slow
@pytest.mark.parametrize("scheme", [name for name in SCHEMES if name != "dealt"])
def test_errors_for_the_people_who_answered(scheme: str) -> None:
    table = respondents()
    truth = np.bincount(table["smokes"].astype(int) * 3 + table["age"], minlength=6) / RESPONDENTS
    assert_true_errors(*repeated(scheme, ("smokes", "age"), "respondents"), truth)


def test_the_check_notices_errors_that_are_a_fifth_too_small() -> None:
    estimates, errors = repeated("gamma", ("smokes", "drinks"))
    with pytest.raises(AssertionError, match="too small"):
        assert_true_errors(estimates, errors * 0.8, marginal(("smokes", "drinks")).ravel())


def test_the_check_notices_a_bias_of_half_a_standard_error() -> None:
    estimates, errors = repeated("gamma", ("smokes", "drinks"))
    with pytest.raises(AssertionError, match="biased"):
        assert_true_errors(estimates + 0.5 * errors, errors, marginal(("smokes", "drinks")).ravel())


@pytest.mark.soak
@pytest.mark.slow
@pytest.mark.parametrize("scheme", SCHEMES)
def test_intervals_cover(scheme: str) -> None:
    names = WANTED["another order"]
    truth = marginal(names).ravel()
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
        with pytest.raises(tacit.TacitError, match="by chance who is in which table"):
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


@pytest.mark.soak
@pytest.mark.slow
def test_covariances_between_cells_are_true() -> None:
    for scheme in ("gamma", "subset", "tall-part", "mask", "dealt"):
        names = WANTED["another order"]
        seen = np.cov(repeated(scheme, names)[0].T)
        stated = np.mean([tacit.estimate(reports, names).covariance for reports in many_reports(scheme)[:20]], axis=0)
        scale = np.sqrt(np.outer(np.diag(stated), np.diag(stated)))
        # An empirical correlation over 400 repeats has a standard error of about 1/20.
        assert np.abs((seen - stated) / scale).max() < norm.isf(FALSE_ALARM / 72) / np.sqrt(REPEATS) * np.sqrt(2), (
            scheme
        )


def test_more_reports_than_truths_are_first_weighed_by_the_stated_prior() -> None:
    reports = simulated(SCHEMES["tall"], 2000, 1)
    (group,) = reports.scheme.groups
    prior = marginal(("smokes", "drinks"))
    guesses = []
    for stated in (None, {"smokes+drinks": prior.ravel().tolist()}, {"smokes": prior.sum(axis=1).tolist()}):
        scheme = Scheme(reports.scheme.schema, reports.scheme.questionnaires, stated)
        (source,) = sources(dataclasses.replace(reports, scheme=scheme))
        (part,) = counted_contributions(source, ["smokes", "drinks"]).parts
        guesses.append(part.guess)
    frequencies = sources(reports)[0].engine.tally(["smokes+drinks"]) / 2000
    for guess, first in zip(
        guesses, (np.full((2, 2), 0.25), prior, np.multiply.outer(prior.sum(axis=1), [0.5, 0.5])), strict=True
    ):
        expected = group.channel.left_inverse(first) @ frequencies
        assert np.allclose(guess.ravel(), floor_shares(project_on_simplex(expected)), atol=1e-12)
    assert np.abs(guesses[0] - guesses[1]).max() > 1e-4


def test_a_stated_prior_may_hold_zeros() -> None:
    reports = simulated(SCHEMES["tall"], 2000, 1)
    scheme = Scheme(reports.scheme.schema, reports.scheme.questionnaires, {"smokes": (1.0, 0.0)})
    stated = tacit.estimate(dataclasses.replace(reports, scheme=scheme), "smokes")
    assert abs(stated.probabilities[0] - TRUTH.sum(axis=(1, 2, 3))[0]) < 5 * stated.standard_errors[0]
