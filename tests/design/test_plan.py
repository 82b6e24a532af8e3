import math
from statistics import NormalDist
from typing import Any

import numpy as np
import pytest

from tacit import Attribute, Scheme, channels
from tacit.channel import Recipe
from tacit.design.plan import _variance_at, plan
from tacit.errors import InvalidInput, NotEstimable
from tacit.schema import Schema
from tests.conformance.channels import NAMED

SMOKES, AGE = Attribute("smokes", ("no", "yes")), Attribute("age", tuple("abcdefghij"))
SCHEMA = Schema((SMOKES, AGE))
Z = NormalDist().inv_cdf(0.975)


def test_direct_questioning_needs_the_textbook_number():
    direct = plan(Scheme.of(SCHEMA), 0.03)
    assert direct.respondents == direct.direct_questioning == 1068
    assert direct.per_attribute == {"smokes": 1068, "age": 1068}


def test_warners_variance_at_one_half():
    needed = plan(Scheme.of(SCHEMA, [(["smokes"], channels.warner(0.75))]), 0.03)
    # reports are half yes, and 1 / (2p - 1) stretches their error
    assert needed.per_attribute["smokes"] == math.ceil((Z / 0.03) ** 2 * 0.25 / 0.25)
    assert needed.per_attribute["age"] == needed.direct_questioning == 1068
    assert needed.respondents == needed.per_attribute["smokes"]


def test_a_given_prior_counts_instead_of_one_half():
    scheme = Scheme.of(SCHEMA, [(["smokes"], channels.warner(0.75))])
    prior = {"smokes": [0.9, 0.1], "age": [0.1] * 10}
    needed = plan(scheme, 0.02, prior)
    yes = 0.25 + 0.5 * 0.1
    assert needed.per_attribute["smokes"] == math.ceil((Z / 0.02) ** 2 * yes * (1 - yes) / 0.25)
    assert needed.direct_questioning == math.ceil((Z / 0.02) ** 2 * 0.09)
    assert needed.prior == "given"
    assert needed.warnings == ()


def test_the_prior_a_scheme_was_designed_for_counts_unless_another_is_given():
    groups = [(["smokes"], channels.warner(0.75))]
    bare, designed = Scheme.of(SCHEMA, groups), Scheme.of(SCHEMA, groups, prior={"smokes": [0.9, 0.1]})
    assert plan(designed, 0.02).per_attribute["smokes"] == plan(bare, 0.02, {"smokes": [0.9, 0.1]}).respondents
    assert plan(designed, 0.02).prior == "design"
    assert plan(designed, 0.02, {"smokes": [0.5, 0.5]}) == plan(bare, 0.02, {"smokes": [0.5, 0.5]})


def test_attributes_the_prior_does_not_speak_of_are_planned_at_one_half():
    scheme = Scheme.of(SCHEMA, [(["age"], channels.warner(0.75))])
    needed = plan(scheme, 0.02, {"smokes": [0.9, 0.1]})
    assert needed.per_attribute["age"] == plan(scheme, 0.02).per_attribute["age"]
    assert needed.per_attribute_direct["smokes"] < needed.per_attribute_direct["age"]


def test_the_planned_number_keeps_the_margin_and_one_fewer_does_not():
    """Against the two-way channel that a single answer of a gamma-diagonal group is asked through."""
    scheme = Scheme.of(SCHEMA, [(["smokes", "age"], channels.gamma_diagonal(19))])
    prior = {"smokes": [0.7, 0.3], "age": np.arange(1, 11) / 55}
    needed = plan(scheme, 0.05, prior)
    keep = 18 / (19 + 20 - 1)
    for name, answers in (("smokes", 2), ("age", 10)):
        reported = keep * np.array(prior[name]) + (1 - keep) / answers
        variance = (reported * (1 - reported)).max() / keep**2
        assert Z * math.sqrt(variance / needed.per_attribute[name]) <= 0.05
        assert Z * math.sqrt(variance / (needed.per_attribute[name] - 1)) > 0.05
    assert needed.respondents == max(needed.per_attribute.values())


@pytest.mark.parametrize("place", [0, 1, 2])
def test_uneven_answers_are_planned_by_the_one_that_needs_most(place):
    """One answer is hidden far better than the others, wherever it stands; enumerated from the matrix itself."""
    matrix = np.array([[0.8, 0.1, 0.3], [0.1, 0.8, 0.3], [0.1, 0.1, 0.4]])
    order = np.roll(np.arange(3), place)
    matrix = matrix[np.ix_(order, order)]
    inverse = np.linalg.inv(matrix)
    variances = []
    for code in range(3):
        truth = np.where(np.arange(3) == code, 0.5, 0.25)
        variances.append(float((inverse[code] ** 2) @ (matrix @ truth)) - 0.25)
    assert max(variances) > 1.5 * min(variances)
    schema = Schema((Attribute("x", ("a", "b", "c")),))
    needed = plan(Scheme.of(schema, [(["x"], channels.matrix(matrix))]), 0.05)
    assert needed.respondents == pytest.approx((Z / 0.05) ** 2 * max(variances), abs=1)


