"""Tables from complex samples: as samplics without a disguise, as `prevalence` with one, the same on every engine."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import tacit
from tacit import Attribute, Reports, SampleDesign, Scheme, TacitError, channels
from tacit.count.weighted import SampleColumns

N = 600
A, B = Attribute("a", ("x", "y", "z")), Attribute("b", ("no", "yes"))
SCHEME = Scheme.of([A, B], [(["a"], channels.warner(0.8)), (["b"], channels.warner(0.7))])
DISGUISES = {
    "clear": Scheme.of([A, B]),
    "warner": SCHEME,
    "joint": Scheme.of([A, B], [(["a", "b"], channels.gamma_diagonal(9))]),
    "matrix": Scheme.of([A, B], [(["b"], channels.matrix([[0.7, 0.1], [0.2, 0.2], [0.1, 0.7]], ["l", "m", "h"]))]),
    "subset": Scheme.of([A, B], [(["a"], channels.subset(2, 9))]),
}


def survey(scheme):
    random = np.random.default_rng(1965)
    truth = {
        "a": random.choice(["x", "y", "z"], N, p=[0.5, 0.3, 0.2]),
        "b": random.choice(["no", "yes"], N, p=[0.7, 0.3]),
    }
    reports = tacit.disguise(tacit.Dataset.from_arrow(truth, scheme.schema), scheme, seed=7)
    stratum = np.arange(N) % 3
    columns = {"weight": random.uniform(0.5, 2, N), "stratum": stratum, "cluster": np.arange(N) // 15}
    return reports, columns


def contributions(reports, names):
    """What each report adds to every cell: the estimate from this report alone, by brute force."""
    rows = [tacit.estimate(reports.rows(slice(row, row + 1)), names).unbiased.reshape(-1) for row in range(N)]
    return np.array(rows)


@pytest.mark.parametrize("disguise", ["clear", "warner", "joint"])
@pytest.mark.parametrize("clustered", [False, True])
def test_errors_are_those_of_the_contributions_of_single_reports(disguise, clustered):
    reports, columns = survey(DISGUISES[disguise])
    sampled = 0.2 if disguise == "clear" else None
    options = {"weights": columns["weight"], "strata": columns["stratum"], "sampled": sampled}
    design = SampleDesign.of(N, clusters=columns["cluster"] if clustered else None, **options)
    found = tacit.estimate(reports, ["b", "a"], sample=design)
    phi, w = contributions(reports, ["b", "a"]), columns["weight"]
    p = w @ phi / w.sum()
    np.testing.assert_allclose(found.unbiased.reshape(-1), p, atol=1e-12)
    expected = design.covariance(w[:, None] * (phi - p) / w.sum())
    np.testing.assert_allclose(found.covariance, expected, atol=1e-12)
    np.testing.assert_allclose(found.standard_errors.reshape(-1) ** 2, np.diag(expected), atol=1e-12)


@pytest.mark.parametrize("disguise", ["matrix", "subset"])
def test_reports_that_differ_from_answers_are_weighted_too(disguise):
    reports, columns = survey(DISGUISES[disguise])
    even = SampleDesign.of(N)
    plain, weighted = tacit.estimate(reports, ["a", "b"]), tacit.estimate(reports, ["a", "b"], sample=even)
    np.testing.assert_allclose(weighted.unbiased, plain.unbiased, atol=1e-12)
    np.testing.assert_allclose(weighted.standard_errors, plain.standard_errors, rtol=0.15)
    clustered = SampleDesign.of(N, weights=columns["weight"], clusters=columns["cluster"])
    np.testing.assert_allclose(
        np.diag(tacit.estimate(reports, ["a"], sample=clustered).covariance),
        tacit.estimate(reports, ["a"], sample=clustered).standard_errors ** 2,
    )


def test_the_direct_case_is_that_of_samplics():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        samplics = pytest.importorskip("samplics")
        reports, columns = survey(DISGUISES["clear"])
        yes = np.array([answer == "yes" for answer in reports.to_arrow().column("b").to_pylist()], dtype=float)
        expected = samplics.TaylorEstimator(samplics.PopParam.mean)
        psu = columns["stratum"] * 1000 + columns["cluster"]
        expected.estimate(y=yes, samp_weight=columns["weight"], stratum=columns["stratum"], psu=psu)
    design = SampleDesign.of(
        N, **{"weights": columns["weight"], "strata": columns["stratum"], "clusters": columns["cluster"]}
    )
    found = tacit.estimate(reports, "b", sample=design)
    assert found.unbiased[1] == pytest.approx(expected.point_est, abs=1e-12)
    assert found.standard_errors[1] == pytest.approx(expected.stderror, abs=1e-12)


def test_a_census_keeps_the_noise_of_the_disguise():
    reports, _ = survey(SCHEME)
    everybody = tacit.estimate(reports, "b", sample=SampleDesign.of(N, sampled=1))
    np.testing.assert_allclose(
        everybody.standard_errors, tacit.estimate(reports, "b", sampling="respondents").standard_errors, rtol=1e-9
    )


def test_intervals_stay_within_the_possible_and_widen_with_few_clusters():
    reports, columns = survey(SCHEME)
    many = tacit.estimate(reports, "a", sample=SampleDesign.of(N, weights=columns["weight"])).interval()
    few = tacit.estimate(reports, "a", sample=SampleDesign.of(N, clusters=np.arange(N) // 200)).interval()
    assert (many.low >= 0).all()
    assert (many.high <= 1).all()
    assert (few.high - few.low > 0).all()


@pytest.mark.parametrize("clustered", [False, True])
def test_a_database_gives_the_same_answers_as_memory(tmp_path, clustered):
    pytest.importorskip("ibis")
    import pyarrow as pa
    import pyarrow.parquet as pq

    from tacit.count.stored import StoredReports

    reports, columns = survey(SCHEME)
    table = reports.to_arrow()
    for name, values in columns.items():
        table = table.append_column(name, pa.array(values))
    sampled = np.array([0.1, 0.2, 0.3])[columns["stratum"]]
    pq.write_table(table.append_column("f", pa.array(sampled)), tmp_path / "reports.parquet")
    named = SampleColumns("weight", "stratum", "cluster" if clustered else None, "f")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        stored = StoredReports.open(tmp_path / "reports.parquet", SCHEME)
    there = tacit.estimate(stored, ["a", "b"], sample=named)
    design = SampleDesign.of(
        N, weights=columns["weight"], strata=columns["stratum"], clusters=columns["cluster"] if clustered else None,
        sampled=sampled,
    )  # fmt: skip
    here = tacit.estimate(reports, ["a", "b"], sample=design)
    np.testing.assert_allclose(there.unbiased, here.unbiased, atol=1e-12)
    np.testing.assert_allclose(there.standard_errors, here.standard_errors, atol=1e-12)
    np.testing.assert_allclose(there.covariance, here.covariance, atol=1e-12)
    np.testing.assert_allclose(there.interval().low, here.interval().low, atol=1e-9)
    with pytest.raises(TacitError, match="Column 'wait' does not exist"):
        tacit.estimate(stored, ["a"], sample=SampleColumns("wait"))
    with pytest.raises(TacitError, match="name the columns of a stored table"):
        tacit.estimate(stored, ["a"], sample=design)


def test_what_cannot_be_weighted_is_refused():
    reports, columns = survey(SCHEME)
    design = SampleDesign.of(N, weights=columns["weight"])
    with pytest.raises(TacitError, match="method 'inversion'"):
        tacit.estimate(reports, "a", method="likelihood", sample=design)
    with pytest.raises(TacitError, match="1 designs for 2 sets of reports"):
        tacit.estimate([reports, Reports.from_truth({"a": ["x", "y", "z"]})], "a", sample=design)
    with pytest.raises(TacitError, match="design is of 3 people"):
        tacit.estimate(reports, "a", sample=SampleDesign.of(3))
    with pytest.raises(TacitError, match="give the values themselves"):
        tacit.estimate(reports, "a", sample=SampleColumns("weight"))


def test_replicates_and_a_bootstrap_have_the_linearised_error_and_reach_differences():
    reports, columns = survey(SCHEME)
    sample = {"weights": columns["weight"], "strata": columns["stratum"], "clusters": columns["cluster"]}
    linear = tacit.estimate(reports, ["b", "a"], sample=SampleDesign.of(N, **sample))
    drawn = tacit.estimate(reports, ["b", "a"], sample=SampleDesign.of(N, **sample, bootstrap=500, seed=1))
    np.testing.assert_allclose(drawn.unbiased, linear.unbiased)
    # 500 repeats have a relative error of .03.
    np.testing.assert_allclose(drawn.standard_errors, linear.standard_errors, rtol=0.2)
    one, other = (table.compare("a").differences[0] for table in (linear, drawn))
    assert other.standard_error == pytest.approx(one.standard_error, rel=0.2)
    assert other.standard_error != one.standard_error
    clusters = np.unique(columns["cluster"])
    gone = np.array([np.where(columns["cluster"] == cluster, 0.0, columns["weight"]) for cluster in clusters]).T
    scale = (len(clusters) - 1) / len(clusters)
    jackknife = SampleDesign.of(N, weights=columns["weight"], replicates=gone, replicate_scale=scale)
    alone = tacit.estimate(
        reports, "b", sample=SampleDesign.of(N, weights=columns["weight"], clusters=columns["cluster"])
    )
    np.testing.assert_allclose(
        tacit.estimate(reports, "b", sample=jackknife).standard_errors, alone.standard_errors, rtol=0.05
    )


@pytest.mark.slow
def test_a_database_adds_replicate_weights_too(tmp_path):
    pytest.importorskip("ibis")
    import pyarrow as pa
    import pyarrow.parquet as pq

    from tacit.count.stored import StoredReports

    reports, columns = survey(SCHEME)
    random = np.random.default_rng(1)
    again = np.array([columns["weight"] * random.poisson(1, N) for _ in range(5)]).T
    table = reports.to_arrow().append_column("w", pa.array(columns["weight"]))
    for number in range(5):
        table = table.append_column(f"r{number}", pa.array(again[:, number]))
    pq.write_table(table.append_column("bad", pa.array(-again[:, 0])), tmp_path / "reports.parquet")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        stored = StoredReports.open(tmp_path / "reports.parquet", SCHEME)
    names = tuple(f"r{number}" for number in range(5))
    there = tacit.estimate(stored, ["a", "b"], sample=SampleColumns("w", replicates=names))
    here = tacit.estimate(reports, ["a", "b"], sample=SampleDesign.of(N, weights=columns["weight"], replicates=again))
    np.testing.assert_allclose(there.covariance, here.covariance, atol=1e-12)
    np.testing.assert_allclose(there.interval().low, here.interval().low, atol=1e-9)
    with pytest.raises(TacitError, match="'bad' must be numbers of at least 0"):
        tacit.estimate(stored, ["a"], sample=SampleColumns("w", replicates=("r0", "bad")))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"bootstrap": 5, "replicates": np.ones((4, 2))}, "Give one of them"),
        ({"bootstrap": 5, "replicate_scale": 0.5}, "not with a bootstrap"),
        ({"replicates": np.ones((4, 1))}, "one column of replicate weights"),
        ({"replicates": np.ones((3, 2))}, "4 respondents by repeats"),
        ({"replicates": [["a"] * 2] * 4}, "must be numbers, one for each"),
        ({"replicates": np.zeros((4, 2))}, "not all of them 0"),
        ({"replicates": np.ones((4, 2)), "replicate_scale": 0}, "must be above 0"),
    ],
)
def test_repeats_of_a_design_that_tell_no_error_are_refused(options, message):
    with pytest.raises(TacitError, match=message):
        SampleDesign.of(4, **options)
