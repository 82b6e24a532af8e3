"""Shares within groups, differences between groups, and tests of both."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom, binomtest, chi2_contingency, kstest

import tacit
from tacit import Attribute, Reports, Schema, Scheme, channels
from tacit.errors import InvalidInput, UnknownName
from tacit.estimation.comparison import simultaneous_level
from tacit.table import Table
from tests.estimation.simulation import FALSE_ALARM, SCHEMES, marginal, simulated

SCHEMA = Schema((Attribute("a", ("no", "yes")), Attribute("b", ("x", "y", "z"))))
GROUP_SHARES = np.array([0.3, 0.5, 0.2])


def surveys(yes: np.ndarray, scheme: Scheme, n: int, repeats: int) -> list[tacit.estimation.TableEstimate]:
    """Estimated tables of people of whom `yes[group]` say yes."""
    rng = np.random.default_rng(11)
    found = []
    for seed in range(repeats):
        b = rng.choice(3, n, p=GROUP_SHARES)
        a = (rng.random(n) < yes[b]).astype(int)
        truth = {"a": np.array(["no", "yes"])[a], "b": np.array(["x", "y", "z"])[b]}
        reports = tacit.disguise(tacit.Dataset.from_arrow(truth, SCHEMA), scheme, seed=seed)
        found.append(tacit.estimate(reports, ["a", "b"]))
    return found


SCHEMES_HERE = {
    "clear": Scheme.of(SCHEMA),
    "answers disguised": Scheme.of(SCHEMA, [(["a"], channels.warner(0.8))]),
    "both disguised": Scheme.of(SCHEMA, [(["a"], channels.warner(0.85)), (["b"], channels.gamma_diagonal(12))]),
    "together": Scheme.of(SCHEMA, [(["a", "b"], channels.gamma_diagonal(19))]),
}


def test_without_a_disguise_the_tests_are_the_textbooks() -> None:
    reports = simulated(SCHEMES["public"], 300, 1)
    found = tacit.estimate(reports, ["smokes", "age"])
    counts = np.round(found.probabilities * 300)
    pearson = chi2_contingency(counts, correction=False)
    tested = found.independence()
    assert tested.statistic == pytest.approx(pearson.statistic, rel=1e-6)
    assert tested.p == pytest.approx(pearson.pvalue, rel=1e-6)
    assert found.independence("age").statistic == pytest.approx(tested.statistic)
    two = tacit.estimate(reports, ["drinks", "smokes"])
    pair = chi2_contingency(np.round(two.probabilities * 300), correction=False)
    assert two.compare("smokes").differences[0].p == pytest.approx(pair.pvalue, rel=1e-6)


def test_shares_within_a_clear_group_are_binomial() -> None:
    found = tacit.estimate(simulated(SCHEMES["public"], 300, 1), ["smokes", "age"])
    counts = np.round(found.probabilities * 300)
    within = found.given("age")
    assert within.probabilities[:, 1] == pytest.approx(counts[1] / counts.sum(axis=0))
    n, yes = counts.sum(axis=0)[0], counts[1, 0]
    share = yes / n
    assert within.standard_errors[0, 1] == pytest.approx(np.sqrt(share * (1 - share) / n), rel=1e-3)
    exact = binomtest(int(yes), int(n)).proportion_ci(0.95, "exact")
    assert exact.low < within.interval().low[0, 1] < within.interval().high[0, 1] < exact.high  # mid-p lies within


@pytest.mark.slow
@pytest.mark.parametrize("scheme", list(SCHEMES_HERE))
def test_shares_and_differences_cover(scheme: str) -> None:
    yes, repeats = np.array([0.2, 0.6, 0.05]), 100
    truth = np.array([[1 - share, share] for share in yes])
    hits, difference_hits = np.zeros((3, 2)), np.zeros(6)
    for table in surveys(yes, SCHEMES_HERE[scheme], 400, repeats):
        interval = table.given("b").interval()
        hits += (interval.low <= truth) & (truth <= interval.high)
        assert (interval.low >= 0).all()
        assert (interval.high <= 1).all()
        for place, one in enumerate(table.compare("b").differences):
            of, against = SCHEMA["b"].encode(one.answers["b"]), SCHEMA["b"].encode(one.against["b"])
            answer = SCHEMA["a"].encode(one.answers["a"])
            true = truth[of, answer] - truth[against, answer]
            difference_hits[place] += one.low <= true <= one.high
            assert -1 <= one.low < one.high <= 1
    assert binom.cdf(hits.min(), repeats, 0.93) > FALSE_ALARM
    assert binom.cdf(difference_hits.min(), repeats, 0.93) > FALSE_ALARM


@pytest.mark.parametrize("scheme", list(SCHEMES_HERE))
def test_p_values_are_even_where_there_is_no_difference(scheme: str) -> None:
    found = surveys(np.full(3, 0.4), SCHEMES_HERE[scheme], 500, 80)
    assert kstest([table.independence().p for table in found], "uniform").pvalue > FALSE_ALARM
    assert kstest([table.compare("b").differences[0].p for table in found], "uniform").pvalue > FALSE_ALARM


def test_a_small_disguised_group_does_not_seem_to_differ() -> None:
    """A quotient by a group that seems even smaller than it is found a difference in a sixth of such samples."""
    schema = Schema((Attribute("a", ("no", "yes")), Attribute("b", ("x", "y"))))
    scheme = Scheme.of(schema, [([name], channels.warner(0.75)) for name in schema.names])
    rng, found = np.random.default_rng(8), 0
    for seed in range(150):
        truth = {"a": (rng.random(400) < 0.4).astype(np.uint8), "b": (rng.random(400) < 0.05).astype(np.uint8)}
        reports = tacit.disguise(tacit.Dataset(Table(schema, truth)), scheme, seed=seed)
        found += tacit.estimate(reports, ["a", "b"]).compare("b").differences[0].p < 0.05
    assert binom.sf(found - 1, 150, 0.05) > 1e-3


def test_a_difference_is_noticed() -> None:
    (table,) = surveys(np.array([0.2, 0.6, 0.2]), SCHEMES_HERE["both disguised"], 3000, 1)
    found = table.compare("b")
    assert found.independence.p < 1e-6
    assert found.differences[0].p < 1e-6
    assert found.differences[0].high < 0 or found.differences[0].low > 0


def test_a_group_that_may_be_empty_says_nothing() -> None:
    reports = simulated(SCHEMES["cut-and-paste"], 12, 2)
    within = tacit.estimate(reports, ["smokes", "age"]).given("age")
    interval = within.interval()
    assert (interval.high - interval.low).max() == 1
    for cell in within.cells():
        assert cell["probability"] is None or np.isfinite(cell["probability"])


@pytest.mark.slow
def test_all_intervals_hold_together() -> None:
    names, hits, separate, repeats = ("smokes", "age"), 0, 0, 150
    truth = marginal(names)
    for seed in range(repeats):
        found = tacit.estimate(simulated(SCHEMES["gamma"], 300, seed), names)
        for interval, count in ((found.simultaneous(), "together"), (found.interval(), "alone")):
            holds = bool(((interval.low <= truth) & (truth <= interval.high)).all())
            hits += holds and count == "together"
            separate += holds and count == "alone"
    assert binom.cdf(hits, repeats, 0.93) > FALSE_ALARM
    assert binom.cdf(separate, repeats, 0.95) < FALSE_ALARM  # cell by cell they do not
    assert found.simultaneous().level == 0.95


def test_two_answers_need_no_wider_intervals() -> None:
    found = tacit.estimate(simulated(SCHEMES["gamma"], 300, 1), "smokes")
    assert simultaneous_level(found, 0.95) == pytest.approx(0.95, abs=0.003)


@pytest.mark.slow
def test_results_show_themselves() -> None:
    found = tacit.estimate(simulated(SCHEMES["gamma"], 300, 1), ["smokes", "age"])
    compared = found.compare("age")
    assert repr(found).startswith("<TableEstimate: smokes, age from 300 reports")
    assert len(repr(compared)) < 250
    assert "<td>young</td>" in found.given("age")._repr_html_()
    assert found.summary().splitlines()[1].split() == [
        *found.names,
        "probability",
        "constrained",
        "standard_error",
        "low",
        "high",
    ]
    assert compared.to_pandas().shape == (6, 8)
    assert compared.to_polars().shape == (6, 8)
    assert len(found.plot().get_yticklabels()) == 6
    share = tacit.estimate(simulated(SCHEMES["gamma"], 300, 1), {"smokes": "yes"})
    assert repr(share).startswith("<ShareEstimate: smokes = yes: 0.")
    assert share.to_pandas().shape == (1, 5)


def test_html_is_escaped() -> None:
    clear = Reports.from_truth({"<b>": ["<script>", "x", "x"]})
    shown = tacit.estimate(clear, "<b>")._repr_html_()
    assert "<script>" not in shown
    assert "<b>" not in shown


def test_groups_that_are_none_are_refused() -> None:
    found = tacit.estimate(simulated(SCHEMES["gamma"], 300, 1), ["smokes", "age"])
    with pytest.raises(UnknownName, match="Attribute 'aeg' does not exist"):
        found.given("aeg")
    with pytest.raises(InvalidInput, match="nothing to compare within smokes, age"):
        found.compare(["smokes", "age"])
    with pytest.raises(InvalidInput, match="it cannot be 2"):
        found.compare("age", level=2)
    with pytest.raises(InvalidInput, match="it cannot be 2"):
        found.simultaneous(2)


def test_a_difference_lies_in_its_interval_where_shares_leave_0_to_1():
    """Few reports under a strong disguise: shares beyond 1 and below 0, whose difference no interval can hold."""
    rng = np.random.default_rng(5)
    truth = tacit.Dataset.from_arrow({"a": rng.choice(["no", "yes"], 40), "b": rng.choice(["x", "y"], 40)})
    scheme = Scheme.of(truth.schema, [(["a"], channels.warner(0.6)), (["b"], channels.warner(0.7))])
    beyond = 0
    for seed in range(20):
        for one in tacit.estimate(tacit.disguise(truth, scheme, seed=seed), ["a", "b"]).compare("b").differences:
            if one.difference is None:
                continue
            assert -1 <= one.low <= one.constrained <= one.high <= 1
            beyond += abs(one.difference) > 1
    assert beyond > 5, "the case is not provoked"


def test_the_difference_of_a_small_group_is_unbiased_and_has_its_own_error() -> None:
    """Every report of 13 people: clipped shares had the mean -.088 for a truth of -.214, with the error of unclipped ones."""
    schema = Schema((Attribute("a", ("no", "yes")), Attribute("b", ("x", "y"))))
    scheme = Scheme.of(schema, [(["a"], channels.warner(0.6))])
    small, yes, others, others_yes = 13, 3, 700, 311
    reported_others = round(0.6 * others_yes + 0.4 * (others - others_yes))
    chances = np.convolve(binom.pmf(range(yes + 1), yes, 0.6), binom.pmf(range(small - yes + 1), small - yes, 0.4))
    differences, errors = [], []
    for said in range(small + 1):
        told = [said, small - said, reported_others, others - reported_others]
        columns = {"a": np.repeat([1, 0, 1, 0], told), "b": np.repeat([0, 0, 1, 1], told)}
        reports = Reports(scheme, (Table(scheme.report_schema, {k: v.astype("u1") for k, v in columns.items()}),))
        one = tacit.estimate(reports, ["a", "b"]).compare("b").differences[1]
        differences.append(one.difference)
        errors.append(one.standard_error)
    other = (reported_others / others - 0.4) / 0.2
    assert chances @ differences == pytest.approx(yes / small - other, abs=1e-9)
    spread = float(chances @ np.square(differences) - (chances @ differences) ** 2)
    assert np.sqrt(chances @ np.square(errors)) == pytest.approx(np.sqrt(spread), rel=0.1)