def test_shares_that_need_more_than_one_half_are_named():
    needed = plan(Scheme.of(SCHEMA, [(["age"], channels.uniform_perturbation(0.5))]), 0.03)
    (warning,) = needed.warnings
    assert warning.startswith("age: ")
    assert "share of one half" in warning


@pytest.mark.parametrize(
    "recipe", [channels.mask(0.8), channels.subset(3, 9), channels.matrix(0.5 * np.eye(10) + 0.05)]
)
def test_every_kind_of_channel_can_be_planned(recipe):
    needed = plan(Scheme.of(SCHEMA, [(["age"], recipe)]), 0.05)
    assert needed.per_attribute["age"] > needed.direct_questioning


def test_dealing_a_question_to_half_of_the_people_needs_twice_as_many():
    halves = [("x", 0.5, [(["smokes"], channels.warner(0.75))]), ("y", 0.5, [(["age"], channels.warner(0.75))])]
    whole = plan(Scheme.of(SCHEMA, [(["smokes"], channels.warner(0.75))]), 0.03).per_attribute["smokes"]
    dealt = plan(Scheme.dealt(SCHEMA, halves), 0.03).per_attribute["smokes"]
    assert dealt == pytest.approx(2 * whole, abs=2)


def test_a_scheme_that_tells_nothing_has_no_plan():
    with pytest.raises(NotEstimable, match="theta = 1/2"):
        plan(Scheme.of(SCHEMA, [(["smokes"], channels.flip(0.5))]), 0.03)


@pytest.mark.parametrize("margin", [0, 1, -0.1, math.nan])
def test_a_margin_outside_zero_and_one_is_refused(margin):
    with pytest.raises(InvalidInput, match="strictly between 0 and 1"):
        plan(Scheme.of(SCHEMA), margin)


@pytest.mark.parametrize("level", [0, 1])
def test_a_level_outside_zero_and_one_is_refused(level):
    with pytest.raises(InvalidInput, match="between 0 and 1"):
        plan(Scheme.of(SCHEMA), 0.03, level=level)


def test_a_bare_distribution_is_that_of_the_only_group():
    scheme = Scheme.of(SCHEMA, [(["smokes"], channels.warner(0.75))])
    assert plan(scheme, 0.03, [0.9, 0.1]) == plan(scheme, 0.03, {"smokes": [0.9, 0.1]})


def test_the_names_of_the_json_answer():
    assert {"respondents", "per_attribute", "direct_questioning"} <= set(plan(Scheme.of(SCHEMA), 0.03).to_document())


@pytest.mark.parametrize("channel", [channel for channel in NAMED.values() if channel.treats_answers_alike], ids=repr)
def test_channels_that_treat_answers_alike_are_asked_about_one_of_them(channel):
    attributes = [Attribute(f"q{i}", tuple(f"a{j}" for j in range(size))) for i, size in enumerate(channel.shape)]
    names = [attribute.name for attribute in attributes]
    scheme = Scheme.of(attributes, [(names, channels.Recipe(channel.kind, channel.parameters))])
    for attribute in attributes:
        variances = [_variance_at(scheme, attribute.name, code, 0.5) for code in range(attribute.size)]
        assert variances == pytest.approx([variances[0]] * attribute.size)


def test_a_hundred_thousand_answers_are_planned_at_once():
    town = Attribute("town", tuple(f"t{i}" for i in range(100_000)))
    needed = plan(Scheme.of([town], [(["town"], channels.gamma_diagonal(1e6))]), 0.1)
    assert needed.respondents > needed.direct_questioning


def scale_of(recipe: Recipe, answers: int = 11) -> Scheme:
    return Scheme.of([Attribute("stress", tuple(map(str, range(answers))), ordered=True)], [(["stress"], recipe)])


def test_respondents_give_the_margin_that_takes_as_many() -> None:
    scheme = scale_of(channels.subset(4, 7 / 3))
    for purpose in ("shares", "mean", "both"):
        needed = plan(scheme, 0.05, purposes={"stress": purpose})
        assert plan(scheme, respondents=needed.respondents, purposes={"stress": purpose}).margin == pytest.approx(
            0.05, rel=1e-3
        )
    assert plan(scheme, respondents=1000).margins["stress"] == pytest.approx(0.05 * (7299 / 1000) ** 0.5, rel=1e-3)


def test_a_mean_is_planned_without_its_shares() -> None:
    two_point = channels.matrix([[0.7, 0.5, 0.3], [0.3, 0.5, 0.7]], ("low", "high"))
    scheme = scale_of(two_point, 3)
    assert plan(scheme, 0.05, purposes={"stress": "mean"}).respondents == 2401
    with pytest.raises(NotEstimable):
        plan(scheme, 0.05)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"margin": 0.05, "respondents": 10}, "not both"),
        ({"respondents": 0}, "whole number of at least 1"),
        ({"margin": 0.05, "purposes": {"stress": "median"}}, "shares, mean or both"),
        ({"margin": 0.05, "purposes": {"mood": "mean"}}, "'mood'"),
        ({}, "then a margin such as 0.03 or respondents"),
    ],
)
def test_a_plan_that_cannot_be_made_is_refused(wrong: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        plan(scale_of(channels.threshold(3)), **wrong)
