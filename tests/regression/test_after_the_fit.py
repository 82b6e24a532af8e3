"""What is read from a fitted regression: effects, tests, intervals, predictions, tables."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.stats import chi2, norm

import tacit
from tacit.errors import InvalidInput
from tests.cli.run import tacit as run

WARNER = {"x": "warner p=.8"}


def disguise(truth: np.ndarray, g: np.random.Generator, p: float = 0.8) -> np.ndarray:
    return np.where(g.random(len(truth)) < p, truth, ~truth).astype(int)


@pytest.fixture(scope="module")
def people() -> pd.DataFrame:
    g = np.random.default_rng(29)
    n = 3000
    frame = pd.DataFrame(
        {"age": g.uniform(18, 80, n), "town": g.choice(list("abcd"), n), "sex": g.choice(["f", "m"], n)}
    )
    line = -1 + 0.02 * (frame.age - 40) + frame.town.map(dict(zip("abcd", (0, 0.5, 1, 2), strict=True)))
    frame["truth"] = g.random(n) < 1 / (1 + np.exp(-line))
    frame["x"] = disguise(frame.truth.to_numpy(), g)
    frame["pass"] = np.where(g.random(n) < 0.2 + 0.5 * frame.truth, "yes", "no")
    return frame


def test_effects_of_a_factor_are_differences_of_shares() -> None:
    """True shares .05, .35, .65, .95; switching one column of the design alone gave .242, .459, .697."""
    g = np.random.default_rng(1)
    region = np.repeat(list("abcd"), 5000)
    truth = g.random(20_000) < np.repeat([0.05, 0.35, 0.65, 0.95], 5000)
    result = tacit.regress({"x": disguise(truth, g), "region": region}, "x ~ region", devices=WARNER)
    effects = {effect.term: effect for effect in result.marginal_effects()}
    shares = tacit.prevalence({"x": disguise(truth, g), "region": region}, "x", "warner", "p=.8", by="region")
    assert len(shares.groups) == 4
    for term, expected in zip(("region[T.b]", "region[T.c]", "region[T.d]"), (0.3, 0.6, 0.9), strict=True):
        assert abs(effects[term].estimate - expected) < 5 * effects[term].standard_error
        assert effects[term].standard_error < 0.02


@pytest.mark.parametrize(
    "formula",
    ["x ~ town", "x ~ town * age", "x ~ poly(age, 3) + sex", "x ~ bs(age, df=5) * sex", "x ~ C(town, Treatment('c'))"],
)
def test_effects_are_those_of_predicting_again(people: pd.DataFrame, formula: str) -> None:
    result = tacit.regress(people, formula, devices=WARNER)
    base = {"town": "c" if "Treatment" in formula else "a", "sex": "f"}
    for effect in result.marginal_effects():
        name = effect.term.split("[")[0]
        if name == "age":
            step = np.linspace(-1, 1, 2) * 6e-6 * people.age.std(ddof=0)
            moved = [(people.age + s).clip(people.age.min(), people.age.max()) for s in step]
            low, high = (result.predict(people.assign(age=age))[0].estimate for age in moved)
            expected = np.mean((high - low) / (moved[1] - moved[0]))
        else:
            level = effect.term.removeprefix(f"{name}[T.").removesuffix("]")
            ends = [result.predict(people.assign(**{name: value}))[0].estimate for value in (base[name], level)]
            expected = np.mean(ends[1] - ends[0])
        assert effect.estimate == pytest.approx(expected, abs=1e-8)
        assert effect.standard_error > 0


@pytest.mark.parametrize("form", ["text", "truth", "number"])
def test_two_valued_outcomes_are_logits(people: pd.DataFrame, form: str) -> None:
    """With a disguised covariate texts and truth values ended in a traceback, and 0/1 became a linear model."""
    outcome = people["pass"]
    frame = people.assign(y={"text": outcome, "truth": outcome == "yes", "number": (outcome == "yes") * 1}[form])
    result = tacit.regress(frame, "y ~ x + age", devices=WARNER)
    assert result.family == "logit"
    assert result.answers[1] == {"text": "yes", "truth": "true", "number": "1"}[form]
    assert result["x[T.yes]"].estimate == pytest.approx(2.2, abs=4 * result["x[T.yes]"].standard_error)
    (prediction,) = result.predict({"x": ["no", "yes"], "age": [40, 40]})
    assert prediction.estimate[1] > prediction.estimate[0]
    effects = {effect.term: effect for effect in result.marginal_effects()}
    assert abs(effects["x[T.yes]"].estimate - 0.5) < 5 * effects["x[T.yes]"].standard_error
    assert result.plot("age").get_ylabel().startswith("chance of")
    assert result.plot("x").get_xlabel() == "x"
    assert "counts as yes" in result.readings[0]
    assert tacit.regress(frame, "y ~ x", devices=WARNER, family="linear").family == "linear"


def test_a_logit_of_three_values_is_refused(people: pd.DataFrame) -> None:
    with pytest.raises(InvalidInput, match="4 different values, and a logit model is for two"):
        tacit.regress(people, "town ~ x", devices=WARNER, family="logit")


def test_intervals_are_those_of_the_profile_and_p_of_the_ratio(people: pd.DataFrame) -> None:
    few = people.iloc[:300]
    result = tacit.regress(few, "x ~ age + sex", devices=WARNER)
    assert result.tests == "likelihood ratio"
    smaller = tacit.regress(few, "x ~ age", devices=WARNER)
    assert result["sex[T.m]"].p == pytest.approx(result.likelihood_ratio(smaller).p, rel=1e-6)
    # Held at the ends of its interval, a coefficient costs exactly the quantile of chi-square.
    assert result.profile is not None
    at = result.terms.index("age")
    for end in (result["age"].low, result["age"].high):
        assert result.profile.root(at, end) ** 2 == pytest.approx(chi2.ppf(0.95, 1), rel=1e-5)
    wald = result["age"]
    assert wald.p_wald == pytest.approx(2 * norm.sf(abs(wald.z)))
    assert wald.low_wald == pytest.approx(wald.estimate - norm.ppf(0.975) * wald.standard_error)


def test_rare_traits_are_told_apart() -> None:
    """Shares .05 and .20, Warner .8, N 1,000: Wald's p rejected .535 of the time, the ratio .878."""
    rejected = []
    for seed in range(60):
        g = np.random.default_rng(seed)
        group = np.repeat([0, 1], 500)
        truth = g.random(1000) < np.where(group, 0.2, 0.05)
        try:
            coefficient = tacit.regress({"x": disguise(truth, g), "group": group}, "x ~ group", devices=WARNER)["group"]
        except tacit.errors.NotEstimable:
            continue
        rejected.append((coefficient.p < 0.05, coefficient.p_wald < 0.05))
    ratio, wald = np.mean(rejected, axis=0)
    assert ratio > 0.75  # .878 less three errors of 60 draws
    assert wald < ratio - 0.1


