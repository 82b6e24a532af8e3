"""Prevalence from reports of a device: closed forms, edges, groups, honesty, inattention, and z-scores over many studies."""

from __future__ import annotations

import itertools
import os

import numpy as np
import pytest
from scipy.stats import binom, norm

import tacit
from tacit import TacitError, devices
from tacit.estimation.uncertainty import counted_covariance
from tests.estimation.device_simulation import CASES, TRUTH, reported, simulated
from tests.statistics import assert_standard_scores
from tests.study_scores import SOAKED, hold_a_few

SOAK = bool(os.environ.get("TACIT_SOAK"))


def two_samples(first: tuple[int, int], second: tuple[int, int]):
    """Yes and no reports of the samples 1 and 2."""
    item = [1] * first[0] + [0] * first[1] + [1] * second[0] + [0] * second[1]
    return {"x": item, "s": [1] * sum(first) + [2] * sum(second)}


def test_the_unrelated_question_in_closed_form():
    reports = {"x": ["yes"] * 328 + ["no"] * 382}
    yes = tacit.prevalence(reports, "x", "unrelated-question", "p=1/2,y=1/12")["yes"]
    share = 328 / 710
    assert yes.share == pytest.approx((share - 0.5 / 12) / 0.5)
    assert yes.standard_error == pytest.approx(np.sqrt(share * (1 - share) / 710) / 0.5)


def test_cheating_detection_in_closed_form():
    found = tacit.prevalence(two_samples((200, 300), (330, 270)), "x", "cheating-detection", "p=1:.2,2:.7", sample="s")
    first, second = 0.4, 0.55
    beta = (second - first) / 0.5
    assert found["yes"].share == pytest.approx(first - 0.2 * beta)
    assert found.parameters["cheaters"].estimate == pytest.approx(1 - beta - (first - 0.2 * beta))
    error = np.sqrt((0.7**2 * first * (1 - first) / 500 + 0.2**2 * second * (1 - second) / 600) / 0.5**2)
    assert found["yes"].standard_error == pytest.approx(error)


def test_the_lie_detector_in_closed_form():
    found = tacit.prevalence(
        two_samples((420, 180), (220, 380)), "x", "stochastic-lie-detector", "p=1:1/6,2:5/6", sample="s"
    )
    first, second = 0.7, 220 / 600
    pi = 1 - (first - second) / (4 / 6)
    assert found["yes"].share == pytest.approx(pi)
    assert found.parameters["t"].estimate == pytest.approx((first - (1 - pi) * 5 / 6) / pi)
    variances = [q * (1 - q) / 600 for q in (first, second)]
    assert found["yes"].standard_error == pytest.approx(np.sqrt(sum(variances)) / (4 / 6))
    # t = (first - (1 - pi) 5/6) / pi, by the delta method: dt = (d first - (t - 5/6) d pi) / pi
    t = found.parameters["t"].estimate
    slopes = [(1 + (t - 5 / 6) / (4 / 6)) / pi, -(t - 5 / 6) / (4 / 6) / pi]
    error = np.sqrt(sum(slope**2 * variance for slope, variance in zip(slopes, variances, strict=True)))
    assert found.parameters["t"].standard_error == pytest.approx(error)


def test_the_unrelated_question_of_unknown_share_in_closed_form():
    found = tacit.prevalence(two_samples((300, 500), (250, 350)), "x", "unrelated-question", "p=1:.7,2:.2", sample="s")
    first, second = 3 / 8, 25 / 60
    assert found["yes"].share == pytest.approx((first * 0.8 - second * 0.3) / (0.7 * 0.8 - 0.2 * 0.3))
    assert found.parameters["y"].estimate == pytest.approx((second * 0.7 - first * 0.2) / (0.7 * 0.8 - 0.2 * 0.3))


