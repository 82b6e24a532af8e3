"""Hops out of a local optimum are channels again, and merging reports costs what it says."""

from __future__ import annotations

import numpy as np
import pytest

from tacit.design import _merge_kernels, search_moves
from tacit.design.certificate import Aim

PRIOR = np.array([0.1, 0.15, 0.2, 0.25, 0.3])


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(4)


@pytest.fixture
def channel(rng: np.random.Generator) -> np.ndarray:
    return 0.5 * np.eye(5) + 0.5 * rng.dirichlet(np.ones(5), 5).T


def trace(joint: np.ndarray) -> float:
    chances = joint.sum(axis=1)
    return float(np.trace(np.linalg.inv(Aim.of_shares(PRIOR).information(joint / chances[:, None], chances))))


def test_merging_a_pair_adds_the_trace_that_was_computed(rng: np.random.Generator) -> None:
    joint = np.ascontiguousarray(rng.dirichlet(np.ones(8), 5).T * PRIOR)  # in rows, as the search has it
    added = _merge_kernels.added_traces(joint, PRIOR)
    for a in range(8):
        for b in range(a):
            merged = np.vstack([np.delete(joint, [a, b], axis=0), joint[a] + joint[b]])
            assert added[a, b] == pytest.approx(trace(merged) - trace(joint), rel=1e-8)


def test_merging_takes_the_cheapest_pair_and_keeps_the_prior(rng: np.random.Generator) -> None:
    joint = np.ascontiguousarray(rng.dirichlet(np.ones(8), 5).T * PRIOR)  # in rows, as the search has it
    cheapest = _merge_kernels.added_traces(joint, PRIOR).min()
    merged = _merge_kernels.merge_reports(joint, PRIOR, 7, 0.0, 0.0, rng)
    assert trace(merged) == pytest.approx(trace(joint) + cheapest)
    np.testing.assert_allclose(merged.sum(axis=0), PRIOR)


def test_every_hop_is_another_square_channel(channel: np.ndarray, rng: np.random.Generator) -> None:
    other = np.roll(channel, 1, axis=1)
    for hopped in (
        search_moves.cross_channels(channel, other, rng),
        search_moves.exchange_report(channel, PRIOR, rng),
        search_moves.swap_chances(channel, rng),
        search_moves.mix_with_random(channel, PRIOR, rng),
    ):
        assert hopped.shape == (5, 5)
        assert hopped.min() >= 0
        np.testing.assert_allclose(hopped.sum(axis=0), 1)
        assert np.abs(hopped - channel).max() > 1e-3


def test_crossing_names_the_reports_alike_first(channel: np.ndarray, rng: np.random.Generator) -> None:
    """The same channel with its reports renamed brings nothing new."""
    np.testing.assert_array_equal(search_moves.cross_channels(channel, channel[[2, 0, 1, 4, 3]], rng), channel)