def test_likelihood_ratios_know_clusters_and_weights() -> None:
    """A covariate of whole clusters: the plain ratio counted people, p 8e-05 where .08 is right."""
    ps, plain = [], []
    for seed in range(150):
        g = np.random.default_rng(seed)
        school = np.repeat(np.arange(30), 30)
        shared, treated = g.normal(0, 1, 30), g.permutation(np.repeat([0, 1], 15))
        truth = g.random(900) < 1 / (1 + np.exp(-shared[school]))
        frame = {"x": disguise(truth, g, 0.9), "t": treated[school], "s": school, "w": g.choice([1.0, 2.0], 900)}
        options = {"devices": {"x": "warner p=.9"}, "clusters": "s", "weights": "w"}
        whole, smaller = (tacit.regress(frame, formula, **options) for formula in ("x ~ t", "x ~ 1"))
        test = whole.likelihood_ratio(smaller)
        assert test.p == pytest.approx(whole["t"].p, abs=1e-9)
        assert "degrees of freedom" in str(test)
        ps.append(test.p)
        plain.append(chi2.sf(2 * (whole.log_likelihood - smaller.log_likelihood), 1))
    # At most .065 is promised; 150 draws leave .018 of an error, five of them is one false alarm in a million.
    assert np.mean(np.array(ps) < 0.05) < 0.05 + 5 * 0.018
    assert np.mean(np.array(plain) < 0.05) > 0.3


def test_names_of_statsmodels(people: pd.DataFrame) -> None:
    result = tacit.regress(people, "x ~ age + sex", devices=WARNER)
    assert result.params["age"] == result["age"].estimate
    assert result.bse["age"] == result["age"].standard_error
    assert result.pvalues["sex[T.m]"] == result["sex[T.m]"].p
    assert tuple(result.conf_int().loc["age"]) == (result["age"].low, result["age"].high)
    assert result.cov_params().loc["age", "age"] == pytest.approx(result["age"].standard_error ** 2)
    frame = result.to_pandas()
    assert list(frame["term"]) == list(result.terms)
    assert result.plot().get_title(loc="left").startswith("x ~ age + sex")