def test_two_crosswise_samples_are_pooled_and_tested():
    agreeing = two_samples((560, 440), (440, 560))
    found = tacit.prevalence(agreeing, "x", "extended-crosswise", "p=1:.2,2:.8", sample="s")
    assert found["yes"].share == pytest.approx((0.56 - 0.8) / (0.2 - 0.8))
    assert not found.warnings
    # Everybody in both samples says "same" more often: the samples contradict each other.
    apart = tacit.prevalence(two_samples((650, 350), (550, 450)), "x", "extended-crosswise", "p=1:.2,2:.8", sample="s")
    assert any("disagree" in warning for warning in apart.warnings)
    alone = [(share - q) / (p - q) for share, p, q in ((0.65, 0.2, 0.8), (0.55, 0.8, 0.2))]
    assert apart.compliance.difference == pytest.approx(alone[0] - alone[1])
    assert found.compliance.p == pytest.approx(1)


def test_rows_without_a_group_are_said():
    found = tacit.prevalence({"x": [1, 0, 1, 0, 1], "g": ["a", "a", "b", "b", None]}, "x", "warner", "p=.9", by="g")
    assert found.n_reports == 5
    assert any("1 rows have no group" in warning for warning in found.warnings)
    found = tacit.prevalence({"x": [1, 0, 1, 0, None], "g": ["a", "a", "b", "b", "c"]}, "x", "warner", "p=.9", by="g")
    assert [group.answers["g"] for group in found.groups] == ["a", "b"]


def test_an_estimate_outside_is_constrained_and_said():
    found = tacit.prevalence({"x": [1] * 20 + [0] * 80}, "x", "crosswise", "p=.25")
    yes = found["yes"]
    assert yes.share == pytest.approx((0.2 - 0.75) / -0.5)
    assert yes.constrained == 1
    assert 0 <= yes.low < yes.high == 1
    assert any("outside [0, 1]" in warning for warning in found.warnings)


def test_intervals_stay_within_the_possible_and_are_never_empty():
    for count in range(0, 51, 5):
        for answer in tacit.prevalence({"x": [1] * count + [0] * (50 - count)}, "x", "warner", "p=.9", yes="1").shares:
            assert 0 <= answer.low < answer.high <= 1
            assert answer.low <= answer.constrained <= answer.high


def test_cheaters_below_none_are_none():
    found = tacit.prevalence(two_samples((100, 400), (450, 50)), "x", "cheating-detection", "p=1:.2,2:.7", sample="s")
    assert found.parameters["cheaters"].estimate < 0
    assert found.parameters["cheaters"].constrained == 0
    assert sum(share.constrained for share in found.shares) == pytest.approx(1)


def test_a_direct_sample_is_compared_with_the_device():
    reports = two_samples((420, 180), (220, 380))
    reports = {"x": reports["x"] + [1] * 30 + [0] * 170, "s": [*reports["s"], *[0] * 200]}
    found = tacit.prevalence(reports, "x", "stochastic-lie-detector", "p=1:1/6,2:5/6,direct=0", sample="s")
    assert found.n_reports == 1200
    assert found.direct.shares[1].share == pytest.approx(0.15)
    assert found.differences[-1].difference == pytest.approx(found["yes"].share - 0.15)


def test_a_device_for_all_but_a_direct_sample():
    table = {"x": [1] * 40 + [0] * 60 + [1] * 10 + [0] * 90, "s": ["rrt"] * 100 + ["direct"] * 100}
    found = tacit.prevalence(table, "x", "warner", "p=.9,direct=direct", sample="s")
    assert found["yes"].share == pytest.approx((0.4 - 0.1) / 0.8)
    assert found.direct.shares[1].share == pytest.approx(0.1)
    assert found.differences[0].p < 0.001


def test_more_answers_than_two():
    answers = ("never", "once", "often")
    device = devices.forced_response(0.7, [0.1, 0.1, 0.1], answers)
    reports = {"x": ["never"] * 450 + ["once"] * 310 + ["often"] * 240}
    found = tacit.prevalence(reports, "x", device)
    assert [share.share for share in found.shares] == pytest.approx([(q - 0.1) / 0.7 for q in (0.45, 0.31, 0.24)])


