"""Intervals hold the truth as often as they say, lie within [0, 1] and are never without width."""

from __future__ import annotations

import itertools
import time

import numpy as np
import pytest
from scipy.stats import binom, chi2, multinomial, norm

import tacit
from tacit import Attribute, Reports, Schema, Scheme, channels
from tacit.errors import InvalidInput
from tacit.estimation.intervals import Interval, ShareLaw, share_interval
from tacit.table import Table
from tests.estimation.simulation import FALSE_ALARM, SCHEMA, SCHEMES, marginal, simulated

YES_NO = Schema((Attribute("x", ("no", "yes")),))
TRUTHS = (0, 0.005, 0.01, 0.02, 0.1, 0.5)
DECLARED = 0.95


def told(p: float, yes: int, n: int) -> Reports:
    """Reports under Warner's channel of which `yes` say yes."""
    scheme = Scheme.of(YES_NO, [(["x"], channels.warner(p))])
    return Reports.from_arrow({"x": ["yes"] * yes + ["no"] * (n - yes)}, scheme)


def two_way(background: float, contrast: float, n: int) -> tuple[np.ndarray, ShareLaw]:
    """Every estimate that n reports can give through a two-way channel, and the law of its error by enumeration."""
    yes, no = (1 - background) / contrast, -background / contrast
    squares = [chance * yes**2 + (1 - chance) * no**2 for chance in (background + contrast, background)]
    inside, outside = (np.full(n + 1, square) for square in squares)
    return (np.arange(n + 1) / n - background) / contrast, ShareLaw.of(inside, outside, n)


def coverage(interval: Interval, background: float, contrast: float, n: int, truth: float) -> float:
    chances = binom.pmf(np.arange(n + 1), n, background + contrast * truth)
    return float(chances[(interval.low <= truth) & (truth <= interval.high)].sum())


@pytest.mark.parametrize("p", [1, 0.99, 0.95, 0.9, 0.75, 0.6])
@pytest.mark.parametrize("n", [50, 200, 2000])
def test_coverage_under_warner_is_exact_and_near_what_is_declared(p: float, n: int) -> None:
    background, contrast = 1 - p, 2 * p - 1
    estimates, law = two_way(background, contrast, n)
    interval = law.interval(estimates, DECLARED)
    assert (interval.low >= 0).all()
    assert (interval.high <= 1).all()
    assert (interval.low < interval.high).all()
    for truth in TRUTHS:
        covered = coverage(interval, background, contrast, n, truth)
        chance = background + contrast * truth
        if min(n * chance, n * (1 - chance)) >= 5:
            assert 0.93 <= covered <= 0.985, (truth, covered)
        else:
            assert covered >= 0.91, (truth, covered)


@pytest.mark.parametrize("p", [1, 0.99, 0.75, 0.6])
@pytest.mark.parametrize("yes", [0, 1, 13, 50])
def test_the_intervals_that_users_get_are_the_enumerated_ones(p: float, yes: int) -> None:
    estimates, law = two_way(1 - p, 2 * p - 1, 50)
    expected = law.interval(estimates, DECLARED)
    reports = told(p, yes, 50)
    found = tacit.estimate(reports, "x")
    assert found.probabilities[1] == pytest.approx(estimates[yes], abs=1e-8)
    assert (found.interval().low[1], found.interval().high[1]) == pytest.approx(
        (expected.low[yes], expected.high[yes]), abs=1e-6
    )
    share = tacit.estimate(reports, {"x": "yes"})
    assert share.interval() == pytest.approx((expected.low[yes], expected.high[yes]), abs=1e-6)


