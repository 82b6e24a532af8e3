from __future__ import annotations

import itertools

import numpy as np
import pytest

from tacit.publish import lattice
from tacit.publish.lattice import prove_levels
from tacit.publish.problem import NWP, STRENGTH
from tests.publish.small import posed, small_tally

# Of six answers: all together, by threes, by twos within, each alone.
LEVELS = np.array([[0] * 6, [0, 0, 0, 1, 1, 1], [0, 0, 1, 2, 2, 3], range(6)])


@pytest.fixture
def problem():
    return posed(small_tally(2, sizes=(6, 6, 6), rows=400), k=12, levels=[LEVELS] * 3)


def start(problem):
    return np.zeros(problem.n_bits, np.uint8)


def test_the_least_loss_is_that_of_trying_every_level(problem):
    proof = prove_levels(problem, start(problem), 60)
    every = [
        problem.measure(lattice._bits(levels, (3, 3, 3))[None])[0] for levels in itertools.product(range(4), repeat=3)
    ]
    assert proof.complete
    assert proof.is_proven
    assert proof.nwp == pytest.approx(min(each[NWP] for each in every if each[STRENGTH] >= 12))


@pytest.mark.parametrize("steps", [0, 5])
def test_an_interruption_keeps_the_bound(problem, steps, monkeypatch):
    least = prove_levels(problem, start(problem), 60).nwp
    step, left = lattice._Lattice.step, iter(range(steps))

    def interrupted(self):
        if next(left, None) is None:
            raise KeyboardInterrupt
        step(self)

    monkeypatch.setattr(lattice._Lattice, "step", interrupted)
    proof = prove_levels(problem, start(problem), 60)
    assert not proof.complete
    assert (proof.lower_bound > 0) == (steps > 0)
    assert proof.lower_bound <= least < proof.nwp == 1
