"""Statistical assertions with computed p-values.

Each fails a correct program with chance FALSE_ALARM, should its seed or the order of its draws ever change. Beside every
use stands a test that a small, stated error *is* noticed.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats

FALSE_ALARM = 1e-6
# So far in the tail, the textbook minimum of 5 expected draws a cell would mean a false alarm of 7e-5.
FEWEST_EXPECTED = 1000


def assert_drawn_from(counts: ArrayLike, probabilities: ArrayLike) -> None:
    """Chi-square goodness of fit; the rarest cells are pooled until each is expected often enough."""
    seen, chances = np.asarray(counts, dtype=np.float64), np.asarray(probabilities, dtype=np.float64)
    assert seen.shape == chances.shape, f"{seen.shape} counts, {chances.shape} probabilities"
    impossible = np.flatnonzero((chances == 0) & (seen > 0))
    assert not len(impossible), f"p-value 0: saw the impossible outcomes {impossible.tolist()}"
    seen, expected = _pooled(seen[chances > 0], seen.sum() * chances[chances > 0])
    if len(seen) == 1:
        assert (chances > 0).sum() == 1, "too few draws for the chi-square approximation"
        return
    p_value = stats.chisquare(seen, expected * (seen.sum() / expected.sum())).pvalue
    assert p_value >= FALSE_ALARM, f"p-value {p_value:.1e}: saw {seen}, expected {expected}"


def _pooled(
    seen: NDArray[np.float64], expected: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    order = np.argsort(expected)
    seen, expected = seen[order], expected[order]
    # The shortest start of the sorted cells after which every cell, the pooled one too, is expected often enough.
    for rare in range(len(seen)):
        starts = [0, *range(rare + 1, len(seen))]
        pooled = np.add.reduceat(expected, starts)
        if pooled.min() >= FEWEST_EXPECTED:
            return np.add.reduceat(seen, starts), pooled
    raise AssertionError(f"too few draws for the chi-square approximation: {expected.sum():g}")


def power_against(actual: ArrayLike, declared: ArrayLike, draws: int) -> float:
    """Chance that `assert_drawn_from` notices draws from `actual` where `declared` was stated."""
    law, claim = np.asarray(actual, dtype=np.float64), np.asarray(declared, dtype=np.float64)
    freedom = len(claim) - 1
    shift = draws * float(((law - claim) ** 2 / claim).sum())
    return float(stats.ncx2.sf(stats.chi2.isf(FALSE_ALARM, freedom), freedom, shift))


def assert_share(successes: int, trials: int, chance: float) -> None:
    """Exact binomial test of a number of successes."""
    p_value = stats.binomtest(successes, trials, chance).pvalue
    assert p_value >= FALSE_ALARM, f"p-value {p_value:.1e}: {successes} of {trials}, expected a share of {chance:g}"


def assert_standard_scores(scores: ArrayLike) -> None:
    """Independent z-scores have mean 0 and deviation 1: the normal and the chi-square test, half the alarm each."""
    z = np.asarray(scores, dtype=np.float64).ravel()
    of_mean = 2 * stats.norm.sf(abs(z.mean()) * math.sqrt(len(z)))
    squares = float((z**2).sum())
    of_spread = 2 * min(stats.chi2.sf(squares, len(z)), stats.chi2.cdf(squares, len(z)))
    p_value = min(of_mean, of_spread)
    assert p_value >= FALSE_ALARM / 2, f"p-value {p_value:.1e}: mean {z.mean():.3g}, deviation {z.std():.3g}"
