"""A design for a set of priors: it keeps its bound for each of them, and nothing that does errs less."""

from __future__ import annotations

import time

import numpy as np
import pytest

from tacit.channel.dense import expected_mse, worst_posterior
from tacit.design import exact_front
from tacit.design.safe import safe_front
from tacit.errors import InvalidInput

PRIOR = np.array([0.45, 0.3, 0.2, 0.05])


def test_it_keeps_the_bound_for_every_prior_of_the_ball() -> None:
    (point,) = safe_front(PRIOR, 1000, delta=0.75, ball=0.08).points
    rng = np.random.default_rng(5)
    for _ in range(2000):
        other = rng.dirichlet(np.ones(4))
        distance = np.abs(other - PRIOR).sum() / 2
        near = PRIOR + (other - PRIOR) * min(1.0, 0.08 / distance)
        assert worst_posterior(point.matrix, near) <= 0.75 + 1e-7
    alone = exact_front(PRIOR, 1000, delta=0.75, privacy=0.25).points[0]
    worst = max(worst_posterior(alone.matrix, PRIOR + 0.08 * (np.eye(4)[i] - np.eye(4)[0])) for i in range(1, 4))
    assert worst > 0.8  # the attack: a design for one prior breaks its promise under others
    assert point.mse > alone.mse


def test_it_is_certified_and_no_random_safe_channel_beats_it() -> None:
    others = [[0.3, 0.3, 0.3, 0.1], [0.5, 0.2, 0.2, 0.1]]
    (point,) = safe_front(PRIOR, 1000, delta=0.8, others=others).points
    assert 0 <= point.gap <= 1e-6
    assert max(worst_posterior(point.matrix, np.array(each)) for each in others) <= 0.8 + 1e-9
    rng = np.random.default_rng(6)
    tried = 0
    for _ in range(3000):
        matrix = rng.dirichlet(np.full(5, 0.4), size=4).T
        if max(worst_posterior(matrix, np.array(each)) for each in (PRIOR, *others)) <= 0.8:
            tried += 1
            assert expected_mse(matrix, PRIOR, 1000) >= point.lower_bound
    assert tried > 50


def test_eight_answers_are_certified_in_a_moment() -> None:
    prior = np.array([0.25, 0.2, 0.15, 0.12, 0.1, 0.08, 0.06, 0.04])
    started = time.process_time()
    (point,) = safe_front(prior, 1000, delta=0.6, ball=0.03).points
    assert time.process_time() - started < 10  # takes a tenth of a second
    assert 0 <= point.gap <= 1e-6
    rng = np.random.default_rng(8)
    for _ in range(500):
        toward = rng.dirichlet(np.full(8, 0.3)) - prior
        near = prior + toward * min(1.0, 0.03 / (np.abs(toward).sum() / 2))
        assert worst_posterior(point.matrix, near) <= 0.6 + 1e-7


def test_one_prior_alone_is_the_exact_design() -> None:
    (point,) = safe_front(PRIOR, 1000, delta=0.75).points
    assert point.mse == pytest.approx(exact_front(PRIOR, 1000, delta=0.75, privacy=0.25).points[0].mse, rel=1e-5)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"delta": 0.75, "ball": 1.0}, "from 0 to below 1"),
        ({"delta": 0.5, "ball": 0.1}, "Choose a larger delta, or a smaller set"),
        ({"delta": 0.75, "others": [[0.5, 0.5]]}, "give one each"),
    ],
)
def test_impossible_sets_are_refused(options: dict[str, object], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        safe_front(PRIOR, 1000, **options)


def test_many_answers_are_refused() -> None:
    with pytest.raises(InvalidInput, match="at most 8 answers, not 9"):
        safe_front(np.full(9, 1 / 9), 1000, delta=0.75, ball=0.01)
