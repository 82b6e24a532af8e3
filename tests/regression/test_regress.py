"""Regressions on reports: equal to the clear-data ones where nothing is disguised, unbiased with true errors elsewhere."""

from __future__ import annotations

import json
import re
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
import statsmodels.formula.api as smf
from statsmodels.miscmodels.ordinal_model import OrderedModel

import tacit
from tacit import Attribute, Dataset, Scheme, channels, devices
from tacit.errors import InvalidInput, NotEstimable, UnknownName
from tacit.regression import Regression
from tacit.schema import Schema
from tacit.table import Table
from tests.cli.run import refused
from tests.cli.run import tacit as run

TRUTH = "warner p=1"  # the device that disguises nothing


def people(n: int, seed: int) -> pd.DataFrame:
    g = np.random.default_rng(seed)
    x, town = g.normal(size=n), g.choice(list("abc"), n)
    line = -0.5 + 0.8 * x + 0.6 * (town == "b") - 0.4 * (town == "c")
    y = (g.random(n) < 1 / (1 + np.exp(-line))).astype(int)
    level = np.digitize(0.7 * x + g.logistic(size=n), [-1, 1])
    return pd.DataFrame({"y": y, "x": x, "town": town, "level": np.array(["low", "mid", "top"])[level], "z": level})


def forced(frame: pd.DataFrame, seed: int) -> np.ndarray:
    """The reports of forced response with the truth in two thirds and a forced yes in a sixth of all cases."""
    u = np.random.default_rng(1000 + seed).random(len(frame))
    return np.where(u < 2 / 3, frame["y"], (u < 5 / 6).astype(int))


FORCED = {"r": "forced-response truth=2/3,yes=1/6"}


class TestWithoutDisguise:
    """Equal to statsmodels, to 1e-6."""

    frame = people(1500, 1)

    def same(self, found: Regression, estimates: np.ndarray, errors: np.ndarray) -> None:
        np.testing.assert_allclose(found.estimates, estimates, rtol=1e-6, atol=1e-8)
        np.testing.assert_allclose(found.standard_errors, errors, rtol=1e-5)

    @pytest.mark.parametrize("family", ["logit", "probit"])
    def test_binary(self, family: str) -> None:
        found = tacit.regress(self.frame, "y ~ x + town", devices={"y": TRUTH}, family=family)
        design = sm.add_constant(pd.get_dummies(self.frame[["x", "town"]], drop_first=True).astype(float))
        model = getattr(sm, family.capitalize())(self.frame["y"], design).fit(disp=0, tol=1e-12)
        self.same(found, model.params.to_numpy(), model.bse.to_numpy())
        assert found.log_likelihood == pytest.approx(model.llf, rel=1e-9)
        robust = tacit.regress(self.frame, "y ~ x + town", devices={"y": TRUTH}, family=family, errors="robust")
        sandwich = getattr(sm, family.capitalize())(self.frame["y"], design).fit(disp=0, cov_type="HC0", tol=1e-12)
        np.testing.assert_allclose(robust.standard_errors, sandwich.bse, rtol=1e-5)

    def test_multinomial(self) -> None:
        clear = devices.warner(1, answers=("low", "mid", "top"))
        found = tacit.regress(self.frame, "level ~ x", devices={"level": clear})
        model = sm.MNLogit(self.frame["z"], sm.add_constant(self.frame["x"])).fit(disp=0, tol=1e-12)
        self.same(found, model.params.to_numpy().T.reshape(-1), model.bse.to_numpy().T.reshape(-1))

    def test_ordered(self) -> None:
        clear = devices.warner(1, answers=("low", "mid", "top"))
        found = tacit.regress(self.frame, "level ~ x", devices={"level": clear}, family="ordered")
        model = OrderedModel(self.frame["z"], self.frame[["x"]], distr="logit").fit(disp=0, method="bfgs", gtol=1e-9)
        assert found.terms == ("x", "low|mid", "mid|top")
        assert found.estimates[0] == pytest.approx(model.params["x"], rel=1e-5)
        assert found.standard_errors[0] == pytest.approx(model.bse["x"], rel=1e-4)

    @pytest.mark.parametrize("family", ["linear", "logit", "poisson"])
    def test_corrected_scores(self, family: str) -> None:
        outcome = {"linear": "x", "logit": "y", "poisson": "z"}[family]
        device = devices.warner(1, answers=("a", "b", "c"))
        found = tacit.regress(self.frame, f"{outcome} ~ town", devices={"town": device}, family=family)
        kind = {"linear": sm.families.Gaussian(), "logit": sm.families.Binomial(), "poisson": sm.families.Poisson()}
        model = smf.glm(f"{outcome} ~ town", self.frame, family=kind[family]).fit(cov_type="HC0", tol=1e-12)
        self.same(found, model.params.to_numpy(), model.bse.to_numpy())


