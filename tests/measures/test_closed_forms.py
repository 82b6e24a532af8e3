"""Every closed form against the dense formula, which lists all reports."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit import channels
from tacit.channel.dense import attribute_law, dense_figures, map_privacy
from tacit.errors import InvalidInput
from tacit.measures import accurate_map_privacy

chances = st.floats(0, 1)
shares = st.one_of(st.just(0.0), st.floats(0.01, 1.0))


@st.composite
def priors(draw, shape):
    weights = np.array(draw(st.lists(shares, min_size=math.prod(shape), max_size=math.prod(shape))))
    if weights.sum() == 0:
        weights[:] = 1
    return (weights / weights.sum()).reshape(shape)


@st.composite
def mixtures(draw):
    shape = tuple(draw(st.lists(st.integers(2, 4), min_size=1, max_size=3)))
    n = math.prod(shape)
    recipe = draw(
        st.one_of(
            st.builds(channels.warner, chances),
            st.builds(channels.uniform_perturbation, chances),
            st.builds(channels.gamma_diagonal, st.floats(1, 1e4)),
            st.builds(channels.mixture, chances, priors((n,)).map(lambda p: p.tolist())),
        )
    )
    return recipe.build(shape)


@st.composite
def flips(draw):
    shape = (2,) * draw(st.integers(1, 4))
    return channels.flip(draw(chances)).build(shape)


@st.composite
def subsets(draw):
    shape = draw(st.sampled_from([(2,), (3,), (5,), (7,), (2, 3), (2, 2, 2)]))
    size = draw(st.integers(1, math.prod(shape) - 1))
    return channels.subset(size, draw(st.one_of(st.floats(1.001, 1e4), st.just(1e9)))).build(shape)


@st.composite
def bits(draw):
    size = draw(st.integers(2, 6))
    if draw(st.booleans()):
        return channels.mask(draw(chances)).build((size,))
    whole = channels.cut_and_paste(draw(st.integers(1, 4)), draw(chances)).build((size, 2, 2))
    return whole.marginal([0])


def agree(figures, expected):
    for name in ("map_privacy", "worst_posterior", "pse"):
        assert getattr(figures, name) == pytest.approx(getattr(expected, name), abs=1e-9), name


@pytest.mark.parametrize("family", [mixtures, flips, subsets, bits])
def test_closed_forms_agree_with_the_list_of_all_reports(family):
    @settings(max_examples=150, deadline=None)
    @given(st.data())
    def check(data):
        channel = data.draw(family())
        prior = data.draw(priors(channel.shape))
        agree(channel.figures(prior), dense_figures(channel.matrix, prior.reshape(-1)))

    check()


@pytest.mark.parametrize("family", [mixtures, flips, subsets, bits])
def test_condition_numbers_agree_with_the_singular_values(family):
    @settings(max_examples=100, deadline=None)
    @given(st.data())
    def check(data):
        channel = data.draw(family())
        singular = np.linalg.svd(channel.matrix, compute_uv=False)
        if singular[-1] > 1e-5 * singular[0]:
            assert channel.condition_number() == pytest.approx(singular[0] / singular[-1], rel=1e-6)
        else:
            assert channel.condition_number() > 1e4

    check()


@settings(max_examples=50, deadline=None)
@given(st.data())
def test_the_accuracy_of_a_guess_agrees_for_mixtures(data):
    channel = data.draw(mixtures())
    prior = data.draw(priors(channel.shape))
    n = math.prod(channel.shape)
    worth = np.array(data.draw(st.lists(st.floats(0, 1), min_size=n * n, max_size=n * n))).reshape(n, n)
    expected = map_privacy(channel.matrix, prior.reshape(-1), worth)
    assert accurate_map_privacy(channel, prior, worth) == pytest.approx(expected, abs=1e-9)


def test_an_accuracy_of_only_hits_is_map_privacy():
    channel = channels.flip(0.8).build((2, 2))
    prior = np.array([[0.4, 0.3], [0.2, 0.1]])
    assert accurate_map_privacy(channel, prior, np.eye(4)) == pytest.approx(channel.figures(prior).map_privacy)


def test_an_accuracy_of_the_wrong_shape_is_refused():
    with pytest.raises(InvalidInput, match=r"with 4 truths, but its shape is \(2, 2\)"):
        accurate_map_privacy(channels.flip(0.8).build((2, 2)), np.full((2, 2), 0.25), np.eye(2))


@pytest.mark.parametrize("p", [0.0, 0.1, 0.9])
def test_the_even_form_for_huge_domains_agrees_on_a_small_one(p):
    channel = channels.warner(p).build((3, 4))
    even = [np.full(3, 1 / 3), np.full(4, 1 / 4)]
    agree(channel._even_figures(12, even), channel.figures(np.full((3, 4), 1 / 12)))
    agree(channel._even_figures(4, even), channel.answer_figures(1, np.full((3, 4), 1 / 12)))


def test_whole_reports_of_a_mask_group_are_listed_while_they_are_few():
    channel = channels.mask(0.7).build((2, 3))
    prior = np.array([[0.3, 0.1, 0.1], [0.05, 0.15, 0.3]])
    agree(channel.figures(prior), dense_figures(channel.matrix, prior.reshape(-1)))
    large = channels.mask(0.7).build((20, 20))
    assert not large.is_small
    assert large.figures(np.full((20, 20), 1 / 400)).map_privacy is None


def test_an_attribute_of_a_dense_group_is_seen_through_the_whole_report():
    rng = np.random.default_rng(5)
    law = rng.dirichlet(np.ones(8), size=6).T
    channel = channels.matrix(law, [str(row) for row in range(8)]).build((2, 3))
    prior = rng.dirichlet(np.ones(6)).reshape(2, 3)
    joint = (channel.matrix * prior.reshape(-1)).reshape(8, 2, 3).sum(axis=2)  # [report, first attribute]
    figures = channel.answer_figures(0, prior)
    assert figures.map_privacy == pytest.approx(1 - joint.max(axis=1).sum())
    assert figures.worst_posterior == pytest.approx((joint / joint.sum(axis=1, keepdims=True)).max())
    assert attribute_law(channel.matrix, channel.shape, 0, prior).sum(axis=0) == pytest.approx([1, 1])


@pytest.mark.parametrize("p", [0.1, 0.55, 0.9])
def test_pse_of_even_answers_counts_the_shown_bits(p):
    channel, even = channels.mask(p).build((7,)), np.full(7, 1 / 7)
    agree(channel.figures(even), dense_figures(channel.matrix, even))
    many = channels.mask(p).build((400,)).figures(np.full(400, 1 / 400))
    assert many.pse >= many.map_privacy
    uneven = np.arange(1, 42) / np.arange(1, 42).sum()
    assert channels.mask(p).build((41,)).figures(uneven).pse is None


def test_a_subset_of_many_answers_needs_no_list():
    # n = 2000, k = 100 as on the CENSUS records; under a uniform prior everything is known by symmetry.
    channel = channels.subset(100, 19).build((2000,))
    figures = channel.figures(np.full(2000, 1 / 2000))
    sure = channel.holds / 100  # one of the members
    assert figures.map_privacy == pytest.approx(1 - sure)
    assert figures.worst_posterior == pytest.approx(sure)
    skewed = np.arange(1, 2001) / np.arange(1, 2001).sum()
    assert channel.figures(skewed).pse is None
    assert 0 < channel.figures(skewed).map_privacy < 1


def test_the_comparison_notices_a_channel_that_is_off_by_a_hundredth():
    prior = np.array([0.5, 0.3, 0.2])
    figures = channels.mask(0.71).build((3,)).figures(prior)
    with pytest.raises(AssertionError):
        agree(figures, dense_figures(channels.mask(0.70).build((3,)).matrix, prior))