@pytest.mark.parametrize("level", [0.8, 0.95, 0.999999])
def test_the_ends_are_where_the_chance_is_what_it_should_be(level: float) -> None:
    """Each end inside (0, 1) is a root of the mid-p chance."""
    rng = np.random.default_rng(8)
    background = rng.uniform(0, 0.7, 300)
    contrast = (1 - background) * rng.uniform(0.2, 1, 300)
    n = 5000
    yes, no = (1 - background) / contrast, -background / contrast
    squares = [chance * yes**2 + (1 - chance) * no**2 for chance in (background + contrast, background)]
    law = ShareLaw.of(*squares, n)
    truth = rng.choice([0.0, 0.01, 0.3, 1.0], 300)
    estimate = (rng.binomial(n, background + contrast * truth) / n - background) / contrast
    inside = (estimate > 0) & (estimate < 1)
    interval = law.interval(estimate, level)
    for ends, chance in ((interval.low, (1 - level) / 2), (interval.high, (1 + level) / 2)):
        here = inside & (ends > 0) & (ends < 1)
        assert here.sum() > 50
        np.testing.assert_allclose(law._quantile(estimate, ends)[here], norm.ppf(chance), atol=1e-7)


def test_intervals_of_very_many_answers_are_those_of_each_alone_and_take_no_time() -> None:
    n, answers = 1_000_000, 100_000
    rng = np.random.default_rng(4)
    estimates = (rng.binomial(n, 0.5, answers) / n - 0.5) / 0.23
    inside, outside = (np.full(answers, square) for square in (4.7, 4.68))
    law = ShareLaw.of(inside, outside, n)
    started = time.process_time()
    interval = law.interval(estimates)
    assert time.process_time() - started < 3  # one by one it took 35 seconds
    some = rng.choice(answers, 200)
    alone = ShareLaw.of(inside[some], outside[some], n).interval(estimates[some])
    np.testing.assert_allclose(interval.low[some], alone.low, atol=1e-9 * 2e-3)
    np.testing.assert_allclose(interval.high[some], alone.high, atol=1e-9 * 2e-3)


def test_a_wald_interval_would_be_noticed() -> None:
    """The check above refuses what stood here before: at Warner .99, truth .5% and 50 reports it covers .53."""
    estimates, _ = two_way(0.01, 0.98, 50)
    observed = np.arange(51) / 50
    margin = 1.959964 * np.sqrt(observed * (1 - observed) / 49) / 0.98
    covered = coverage(Interval(estimates - margin, estimates + margin, DECLARED), 0.01, 0.98, 50, 0.005)
    assert covered == pytest.approx(0.527, abs=0.001)


@pytest.mark.parametrize("answers", [1000, 5000, 20_000])
@pytest.mark.parametrize("truth", [0, 0.001, 0.01, 0.1, 0.5])
def test_coverage_with_many_answers(answers: int, truth: float) -> None:
    """Gamma-diagonal, epsilon 1, 2,000 reports: an answer is reported once or not at all, whatever is true."""
    n, contrast = 2000, (np.e - 1) / (np.e + answers - 1)
    background = (1 - contrast) / answers
    estimates, law = two_way(background, contrast, n)
    assert coverage(law.interval(estimates, DECLARED), background, contrast, n, truth) >= 0.93


def test_a_table_of_many_answers_has_wide_intervals_and_errors() -> None:
    schema = Schema((Attribute("word", tuple(f"w{code}" for code in range(5000))),))
    scheme = Scheme.of(schema, [(["word"], channels.gamma_diagonal(np.e))])
    rng = np.random.default_rng(1)
    truth = rng.choice(5000, 2000, p=np.r_[0.5, np.full(4999, 0.5 / 4999)])
    words = tacit.Dataset.from_arrow({"word": [f"w{code}" for code in truth]}, schema)
    found = tacit.estimate(tacit.disguise(words, scheme, seed=1), "word")
    shares = np.bincount(truth, minlength=5000) / 2000
    interval = found.interval()
    assert found.standard_errors.min() > 0.5  # keep is about 1/2900
    assert ((interval.low <= shares) & (shares <= interval.high)).mean() > 0.95
    assert (interval.high - interval.low).min() > 0.05


EVERY = {**SCHEMES, "hadamard": Scheme.of(SCHEMA, [(["smokes", "age"], channels.hadamard(9))])}