def test_kuk_counts_cards_as_numbers():
    found = tacit.prevalence({"x": [0.0] * 300 + [1.0] * 400 + [2.0] * 300}, "x", "kuk", "p1=.75,p2=.25,k=2")
    assert found["yes"].share == pytest.approx(0.5)


def test_inattention_is_told_by_a_control_item():
    """A tenth answers at random; without the control item the share would be pulled towards one half."""
    random = np.random.default_rng(1965)
    n, w = 400_000, 0.1
    device = devices.crosswise(0.2)
    inattentive = random.random(n) < w
    traits = {"x": (random.random(n) < TRUTH).astype(int), "control": np.zeros(n, dtype=int)}
    nobody = np.zeros(n, dtype=int)
    table = {
        name: np.where(inattentive, random.integers(2, size=n), reported(device, trait, nobody, random))
        for name, trait in traits.items()
    }
    found = tacit.prevalence(table, "x", device, control="control=0")
    for value, truth, error in (
        (found["yes"].share, TRUTH, found["yes"].standard_error),
        (found.parameters["inattentive"].estimate, w, found.parameters["inattentive"].standard_error),
    ):
        assert abs(value - truth) < 5 * error < 0.05
    pulled = tacit.prevalence(table, "x", device)["yes"]
    assert abs(pulled.share - TRUTH) > 5 * pulled.standard_error


@pytest.mark.parametrize(("device", "yes"), [(devices.triangular(0.1), 4600), (devices.warner(0.95), 4000)])
def test_an_interval_with_a_control_item_is_as_wide_as_its_error_says(device, yes):
    """It was up to 30% too narrow: the law was scaled at the share among all, and taken at that of the attentive."""
    n, seen = 20_000, np.arange(20_000)
    table = {"x": (seen < yes).astype(int), "c": (seen >= n - 3800).astype(int)}
    share = tacit.prevalence(table, "x", device, control="c=0")["yes"]
    assert (share.high - share.low) / 2 == pytest.approx(norm.ppf(0.975) * share.standard_error, rel=0.01)


def test_a_weighted_sample_in_which_nobody_says_yes_leaves_some_possible():
    table = {"x": ["no"] * 30, "w": [1.0, 2.0, 3.0] * 10}
    sampled, everybody = (
        tacit.prevalence(table, "x", "warner", "p=1", weights="w", sampled=part)["yes"] for part in (None, 1.0)
    )
    assert (sampled.low, everybody.low, everybody.high) == (0, 0, 0)
    assert 0.05 < sampled.high < 0.15  # 1 - .05 ** (1/30) = .095 by the exact one-sided interval


@pytest.mark.soak
@pytest.mark.slow
def test_inattention_has_the_error_it_says():
    scores, device = [], devices.warner(0.8)
    for seed in range(2000 if SOAK else 150):
        random = np.random.default_rng([7, seed])
        n = 1000
        inattentive = random.random(n) < 0.15
        nobody = np.zeros(n, dtype=int)
        table = {
            name: np.where(inattentive, random.integers(2, size=n), reported(device, trait, nobody, random))
            for name, trait in (("x", (random.random(n) < TRUTH).astype(int)), ("c", nobody))
        }
        yes = tacit.prevalence(table, "x", device, control="c=0")["yes"]
        scores.append((yes.share - TRUTH) / yes.standard_error)
    assert_standard_scores(scores)


@pytest.mark.parametrize(
    "values", [("0", "1"), ("no", "yes"), ("FALSE", "TRUE"), ("N", "Y"), (0.0, 1.0), (False, True)]
)
def test_values_are_understood_and_stated(values):
    found = tacit.prevalence({"x": [values[1]] * 40 + [values[0]] * 60}, "x", "warner", "p=.9")
    assert found["yes"].share == pytest.approx((0.4 - 0.1) / 0.8)
    said = values != ("no", "yes")  # what stands there already is not said again
    assert ["means 'yes'" in reading for reading in found.readings] == [True] * said


