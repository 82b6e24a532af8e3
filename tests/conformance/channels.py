"""The channels that the conformance suite goes through: named ones, and any that hypothesis finds."""

from __future__ import annotations

import itertools
import math

import numpy as np
from hypothesis import strategies as st

from tacit import channels
from tacit.channel.base import Channel

Shape = tuple[int, ...]

_LEFT_RIGHT = [[0.5, 0.125, 0.25], [0.375, 0.75, 0.125], [0.125, 0.125, 0.625]]
_MORE_REPORTS = [[0.5, 0.25], [0.25, 0.25], [0.25, 0.125], [0.0, 0.375]]
_PERSONAL = [[0.25, 0.75], [0.5, 0.125, 0.375]]

# Every chance is a multiple of 2**-8, so the exact suite can follow every draw.
NAMED: dict[str, Channel] = {
    "warner": channels.warner(0.625).build((4,)),
    "warner below 1/n": channels.warner(0.0625).build((6,)),
    "warner never true": channels.warner(0.0).build((3,)),
    "warner of two attributes": channels.warner(0.25).build((2, 3)),
    "uniform perturbation": channels.uniform_perturbation(0.25).build((3,)),
    "uniform perturbation of three attributes": channels.uniform_perturbation(0.5).build((2, 3, 2)),
    "everything kept": channels.uniform_perturbation(1.0).build((3,)),
    "gamma-diagonal": channels.gamma_diagonal(5).build((4,)),
    "gamma-diagonal of two attributes": channels.gamma_diagonal(19).build((3, 4)),
    "unrelated question": channels.mixture(0.5, [0.125, 0.25, 0.625]).build((3,)),
    "unrelated questions per attribute": channels.mixture(0.75, _PERSONAL).build((2, 3)),
    "unrelated joint question": channels.mixture(0.25, [0.25, 0.125, 0.0, 0.375, 0.125, 0.125]).build((2, 3)),
    "flip": channels.flip(0.75).build((2,)),
    "flip of three attributes": channels.flip(0.375).build((2, 2, 2)),
    "matrix": channels.matrix(_LEFT_RIGHT).build((3,)),
    "matrix of two attributes": channels.matrix(np.kron(_LEFT_RIGHT, [[0.75, 0.5], [0.25, 0.5]])).build((3, 2)),
    "matrix with more reports": channels.matrix(_MORE_REPORTS, list("abcd")).build((2,)),
    "mask": channels.mask(0.75).build((3,)),
    "mask of two attributes": channels.mask(0.25).build((2, 3)),
    "cut-and-paste": channels.cut_and_paste(1, 0.25).build((3,)),
    "cut-and-paste of two attributes": channels.cut_and_paste(2, 0.5).build((2, 2)),
    "cut-and-paste beyond the record": channels.cut_and_paste(4, 0.25).build((2, 3)),
    "randomized gamma-diagonal": channels.randomized_gamma_diagonal(5, 0.125).build((4,)),
    "randomized gamma-diagonal of two attributes": channels.randomized_gamma_diagonal(7, 0.2).build((2, 3)),
    "subset of one": channels.subset(1, 3).build((4,)),
    "subset of two": channels.subset(2, 4.5).build((5,)),
    "subset of all but one": channels.subset(3, 5).build((2, 2)),
    "subset of three of six": channels.subset(3, 7).build((2, 3)),
    "subset of one of two": channels.subset(1, 3).build((2,)),
    "hadamard": channels.hadamard(3).build((4,)),
    "hadamard of two": channels.hadamard(7).build((2,)),
    "hadamard of two attributes": channels.hadamard(15).build((2, 3)),
    "threshold": channels.threshold(3).build((5,)),
    "threshold with widths": channels.threshold(7, [1, 4, 2, 1]).build((5,)),
    "local hashing": channels.local_hashing(3).build((4,)),
    "local hashing of two": channels.local_hashing(7).build((2,)),
    "local hashing of two attributes": channels.local_hashing(1.5).build((2, 3)),
}

UNINFORMATIVE: dict[str, tuple[Channel, str]] = {
    "nothing kept": (channels.uniform_perturbation(0.0).build((3,)), "kept with chance 0"),
    "warner at 1/n": (channels.warner(0.25).build((4,)), "kept with chance 0"),
    "warner at 1/n, rounded": (channels.warner(1 / 3).build((3,)), "kept with chance 0"),
    "warner at 1/n of a group, rounded": (channels.warner(1 / 6).build((2, 3)), "kept with chance 0"),
    "gamma-diagonal 1": (channels.gamma_diagonal(1).build((3,)), "kept with chance 0"),
    "flip 1/2": (channels.flip(0.5).build((2, 2)), "theta = 1/2"),
    "singular matrix": (channels.matrix([[0.5, 0.5], [0.5, 0.5]]).build((2,)), "singular .* linearly independent"),
    "fewer reports": (channels.matrix([[0.5, 0.5, 1], [0.5, 0.5, 0]], ["a", "b"]).build((3,)), "singular"),
    "mask 1/2": (channels.mask(0.5).build((2, 3)), "fair coins"),
    "cut-and-paste too short": (channels.cut_and_paste(1, 0.25).build((2, 2)), "K = 1 .* 2 attributes together"),
    "cut-and-paste of everything": (channels.cut_and_paste(2, 1.0).build((2, 2)), "rho = 1"),
    "randomized gamma-diagonal 1": (channels.randomized_gamma_diagonal(1, 0.1).build((4,)), "kept with chance 0"),
    "subset gamma 1": (channels.subset(2, 1).build((4,)), "gamma = 1"),
    "hadamard gamma 1": (channels.hadamard(1).build((3,)), "gamma = 1"),
    "threshold gamma 1": (channels.threshold(1).build((3,)), "gamma = 1"),
    "local hashing gamma 1": (channels.local_hashing(1).build((3,)), "gamma = 1"),
}