@pytest.mark.parametrize(("outcome", "family"), [("y", "logit"), ("x", "linear")])
def test_weights_strata_and_clusters_without_disguise_are_those_of_samplics(outcome: str, family: str) -> None:
    frame, g = people(900, 6), np.random.default_rng(6)
    frame = frame.assign(w=g.uniform(0.5, 2, 900), stratum=np.arange(900) % 3, school=g.integers(0, 12, 900))
    asked = {"y": TRUTH} if family == "logit" else {"town": devices.warner(1, answers=("a", "b", "c"))}
    sample = {"weights": "w", "strata": "stratum", "clusters": "school"}
    found = tacit.regress(frame, f"{outcome} ~ town", devices=asked, family=family, **sample)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        samplics = pytest.importorskip("samplics")
        from samplics.regression.glm import SurveyGLM

        kind = samplics.ModelType.LOGISTIC if family == "logit" else samplics.ModelType.LINEAR
        model = SurveyGLM(kind)
        columns = np.column_stack([np.ones(900), frame["town"] == "b", frame["town"] == "c"]).astype(float)
        psu = frame["stratum"] * 100 + frame["school"]
        model.estimate(
            y=frame[outcome], x=columns, samp_weight=frame["w"], stratum=frame["stratum"], psu=psu, tol=1e-12
        )
    np.testing.assert_allclose(found.estimates, model.beta["point_est"], rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(found.standard_errors, model.beta["stderror"], rtol=1e-5)


def z_scores(fits: list[Regression], truth: np.ndarray) -> np.ndarray:
    return np.array([(fit.estimates - truth) / fit.standard_errors for fit in fits])


def check_scores(scores: np.ndarray, *, mean: float = 0.1, most: float = 1.07) -> None:
    """Within the targets, widened by four standard errors of so many seeds (false alarm below 1e-4 each, seeds fixed)."""
    n = len(scores)
    assert (np.abs(scores.mean(axis=0)) <= mean + 4 / np.sqrt(n)).all()
    spread = scores.std(axis=0)
    assert (spread >= 0.93 - 4 / np.sqrt(2 * n)).all()
    assert (spread <= most + 4 / np.sqrt(2 * n)).all()


LINE = np.array([-0.5, 0.8, 0.6, -0.4])


def test_errors_of_a_disguised_outcome_are_true() -> None:
    fits = []
    for seed in range(60):
        frame = people(1000, seed)
        frame["r"] = forced(frame, seed)
        fits.append(tacit.regress(frame, "r ~ x + town", devices=FORCED))
    check_scores(z_scores(fits, LINE))


def test_reports_taken_as_true_are_biased() -> None:
    """What the device is for: the same reports without it give other coefficients."""
    frame = people(4000, 5)
    frame["r"] = forced(frame, 5)
    naive = tacit.regress(frame, "r ~ x + town", devices={"r": TRUTH})
    assert abs((naive["x"].estimate - 0.8) / naive["x"].standard_error) > 5


def test_errors_with_disguised_covariates_and_outcome_are_true() -> None:
    """Outcome and a covariate of three answers, each by a gamma-diagonal channel of 6."""
    schema = Schema((Attribute("y", ("no", "yes")), Attribute("town", ("a", "b", "c"))))
    scheme = Scheme.of(schema, [([name], channels.gamma_diagonal(6)) for name in schema.names])
    fits = []
    for seed in range(50):
        frame = people(3000, seed)
        truth = {"y": frame["y"].to_numpy(), "town": frame["town"].map({"a": 0, "b": 1, "c": 2}).to_numpy()}
        reports = tacit.disguise(Dataset(Table.from_codes(schema, truth)), scheme, seed=seed).to_arrow().to_pandas()
        fits.append(tacit.regress(reports.assign(x=frame["x"]), "y ~ x + town", scheme=scheme))
    assert fits[0].method == "corrected scores"
    check_scores(z_scores(fits, LINE), mean=0.2)


def test_an_outcome_and_a_covariate_of_one_group() -> None:
    schema = Schema((Attribute("y", ("no", "yes")), Attribute("town", ("a", "b", "c")), Attribute("k", ("u", "v"))))
    scheme = Scheme.of(schema, [(["y", "town", "k"], channels.gamma_diagonal(30))])
    scores = []
    for seed in range(40):
        frame = people(3000, seed)
        codes = {"y": frame["y"].to_numpy(), "town": frame["town"].map({"a": 0, "b": 1, "c": 2}).to_numpy()}
        codes["k"] = np.zeros(3000, dtype=int)
        reports = tacit.disguise(Dataset(Table.from_codes(schema, codes)), scheme, seed=seed).to_arrow().to_pandas()
        fit = tacit.regress(reports.assign(x=frame["x"]), "y ~ x + town", scheme=scheme)
        scores.append((fit.estimates - LINE) / fit.standard_errors)
    check_scores(np.array(scores), mean=0.2)


@pytest.mark.parametrize("device", ["stochastic-lie-detector", "cheating-detection", "unrelated-question"])
def test_what_a_device_leaves_open_is_estimated_along(device: str) -> None:
    scores = []
    for seed in range(40):
        frame, g = people(2000, seed), np.random.default_rng(seed)
        group, u, v = g.integers(1, 3, 2000), g.random(2000), g.random(2000)
        p = np.where(group == 1, 0.2, 0.8)
        carries = frame["y"].to_numpy() == 1
        if device == "stochastic-lie-detector":
            yes, truth = np.where(carries, v < 0.7, u < 1 - p), 0.7
        elif device == "cheating-detection":
            # A tenth of all are cheaters: as many of those who do not carry the trait as that takes, at every x.
            line = LINE @ np.array([np.ones(2000), frame["x"], frame["town"] == "b", frame["town"] == "c"])
            cheats = v < 0.1 * (1 + np.exp(line))
            yes, truth = np.where(carries, True, np.where(cheats, False, u < p)), 0.1
        else:
            yes, truth = np.where(u < p, carries, v < 0.3), 0.3
        fit = tacit.regress(
            frame.assign(r=yes.astype(int), g=group),
            "r ~ x + town",
            devices={"r": f"{device} p=1:0.2,2:0.8"},
            sample="g",
        )
        value, error = next(iter(fit.open_parameters.values()))
        if error is not None:  # else the most likely value is at the edge, and taken as known
            scores.append([*((fit.estimates - LINE) / fit.standard_errors), (value - truth) / error])
    assert len(scores) > 32
    check_scores(np.array(scores), mean=0.2, most=1.12)


def test_weights_and_clusters_are_linearised() -> None:
    scores = []
    for seed in range(100):
        g = np.random.default_rng(seed)
        frame = people(1500, seed)
        frame["school"] = g.integers(0, 50, 1500)
        shared = g.normal(size=50)[frame["school"]] * 0.7
        line = LINE @ np.array([np.ones(1500), frame["x"], frame["town"] == "b", frame["town"] == "c"])
        frame["y"] = (g.random(1500) < 1 / (1 + np.exp(-(line + shared)))).astype(int)
        frame["w"] = g.choice([1.0, 3.0], 1500)
        frame["r"] = forced(frame, seed)
        fit = tacit.regress(frame, "r ~ x", devices=FORCED, weights="w", clusters="school")
        scores.append(
            [fit["Intercept"].estimate, fit["Intercept"].standard_error, fit["x"].estimate, fit["x"].standard_error]
        )
    found = np.array(scores)
    for at in (0, 2):  # the spread of the estimates is what the errors say, shared schools included
        ratio = found[:, at].std() / found[:, at + 1].mean()
        assert 0.93 - 4 / np.sqrt(200) <= ratio <= 1.12 + 4 / np.sqrt(200)


def test_results_say_what_users_of_statsmodels_expect() -> None:
    frame = people(2000, 3)
    frame["r"] = forced(frame, 3)
    whole = tacit.regress(frame, "r ~ x + town", devices=FORCED)
    part = tacit.regress(frame, "r ~ x", devices=FORCED)
    test = whole.likelihood_ratio(part)
    assert test.degrees_of_freedom == 2
    assert test.statistic == pytest.approx(2 * (whole.log_likelihood - part.log_likelihood))
    assert whole.wald(["town[T.b]", "town[T.c]"]).p == pytest.approx(test.p, abs=0.05)
    odds = whole.odds_ratios["x"]
    assert odds[0] == pytest.approx(np.exp(whole["x"].estimate))
    (prediction,) = whole.predict({"x": [0.0, 1.0], "town": ["a", "b"]})
    line = whole.estimates @ np.array([[1, 1], [0, 1], [0, 1], [0, 0]])
    np.testing.assert_allclose(prediction.estimate, 1 / (1 + np.exp(-line)))
    assert ((prediction.low < prediction.estimate) & (prediction.estimate < prediction.high)).all()
    effects = {effect.term: effect for effect in whole.marginal_effects()}
    (own,) = whole.predict()
    assert effects["x"].estimate == pytest.approx(
        float(np.mean(own.estimate * (1 - own.estimate))) * whole["x"].estimate, rel=1e-4
    )
    assert "log-likelihood" in whole.summary()
    assert "<table>" in whole._repr_html_()
    assert repr(whole).startswith("Regression(")
    assert whole.aic == pytest.approx(8 - 2 * whole.log_likelihood)


def test_direct_and_device_samples_are_fitted_together() -> None:
    frame = people(3000, 7)
    frame["arm"] = np.random.default_rng(7).integers(0, 2, 3000)
    frame["r"] = np.where(frame["arm"] == 0, frame["y"], forced(frame, 7))
    found = tacit.regress(
        frame, "r ~ x + town + arm", devices={"r": "forced-response truth=2/3,yes=1/6,direct=0"}, sample="arm"
    )
    np.testing.assert_array_less(np.abs(found.estimates - [*LINE, 0]) / found.standard_errors, 4.5)


@pytest.mark.parametrize(
    ("formula", "options", "message"),
    [
        ("r + x", {}, "names an outcome and covariates"),
        ("r ~ x +", {}, "cannot be read"),
        ("r ~ r + x", {}, "on both sides"),
        ("r ~ xx", {}, "Did you mean 'x'"),
        ("r ~ x", {"family": "logistic"}, "Did you mean 'logit'"),
        ("r ~ x", {"errors": "hc1"}, "Kind of errors"),
        ("r ~ x", {"devices": {"s": "warner p=.8"}}, "belongs to no variable"),
        ("r ~ x", {"devices": {"r": "warner p=1/2"}}, "carry nothing"),
        ("r ~ x", {"devices": ["r crosswise"]}, "A device names its variable"),
        ("r ~ x", {"devices": None}, "No variable of the formula is disguised"),
        ("r ~ x", {"family": "poisson"}, "outcome of numbers"),
        ("r ~ x", {"family": "multinomial", "devices": {"r": TRUTH, "town": TRUTH}}, "no variable of the formula"),
        (
            "x ~ town",
            {"devices": {"town": devices.warner(0.9, answers=("a", "b", "c"))}, "family": "probit"},
            "not among these",
        ),
        ("r ~ x + I(2 * x)", {}, "not independent of each other"),
        ("r ~ log(bad)", {}, r"The term 'log\(bad\)' is not a number in 60 of 60 rows"),
        ("r ~ x", {"weights": "bad"}, "weights must be above 0"),
        ("r ~ x", {"weights": "w", "errors": "opg"}, "errors are linearised"),
    ],
)
def test_bad_input(formula: str, options: dict[str, object], message: str) -> None:
    frame = people(60, 2).assign(w=1.0, bad=0.0)
    frame["r"] = forced(frame, 2)
    with pytest.raises((InvalidInput, NotEstimable, UnknownName), match=message):
        tacit.regress(frame, formula, **{"devices": FORCED, **options})


def test_data_that_cannot_carry_a_model_say_so() -> None:
    schema = Schema((Attribute("town", ("a", "b", "c")),))
    scheme = Scheme.of(schema, [(["town"], channels.gamma_diagonal(1.2))])
    frame = people(200, 1)
    codes = frame["town"].map({"a": 0, "b": 1, "c": 2}).to_numpy()
    reports = tacit.disguise(Dataset(Table.from_codes(schema, {"town": codes})), scheme, seed=1).to_arrow().to_pandas()
    with pytest.raises(NotEstimable, match="It would take"):
        tacit.regress(reports.assign(y=frame["y"]), "y ~ town", scheme=scheme, family="logit")


def test_a_group_whose_share_is_beyond_one_is_said() -> None:
    """31 of 53 is more than the device gives if all carried the trait: the published counts of copying in exams."""
    students = {"copied": [1] * 297 + [0] * 360 + [1] * 31 + [0] * 22, "sex": [0] * 657 + [1] * 53}
    with pytest.raises(NotEstimable, match="beyond 0 or 1"):
        tacit.regress(students, "copied ~ sex", devices={"copied": "unrelated-question p=1/2,y=1/12"})


def said_to_carry(frame: dict[str, Any] | pd.DataFrame, formula: str, **options: Any) -> int:
    """The number of respondents that a refusal names."""
    with pytest.raises(NotEstimable, match=r"About [\d,]+ respondents would carry it") as refusal:
        tacit.regress(frame, formula, **options)
    number = re.search(r"About ([\d,]+) respondents", str(refusal.value))
    assert number is not None
    return int(number[1].replace(",", ""))


def a_rare_group(n: int, random: np.random.Generator) -> dict[str, Any]:
    """A fifth of the people, of whom 4% carry what 30% of the others do, asked by forced response."""
    group = (random.random(n) < 0.2).astype(int)
    carries, lot = random.random(n) < np.where(group, 0.04, 0.3), random.random(n)
    return {"r": np.where(lot < 2 / 3, carries, lot < 5 / 6).astype(int), "group": group}


def test_so_many_respondents_carry_the_model() -> None:
    """The first study of 400 people that cannot names a number; of 25 new studies of that size at most three cannot."""
    random = np.random.default_rng(11)
    refused_study = next(study for study in (a_rare_group(400, random) for _ in range(50)) if not is_carried(study))
    needed = said_to_carry(refused_study, "r ~ group", devices=FORCED)
    assert 800 < needed < 8000
    assert sum(is_carried(a_rare_group(needed, random)) for _ in range(25)) >= 22


def is_carried(study: dict[str, Any]) -> bool:
    try:
        tacit.regress(study, "r ~ group", devices=FORCED)
    except NotEstimable:
        return False
    return True


@pytest.mark.parametrize("family", ["logit", "probit", "ordered", "multinomial"])
def test_a_refusal_names_respondents_in_every_family_and_with_open_parameters(family: str) -> None:
    part = pd.DataFrame({"r": [0, 1] * 30 + [1] * 40, "g": ["a"] * 60 + ["b"] * 40})
    assert 200 <= said_to_carry(part, "r ~ g", devices={"r": TRUTH}, family=family) < 2000
    samples = pd.DataFrame({"r": [0, 1, 1] * 60 + [1] * 60, "g": ["a"] * 180 + ["b"] * 60, "s": [1, 2] * 120})
    device = {"r": "stochastic-lie-detector p=1:1/6,2:5/6"}
    if family == "logit":
        assert said_to_carry(samples, "r ~ g", devices=device, sample="s") >= 480


def test_perfect_separation_is_said() -> None:
    frame = pd.DataFrame({"r": [0] * 50 + [1] * 50, "x": np.arange(100.0)})
    with pytest.raises(NotEstimable, match="apart perfectly"):
        tacit.regress(frame, "r ~ x", devices={"r": TRUTH})


@pytest.mark.parametrize("family", ["logit", "probit", "ordered"])
def test_separation_by_a_group_is_said_too(family: str) -> None:
    """Completely, and in one group only; with the covariate clear or asked by a device that disguises nothing."""
    whole = pd.DataFrame({"r": [0] * 50 + [1] * 50, "g": ["a"] * 50 + ["b"] * 50})
    part = pd.DataFrame({"r": [0, 1] * 30 + [1] * 40, "g": ["a"] * 60 + ["b"] * 40})
    for frame in (whole, part):
        with pytest.raises(NotEstimable, match="apart perfectly"):
            tacit.regress(frame, "r ~ g", devices={"r": TRUTH}, family=family)
        if family == "logit":
            with pytest.raises(NotEstimable, match="apart perfectly"):
                tacit.regress(frame, "r ~ g", devices={"g": devices.warner(1, answers=("a", "b"))}, family=family)


def test_rare_answers_and_strong_disguises_are_fitted() -> None:
    """What is refused as separated must not be merely rare: 1 in 1,000, and a channel that tells next to nothing."""
    g = np.random.default_rng(3)
    rare = pd.DataFrame({"r": (g.random(20_000) < 0.001).astype(int), "x": g.normal(size=20_000)})
    assert tacit.regress(rare, "r ~ x", devices={"r": TRUTH}).converged
    weak = pd.DataFrame({"x": g.integers(0, 2, 100_000)})
    truth = g.random(100_000) < 0.3 + 0.4 * weak["x"]
    weak["r"] = np.where(g.random(100_000) < 0.52, truth, ~truth).astype(int)
    assert tacit.regress(weak, "r ~ x", devices={"r": "warner p=.52"}).converged


def test_the_command_prints_and_answers(tmp_path: Path) -> None:
    frame = people(800, 4)
    frame["r"] = forced(frame, 4)
    frame.loc[3, "x"] = np.nan
    frame.to_csv(tmp_path / "study.csv", index=False)
    command = (
        "regress",
        tmp_path / "study.csv",
        "--formula",
        "r ~ x + town",
        "--device",
        "r: forced-response truth=2/3,yes=1/6",
    )
    answer = run(*command, "--json").json
    assert [c["term"] for c in answer["coefficients"]] == ["Intercept", "x", "town[T.b]", "town[T.c]"]
    assert set(answer["coefficients"][0]) >= {"term", "estimate", "standard_error", "z", "p", "low", "high", "p_wald"}
    assert (answer["n_reports"], answer["n_missing"]) == (799, 1)
    shown = run(*command, "--plot", tmp_path / "p.png")
    assert shown.code == 0, shown.err
    assert "log-likelihood" in shown.out
    assert (tmp_path / "p.png").stat().st_size > 5000
    assert "Did you mean 'x'" in refused(*command[:3], "r ~ xx", *command[4:])
    assert json.dumps(answer)
    # As prevalence and plan take a device: its name, and its chances apart.
    apart = ("--device", "forced-response", "--parameters", "truth=2/3,yes=1/6")
    assert run(*command[:4], *apart, "--json").json == answer
    assert "the chances of one device" in refused(*command, "--parameters", "truth=2/3,yes=1/6")


def test_report_files_carry_their_scheme_and_no_other_one_is_taken(tmp_path: Path) -> None:
    truth = Dataset.from_arrow({"smokes": ["no", "yes", "no", "yes", "no"] * 160, "town": ["a", "b", "b", "a"] * 200})
    schemes = [Scheme.of(truth.schema, [(["smokes"], channels.warner(p))]) for p in (0.8, 0.95)]
    (tmp_path / "days").mkdir()
    (tmp_path / "kept").mkdir()
    for day in (1, 2):
        reports = tacit.disguise(truth, schemes[0], seed=day)
        reports.write(tmp_path / f"days/{day}.parquet")
        tacit.Tally.of(reports).write(tmp_path / f"kept/{day}.parquet")
    schemes[1].write(tmp_path / "other.json")
    found = tacit.regress(tmp_path / "days", "smokes ~ town")
    assert found.n_reports == 1600
    told = tacit.regress(tmp_path / "days", "smokes ~ town", scheme=schemes[0])
    assert found.estimates.tolist() == told.estimates.tolist()
    added = tacit.regress(tmp_path / "kept", "smokes ~ town")
    np.testing.assert_allclose(added.estimates, told.estimates, rtol=1e-12)
    asked = ("--formula", "smokes ~ town", "--scheme", tmp_path / "other.json")
    assert "was disguised under the scheme" in refused("regress", tmp_path / "days", *asked)
    assert "was disguised under the scheme" in refused("regress", tmp_path / "days/1.parquet", *asked)
    tacit.disguise(truth, schemes[1], seed=3).write(tmp_path / "days/3.parquet")
    assert "3.parquet' was disguised under the scheme" in refused("regress", tmp_path / "days", *asked[:2])
    device = tacit.regress(tmp_path / "days/1.parquet", "smokes ~ town", devices={"smokes": "warner p=4/5"})
    assert device.n_reports == 800  # a device that is named is the one that counts


def test_a_tiny_p_value_does_not_touch_its_neighbour() -> None:
    people = {"took": [1] * 39_000 + [0] * 11_000 + [1] * 12_000 + [0] * 38_000, "old": [1] * 50_000 + [0] * 50_000}
    found = tacit.regress(people, "took ~ old", devices={"took": "warner p=.9"})
    assert found["old"].p < 1e-99  # three digits in its exponent
    (line,) = [line for line in found.summary().splitlines() if line.startswith("old")]
    assert len(line.split()) == 7
