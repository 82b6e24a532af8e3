"""What regressions read (frames, reports, tallies, dealt schemes), and errors from repeats and of finite populations."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import tacit
from tacit import Attribute, Dataset, Reports, Scheme, Tally, channels
from tacit.count.stored import StoredReports
from tacit.errors import InvalidInput, NotEstimable, UnknownName
from tacit.regression import Regression, rows
from tacit.schema import Schema
from tests.cli.run import tacit as run
from tests.regression.test_regress import FORCED, forced, people

SCHEMA = Schema((Attribute("y", ("no", "yes")), Attribute("town", ("a", "b", "c")), Attribute("sex", ("f", "m"))))
SCHEME = Scheme.of(SCHEMA, [(["y"], channels.gamma_diagonal(9)), (["town"], channels.gamma_diagonal(12))])


def truths(n: int, seed: int) -> Dataset:
    random = np.random.default_rng(seed)
    town, sex = random.integers(0, 3, n), random.integers(0, 2, n)
    line = -0.5 + 0.6 * (town == 1) - 0.4 * (town == 2) + 0.5 * sex
    codes = {"y": (random.random(n) < 1 / (1 + np.exp(-line))).astype(int), "town": town, "sex": sex}
    from tacit.table import Table

    return Dataset(Table.from_codes(SCHEMA, codes))


def same(one: Regression, other: Regression, tolerance: float = 1e-8) -> None:
    np.testing.assert_allclose(one.estimates, other.estimates, atol=tolerance)
    np.testing.assert_allclose(one.covariance, other.covariance, atol=tolerance)
    assert one.n_reports == other.n_reports
    assert one.log_likelihood == pytest.approx(other.log_likelihood, rel=1e-9)


@pytest.fixture(scope="module")
def reports() -> Reports:
    return tacit.disguise(truths(6000, 1), SCHEME, seed=1)


def test_people_who_are_alike_are_fitted_as_one_row(reports, monkeypatch):
    """Every kind of error, outcome alone and covariates too; against everybody by themselves."""
    frame = reports.to_arrow().to_pandas().astype(object)
    frame.loc[5, "sex"] = None
    asked = [("y ~ sex", kind) for kind in ("observed", "opg", "robust")] + [("y ~ sex + town", None)]
    together = [tacit.regress(frame, formula, scheme=SCHEME, errors=kind) for formula, kind in asked]
    monkeypatch.setattr(rows, "FEWEST_ROWS", 10**9)
    for (formula, kind), found in zip(asked, together, strict=True):
        alone = tacit.regress(frame, formula, scheme=SCHEME, errors=kind)
        same(found, alone)
        assert (found.n_missing, alone.n_missing) == (1, 1)
        assert len(found.design) < 20 < len(alone.design)
        np.testing.assert_allclose(found.predict()[0].estimate, alone.predict()[0].estimate, atol=1e-8)
        effects = zip(found.marginal_effects(), alone.marginal_effects(), strict=True)
        for one, other in effects:
            assert one.estimate == pytest.approx(other.estimate, abs=1e-8)


def test_reports_files_databases_and_tallies_give_the_same_regression(reports, tmp_path: Path):
    formula = "y ~ town * sex"
    here = tacit.regress(reports, formula)
    same(here, tacit.regress(reports.to_arrow(), formula, scheme=SCHEME))
    same(here, tacit.regress(Tally.of(reports), formula))
    same(here, tacit.regress(Tally.of(reports, tables=[["y", "town", "sex"]]), formula))
    reports.write(tmp_path / "r.parquet")
    same(here, tacit.regress(StoredReports.open(tmp_path / "r.parquet", SCHEME), formula))
    Tally.of(reports).write(tmp_path / "t.parquet")
    same(here, tacit.regress(tmp_path / "t.parquet", formula))
    with pytest.raises(UnknownName, match="Did you mean 'sex'"):
        tacit.regress(Tally.of(reports), "y ~ sexx")
    with pytest.raises(InvalidInput, match="A bootstrap draws respondents again"):
        tacit.regress(Tally.of(reports), formula, bootstrap=10)
    with pytest.raises(InvalidInput, match="This tally has no weights"):
        tacit.regress(Tally.of(reports), formula, weights="w")


@pytest.mark.parametrize("names", [("w",), ("w", "stratum"), ("w", "stratum", "cluster"), ("cluster",)])
def test_weighted_tallies_and_databases_give_the_regression_of_the_file(reports, names, tmp_path: Path):
    """Outcome alone by likelihood, and disguised covariates by corrected scores; one name in two strata is two clusters."""
    random = np.random.default_rng(8)
    n = reports.n_reports
    columns = {"w": random.uniform(0.5, 2, n), "stratum": np.arange(n) % 3, "cluster": np.arange(n) // 7 % 40}
    frame = reports.to_arrow().to_pandas().assign(**columns)
    frame.to_parquet(tmp_path / "r.parquet")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a file that does not say its scheme
        there = StoredReports.open(tmp_path / "r.parquet", SCHEME)
    options = {{"w": "weights", "stratum": "strata", "cluster": "clusters"}[name]: name for name in names}
    counted = Tally.weighted(reports, **{option: columns[name] for option, name in options.items()})
    counted.write(tmp_path / "tally.parquet")
    for formula in ("y ~ sex", "y ~ town + sex"):
        listed = tacit.regress(frame, formula, scheme=SCHEME, **options)
        for other in (counted, Tally.read(tmp_path / "tally.parquet", SCHEME)):
            same(tacit.regress(other, formula), listed)
        same(tacit.regress(there, formula, **options), listed)
        assert tacit.regress(counted, formula).degrees_of_freedom == listed.degrees_of_freedom
        assert len(tacit.regress(there, formula, **options).design) < n / 3
    with pytest.raises(InvalidInput, match="knows its weights"):
        tacit.regress(counted, "y ~ sex", weights="w")
    if "cluster" in names:
        again = {"bootstrap": 60, "seed": 5}
        np.testing.assert_allclose(
            tacit.regress(counted, "y ~ sex", **again).covariance,
            tacit.regress(frame, "y ~ sex", scheme=SCHEME, **options, **again).covariance,
            rtol=1e-6,
        )
    else:
        with pytest.raises(InvalidInput, match="A bootstrap draws respondents again"):
            tacit.regress(counted, "y ~ sex", bootstrap=10)
    with pytest.raises(InvalidInput, match="Replicate weights and sampled shares are read from a file"):
        tacit.regress(there, "y ~ sex", weights="w", sampled=0.5)


def test_a_dealt_scheme_is_fitted_from_those_who_were_asked_it_all():
    dealt = Scheme.dealt(
        SCHEMA,
        [
            ("one", 0.5, [(["y"], channels.warner(0.9)), (["town"], channels.gamma_diagonal(20))]),
            ("two", 0.3, [(["y"], channels.warner(0.8)), (["town"], channels.gamma_diagonal(9))]),
            ("rest", 0.2, [(["y"], channels.warner(0.7))]),
        ],
    )
    reports = tacit.disguise(truths(9000, 3), dealt, seed=3)
    truth = {"Intercept": -0.5, "town[T.b]": 0.6, "town[T.c]": -0.4, "sex[T.m]": 0.5}
    outcome = tacit.regress(reports, "y ~ sex")
    assert outcome.method == "likelihood"
    assert outcome.n_reports == 9000
    both = tacit.regress(reports, "y ~ town + sex")
    assert both.n_missing == reports.parts[2].n_rows
    for term, value in truth.items():
        assert abs(both[term].estimate - value) < 4.5 * both[term].standard_error
    same(both, tacit.regress(Tally.of(reports), "y ~ town + sex"))
    apart = Scheme.dealt(SCHEMA, [(name, 0.5, [([name], channels.warner(0.9))]) for name in ("y", "town")])
    with pytest.raises(NotEstimable, match="never asked together"):
        tacit.regress(tacit.disguise(truths(100, 1), apart, seed=1), "y ~ town")


def schools(n: int = 800, seed: int = 4) -> pd.DataFrame:
    frame, random = people(n, seed), np.random.default_rng(seed)
    frame["r"] = forced(frame, seed)
    return frame.assign(w=random.uniform(0.5, 2, n), school=random.integers(0, 40, n))


@pytest.mark.parametrize("formula", ["r ~ x", "x ~ r"])
def test_a_bootstrap_and_replicates_have_the_linearised_error(formula):
    """100 repeats have a relative error of .07; a jackknife of 40 schools is near to linearisation."""
    frame = schools()
    sample = {"weights": "w", "clusters": "school"}
    linear = tacit.regress(frame, formula, devices=FORCED, **sample)
    drawn = tacit.regress(frame, formula, devices=FORCED, **sample, bootstrap=100, seed=1)
    np.testing.assert_allclose(drawn.estimates, linear.estimates)
    np.testing.assert_allclose(drawn.standard_errors, linear.standard_errors, rtol=0.32)
    assert drawn.errors == "from 100 repeats"
    names = [f"jk{number}" for number in range(40)]
    jackknife = {
        name: np.where(frame["school"] == number, 0, frame["w"] * 40 / 39) for number, name in enumerate(names)
    }
    wide = frame.assign(**jackknife)
    found = tacit.regress(wide, formula, devices=FORCED, weights="w", replicates=names, replicate_scale=39 / 40)
    np.testing.assert_allclose(found.standard_errors, linear.standard_errors, rtol=0.1)
    assert found.degrees_of_freedom == 39
    as_bootstrap = tacit.regress(wide, formula, devices=FORCED, weights="w", replicates=names)
    np.testing.assert_allclose(as_bootstrap.standard_errors * np.sqrt(39), found.standard_errors)


def test_a_finite_population_keeps_the_noise_of_the_device():
    """Reports drawn again for the same people: a census's error is how far the coefficients then spread."""
    frame = people(1000, 8)
    told = []
    for seed in range(60):
        again = frame.assign(r=forced(frame, seed))
        told.append([tacit.regress(again, formula, devices=FORCED).estimates for formula in ("r ~ x", "x ~ r")])
    for at, formula in enumerate(("r ~ x", "x ~ r")):
        census = tacit.regress(frame.assign(r=forced(frame, 500)), formula, devices=FORCED, sampled=1.0)
        sample = tacit.regress(frame.assign(r=forced(frame, 500)), formula, devices=FORCED)
        spread = np.std([pair[at] for pair in told], axis=0)
        # 60 repeats have a relative error of .09.
        np.testing.assert_allclose(census.standard_errors, spread, rtol=0.36)
        assert (census.standard_errors < sample.standard_errors).all()
    clear = tacit.regress(frame, "y ~ x", devices={"y": "warner p=1"}, sampled=1.0)
    np.testing.assert_allclose(clear.standard_errors, 0, atol=1e-7)