def axes_of_marginals(channel: Channel) -> list[tuple[int, ...]]:
    """Every selection of some, not all, of the attributes."""
    attributes = range(len(channel.shape))
    return [axes for count in attributes if count for axes in itertools.combinations(attributes, count)]


def with_marginals(catalogue: dict[str, Channel]) -> dict[str, Channel]:
    """The channels of a catalogue and the marginals of each that has them."""
    every = dict(catalogue)
    for name, channel in catalogue.items():
        if channel.has_marginals:
            every |= {f"{name}, attributes {axes}": channel.marginal(axes) for axes in axes_of_marginals(channel)}
    return every


def _distribution(size: int) -> st.SearchStrategy[list[float]]:
    weights = st.lists(st.integers(1, 20), min_size=size, max_size=size)
    return weights.map(lambda parts: [part / sum(parts) for part in parts])


_shapes = st.lists(st.integers(2, 4), min_size=1, max_size=3).map(tuple).filter(lambda shape: math.prod(shape) <= 18)
_chances = st.floats(0.05, 0.95).filter(lambda chance: abs(chance - 0.5) > 0.05)
_gammas = st.floats(1.5, 50)


@st.composite
def _mixtures(draw: st.DrawFn) -> Channel:
    shape = draw(_shapes)
    size = math.prod(shape)
    warner = draw(_chances.filter(lambda p: abs(p - 1 / size) > 0.02))
    joint = st.one_of(_distribution(size), st.tuples(*map(_distribution, shape)).map(list))
    recipe = draw(
        st.one_of(
            st.just(channels.warner(warner)),
            st.builds(channels.uniform_perturbation, _chances),
            st.builds(channels.gamma_diagonal, _gammas),
            st.builds(channels.mixture, _chances, joint),
            st.builds(channels.randomized_gamma_diagonal, _gammas, st.floats(0, 0.01)),
        )
    )
    return recipe.build(shape)


@st.composite
def _matrices(draw: st.DrawFn) -> Channel:
    """Diagonally heavy, so that they can be inverted; with or without additional reports."""
    size, more = draw(st.integers(2, 5)), draw(st.integers(0, 3))
    columns = [draw(_distribution(size + more)) for _ in range(size)]
    matrix = 0.4 * np.array(columns).T + 0.6 * np.eye(size + more, size)
    labels = [f"r{row}" for row in range(size + more)] if more else None
    return channels.matrix(matrix, labels).build((size,))


@st.composite
def _subsets(draw: st.DrawFn) -> Channel:
    shape = draw(_shapes.filter(lambda shape: math.prod(shape) <= 9))
    return channels.subset(draw(st.integers(1, math.prod(shape) - 1)), draw(_gammas)).build(shape)


@st.composite
def _hadamards(draw: st.DrawFn) -> Channel:
    return channels.hadamard(draw(_gammas)).build(draw(_shapes))


@st.composite
def _hashings(draw: st.DrawFn) -> Channel:
    shape = draw(_shapes.filter(lambda shape: math.prod(shape) <= 8))
    return channels.local_hashing(draw(st.floats(1.5, 9))).build(shape)


@st.composite
def _bits(draw: st.DrawFn) -> Channel:
    shape = draw(_shapes.filter(lambda shape: sum(shape) <= 8))
    K = draw(st.integers(len(shape), 5))
    recipes = st.one_of(st.builds(channels.mask, _chances), st.builds(channels.cut_and_paste, st.just(K), _chances))
    return draw(recipes).build(shape)


@st.composite
def _flips(draw: st.DrawFn) -> Channel:
    return channels.flip(draw(_chances)).build((2,) * draw(st.integers(1, 4)))


@st.composite
def invertible_channels(draw: st.DrawFn) -> Channel:
    """Any channel with any parameters that leave something to estimate, or a marginal of it."""
    channel = draw(st.one_of(_mixtures(), _matrices(), _subsets(), _hadamards(), _hashings(), _bits(), _flips()))
    if channel.has_marginals and len(channel.shape) > 1 and draw(st.booleans()):
        return channel.marginal(draw(st.sampled_from(axes_of_marginals(channel))))
    return channel


@st.composite
def summed_channels(draw: st.DrawFn) -> Channel:
    """Channels of several attributes that have no marginals, so that their estimates are summed."""
    shape = draw(_shapes.filter(lambda shape: len(shape) > 1 and math.prod(shape) <= 9))
    size, more = math.prod(shape), draw(st.integers(0, 2))
    kind = draw(st.sampled_from(["subset", "hadamard", "local-hashing", "matrix"]))
    if kind == "subset":
        return channels.subset(draw(st.integers(1, size - 1)), draw(_gammas)).build(shape)
    if kind == "hadamard":
        return channels.hadamard(draw(_gammas)).build(shape)
    if kind == "local-hashing":
        return channels.local_hashing(draw(st.floats(1.5, 9))).build(shape)
    columns = [draw(_distribution(size + more)) for _ in range(size)]
    matrix = 0.4 * np.array(columns).T + 0.6 * np.eye(size + more, size)
    return channels.matrix(matrix, [f"r{row}" for row in range(size + more)] if more else None).build(shape)
