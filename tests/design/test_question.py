"""The channel of one question: the fewest respondents for its purpose, whatever the number of answers."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tacit import Attribute, Scheme, plan
from tacit.channel.dense import wanted_variances
from tacit.design.question import (
    MOST_BYTES,
    MOST_MEMBERS,
    PURPOSES,
    choose_channel,
    mean_variance,
    share_variance,
    usual_purpose,
)
from tacit.errors import InvalidInput

STRONG = 7 / 3


@pytest.mark.parametrize(
    ("answers", "most"), [(2, 2401), (12, 7450), (30, 8300), (100, 9230), (300, 9230), (1_000_000, 9230)]
)
def test_few_respondents_are_enough_however_many_answers_there_are(answers: int, most: int) -> None:
    need = choose_channel(answers, STRONG).chosen.need("shares", 0.05)
    assert need is not None
    assert need <= most


@pytest.mark.parametrize("answers", [2, 3, 5, 12, 30])
@pytest.mark.parametrize("gamma", [1.5, STRONG, 9.0])
def test_the_plan_of_the_chosen_channel_is_its_stated_need(answers: int, gamma: float) -> None:
    """The need that chooses a channel is what `plan` computes for the scheme that has it."""
    choices = choose_channel(answers, gamma)
    attribute = Attribute("asked", tuple(map(str, range(answers))))
    needs = []
    for choice in choices.choices:
        scheme = Scheme.of([attribute], [(["asked"], choice.recipe)])
        assert scheme.groups[0].channel.amplification <= gamma
        assert plan(scheme, 0.05).respondents == choice.need("shares", 0.05)
        needs.append(choice.need("shares", 0.05))
    assert needs[0] <= min(needs) * 1.02 + 1


@pytest.mark.parametrize("answers", [5, 7, 11])
@pytest.mark.parametrize("purpose", PURPOSES)
def test_no_choice_exceeds_the_amplification_and_each_states_its_variances(answers: int, purpose: str) -> None:
    even, numbers = np.full(answers, 1 / answers), np.arange(answers)
    for gamma in (STRONG, 4.0):
        for choice in choose_channel(answers, gamma, purpose, numbers).choices:  # type: ignore[arg-type]
            assert choice.channel.amplification <= gamma
            # Hadamard's estimator takes no account of which of its numbers no answer has, so it is not the best one.
            if choice.channel.shows in ("one", "set") and choice.channel.kind != "hadamard":
                variance = wanted_variances(choice.channel.matrix, even, (numbers / (answers - 1))[None])[0]
                assert choice.mean == pytest.approx(variance, rel=1e-6)


def test_a_mean_takes_thresholds_and_both_takes_a_design_between() -> None:
    scale = list(range(11))
    mean = choose_channel(11, STRONG, "mean", scale)
    assert mean.chosen.recipe.kind == "threshold"
    assert math.sqrt(mean.chosen.mean) <= 1.23  # ranges / sqrt(N)
    both = choose_channel(11, STRONG, "both", scale).chosen
    shares = choose_channel(11, STRONG, "shares", scale).chosen
    worst = max(both.shares / shares.shares, both.mean / mean.chosen.mean)
    others = choose_channel(11, STRONG, "both", scale).choices[1:]
    assert worst < 1.4
    assert all(worst < max(other.shares / shares.shares, other.mean / mean.chosen.mean) for other in others)


def test_uneven_numbers_draw_thresholds_by_their_gaps() -> None:
    numbers = [0.0, 1.0, 2.0, 10.0]
    chosen = choose_channel(4, STRONG, "mean", numbers).chosen
    assert chosen.recipe.parameters["widths"] == [1.0, 1.0, 8.0]
    even = choose_channel(4, STRONG, "mean", [0, 1, 2, 3]).chosen
    assert "widths" not in even.recipe.parameters


def test_a_two_point_channel_tells_the_mean_and_no_shares() -> None:
    (two_point,) = [one for one in choose_channel(5, 4.0, "mean", range(5)).choices if one.name == "two-point"]
    assert two_point.need("shares", 0.05) is None
    assert two_point.can_answer == "mean"
    assert share_variance(two_point.channel) == math.inf
    assert mean_variance(two_point.channel, range(5)) == pytest.approx(two_point.mean)


def test_reports_that_list_answers_stay_short() -> None:
    for answers in (90, 163, 400, 5000):
        for choice in choose_channel(answers, 1.5).choices:
            members = choice.channel.report_members
            assert members <= MOST_MEMBERS
            assert members * (len(str(answers - 1)) + 1) <= MOST_BYTES


def test_what_is_chosen_and_what_others_would_take_is_said() -> None:
    assert (
        choose_channel(12, STRONG)
        .sentence(12, 0.05)
        .startswith("12 answers: subsets of 5, 7,434 respondents; Hadamard")
    )
    said = choose_channel(11, STRONG, "mean", range(11)).sentence(11, 0.05)
    assert "thresholds, 2,297 respondents" in said
    assert "shares of single answers would take 46,098" in said
    assert "for shares and" in choose_channel(11, STRONG, "both", range(11)).sentence(11, 0.05)


def test_long_scales_are_asked_for_both_and_all_else_for_shares() -> None:
    assert usual_purpose(11, has_numbers=True) == "both"
    assert usual_purpose(6, has_numbers=True) == "shares"
    assert usual_purpose(30, has_numbers=False) == "shares"


def test_a_purpose_that_cannot_be_had_is_refused() -> None:
    with pytest.raises(InvalidInput, match="shares, mean or both, not 'median'"):
        choose_channel(5, 4.0, "median")  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match="needs a number for each answer"):
        choose_channel(5, 4.0, "mean")
