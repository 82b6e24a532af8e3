"""Planning with a device: margins and power, against published numbers and against counting."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

import tacit
from tacit import Attribute, Scheme, TacitError, devices
from tacit.channel.devices import DEVICES, design
from tacit.design.plan import plan
from tacit.design.power import PowerQuestion, one_respondent, plan_margin, plan_power, power_curves
from tacit.errors import InvalidInput

FORCED = devices.forced_response("2/3", "1/6")


def test_the_published_example_of_forced_response():
    question = PowerQuestion(share=0.2, against=0, level=0.99, one_sided=True)
    assert round(plan_power(FORCED, question, respondents=200).power, 4) == 0.9869


def test_as_many_respondents_as_are_named_have_the_power_and_one_fewer_has_not():
    question = PowerQuestion(share=0.2, against=0.1)
    needed = plan_power(FORCED, question, power=0.8)
    assert needed.power >= 0.8 > question.power(FORCED, needed.respondents - 1)
    assert needed.direct_questioning < needed.respondents
    assert needed.power_direct > needed.power


def test_a_difference_between_groups_has_the_power_it_says():
    """The score test on simulated groups; 4,000 repeats have a standard error of .006."""
    question = PowerQuestion(share=0.2, difference=0.15)
    people = 1200
    said = question.power(FORCED, people)
    random = np.random.default_rng(1965)
    yes = [random.binomial(people // 2, share * 2 / 3 + 1 / 6, 4000) / (people // 2) for share in (0.2, 0.35)]
    shares = [(seen - 1 / 6) * 1.5 for seen in yes]
    pooled = (yes[0] + yes[1]) / 2
    error = 1.5 * np.sqrt(pooled * (1 - pooled) * 4 / people)
    found = (np.abs(shares[1] - shares[0]) > 1.959964 * error).mean()
    assert found == pytest.approx(said, abs=0.03)  # five standard errors
    assert abs(found - question.power(devices.warner(0.75), people)) > 0.1  # another device would be noticed


@pytest.mark.parametrize("name", [name for name in DEVICES if not DEVICES[name].two_samples])
def test_a_device_is_planned_as_its_scheme_is(name):
    made = design(name, DEVICES[name].example)
    scheme = Scheme.of([Attribute("item", ("no", "yes"))], [(["item"], made.recipe)])
    assert plan_margin(made, 0.04).respondents == plan(scheme, 0.04).respondents


def test_crosswise_with_a_quarter_needs_four_times_direct_questioning():
    needed = plan_margin(devices.crosswise(".25"), 0.04)
    assert (needed.respondents, needed.direct_questioning) == (2401, 601)


def test_errors_under_two_samples_are_those_of_the_closed_form():
    """Lie detector: pi = 1 - (lambda1 - lambda2) / (p2 - p1), each sample half of the respondents."""
    made = devices.stochastic_lie_detector("1:1/6,2:5/6")
    yes = [0.3 + 0.7 * (1 - p) for p in (1 / 6, 5 / 6)]
    assert one_respondent(made, 0.3) == pytest.approx(sum(2 * q * (1 - q) for q in yes) / (4 / 6) ** 2, rel=1e-6)


def test_direct_questioning_is_above_every_device():
    curves = power_curves([FORCED, devices.crosswise(0.25)], PowerQuestion(share=0.3, against=0.2), [50, 200, 800])
    assert list(curves) == ["forced-response truth=2/3,yes=1/6", "crosswise p=1/4", "direct"]
    assert all(curves["direct"][at] > curves[name][at] for name in list(curves)[:2] for at in range(3))


def test_one_device_with_two_chances_has_two_curves():
    """They had one name, and the second curve replaced the first."""
    both = [devices.crosswise("1/4"), devices.crosswise(".15")]
    curves = power_curves(both, PowerQuestion(share=0.3, against=0.2), [100, 400])
    assert list(curves) == ["crosswise p=1/4", "crosswise p=3/20", "direct"]
    assert curves["crosswise p=1/4"][0] < curves["crosswise p=3/20"][0]


def test_telling_a_share_from_none_by_direct_questions_is_counted():
    """5% against 0 at power .95 takes 59 people: one yes among them proves it. It said 2."""
    question = PowerQuestion(share=0.05, against=0)
    assert question.respondents(None, 0.95) == 59
    assert question.power(None, 59) == pytest.approx(1 - 0.95**59)
    plan = plan_power(devices.warner(".8"), question, respondents=4000)
    assert plan.direct_questioning > 59
    assert PowerQuestion(share=0.95, against=1).respondents(None, 0.95) == 59


def test_what_dishonest_answers_cost():
    plan = plan_margin(devices.crosswise("1/4"), 0.04, share=0.3)
    cost = plan_power(devices.crosswise("1/4"), PowerQuestion(share=0.3, against=0.2), respondents=500).with_dishonesty(
        0.7
    )
    assert cost["bias"] == pytest.approx(-0.09)
    wins = cost["device_wins_from"]
    device, direct = one_respondent(devices.crosswise("1/4"), 0.3), 0.21 * 0.79
    assert device / wins <= 0.09**2 + direct / wins
    assert device / (wins - 1) > 0.09**2 + direct / (wins - 1)
    with pytest.raises(InvalidInput, match="honesty of carriers"):
        plan.with_dishonesty(1.2)
    (mine, other, asked) = plan.compare([devices.warner(".8")])
    assert mine["gamma"] == pytest.approx(3)
    assert other["asked by"] == "warner p=4/5"
    assert asked["asked by"] == "direct"


REFUSALS = [
    (lambda: PowerQuestion(share=1.2, against=0), "share lies between 0 and 1"),
    (lambda: PowerQuestion(share=0.2), "What should the test show"),
    (lambda: PowerQuestion(share=0.2, against=0.1, difference=0.1), "Give either the share it is compared with"),
    (lambda: PowerQuestion(share=0.2, against=0.2), "nothing to tell apart"),
    (lambda: PowerQuestion(share=0.9, difference=0.2), "leaves 0 to 1"),
    (lambda: PowerQuestion(share=0.2, against=-0.1), "hold against must lie between"),
    (lambda: PowerQuestion(share=0.2, against=0, level=95), "confidence level lies between"),
    (lambda: plan_power(FORCED, PowerQuestion(share=0.2, against=0)), "Give either power"),
    (lambda: plan_power(FORCED, PowerQuestion(share=0.2, against=0), power=1), "power must lie between"),
    (lambda: plan_power(FORCED, PowerQuestion(share=0.2, against=0), respondents=1), "at least two respondents"),
    (lambda: plan_power(FORCED, PowerQuestion(share=0.2, against=0.20001), power=0.9), "respondents would be needed"),
    (lambda: plan_margin(FORCED, 0), "strictly between 0 and 1"),
]


@pytest.mark.parametrize(("ask", "message"), REFUSALS)
def test_what_cannot_be_planned_is_refused(ask, message):
    with pytest.raises(TacitError, match=message):
        ask()


def test_everything_the_command_plans_is_planned_in_python():
    margin = tacit.plan(device="crosswise", parameters="p=.25", margin=0.04)
    assert (margin.respondents, margin.direct_questioning) == (2401, 601)
    test = {"share": 0.2, "against": 0, "level": 0.99, "one_sided": True}
    asked = tacit.plan(device=FORCED, respondents=200, **test)
    assert round(asked.power, 4) == 0.9869
    assert tacit.plan(device=FORCED, power=0.8, **test).respondents == 89
    apart = tacit.plan(device=FORCED, respondents=1200, share=0.2, difference=0.15)
    assert apart.power == PowerQuestion(share=0.2, difference=0.15).power(FORCED, 1200)
    assert len(asked.draw([devices.crosswise(0.25)]).axes[0].lines) == 3
    assert "power 0.9869" in repr(asked)


def test_the_exact_power_is_counted():
    """Against the binomial and, for a difference, against drawn groups (10,000 repeats: a standard error of .005)."""
    binom = stats.binom
    question = PowerQuestion(share=0.2, against=0, level=0.99, one_sided=True)
    critical = binom.isf(0.01, 200, 1 / 6)  # the test rejects above it
    exact = question.counted_power(FORCED, 200)
    assert exact == pytest.approx(binom.sf(critical, 200, 1 / 6 + 2 / 15), rel=1e-9)
    assert round(exact, 3) == 0.983
    both = PowerQuestion(share=0.1, against=0.3).counted_power(None, 60)
    rejected = [seen for seen in range(61) if min(binom.cdf(seen, 60, 0.3), binom.sf(seen - 1, 60, 0.3)) <= 0.025]
    assert both == pytest.approx(binom.pmf(rejected, 60, 0.1).sum(), rel=1e-9)
    apart = PowerQuestion(share=0.2, difference=0.2)
    random = np.random.default_rng(1965)
    one, other = (random.binomial(100, share * 2 / 3 + 1 / 6, 10_000) for share in (0.2, 0.4))
    pooled = (one + other) / 200
    seen = (np.abs(one - other) / 100 > 1.959964 * np.sqrt(pooled * (1 - pooled) / 50)).mean()
    assert apart.counted_power(FORCED, 200) == pytest.approx(seen, abs=0.025)
    assert apart.counted_power(FORCED, 200) == pytest.approx(apart.power(FORCED, 200), abs=0.03)


def test_what_cannot_be_counted_has_no_exact_power():
    question = PowerQuestion(share=0.2, against=0.1)
    assert question.counted_power(devices.kuk(0.7, 0.3, 3), 100) is None
    assert question.counted_power(devices.extended_crosswise("1:1/4,2:3/4"), 100) is None
    assert PowerQuestion(share=0.2, difference=0.1).counted_power(FORCED, 10**6) is None


@pytest.mark.parametrize(
    ("device", "test", "reason"),
    [
        ("kuk p1=.7,p2=.3,k=3", {"against": 0.1}, "kuk has 4 reports"),
        ("cheating-detection p=1:.2,2:.7", {"against": 0.1}, "cheating-detection asks 2 samples"),
        ("warner p=.7", {"difference": 0.1}, "5,000 respondents in two groups have too many outcomes"),
        ("warner p=.7", {"against": 0.1}, None),
    ],
)
def test_a_power_that_is_not_counted_says_why(device, test, reason):
    name, _, parameters = device.partition(" ")
    planned = tacit.plan(device=name, parameters=parameters, respondents=5000, share=0.2, **test)
    assert (planned.power_exact is None) == (reason is not None)
    assert planned.to_document()["warnings"] == list(planned.warnings)
    assert [warning.endswith(f"as {reason}.") for warning in planned.warnings] == ([True] if reason else [])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "How sure should it be"),
        ({"margin": 0.1, "power": 0.8}, "A margin plans an estimate and power a test"),
        ({"power": 0.8}, "needs the share that is expected"),
        ({"margin": 0.1, "prior": {"x": [0.5, 0.5]}}, "without a scheme and a prior"),
    ],
)
def test_plans_of_devices_that_say_too_little_or_too_much_are_refused(options, message):
    with pytest.raises(TacitError, match=message):
        tacit.plan(device=FORCED, **options)


def test_a_scheme_is_not_planned_for_a_test():
    scheme = Scheme.of([Attribute("item", ("no", "yes"))], [(["item"], FORCED.recipe)])
    with pytest.raises(TacitError, match="planned for a device"):
        tacit.plan(scheme, 0.1, share=0.2)
    with pytest.raises(TacitError, match="shows the power of a test"):
        tacit.plan(device=FORCED, margin=0.1).draw()
