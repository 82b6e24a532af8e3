"""How good the chosen model is on tables made from published rules; the whole measurement is `make soak`'s."""

from __future__ import annotations

import os
from collections import Counter

import pytest

from benchmarks import model_choice
from benchmarks.model_choice import Run


@pytest.mark.parametrize(
    ("name", "classes"),
    [
        ("balance scale", [288, 288, 49]),
        ("monk 1", [216, 216]),
        ("monk 2", [290, 142]),
        ("monk 3", [228, 204]),
        ("tic-tac-toe", [626, 332]),
    ],
)
def test_tables_have_the_published_numbers_of_each_class(name: str, classes: list[int]) -> None:
    data = model_choice.DATA[name]()
    assert sorted(Counter(data.table["class"].tolist()).values(), reverse=True) == classes


def run(data: str, **accuracies: float) -> Run:
    told = {**dict.fromkeys((*model_choice.SINGLES, "majority"), 0.5), **accuracies}
    return Run(data, "mixture", 0, 100, "chosen", told, {}, 0.0, {})


def test_the_three_demands_are_worked_out_over_tables() -> None:
    made = [run("a", chosen=0.8, majority=0.7), run("a", chosen=0.6, majority=0.7), run("b", chosen=0.9, majority=0.7)]
    made[0].accuracies["joint model"] = made[1].accuracies["joint model"] = 0.75
    behind, worst, below = model_choice.ratios(made)
    assert behind.value == pytest.approx((0.75 + 0.5) / 2 - (0.7 + 0.9) / 2)
    assert "joint model" in behind.name
    assert behind.is_met
    assert worst.value == pytest.approx(0.05)
    assert not worst.is_met
    assert below.value == pytest.approx(0.0)
    assert below.is_met


@pytest.mark.soak
@pytest.mark.slow
@pytest.mark.skipif(
    not os.environ.get("TACIT_SOAK"), reason="ten seeds on every table here that nothing was tuned on: minutes"
)
def test_the_chosen_model_is_as_good_as_the_best_single_one() -> None:
    names = [name for name in model_choice.DATA if name not in model_choice.TUNED_ON]
    for ratio in model_choice.ratios(list(model_choice.runs(model_choice.known_tables(names), range(100, 110)))):
        assert ratio.is_met, str(ratio)