@pytest.mark.slow
@pytest.mark.parametrize("scheme", list(EVERY))
def test_every_channel_covers(scheme: str) -> None:
    """Over all cells of a table: not below .93 on average, no cell below .91, each at the false alarm."""
    names = ("smokes", "age")
    repeats, truth = 120, marginal(names)
    hits = np.zeros(truth.shape)
    for seed in range(repeats):
        interval = tacit.estimate(simulated(EVERY[scheme], 150, seed), names).interval()
        assert (interval.low >= 0).all()
        assert (interval.high <= 1).all()
        assert (interval.low < interval.high).all()
        hits += (interval.low <= truth) & (truth <= interval.high)
    assert binom.cdf(hits.min(), repeats, 0.91) > FALSE_ALARM
    # Cells of one table are not independent; a survey counts as one draw, so the bound is a generous one.
    assert binom.cdf(hits.mean(), repeats, 0.93) > FALSE_ALARM


def test_too_low_a_coverage_would_be_noticed() -> None:
    assert binom.cdf(0.79 * 120, 120, 0.93) < FALSE_ALARM


@pytest.mark.parametrize("scheme", list(SCHEMES))
@pytest.mark.parametrize("n", [1, 2, 7])
def test_few_reports_have_wide_intervals_and_errors(scheme: str, n: int) -> None:
    reports = simulated(SCHEMES[scheme], n, 3)
    if len(reports.scheme.questionnaires) > 1:
        pytest.skip("few reports leave some questionnaires out")
    found = tacit.estimate(reports, ["smokes", "age"])
    interval = found.interval()
    assert (interval.high - interval.low > 0.15).all()
    assert (found.standard_errors > 0).all()
    for cell in found.cells():
        assert 0 <= cell["low"] <= cell["constrained"] + 1e-9
        assert cell["constrained"] <= cell["high"] + 1e-9 <= 1 + 1e-9


@pytest.mark.parametrize("scheme", [name for name in SCHEMES if name != "dealt"])
@pytest.mark.parametrize("n", [1, 20, 400])
def test_respondents_never_have_the_larger_error(scheme: str, n: int) -> None:
    reports = simulated(SCHEMES[scheme], n, 5)
    population = tacit.estimate(reports, ["smokes", "age"])
    respondents = tacit.estimate(reports, ["smokes", "age"], sampling="respondents")
    assert (respondents.standard_errors <= population.standard_errors).all()
    share = {"smokes": "yes", "age": "old"}
    if not scheme.startswith("tall"):
        errors = [
            tacit.estimate(reports, share, sampling=whom).standard_error for whom in ("respondents", "population")
        ]
        assert errors[0] <= errors[1]


@pytest.mark.parametrize("p", [0.99, 0.9, 0.75])
def test_coverage_for_just_the_respondents_is_exact_too(p: float) -> None:
    n = 50
    estimates, law = two_way(1 - p, 2 * p - 1, n)
    fixed = ShareLaw(law.constant, law.slope, law.curvature, respondents=True)
    interval = fixed.interval(estimates, DECLARED)
    assert (interval.low < interval.high).all()
    for carriers in (0, 1, 5, 25):
        chances = np.convolve(
            binom.pmf(np.arange(carriers + 1), carriers, p), binom.pmf(np.arange(n - carriers + 1), n - carriers, 1 - p)
        )
        covered = chances[(interval.low <= carriers / n) & (carriers / n <= interval.high)].sum()
        assert covered >= 0.91, (carriers, covered)


def test_what_respondents_said_undisguised_is_known() -> None:
    clear = tacit.estimate(Reports.from_truth({"x": ["a", "b", "b"]}), "x", sampling="respondents")
    assert np.array_equal(clear.interval().low, clear.probabilities)
    assert np.array_equal(clear.interval().high, clear.probabilities)


