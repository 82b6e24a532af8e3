"""Numbers printed in the papers, and the formulas between them."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit import channels
from tacit.channel.dense import prediction_entropy
from tacit.channel.recipe import for_amplification
from tacit.errors import InvalidInput
from tacit.measures.amplification import (
    binary_pse,
    coins_guessed,
    determinable,
    determinable_range,
    epsilon,
    gamma_between,
    posterior_bound,
)


def test_five_and_fifty_percent_allow_an_amplification_of_19():
    assert gamma_between(0.05, 0.50) == pytest.approx(19)
    assert posterior_bound(0.05, 19) == pytest.approx(0.50)
    assert epsilon(19) == pytest.approx(2.944439)


@given(st.floats(0.001, 0.9), st.floats(1.01, 1e6))
def test_the_bound_and_the_demand_are_inverse(share, gamma):
    assert gamma_between(share, posterior_bound(share, gamma)) == pytest.approx(gamma, rel=1e-6)


def test_an_infinite_amplification_bounds_nothing():
    assert posterior_bound(0.05, math.inf) == 1
    assert epsilon(math.inf) == math.inf


@pytest.mark.parametrize(("rho1", "rho2"), [(0, 0.5), (0.5, 1), (-0.1, 0.5)])
def test_shares_outside_zero_and_one_are_refused(rho1, rho2):
    with pytest.raises(InvalidInput, match="strictly between 0 and 1"):
        gamma_between(rho1, rho2)


def test_a_posterior_below_the_prior_is_refused():
    with pytest.raises(InvalidInput, match=r"rho2.*must exceed rho1.*0\.5 and 0\.4"):
        gamma_between(0.5, 0.4)


@pytest.mark.parametrize(("attributes", "printed"), [(6, 0.5610), (7, 0.5524)])
def test_masks_published_chances(attributes, printed):
    shape = (2,) * attributes
    recipe = for_amplification("mask", shape, 19)
    assert recipe.parameters["p"] == pytest.approx(printed, abs=5e-5)
    assert recipe.build(shape).amplification == pytest.approx(19, rel=1e-6)


def test_cut_and_pastes_tight_chance_lies_below_the_published_one():
    recipe = for_amplification("cut-and-paste", (2,) * 6, 19, K=3)
    assert recipe.parameters["rho"] == pytest.approx(0.4514, abs=5e-5)
    assert recipe.build((2,) * 6).amplification == pytest.approx(19, rel=1e-6)
    assert channels.cut_and_paste(3, 0.494).build((2,) * 6).amplification < 19


def test_cut_and_paste_that_keeps_more_than_the_record_has():
    recipe = for_amplification("cut-and-paste", (3, 3), 19, K=5)
    assert recipe.build((3, 3)).amplification == pytest.approx(19, rel=1e-6)


def test_cut_and_paste_cannot_go_below_its_number_of_draws():
    with pytest.raises(InvalidInput, match="at least 4, so 3 cannot be kept"):
        for_amplification("cut-and-paste", (2,) * 6, 3, K=3)


def test_frapps_determinable_range():
    n, gamma = 2000, 19
    alpha = gamma / (gamma + n - 1) / 2
    seen = determinable_range(0.05, gamma, alpha, n)
    assert seen.low == pytest.approx(0.33, abs=0.005)
    assert seen.expected == pytest.approx(0.50)
    assert seen.high == pytest.approx(0.60, abs=0.005)
    assert seen.largest_gamma == pytest.approx(28.6, abs=0.05)
    channel = channels.randomized_gamma_diagonal(gamma, alpha).build((n,))
    sampled = determinable(0.05, channel.drawn_odds())
    assert sampled.low == pytest.approx(seen.low, abs=1e-5)
    assert sampled.largest_gamma == pytest.approx(seen.largest_gamma, rel=1e-5)


def test_a_draw_that_never_tells_the_truth_has_no_bound():
    seen = determinable_range(0.05, 3, 3 / 12, 10)  # alpha = gamma x: the truth may have chance zero
    assert seen.low == 0
    assert seen.largest_gamma == math.inf


@pytest.mark.parametrize(
    ("keep", "share", "personal"), list(itertools.product([0, 0.3, 0.8, 1], [0.1, 0.5, 0.9], [0, 0.2, 0.5, 1]))
)
def test_binary_pse_agrees_with_its_definition_and_is_symmetric(keep, share, personal):
    law = channels.mixture(keep, [1 - personal, personal]).build((2,)).matrix
    assert binary_pse(keep, share, personal) == pytest.approx(
        prediction_entropy(law, np.array([1 - share, share])), abs=1e-8
    )
    assert binary_pse(keep, share, personal) == pytest.approx(binary_pse(keep, 1 - share, 1 - personal))


def test_pse_without_and_with_full_disguise():
    assert binary_pse(1, 0.3, 0.5) == 0
    assert binary_pse(0, 0.3, 0.5) == pytest.approx(2 * 0.3 * 0.7)


def test_coins_of_several_groups_are_guessed_with_the_power():
    assert coins_guessed(0.8, 1) == pytest.approx(0.8)
    assert coins_guessed(0.2, 3) == pytest.approx(0.8**3)
