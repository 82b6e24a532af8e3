"""Planning with a device: margins and power, against published numbers and against counting."""

from __future__ import annotations

import numpy as np
import pytest

from tacit import Attribute, Scheme, TacitError, devices
from tacit.channel.devices import DEVICES, design
from tacit.design.plan import plan
from tacit.design.power import Question, one_respondent, plan_margin, plan_power, power_curves

FORCED = devices.forced_response("2/3", "1/6")


def test_the_published_example_of_forced_response():
    question = Question(share=0.2, against=0, level=0.99, one_sided=True)
    assert round(plan_power(FORCED, question, respondents=200).power, 4) == 0.9869


def test_as_many_respondents_as_are_named_have_the_power_and_one_fewer_has_not():
    question = Question(share=0.2, against=0.1)
    needed = plan_power(FORCED, question, power=0.8)
    assert needed.power >= 0.8 > question.power(FORCED, needed.respondents - 1)
    assert needed.direct_questioning < needed.respondents
    assert needed.power_direct > needed.power


def test_a_difference_between_groups_has_the_power_it_says():
    """The score test on simulated groups; 4,000 repeats have a standard error of .006."""
    question = Question(share=0.2, difference=0.15)
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
    curves = power_curves([FORCED, devices.crosswise(0.25)], Question(share=0.3, against=0.2), [50, 200, 800])
    assert all(curves["direct"][at] > curves[name][at] for name in ("forced-response", "crosswise") for at in range(3))


REFUSALS = [
    (lambda: Question(share=1.2, against=0), "share lies between 0 and 1"),
    (lambda: Question(share=0.2), "What should the test tell"),
    (lambda: Question(share=0.2, against=0.1, difference=0.1), "one of them"),
    (lambda: Question(share=0.2, against=0.2), "nothing to tell apart"),
    (lambda: Question(share=0.9, difference=0.2), "leaves 0 to 1"),
    (lambda: Question(share=0.2, against=-0.1), "hold against must lie between"),
    (lambda: Question(share=0.2, against=0, level=95), "confidence level lies between"),
    (lambda: plan_power(FORCED, Question(share=0.2, against=0)), "Give --power"),
    (lambda: plan_power(FORCED, Question(share=0.2, against=0), power=1), "power must lie between"),
    (lambda: plan_power(FORCED, Question(share=0.2, against=0), respondents=1), "at least two respondents"),
    (lambda: plan_power(FORCED, Question(share=0.2, against=0.20001), power=0.9), "respondents would be needed"),
    (lambda: plan_margin(FORCED, 0), "strictly between 0 and 1"),
]


@pytest.mark.parametrize(("ask", "message"), REFUSALS)
def test_what_cannot_be_planned_is_refused(ask, message):
    with pytest.raises(TacitError, match=message):
        ask()