@pytest.mark.parametrize("n", [5, 60])
@pytest.mark.parametrize("scheme", ["public", "warner", "flip", "square", "tall-part", "mask", "subset", "dealt"])
def test_the_most_likely_share_lies_in_its_interval(scheme: str, n: int) -> None:
    found = tacit.estimate(simulated(SCHEMES[scheme], n, 5), ["age", "drinks"], method="likelihood")
    interval = found.interval()
    assert (interval.low <= found.probabilities + 1e-9).all()
    assert (found.probabilities <= interval.high + 1e-9).all()
    assert (interval.high - interval.low > 0.01).all()
    assert (found.standard_errors > 0).all()


def test_errors_of_the_likelihood_are_its_own() -> None:
    """Bits under MASK hold more than the unbiased estimate uses: over many surveys the likelihood is that much nearer."""
    surveys = [simulated(SCHEMES["mask"], 400, seed) for seed in range(80)]
    found = [tacit.estimate(reports, "age", method="likelihood") for reports in surveys]
    stated = np.mean([table.standard_errors for table in found], axis=0)
    unbiased = np.mean([tacit.estimate(reports, "age").standard_errors for reports in surveys], axis=0)
    assert (stated < 0.95 * unbiased).all()
    ratio = np.var([table.probabilities for table in found], axis=0, ddof=1) / stated**2
    low, high = (chi2.ppf(chance, 79) / 79 for chance in (FALSE_ALARM / 6, 1 - FALSE_ALARM / 6))
    assert (ratio > low).all()
    assert (ratio < high).all()


def test_a_profile_interval_is_where_the_likelihood_drops() -> None:
    """Four reports "yes" through Warner .75: the likelihood of a share p is (.25 + .5 p)**4, and all else is given."""
    found = tacit.estimate(told(0.75, 4, 4), "x", method="likelihood")
    assert found.probabilities[1] == pytest.approx(1)
    lowest = (0.75 * np.exp(-(1.959964**2) / 2 / 4) - 0.25) / 0.5
    assert found.interval().low[1] == pytest.approx(lowest, abs=0.01)
    assert found.interval().high[1] == 1


def test_an_interval_from_a_standard_error_alone() -> None:
    assert share_interval(0.0, 0.0, 50)[1] == pytest.approx(1 - 0.05 ** (1 / 50), abs=1e-9)  # the mid-p bound
    assert share_interval(0.3, 0.02, 10**6) == pytest.approx((0.3 - 0.0392, 0.3 + 0.0392), abs=1e-3)
    low, high = share_interval(1.4, 0.3, 100)
    assert 0 < low < high == 1


def test_levels_that_are_none_are_refused() -> None:
    with pytest.raises(InvalidInput, match=r"lies between 0 and 1, such as 0\.95; it cannot be 95"):
        share_interval(0.3, 0.02, 100, level=95)


def test_rounding_beyond_an_edge_means_nothing() -> None:
    """An undisguised share of 0 whose estimate is off by a last digit, and one that is far off through no fault of chance."""
    law = ShareLaw(np.zeros(2), np.full(2, 1 / 50), np.full(2, 1 / 50))
    found = law.interval(np.array([-1e-17, -0.3]))
    assert found.low.tolist() == [0, 0]
    assert found.high[0] == pytest.approx(1 - 0.05 ** (1 / 50))
    assert 0 < found.high[1] <= 1


def beside_public(reported: np.ndarray, theta: float) -> Reports:
    """A disguised answer beside a public one; ``reported[disguised, public]`` counts the reports."""
    scheme = Scheme.of(
        [Attribute("cheated", ("no", "yes")), Attribute("sex", ("f", "m"))], [(["cheated"], channels.flip(theta))]
    )
    cheated, sex = (np.repeat(codes.ravel(), reported.ravel()) for codes in np.indices((2, 2)))
    return Reports(scheme, (Table(scheme.report_schema, {"cheated": cheated.astype("u1"), "sex": sex.astype("u1")}),))


