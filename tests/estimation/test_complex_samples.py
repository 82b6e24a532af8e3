"""Weights, strata, clusters and finite populations: as an established implementation for the direct case, and refusals."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import tacit
from tacit import TacitError, devices
from tacit.estimation.complex_samples import SampleDesign

CLEAR = devices.matrix([[1, 0], [0, 1]])
N = 400
SAMPLED = {0: 0.1, 1: 0.2, 2: 0.05, 3: 0.3}


@pytest.fixture(scope="module")
def survey():
    random = np.random.default_rng(1965)
    stratum = np.arange(N) // 100
    return {
        "trait": (random.random(N) < 0.3).astype(int),
        "stratum": stratum,
        # One name in two strata is two clusters.
        "cluster": (np.arange(N) // 10) % 10,
        "weight": random.uniform(0.5, 2, N),
        "sex": np.arange(N) % 2,
        "sampled": np.array(list(SAMPLED.values()))[stratum],
    }


@pytest.fixture(scope="module")
def taylor():
    """samplics says on import that it is archived; nothing else may warn."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        samplics = pytest.importorskip("samplics")

    def estimated(survey, **options):
        estimator = samplics.TaylorEstimator(samplics.PopParam.mean)
        psu = survey["stratum"] * 100 + survey["cluster"]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            estimator.estimate(
                y=survey["trait"].astype(float),
                samp_weight=survey["weight"],
                stratum=survey["stratum"],
                psu=psu,
                **options,
            )
        return estimator

    return estimated


DESIGN = {"weights": "weight", "strata": "stratum", "clusters": "cluster"}


def test_the_direct_case_is_that_of_samplics(survey, taylor):
    expected = taylor(survey)
    found = tacit.prevalence(survey, "trait", CLEAR, **DESIGN)["yes"]
    assert found.share == pytest.approx(expected.point_est, abs=1e-12)
    assert found.standard_error == pytest.approx(expected.stderror, abs=1e-12)


@pytest.mark.slow
def test_groups_are_domains_of_the_whole_design(survey, taylor):
    expected = taylor(survey, domain=survey["sex"])
    found = tacit.prevalence(survey, "trait", CLEAR, by="sex", **DESIGN)
    for group, sex in zip(found.groups, (0, 1), strict=True):
        assert group.shares[1].share == pytest.approx(expected.point_est[sex], abs=1e-12)
        assert group.shares[1].standard_error == pytest.approx(expected.stderror[sex], abs=1e-12)


def test_a_finite_population_is_that_of_samplics(survey, taylor):
    expected = taylor(survey, fpc={stratum: 1 - share for stratum, share in SAMPLED.items()})
    found = tacit.prevalence(survey, "trait", CLEAR, sampled="sampled", **DESIGN)["yes"]
    assert found.standard_error == pytest.approx(expected.stderror, abs=1e-12)


def test_a_census_keeps_the_noise_of_the_device_and_nothing_else():
    reports = {"x": [1] * 400 + [0] * 600}
    found = tacit.prevalence(reports, "x", "warner", "p=.75", sampled=1)["yes"]
    share = found.share
    # Warner: every report has variance p(1-p)/(2p-1)^2 given its truth.
    assert share == pytest.approx((0.4 - 0.25) / 0.5)
    assert found.standard_error == pytest.approx(np.sqrt(0.75 * 0.25 / 0.5**2 / 1000), rel=1e-6)
    assert tacit.prevalence({"x": [1, 0, 1, 0]}, "x", CLEAR, sampled=1)["yes"].standard_error == 0


def test_weights_alone_count_everybody_as_a_cluster(survey):
    found = tacit.prevalence(survey, "trait", CLEAR, weights="weight")["yes"]
    w, y = survey["weight"], survey["trait"]
    z = w * (y - found.share) / w.sum()
    assert found.standard_error == pytest.approx(np.sqrt(N / (N - 1) * (z**2).sum()), rel=1e-12)


def test_a_difference_uses_the_covariance_of_its_groups(survey):
    """Sexes share clusters, so the difference is not the sum of two variances."""
    found = tacit.prevalence(survey, "trait", CLEAR, by="sex", **DESIGN)
    y, w = survey["trait"], survey["weight"]
    z = np.zeros(N)
    for group, sign in zip(found.groups, (-1, 1), strict=True):
        here = survey["sex"] == int(group.answers["sex"])
        z[here] = sign * w[here] * (y[here] - group.shares[1].share) / w[here].sum()
    design = SampleDesign.of(N, weights=w, strata=survey["stratum"], clusters=survey["cluster"])
    expected = np.sqrt(design.covariance(z[:, None])[0, 0])
    assert found.differences[0].standard_error == pytest.approx(expected, rel=1e-12)
    apart = np.sqrt(sum(group.shares[1].standard_error ** 2 for group in found.groups))
    assert abs(apart / expected - 1) > 0.01


