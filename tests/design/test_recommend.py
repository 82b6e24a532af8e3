"""Mechanisms with one promise, compared by the errors to expect of itemsets."""

from __future__ import annotations

import math

import pytest

from tacit import Attribute, Schema
from tacit.bundled import census
from tacit.design.recommend import recommend
from tacit.errors import InvalidInput

SMALL = Schema(tuple(Attribute(name, ("no", "yes")) for name in ("smokes", "drinks", "gambles")))


@pytest.mark.parametrize("gamma", [1.2, 1.9, 2.0, 5.0, 19.0])
def test_every_option_keeps_the_promise_and_the_best_comes_first(gamma: float) -> None:
    """Below gamma 2 mechanisms were once dropped by their position in a list."""
    found = recommend(SMALL, gamma, 2, 1000)
    names = [option.name for option in found.options]
    assert {"gamma-diagonal", "subset", "split questionnaire"} <= set(names)
    assert [option.overall for option in found.options] == sorted(option.overall for option in found.options)
    for option in found.options:
        for questionnaire in option.scheme.questionnaires:
            assert math.prod(group.channel.amplification for group in questionnaire.groups) <= gamma * (1 + 1e-9)


def test_what_is_left_out_says_why() -> None:
    wide = Schema(tuple(Attribute(f"q{j}", ("no", "yes")) for j in range(16)))
    found = recommend(wide, 5, 1, 1000)
    assert any("too large to hold" in reason for reason in found.left_out)


def test_only_what_a_demand_rules_out_is_left_out() -> None:
    assert recommend(SMALL, 19, 2, 1000).left_out == ()  # a matrix has no parameters that a demand could choose
    (reason,) = recommend(SMALL, 1.9, 2, 1000).left_out
    assert reason.startswith("cut-and-paste: no parameters keep this whole record within an amplification of 1.9")


def test_the_predicted_errors_are_those_of_census() -> None:
    """At gamma 19 and 48,842 respondents the gamma-diagonal channel errs by .216 at length 1 and .134 at length 2."""
    found = recommend(census().schema, 19, 2, 48_842)
    assert found.best.name == "split questionnaire"
    (diagonal,) = [option for option in found.options if option.name == "gamma-diagonal"]
    assert diagonal.predicted.by_length[0] == pytest.approx(0.216, rel=0.05)
    assert diagonal.predicted.by_length[1] == pytest.approx(0.134, rel=0.05)


def test_gamma_one_is_refused() -> None:
    with pytest.raises(InvalidInput, match="reports say nothing"):
        recommend(SMALL, 1.0, 2, 1000)