def test_tables_lose_no_digit(people: pd.DataFrame, tmp_path, monkeypatch) -> None:
    """At 80 columns -0.4347 stood as -0.4, and numbers were folded over two lines."""
    file = tmp_path / "people.csv"
    people.assign(region_of_residence=people.town.map(lambda t: f"the far {t}")).to_csv(file, index=False)
    formula = "x ~ region_of_residence * sex + I(age ** 2)"
    result = tacit.regress(file, formula, devices=WARNER)
    for width in ("80", "60", "40"):
        monkeypatch.setenv("COLUMNS", width)
        printed = run("regress", file, "--formula", formula, "--device", "x: warner p=.8").out
        for row in result.text_rows():
            assert all(number in printed for number in row[1:])
    square = dict(zip(result.terms, result.text_rows(), strict=False))["I(age ** 2)"]
    assert float(square[2]) == pytest.approx(result["I(age ** 2)"].standard_error, rel=0.05)


class TestInattention:
    """A fifth answers the question and a control item of prevalence 0 at random."""

    @staticmethod
    def study(seed: int, n: int = 1000, inattentive: float = 0.2) -> dict[str, np.ndarray]:
        g = np.random.default_rng(seed)
        age = g.normal(size=n)
        truth = g.random(n) < 1 / (1 + np.exp(1 - 0.8 * age))
        random = g.random(n) < inattentive
        reports = [
            np.where(random, g.random(n) < 0.5, disguise(t, g, 0.85) == 1) * 1 for t in (truth, np.zeros(n, bool))
        ]
        return {"x": reports[0], "anchor": reports[1], "age": age}

    def test_it_is_estimated_along_with_the_coefficients(self) -> None:
        scores, without = [], []
        for seed in range(120):
            frame = self.study(seed)
            fit = tacit.regress(frame, "x ~ age", devices={"x": "crosswise p=.85"}, control="anchor=0")
            inattentive = fit.open_parameters["inattentive"]
            scores.append(
                [
                    (fit["Intercept"].estimate + 1) / fit["Intercept"].standard_error,
                    (fit["age"].estimate - 0.8) / fit["age"].standard_error,
                    (inattentive[0] - 0.2) / inattentive[1],
                ]
            )
            without.append(tacit.regress(frame, "x ~ age", devices={"x": "crosswise p=.85"})["age"].estimate)
        for each in np.array(scores).T:
            assert abs(each.mean()) < 5 / np.sqrt(120) + 0.1
            assert 0.8 < each.std() < 1.25
        assert np.mean(without) < 0.65  # attenuated, as everybody is taken to follow the device

    def test_what_cannot_tell_attention_is_refused(self) -> None:
        frame = self.study(1)
        asked = {"devices": {"x": "crosswise p=.85"}}
        with pytest.raises(tacit.errors.NotEstimable, match="tells nothing about attention"):
            tacit.regress(frame, "x ~ age", control="anchor=.5", **asked)
        with pytest.raises(tacit.errors.NotEstimable, match="as if everybody answered at random"):
            tacit.regress(
                frame | {"anchor": 1 - self.study(1, inattentive=0)["anchor"]}, "x ~ age", control="anchor=0", **asked
            )
        with pytest.raises(InvalidInput, match="device of the outcome"):
            tacit.regress(frame, "age ~ x", control="anchor=0", **asked)


def test_scrambled_amounts_are_regressed() -> None:
    scores = []
    for seed in range(150):
        g = np.random.default_rng(seed)
        age = g.normal(size=300)
        amount = 40 + 5 * age + g.normal(0, 8, 300)
        card = np.where(g.random(300) < 0.6, amount, g.uniform(0, 60, 300))
        fit = tacit.regress({"z": card, "age": age}, "z ~ age", devices={"z": "eriksson p=.6,mean=30"})
        scores.append(
            [(fit[term].estimate - true) / fit[term].standard_error for term, true in (("Intercept", 40), ("age", 5))]
        )
    for each in np.array(scores).T:
        assert abs(each.mean()) < 5 / np.sqrt(150)
        assert 0.8 < each.std() < 1.25
    with pytest.raises(InvalidInput, match="which a linear model is for"):
        tacit.regress({"z": card, "age": age}, "z ~ age", devices={"z": "eriksson p=.6,mean=30"}, family="poisson")
    with pytest.raises(InvalidInput, match="it can be the outcome alone"):
        tacit.regress({"z": card, "age": age}, "age ~ z", devices={"z": "eriksson p=.6,mean=30"})
    with pytest.raises(InvalidInput, match="Compare groups instead"):
        tacit.regress({"z": card, "age": age}, "z ~ age", devices={"z": "list-experiment items=0:4,1:5"})
