from __future__ import annotations

import os
from dataclasses import replace

import numpy as np
import pytest

from tacit.publish import suppression_proof
from tacit.publish._proof_kernels import FORCED, OPEN
from tacit.publish.achievement import Preference
from tacit.publish.problem import NWP, STRENGTH, Diversity, pose
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


def random_weights(problem, rng):
    """The problem with other weights; one attribute may weigh nothing."""
    weights = rng.choice([0.0, 1.0, 2.0, 5.0], len(problem.weights)) + np.eye(1, len(problem.weights))[0]
    weights /= weights.sum()
    return pose(
        problem.tally,
        problem.k,
        weights,
        suppress=float(rng.uniform(0.01, 0.3)),
        diversity=Diversity(l=2) if problem.tally.sensitive else None,
    )


@pytest.mark.soak
@pytest.mark.skipif("TACIT_SOAK" not in os.environ, reason="minutes")
@pytest.mark.slow
def test_two_thousand_random_tables_with_random_weights_are_proven_as_by_trying_everything():
    for seed in range(10_000, 12_000):
        problem = random_weights(random_problem(seed), np.random.default_rng(seed))
        known = prove(problem, np.zeros(problem.n_bits, np.uint8), seconds=60)
        assert known.is_proven, seed
        assert known.nwp == pytest.approx(brute_force(problem), abs=1e-11), seed


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


def random_node(problem, tree, rng, bits):
    """A node with stretches of cuts of two attributes, of which one cut is made or none is, and which releases are in it."""
    first_bit = problem.space.first_bit
    node, inside = tree.root(), np.ones(len(bits), np.bool_)
    for j in rng.permutation(len(problem.weights))[:2]:
        cuts = int(first_bit[j + 1] - first_bit[j])
        first = int(rng.integers(1, cuts + 1))
        last = int(rng.integers(first, cuts + 1))
        made = bits[:, first_bit[j] + first - 1 : first_bit[j] + last].any(axis=1)
        if rng.random() < 0.7:
            node, inside = suppression_proof.with_some(tree.instance, node, j, first, last), inside & made
        else:
            node, inside = suppression_proof.with_none(tree.instance, node, j, first, last), inside & ~made
    return node, inside


def bounds_and_least(seed: int, *, nodes: int, central: bool, claimed_k: int = 0):
    """Bounds of random nodes of a random table, each with the least loss of all releases in the node."""
    problem = random_problem(seed)
    bits = np.array(list(every_chromosome(problem)))
    measures = problem.measure(bits)
    posed_as = replace(problem, demand=problem.demand._replace(k=problem.k + claimed_k))
    tree = suppression_proof.SuppressionTree(posed_as, np.zeros(problem.n_bits, np.uint8))
    tree._target = np.inf
    rng = np.random.default_rng(seed)
    for _ in range(nodes):
        node, inside = random_node(problem, tree, rng, bits)
        tree._shares = rng.dirichlet(np.full(len(problem.weights), 0.5), len(tree.instance.counts))
        middle = int(rng.integers(len(problem.weights))) if central else None
        bound = tree.bound(node, rounds=int(rng.integers(1, 7)), central=middle)
        yield bound, measures[inside & (measures[:, STRENGTH] >= problem.k), NWP].min(initial=np.inf)


@pytest.mark.parametrize("central", [False, True], ids=["each attribute by itself", "within the blocks of one"])
def test_the_bound_of_a_node_is_below_every_release_in_it(central):
    """Three hundred random nodes of a hundred random tables, random shares; some bounds are sharp, so none may be 1% higher."""
    pairs = [pair for seed in range(2_000, 2_100) for pair in bounds_and_least(seed, nodes=3, central=central)]
    bound, least = np.array(pairs).T
    assert (bound <= least + 1e-12).all()
    assert (1.01 * bound > least + 1e-12).any()


def test_a_bound_that_suppressed_one_row_more_would_be_noticed():
    pairs = (
        pair for seed in range(2_000, 2_100) for pair in bounds_and_least(seed, nodes=3, central=True, claimed_k=1)
    )
    assert any(bound > least + 1e-9 for bound, least in pairs)


def central_bound(seed: int, rounds: int):
    """The bound of the root by one central attribute after so many rounds, with the shares it ends with."""
    problem = random_problem(seed)
    tree = suppression_proof.SuppressionTree(problem, np.zeros(problem.n_bits, np.uint8))
    tree._target = np.inf
    node, shares = tree.root(), tree._shares.copy()
    node[0][:] = np.random.default_rng(seed).choice([OPEN, FORCED], len(node[0]))  # else hardly a row is suppressed
    tree._bound(tree.instance, node, shares, 1)
    return tree._bound_by_blocks(tree.instance, node, shares, 0, rounds), shares


def test_moving_the_shares_within_central_blocks_raises_the_bound_and_shares_out_every_row_once():
    once, often = ([central_bound(seed, rounds) for seed in range(3_000, 3_060) if seed % 4 != 3] for rounds in (1, 6))
    gains = np.array([after - before for (before, _), (after, _) in zip(once, often, strict=True)])
    assert (gains > -1e-12).all()
    assert (gains > 1e-4).sum() >= 10
    for _, shares in often:
        assert (shares >= 0).all()
        np.testing.assert_allclose(shares.sum(axis=1), 1)


@pytest.mark.slow
def test_a_hundred_nodes_bound_adult_with_4_percent_suppressed_better_than_attributes_each_by_themselves_did():
    """That bound was 0.055 after 150 nodes."""
    problem = adult(5, suppress=0.04)
    start = search(problem, Preference(), EvolutionSettings(5_000), np.random.default_rng(3))
    known = prove(problem, start.chromosome(0, problem.n_bits), seconds=60, nodes=100)
    assert 0.06 < known.lower_bound < known.nwp < 0.2
