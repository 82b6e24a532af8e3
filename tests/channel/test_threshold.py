"""Thresholds: the channel for a mean."""

from __future__ import annotations

import numpy as np
import pytest

import tacit
from tacit import Attribute, Dataset, Scheme, channels
from tacit.errors import InvalidInput


def variances(n: int, gamma: float) -> tuple[float, float, float]:
    """Per respondent, at an even truth: mean over shares, mean over cumulative shares, and of the mean (range 1)."""
    channel = channels.threshold(gamma).build((n,))
    even = np.full(n, 1 / n)
    covariance = channel.solve_pairs(channel.apply(even)) - np.multiply.outer(even, even)
    above = np.triu(np.ones((n, n)), 1)[:-1]  # P(x > t)
    mean = np.linspace(0, 1, n)
    return (
        float(np.trace(covariance)) / n,
        float(np.trace(above @ covariance @ above.T)) / (n - 1),
        float(mean @ covariance @ mean),
    )


@pytest.mark.parametrize(
    ("n", "gamma", "published"),
    [(11, 7 / 3, (27, 14.9, 1.494)), (7, 7 / 3, (15.5, 9.02, 1.503)), (7, 4, (6.53, 3.81, 0.635))],
)
def test_variances_are_those_of_the_formulas(n: int, gamma: float, published: tuple[float, float, float]) -> None:
    shares, cumulative, mean = variances(n, gamma)
    assert shares == pytest.approx(published[0], rel=0.02)
    assert mean == pytest.approx(published[2], rel=1e-3)
    assert cumulative == pytest.approx(published[1], rel=0.02)


def test_the_threshold_itself_says_nothing() -> None:
    channel = channels.threshold(7, [1, 4, 2, 1]).build((5,))
    chances = channel.matrix.reshape(4, 2, 5).sum(axis=1)
    assert np.abs(chances - np.array([1, 4, 2, 1])[:, None] / 8).max() < 1e-9


def test_a_mean_is_estimated_from_thresholds() -> None:
    attribute = Attribute("stress", tuple(map(str, range(11))), ordered=True)
    scheme = Scheme.of([attribute], [(["stress"], channels.threshold(7 / 3))])
    truth = np.random.default_rng(7).binomial(10, 0.3, 40_000)
    reports = tacit.disguise(Dataset.from_arrow({"stress": truth.astype(str)}, schema=scheme.schema), scheme, seed=3)
    assert reports.to_arrow().column_names == ["stress:threshold", "stress:above"]
    table = tacit.estimate(reports, "stress")
    values = np.arange(11)
    error = float(np.sqrt(values @ table.covariance @ values))
    assert error < 1.3 * 10 / np.sqrt(40_000)
    assert abs(values @ table.probabilities - truth.mean()) < 5 * error


@pytest.mark.parametrize(
    ("shape", "parameters", "message"),
    [
        ((2, 3), {"gamma": 3}, "one question; this group has 2"),
        ((2,), {"gamma": 3}, "Ask them with the channel 'warner'"),
        ((4,), {"gamma": 3, "widths": [1, 2]}, "4 answers have 3 widths"),
        ((4,), {"gamma": 3, "widths": [1, 0, 2]}, "numbers above 0"),
        ((4,), {"gamma": 0.5}, "at least 1"),
    ],
)
def test_what_has_no_thresholds_is_refused(shape: tuple[int, ...], parameters: dict, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        channels.threshold(**parameters).build(shape)
