import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit import Attribute, Dataset
from tacit.design.scheme import LARGEST_DEMAND, design_scheme
from tacit.errors import InvalidInput, UnknownName
from tacit.schema import Schema

BINARY = Schema(tuple(Attribute(name, ("no", "yes")) for name in "abc"))
MIXED = Schema((*BINARY.attributes, Attribute("age", ("young", "middle", "old"))))


def test_the_demand_is_for_the_whole_record():
    design = design_scheme(MIXED, gamma=19)
    assert [group.names for group in design.scheme.groups] == [("a",), ("b",), ("c",), ("age",)]
    assert design.measures.gamma == pytest.approx(19, rel=1e-6)
    assert [group.gamma for group in design.measures.groups] == pytest.approx([19**0.25] * 4, rel=1e-6)
    assert design.demand == "amplification at most 19 for the whole private record, 2.088 for each of 4 groups"


def test_per_group_says_what_that_means_for_the_whole_record():
    design = design_scheme(MIXED, [["a", "b"], ["c", "age"]], gamma=19, per_group=True)
    assert design.measures.gamma == pytest.approx(361, rel=1e-6)
    assert design.demand == "amplification at most 19 for each of 2 groups, 361 for the whole private record"


@settings(max_examples=60, deadline=None)
@given(st.floats(1.0001, LARGEST_DEMAND), st.integers(1, 3))
def test_a_demanded_amplification_is_never_exceeded(gamma, groups):
    parts = [["a"], ["b"], ["c", "age"]][:groups]
    public = [name for name in MIXED.names if not any(name in part for part in parts)]
    reached = design_scheme(MIXED, parts, public, gamma=gamma).measures.gamma
    assert reached <= gamma
    assert reached > 1 + 0.9 * (gamma - 1) or gamma > 1e6  # near the limit chances are too coarse to reach it


def test_a_root_that_is_rounded_upwards_is_corrected():
    bound = math.nextafter(81.0, 0)  # its fourth root rounds to 3, which a binary attribute reaches exactly
    four = Schema((*BINARY.attributes, Attribute("d", ("no", "yes"))))
    assert design_scheme(four, gamma=bound).measures.gamma <= bound


@pytest.mark.parametrize(
    "demand", [{"gamma": 19.0}, {"epsilon": math.log(19)}, {"rho1": 0.05, "rho2": 0.5}], ids=["gamma", "epsilon", "rho"]
)
def test_the_demands_say_the_same(demand):
    assert design_scheme(MIXED, **demand).measures.gamma == pytest.approx(19, rel=1e-6)


def test_theta_flips_each_group():
    design = design_scheme(BINARY, [["a", "b"], ["c"]], theta=0.8)
    assert [group.channel.kind for group in design.scheme.groups] == ["flip", "flip"]
    assert design.measures.gamma == math.inf
    assert any("only two records possible" in warning for warning in design.warnings)
    assert design.to_document()["gamma"] is None
    assert design.to_document()["scheme"]["groups"][0]["channel"] == {"kind": "flip", "theta": 0.8}


def test_public_attributes_stay_out():
    design = design_scheme(MIXED, public=["age"], gamma=19)
    assert design.scheme.public_names == ("age",)
    assert len(design.scheme.groups) == 3
    assert any("age is public" in warning for warning in design.warnings)


def test_the_prior_and_the_respondents_reach_the_measures():
    design = design_scheme(BINARY, gamma=19, prior={"a": np.array([0.9, 0.1])}, respondents=77)
    assert design.measures.prior == "given"
    assert design.measures.respondents == 77


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "State one demand.*none was given"),
        ({"theta": 0.8, "gamma": 19}, "not theta and gamma"),
        ({"rho1": 0.05}, "go together"),
        ({"gamma": 1}, "gamma = 1 cannot be designed for"),
        ({"gamma": math.inf}, "cannot be designed for"),
        ({"gamma": math.nan}, "cannot be designed for"),
        ({"epsilon": 0}, "epsilon = 0 cannot be designed for"),
        ({"epsilon": 1e6}, "cannot be designed for"),
        ({"rho1": 0.5, "rho2": 0.05}, "must exceed"),
        ({"theta": 0.8}, "'age' has 3 answers. Demand a gamma"),
        ({"theta": 1.5, "public": ["age"]}, "must lie between 0 and 1"),
        ({"theta": 0.5, "public": ["age"]}, "theta = 1/2 .* --device unrelated-question"),
        ({"gamma": 19, "groups": [["a"], ["b"]]}, "'c' is neither in a group nor public"),
        ({"gamma": 19, "groups": [["a", "b", "c", "age"]], "public": ["a"]}, "'a' is both in a group and public"),
        ({"gamma": 19, "public": ["a", "b", "c", "age"]}, "Every attribute is public"),
        ({"gamma": 19, "groups": [["a", "b"], ["b", "c", "age"]]}, "'b' is in two groups"),
    ],
)
def test_what_cannot_be_designed_is_refused(arguments, message):
    with pytest.raises(InvalidInput, match=message):
        design_scheme(MIXED, **arguments)


def test_an_unknown_attribute_is_refused():
    with pytest.raises(UnknownName, match=r"'agee' does not exist\. Did you mean 'age'"):
        design_scheme(MIXED, public=["agee"], gamma=19)


def test_a_table_of_truths_is_the_prior_too():
    people = Dataset.from_arrow({"a": ["no"] * 90 + ["yes"] * 10, "b": ["x", "y"] * 50})
    designed = design_scheme(people, gamma=9)
    stated = design_scheme(people.schema, gamma=9, prior=people)
    assert designed.scheme.to_document() == stated.scheme.to_document()
    assert designed.scheme.prior is not None
    assert design_scheme(people.schema, gamma=9).scheme.prior is None