def test_names_in_backticks_stand_in_transformations_too():
    frame = people(500, 2).rename(columns={"x": "cov.x"})
    frame["rr.q1"] = forced(frame, 2)
    device = {"rr.q1": FORCED["r"]}
    plain = people(500, 2).assign(r=frame["rr.q1"])
    quoted = tacit.regress(frame, "`rr.q1` ~ `cov.x` + I((`cov.x`/10)^2)", devices=device)
    same(quoted, tacit.regress(plain, "r ~ x + I((x/10)**2)", devices=FORCED))
    assert quoted.terms == ("Intercept", "cov.x", "I((cov.x / 10) ** 2)")
    (ahead,) = quoted.predict({"cov.x": [0.0, 1.0]})
    assert ahead.estimate.shape == (2,)


def test_a_covariate_may_have_been_asked_in_two_samples():
    """With a device that leaves nothing open, each sample is undone by its own law; those asked directly are clear."""
    random = np.random.default_rng(5)
    frame = people(6000, 5)
    arm = random.integers(0, 3, 6000)
    carries = frame["y"].to_numpy() == 1
    p = np.where(arm == 1, 0.2, 0.8)
    same_answer = np.where(random.random(6000) < p, carries, ~carries)
    frame["arm"], frame["item"] = arm, np.where(arm == 0, carries, same_answer).astype(int)
    frame["score"] = 1.0 + 0.5 * carries + random.normal(size=6000)
    found = tacit.regress(
        frame, "score ~ item", devices={"item": "crosswise p=1:.2,2:.8,direct=0"}, sample="arm", family="linear"
    )
    errors = found.standard_errors
    np.testing.assert_array_less(np.abs(found.estimates - [1.0, 0.5]), 4.5 * errors)
    with pytest.raises(InvalidInput, match="does not fix t"):
        tacit.regress(
            frame[frame["arm"] > 0],
            "score ~ item",
            devices={"item": "stochastic-lie-detector p=1:.2,2:.8"},
            sample="arm",
        )