@pytest.mark.parametrize("theta", [0.57, 0.8, 0.99])
@pytest.mark.parametrize("yes", [0, 7, 18, 30])
def test_a_public_answer_that_all_give_changes_no_interval(theta: float, yes: int) -> None:
    reports = beside_public(np.array([[30 - yes, 0], [yes, 0]]), theta)
    alone, beside = tacit.estimate(reports, "cheated"), tacit.estimate(reports, ["cheated", "sex"])
    assert np.allclose(beside.interval().low[:, 0], alone.interval().low, atol=1e-6)
    assert np.allclose(beside.interval().high[:, 0], alone.interval().high, atol=1e-6)
    ends = tacit.estimate(reports, {"cheated": "yes", "sex": "f"}).interval()
    assert ends == pytest.approx((alone.interval().low[1], alone.interval().high[1]), abs=1e-6)


def test_a_rare_answer_beside_a_public_one_is_covered_by_enumeration() -> None:
    # Where noise put all of the estimate into one cell, the interval once took it for certain: .83 instead of .95.
    people, theta = 10, 0.57
    truth = np.array([[0.83, 0.10], [0.005, 0.065]])
    chances = np.array([[theta, 1 - theta], [1 - theta, theta]]) @ truth
    covered = total = 0.0
    for counts in itertools.product(range(people + 1), repeat=3):
        if sum(counts) <= people:
            reported = np.array([*counts, people - sum(counts)]).reshape(2, 2)
            chance = float(multinomial.pmf(reported.ravel(), people, chances.ravel()))
            interval = tacit.estimate(beside_public(reported, theta), ["cheated", "sex"]).interval()
            total += chance
            covered += chance * ((interval.low <= truth + 1e-12) & (truth <= interval.high + 1e-12))
    assert total == pytest.approx(1, abs=1e-9)
    assert np.min(covered) >= 0.945


def every_report(people: int, theta: float, truth: np.ndarray) -> list[tuple[Reports, float]]:
    """All that so many people may report beside a public answer, with its chance."""
    chances = np.array([[theta, 1 - theta], [1 - theta, theta]]) @ truth
    counts = [
        np.array(row).reshape(2, 2) for row in itertools.product(range(people + 1), repeat=4) if sum(row) == people
    ]
    return [(beside_public(one, theta), float(multinomial.pmf(one.ravel(), people, chances.ravel()))) for one in counts]


@pytest.mark.slow
def test_a_rare_answer_beside_a_public_one_is_covered_when_schemes_are_pooled() -> None:
    # Judged where the pooled estimate put everybody else, it was .80.
    truth = np.array([[0.499, 0.499], [0.001, 0.001]])
    covered = total = 0.0
    for (one, chance), (other, its) in itertools.product(every_report(3, 0.57, truth), every_report(3, 0.62, truth)):
        interval = tacit.estimate([one, other], ["cheated", "sex"]).interval()
        total += chance * its
        covered += chance * its * ((interval.low <= truth + 1e-12) & (truth <= interval.high + 1e-12))
    assert total == pytest.approx(1, abs=1e-9)
    assert np.min(covered) >= 0.945


@pytest.mark.parametrize("thetas", [(0.8,), (0.8, 0.7)])
def test_with_many_reports_an_interval_beside_a_public_answer_is_as_wide_as_its_error_says(
    thetas: tuple[float, ...],
) -> None:
    # A law that was safe for few reports made it up to 14% wider.
    reports = [
        beside_public((20_000 * flipped @ np.array([[0.35, 0.25], [0.15, 0.25]])).round().astype(int), theta)
        for theta in thetas
        for flipped in [np.array([[theta, 1 - theta], [1 - theta, theta]])]
    ]
    found = tacit.estimate(reports, ["cheated", "sex"])
    half = (found.interval().high - found.interval().low) / 2
    np.testing.assert_allclose(half, norm.ppf(0.975) * found.standard_errors, rtol=1e-3)
    share = tacit.estimate(reports, {"cheated": "yes", "sex": "f"})
    low, high = share.interval()
    assert (high - low) / 2 == pytest.approx(norm.ppf(0.975) * share.standard_error, rel=1e-3)
