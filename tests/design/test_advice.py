"""The table of ways: measures that can be recomputed, promises that hold, the one without a prior first."""

from __future__ import annotations

import numpy as np
import pytest

from tacit.channel.dense import amplification, expected_mse, map_privacy, worst_posterior
from tacit.design import Advice, advise
from tacit.errors import InvalidInput

PRIOR = np.array([0.5, 0.3, 0.15, 0.05])


@pytest.fixture(scope="module")
def advice() -> Advice:
    return advise(PRIOR, 2000, gamma=1.8, generations=100, seed=1)


def test_the_promise_that_needs_no_prior_comes_first(advice: Advice) -> None:
    assert [way.method for way in advice.channels][:2] == ["exact under gamma", "gamma-diagonal"]
    assert [way.needs_prior for way in advice.channels] == [False, False, True, True, True]
    assert {way.method for way in advice.channels[2:]} == {"exact under delta", "optrr", "warner"}
    assert advice.channels[2].method == "exact under delta"
    rest = [way.point.mse for way in advice.channels[2:]]
    assert rest == sorted(rest)


def test_every_number_is_that_of_the_channel_and_keeps_the_demand(advice: Advice) -> None:
    for way in advice.to_document()["channels"]:
        matrix = np.array(way["matrix"])
        assert way["mse"] == pytest.approx(expected_mse(matrix, PRIOR, 2000))
        assert way["privacy"] == pytest.approx(map_privacy(matrix, PRIOR))
        assert way["worst_posterior"] <= advice.delta + 1e-9
        assert way["worst_posterior"] == pytest.approx(worst_posterior(matrix, PRIOR))
        assert way["n_reports"] == len(matrix)
        if way["needs_prior"]:
            assert way["privacy"] >= advice.privacy - 1e-6
        else:
            assert amplification(matrix) <= 1.8 * (1 + 1e-9)


def test_an_amplification_alone_stands_for_the_posterior_it_allows() -> None:
    made = advise(PRIOR, 1000, gamma=6, generations=5, seed=1)
    assert made.delta == pytest.approx(6 * 0.5 / (6 * 0.5 + 0.5))
    back = advise(PRIOR, 1000, delta=made.delta, generations=5, seed=1)
    assert back.gamma == pytest.approx(6)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "State a demand: gamma"),
        ({"gamma": 1.0}, "finite and above 1"),
        ({"delta": 1.0}, "nothing is promised"),
        ({"delta": 0.4}, "theorem 5"),
        ({"gamma": 3.0, "privacy": 0.9}, "ask for less than that"),
    ],
)
def test_what_cannot_be_compared_is_refused(options: dict[str, float], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        advise(PRIOR, 1000, **options)


def test_a_way_without_a_channel_is_left_out_with_the_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tacit.design.posteriors.MOST_VERTICES", 8)
    made = advise(PRIOR, 1000, gamma=3, privacy=0.3, generations=2, seed=1)
    assert "exact under gamma: The exact front of 4 answers" in made.left_out[0]
    assert made.channels[0].method == "gamma-diagonal"


def test_of_channels_that_err_alike_the_simpler_one_comes_first() -> None:
    """On few answers under a loose bound gamma-diagonal is the exact channel."""
    made = advise([0.6, 0.3, 0.1], 1000, gamma=5, generations=2, seed=1)
    assert made.channels[0].method == "gamma-diagonal"
    assert made.channels[0].point.mse == pytest.approx(made.channels[1].point.mse, rel=1e-6)
