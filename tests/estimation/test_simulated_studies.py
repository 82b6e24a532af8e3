"""Simulated studies: their figures are those that theory has for the design."""

from __future__ import annotations

import pytest

from tacit import devices
from tacit.design.power import PowerQuestion, one_respondent
from tacit.errors import InvalidInput
from tacit.estimation.simulated_studies import simulate_studies
from tests.cli.run import refused
from tests.cli.run import tacit as run

WARNER = devices.warner(".8")


def within(figure: tuple[float, float], expected: float) -> bool:
    return abs(figure[0] - expected) < 5 * figure[1]


def test_figures_are_those_of_theory() -> None:
    studies = simulate_studies(WARNER, 0.3, 500, studies=4000, against=0.2, seed=1)
    assert within(studies.figures["bias"], 0)
    assert within(studies.figures["spread of the estimates"], (one_respondent(WARNER, 0.3) / 500) ** 0.5)
    assert 0.93 < studies.figures["coverage"][0] < 0.97
    assert within(studies.figures["power"], PowerQuestion(0.3, 0.2).counted_power(WARNER, 500))


def test_denial_is_a_bias() -> None:
    studies = simulate_studies(WARNER, 0.3, 500, honesty=0.7, studies=1000, seed=1)
    assert within(studies.figures["bias"], -0.09)
    assert studies.figures["coverage"][0] < 0.6


def test_two_samples() -> None:
    studies = simulate_studies(devices.extended_crosswise("1:1/4,2:3/4"), 0.2, 600, studies=300, seed=2)
    assert within(studies.figures["bias"], 0)


def test_the_command() -> None:
    asked = ("simulate", "--device", "crosswise", "--parameters", "p=1/4", "--shares", ".1,.3", "--respondents", 200)
    answer = run(*asked, "--studies", 200, "--seed", 1, "--against", 0, "--json").json["simulations"]
    assert [one["share"] for one in answer] == [0.1, 0.3]
    assert set(answer[0]) >= {"bias", "coverage", "power"}
    assert "200 studies of 200 respondents with crosswise p=1/4" in " ".join(run(*asked, "--studies", 200).out.split())
    assert "honesty lies between 0 and 1" in refused(*asked, "--honesty", 2)
    assert "cannot be drawn" in refused(*asked, "--studies", 0)
    with pytest.raises(InvalidInput, match="one yes/no item"):
        simulate_studies(devices.warner(".8", answers=("a", "b", "c")), 0.3, 100)
