from __future__ import annotations

import os

import numpy as np
import pytest

from tacit import bundled
from tacit.errors import InvalidInput
from tacit.publish import proof
from tacit.publish.achievement import Preference
from tacit.publish.opening import open_input, tally
from tacit.publish.problem import NWP, STRENGTH, Diversity, pose
from tacit.publish.proof import prove
from tacit.publish.search import EvolutionSettings, search
from tests.publish.small import every_chromosome, posed, small_tally

# The least NWP of the nine Adult attributes, equal weights, each proven by this branch and bound.
LEAST_NWP = {10: 0.433771953, 25: 0.482606719, 50: 0.528084326, 100: 0.570791442}
# Those that take about a minute.
LARGER_PROOFS = {2: 0.338193915, 5: 0.401830810}


def adult(k, names=None, **demands):
    source = open_input(bundled.adult_nine())
    names = names or source.schema.names
    return pose(tally(source, [names], ()), k, np.full(len(names), 1 / len(names)), **demands)


def brute_force(problem) -> float:
    measures = problem.measure(np.array(list(every_chromosome(problem))))
    return float(measures[measures[:, STRENGTH] >= problem.k, NWP].min())


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize(
    ("arrangement", "demands"),
    [
        ({}, {}),
        ({"sets": ((0, 1), (1, 2))}, {}),
        ({"sensitive": 3}, {"diversity": Diversity(l=2)}),
        ({"sensitive": 3}, {"diversity": Diversity(l=2, t=0.35, entropy=True)}),
    ],
    ids=[
        "k",
        "two sets",
        "l",
        "entropy and t",
    ],
)
def test_the_proven_least_is_that_of_trying_everything(seed, arrangement, demands):
    problem = posed(small_tally(seed, **arrangement), k=3 + seed, **demands)
    found = prove(problem, np.zeros(problem.n_bits, np.uint8), seconds=60)
    assert found.is_proven
    assert found.nwp == pytest.approx(brute_force(problem), abs=1e-12)
    assert problem.measure(found.bits[None])[0, STRENGTH] >= problem.k


@pytest.mark.parametrize(("k", "least"), [(5, 0.027612), (50, 0.080690)])
def test_four_adult_attributes(k, least):
    problem = adult(k, ("workclass", "race", "sex", "salary-class"))
    found = prove(problem, np.zeros(problem.n_bits, np.uint8), seconds=60)
    assert found.is_proven
    assert found.nwp == pytest.approx(least, abs=5e-7)


def test_at_any_time_the_bounds_enclose_the_least():
    problem = adult(100)
    start = search(problem, Preference(), EvolutionSettings(2_000), np.random.default_rng(1))
    found = prove(problem, start.chromosome(0, problem.n_bits), seconds=2)
    assert 0 < found.lower_bound <= LEAST_NWP[100] + 1e-9 <= found.nwp + 2e-9
    assert 0 <= found.gap < 1


@pytest.mark.parametrize("calls", [1, 2, 30, 60, 90])
def test_an_interrupted_proof_claims_no_more_than_it_knows(calls, monkeypatch):
    problem = posed(small_tally(3, sizes=(6, 4, 4), rows=120), k=5)
    least = prove(problem, np.zeros(problem.n_bits, np.uint8), seconds=60).nwp
    bound, left = proof._Tree._bound, iter(range(calls))

    def interrupted(self, status, **known):
        if next(left, None) is None:
            raise KeyboardInterrupt
        return bound(self, status, **known)

    monkeypatch.setattr(proof._Tree, "_bound", interrupted)
    known = prove(problem, np.zeros(problem.n_bits, np.uint8), seconds=60)
    assert known.lower_bound <= least + 1e-12
    assert known.nwp >= least - 1e-12


@pytest.mark.soak
@pytest.mark.skipif("TACIT_SOAK" not in os.environ, reason="minutes each")
@pytest.mark.slow
@pytest.mark.parametrize("k", sorted(LEAST_NWP | LARGER_PROOFS))
def test_nine_adult_attributes(k):
    problem = adult(k)
    start = search(problem, Preference(), EvolutionSettings(), np.random.default_rng(1))
    found = prove(problem, start.chromosome(0, problem.n_bits), seconds=600)
    assert found.is_proven
    assert found.nwp == pytest.approx((LEAST_NWP | LARGER_PROOFS)[k], abs=5e-9)


def test_nothing_is_proven_where_rows_may_be_suppressed():
    problem = posed(small_tally(0), k=3, suppress=0.1)
    with pytest.raises(InvalidInput, match="where rows may be suppressed, nothing is proven"):
        prove(problem, np.zeros(problem.n_bits, np.uint8), seconds=1)