def test_a_named_yes_and_missing_answers():
    found = tacit.prevalence({"x": ["ja"] * 40 + ["nein"] * 60 + [None] * 5}, "x", "warner", "p=.9", yes="ja")
    assert (found.n_reports, found.n_missing) == (100, 5)
    assert found["yes"].share == pytest.approx((0.4 - 0.1) / 0.8)


def test_a_weight_changes_the_share():
    table = {"x": [1] * 40 + [0] * 60, "w": [2.0] * 40 + [1.0] * 60}
    assert tacit.prevalence(table, "x", "warner", "p=.9", weights="w")["yes"].share == pytest.approx(
        (80 / 140 - 0.1) / 0.8
    )


ONE = {"x": [1, 0, 1, 0], "s": [1, 2, 1, 3], "g": [1, 1, 1, 1], "odd": ["a", "b", "a", "b"], "none": [None] * 4}
REFUSALS = [
    ({"item": "y"}, "Column 'y' does not exist"),
    ({"item": "odd"}, "which is not understood as 'no' and 'yes'. Say which value means 'yes': yes=VALUE"),
    ({"item": "none"}, "every value is missing"),
    ({"item": "s", "yes": "1"}, "there may be only one other value"),
    ({"device": "kuk", "parameters": "p1=.2,p2=.7,k=2", "yes": "1"}, "one value cannot be the yes"),
    ({"device": "cheating-detection", "parameters": "p=1:.2,2:.7"}, "Which column tells the samples 1, 2 apart"),
    ({"device": "cheating-detection", "parameters": "p=1:.2,2:.7", "sample": "s"}, "holds the sample '3', which no parameter"),
    ({"device": "cheating-detection", "parameters": "p=1:.2,9:.7,direct=2", "sample": "g"}, "no reports in the sample '9'"),
    ({"sample": "s"}, "the parameters give one chance for all"),
    ({"sample": "g", "parameters": "p=.7,direct=9"}, "No row belongs to the sample '9' that was asked directly"),
    ({"sample": "none", "parameters": "p=.7,direct=0"}, "does not say to which sample row 1 belongs"),
    ({"by": "g"}, "make 1 group with reports"),
    ({"by": "nope"}, "Column 'nope' does not exist"),
    ({"weights": "odd"}, "must hold numbers, not 'a'"),
    ({"weights": "none"}, "no value in row 1"),
    ({"control": "g"}, "a column with its known prevalence"),
    ({"control": "g=.5", "device": "warner", "parameters": "p=.7"}, "tells nothing about attention"),
    ({"control": "g=0", "device": "cheating-detection", "parameters": "p=1:.2,2:.7", "sample": "s2"}, "control item is"),
    ({"level": 95}, "confidence level"),
    ({"device": "kuk", "parameters": "p1=.2,p2=.7,k=2,direct=1", "sample": "s"}, "are not answers"),
    ({"parameters": "p=1/2"}, "carry nothing"),
]  # fmt: skip


@pytest.mark.parametrize(("options", "message"), REFUSALS)
def test_what_does_not_fit_is_refused_in_one_sentence(options, message):
    table = ONE | {"s2": [1, 2, 1, 2]}
    asked = {"item": "x", "device": "warner", "parameters": "p=.7"} | options
    with pytest.raises(TacitError, match=message):
        tacit.prevalence(table, **asked)


def test_an_empty_table_is_refused():
    with pytest.raises(TacitError, match="no rows"):
        tacit.prevalence({"x": []}, "x", "warner", "p=.7")


@pytest.mark.soak
@pytest.mark.slow
@pytest.mark.parametrize("case", CASES)
def test_scores_are_standard_and_intervals_cover(case):
    """2,000 studies of 1,000 people under TACIT_SOAK; CI runs a sample, held to the same law by computed p-values."""
    scores = simulated(case, SOAKED if SOAK else 40)
    if SOAK:
        assert not [miss for one in scores for miss in one.misses()]
        return
    hold_a_few(scores)


@pytest.mark.soak
@pytest.mark.slow
@pytest.mark.parametrize("case", CASES)
def test_weights_strata_and_clusters_have_the_error_they_say(case):
    scores = simulated(case, SOAKED if SOAK else 12, clustered=True)
    if SOAK:
        assert not [miss for one in scores for miss in one.misses()]
        return
    hold_a_few(scores)