def test_the_command_has_repeats_and_names_them_by_their_beginning(tmp_path: Path):
    frame = schools(400)
    for number in range(12):
        frame[f"rw{number}"] = frame["w"] * np.random.default_rng(number).poisson(1, 400)
    frame.to_csv(tmp_path / "study.csv", index=False)
    command = ("regress", tmp_path / "study.csv", "--formula", "r ~ x", "--device", f"r: {FORCED['r']}", "--json")
    answer = run(*command, "--weights", "w", "--replicates", "rw*").json
    assert answer["errors"] == "from 12 repeats"
    drawn = run(*command, "--bootstrap", "20", "--seed", "1").json
    assert drawn["errors"] == "from 20 repeats"
    assert "begins with 'rx'" in run(*command, "--replicates", "rx*").err


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"bootstrap": 1}, "at least two repeats"),
        ({"bootstrap": 5, "replicates": ["w", "x2"]}, "Give one of them"),
        ({"replicate_scale": 0.5}, "replicate_scale goes with replicate weights"),
        ({"replicates": ["w", "x2"], "replicate_scale": -1}, "must be above 0"),
        ({"bootstrap": 5, "sampled": 0.1}, "Leave out sampled, or leave out bootstrap"),
    ],
)
def test_repeats_that_tell_no_error_are_refused(options, message):
    frame = schools(200).assign(x2=1.0)
    with pytest.raises(InvalidInput, match=message):
        tacit.regress(frame, "r ~ x", devices=FORCED, **options)
