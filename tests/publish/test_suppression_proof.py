from __future__ import annotations

import numpy as np
import pytest

from tacit.publish import suppression_proof
from tacit.publish.achievement import Preference
from tacit.publish.problem import NWP, STRENGTH, Diversity
from tacit.publish.proof import prove
from tacit.publish.search import EvolutionSettings, search
from tests.publish.small import every_chromosome, posed, small_tally
from tests.publish.test_proof import adult, brute_force


def random_problem(seed: int):
    """A small table and how much of it may be suppressed; every fourth one asks for l too."""
    rng = np.random.default_rng(seed)
    sizes = [int(size) for size in rng.integers(2, 6, rng.integers(2, 5))]
    while sum(sizes) - len(sizes) > 9:
        sizes.pop()
    asks_l = seed % 4 == 3
    tally = small_tally(seed + 9_000, tuple(sizes), int(rng.integers(50, 300)), sensitive=3 if asks_l else 0)
    demands = {"diversity": Diversity(l=2)} if asks_l else {}
    return posed(tally, k=int(rng.integers(2, 9)), suppress=float(rng.choice([0.02, 0.05, 0.1, 0.2, 0.4])), **demands)


@pytest.mark.parametrize("first", range(1_000, 1_200, 50))
def test_fifty_random_tables_are_proven_as_by_trying_everything_and_bounded_truly_at_any_node(first):
    for seed in range(first, first + 50):
        problem = random_problem(seed)
        least, start = brute_force(problem), np.zeros(problem.n_bits, np.uint8)
        known = prove(problem, start, seconds=60)
        assert known.is_proven, seed
        assert known.nwp == pytest.approx(least, abs=1e-12), seed
        for nodes in (1, 3, 7):
            assert prove(problem, start, seconds=60, nodes=nodes).lower_bound <= least + 1e-12, seed


@pytest.mark.parametrize("seed", range(12))
def test_the_bound_of_a_node_is_below_every_release_in_it(seed):
    """Nodes with a stretch of cuts of which one is made, and a cut that is not, against all releases like that."""
    problem = random_problem(4 * seed)
    tree = suppression_proof.SuppressionTree(problem, np.zeros(problem.n_bits, np.uint8))
    rng = np.random.default_rng(seed)
    bits = np.array(list(every_chromosome(problem)))
    measures = problem.measure(bits)
    first_bit = problem.space.first_bit
    for _ in range(8):
        node, fits = tree.root(), measures[:, STRENGTH] >= problem.k
        for j in rng.permutation(len(problem.weights))[:2]:
            cuts = int(first_bit[j + 1] - first_bit[j])
            first = int(rng.integers(1, cuts + 1))
            last = int(rng.integers(first, cuts + 1))
            made = bits[:, first_bit[j] + first - 1 : first_bit[j] + last].any(axis=1)
            if rng.random() < 0.7:
                node, fits = suppression_proof.with_some(tree.instance, node, j, first, last), fits & made
            else:
                node, fits = suppression_proof.with_none(tree.instance, node, j, first, last), fits & ~made
        least = measures[fits, NWP].min(initial=np.inf)
        assert tree.bound(node, rounds=6) <= least + 1e-12


@pytest.mark.slow
def test_a_hundred_nodes_bound_adult_with_4_percent_suppressed_better_than_rows_counted_once_per_attribute_did():
    """That bound was 0.041 after 40 CPU seconds."""
    problem = adult(5, suppress=0.04)
    start = search(problem, Preference(), EvolutionSettings(5_000), np.random.default_rng(3))
    known = prove(problem, start.chromosome(0, problem.n_bits), seconds=60, nodes=150)
    assert 0.045 < known.lower_bound < known.nwp < 0.2