@pytest.mark.slow
def test_estimates_without_their_weights_would_be_noticed(monkeypatch):
    def unweighted(table, *others, weights, **options):
        return whole(table, *others, **options)

    whole = tacit.prevalence
    monkeypatch.setattr(tacit, "prevalence", unweighted)
    (share,) = simulated("crosswise", 150, clustered=True)
    with pytest.raises(AssertionError):
        hold_a_few([share])


def test_a_study_is_shown_with_what_the_device_leaves_open():
    found = tacit.prevalence(two_samples((200, 300), (330, 270)), "x", "cheating-detection", "p=1:.2,2:.7", sample="s")
    lines = str(found).splitlines()
    assert lines[-1] == "(± one standard error)"
    assert [line.split()[0] for line in lines[:-1]] == ["no", "yes", "cheaters"]
    assert lines[1] == f"yes      {found['yes'].share:6.3f} ± {found['yes'].standard_error:.3f}"
    document = found.to_document()
    assert document["direct"] is None
    assert document["compliance"] is None
    assert document["shares"][1] == vars(found["yes"])
    assert document["parameters"]["cheaters"]["estimate"] == found.parameters["cheaters"].estimate


def test_covariances_of_counted_reports_are_those_of_the_reports_as_a_population():
    rows = np.random.default_rng(4).normal(size=(7, 3))
    products = np.einsum("ra,rb->ab", rows, rows) / 7
    np.testing.assert_allclose(counted_covariance(products, rows.mean(axis=0), 7), np.cov(rows.T, bias=True) / 7)
    assert np.isfinite(counted_covariance(products, rows.mean(axis=0), 1)).all()


@pytest.mark.parametrize("level", [0, 1, 2, -0.5])
def test_a_confidence_level_lies_between_0_and_1(level):
    with pytest.raises(TacitError, match="confidence level lies between 0 and 1"):
        tacit.prevalence({"x": ["yes"] * 3 + ["no"] * 7}, "x", "warner", "p=.7", level=level)


@pytest.mark.slow
def test_a_share_with_an_unknown_one_beside_it_is_covered_where_nobody_carries():
    """Of 22 and 22 people, a tenth with the harmless trait: what is open is not taken to be what chance made of it."""
    first, second = (binom.pmf(range(7), 22, chance) for chance in (0.025, 0.075))
    shares = opens = 0.0
    for one, other in itertools.product(range(4), range(7)):
        table = two_samples((one, 22 - one), (other, 22 - other))
        found = tacit.prevalence(table, "x", "unrelated-question", "p=1:.75,2:.25", sample="s")
        shares += first[one] * second[other] * (found["yes"].low == 0)
        opens += first[one] * second[other] * (found.parameters["y"].low <= 0.1 <= found.parameters["y"].high)
    assert shares > 0.97  # .885 with all else in proportion
    assert opens > 0.94  # .816 with one error wherever it is


@pytest.mark.slow
def test_differences_of_small_groups_cover_and_are_tested_at_their_level():
    """Two groups of 20, asked by Warner's device with .8, of each of which half carry: every outcome that matters."""
    chances = binom.pmf(range(21), 20, 0.5)
    covered = rejected = 0.0
    for one, other in itertools.combinations_with_replacement(range(4, 17), 2):
        table = {
            "x": ["yes"] * one + ["no"] * (20 - one) + ["yes"] * other + ["no"] * (20 - other),
            "g": [0] * 20 + [1] * 20,
        }
        (found,) = tacit.prevalence(table, "x", "warner", "p=.8", by="g").differences
        chance = chances[one] * chances[other] * (1 if one == other else 2)
        covered += chance * (found.low <= 0 <= found.high)
        rejected += chance * (found.p < 0.05)
    assert covered > 0.95  # .919 with the normal interval
    assert rejected < 0.05  # .081 with the errors of the two estimates