def test_the_bootstrap_has_the_linearised_error(survey):
    design = SampleDesign.of(N, weights=survey["weight"], strata=survey["stratum"], clusters=survey["cluster"])
    weights = design.bootstrap(4000, seed=1965)
    shares = weights @ survey["trait"] / weights.sum(axis=1)
    found = tacit.prevalence(survey, "trait", CLEAR, **DESIGN)["yes"]
    # The standard deviation of 4,000 repeats has a relative error of .011.
    assert shares.std() == pytest.approx(found.standard_error, rel=0.06)


def test_a_single_cluster_may_be_centred_at_the_mean_of_all():
    values = np.array([1.0, 2, 4, 8])
    design = SampleDesign.of(4, strata=["a", "a", "a", "b"], lonely="centre")
    spread = 1.5 * ((values[:3] - values[:3].mean()) ** 2).sum() + (8 - values.mean()) ** 2
    assert design.covariance(values[:, None])[0, 0] == pytest.approx(spread)


REFUSALS = [
    ({"strata": ["a", "a", "b", "b"], "clusters": ["1", "2", "3", "3"]}, "The stratum 'b' has only one cluster"),
    ({"clusters": ["1"] * 4}, "The sample has only one cluster"),
    ({"weights": [1, 0, 1, 1]}, "The weight in row 2 is 0; weights must be above 0"),
    ({"weights": [1, 1, -2, 1]}, "row 3 is -2"),
    ({"weights": [1, 1, float("nan"), 1]}, "row 3 is nan"),
    ({"weights": ["a", 1, 1, 1]}, "Weights must be numbers"),
    ({"weights": [1, 1, 1]}, "3 weights for 4 respondents"),
    ({"strata": ["a", None, "a", "a"]}, "no value in row 2"),
    ({"sampled": 1.5}, "between 0 and 1; it cannot be 1.5"),
    ({"sampled": "many"}, "must be a number from 0 to 1"),
    ({"sampled": [0.1, 0.2, 0.1, 0.1]}, "differs within a stratum"),
    ({"lonely": "keep"}, "does not exist"),
]


@pytest.mark.parametrize(("options", "message"), REFUSALS)
def test_what_cannot_be_a_sample_is_refused(options, message):
    with pytest.raises(TacitError, match=message):
        SampleDesign.of(4, **options)


def test_a_bootstrap_of_one_is_refused():
    with pytest.raises(TacitError, match="at least two repeats"):
        SampleDesign.of(4).bootstrap(1)


@pytest.mark.slow
def test_repeats_have_the_linearised_error(survey):
    linear = tacit.prevalence(survey, "trait", "warner", "p=.9", by="sex", **DESIGN)
    again = tacit.prevalence(survey, "trait", "warner", "p=.9", by="sex", bootstrap=400, seed=1965, **DESIGN)
    assert again["yes"].share == linear["yes"].share
    # The deviation of 400 repeats has a relative error of .035.
    assert again["yes"].standard_error == pytest.approx(linear["yes"].standard_error, rel=0.18)
    assert again.differences[0].standard_error == pytest.approx(linear.differences[0].standard_error, rel=0.2)
    assert again.errors == "from 400 repeats"
    design = SampleDesign.of(N, weights=survey["weight"], strata=survey["stratum"], clusters=survey["cluster"])
    columns = {f"r{number}": weights for number, weights in enumerate(design.bootstrap(400, seed=1965))}
    given = tacit.prevalence(survey | columns, "trait", "warner", "p=.9", by="sex", replicates=list(columns), **DESIGN)
    assert given["yes"].standard_error == pytest.approx(again["yes"].standard_error, rel=1e-12)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"bootstrap": 1}, "at least two repeats"),
        ({"bootstrap": 10, "replicates": ["weight"]}, "Give one of them"),
        ({"bootstrap": 10, "sampled": 0.1}, "Leave out sampled, or leave out bootstrap"),
        ({"replicates": ["weight"]}, "one column of replicate weights"),
        ({"replicates": ["weight", "minus"]}, "'minus' must be numbers of at least 0"),
        ({"replicates": ["weight", "none"]}, "Column 'none' does not exist"),
    ],
)
def test_repeats_that_tell_no_error_are_refused(survey, options, message):
    with pytest.raises(TacitError, match=message):
        tacit.prevalence(survey | {"minus": [-1.0] * N}, "trait", CLEAR, **options)


def test_strata_and_clusters_compare_as_text():
    numbers = SampleDesign.of(4, strata=[1, 1, 2, 2], clusters=np.array([1.0, 2.0, 1.0, 2.0]))
    texts = SampleDesign.of(4, strata=["1", "1", "2", "2"], clusters=["1", "2", "1", "2"])
    assert numbers.clusters.tolist() == texts.clusters.tolist() == [0, 1, 2, 3]
    assert numbers.stratum_of.tolist() == [0, 0, 1, 1]
