from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from tacit.publish.problem import NECD, NWP, SMALLEST, STRENGTH, SUPPRESSED, Diversity, pose
from tacit.publish.tally import tally_rows
from tests.publish.small import (
    attribute,
    every_chromosome,
    is_diverse,
    plain_classes,
    plain_nwp,
    plain_penalties,
    posed,
    small_tally,
)


@pytest.mark.parametrize("seed", range(3))
def test_measures_are_those_of_the_definition(seed):
    problem = posed(small_tally(seed), k=3)
    chromosomes = list(every_chromosome(problem))
    for bits, measures in zip(chromosomes, problem.measure(np.array(chromosomes)), strict=True):
        sizes = [answers.total() for answers in plain_classes(problem.tally, bits).values()]
        assert measures[NWP] == pytest.approx(plain_nwp(problem, bits), abs=1e-12)
        assert measures[SMALLEST] == min(sizes)
        assert measures[NECD] == pytest.approx((max(sizes) - min(sizes)) / (problem.rows - 1))
        assert min(measures[STRENGTH], 3) == min(min(sizes), 3)
        assert measures[SUPPRESSED] == 0


def test_hashed_and_dense_counting_agree():
    """Sixty answers each: with many cuts the cells no longer fit a table and are hashed."""
    rng = np.random.default_rng(5)
    attributes = tuple(attribute(name, 60) for name in "abcd")
    tally = tally_rows(attributes, rng.integers(0, 60, (3000, 4)), np.ones(3000, np.int64))
    problem = pose(tally, 2, np.full(4, 0.25))
    for density in (0.02, 0.3, 1.0):
        bits = (rng.random(problem.n_bits) < density).astype(np.uint8)
        sizes = [answers.total() for answers in plain_classes(tally, bits).values()]
        measures = problem.measure(bits[None])[0]
        assert measures[SMALLEST] == min(sizes)
        assert measures[NECD] == pytest.approx((max(sizes) - min(sizes)) / 2999)


def test_suppressed_rows_lose_everything():
    problem = posed(small_tally(1), k=4, suppress=0.2)
    chromosomes = list(every_chromosome(problem))
    feasible = 0
    for bits, measures in zip(chromosomes, problem.measure(np.array(chromosomes)), strict=True):
        blocks = plain_classes(problem.tally, bits)
        gone = sum(answers.total() for answers in blocks.values() if answers.total() < 4)
        assert (measures[STRENGTH] >= 4) == (gone <= 0.2 * problem.rows)
        if 0 < gone <= 0.2 * problem.rows:
            feasible += 1
            assert measures[SUPPRESSED] == gone
            assert measures[SMALLEST] >= 4
            assert measures[NWP] == pytest.approx(_nwp_with_suppression(problem, bits, 4))
    assert feasible > 5


def _nwp_with_suppression(problem, bits, k):
    sizes = Counter()
    from tests.publish.small import plain_blocks

    blocks = plain_blocks(problem.tally, bits)
    keys = [tuple(own[c] for own, c in zip(blocks, row, strict=True)) for row in problem.tally.codes]
    for key, count in zip(keys, problem.tally.counts, strict=True):
        sizes[key] += int(count)
    penalties = [
        1.0 if sizes[key] < k else penalty for key, penalty in zip(keys, plain_penalties(problem, bits), strict=True)
    ]
    return np.average(penalties, weights=problem.tally.counts)


@pytest.mark.parametrize(
    "diversity", [Diversity(l=2), Diversity(l=2.2, entropy=True), Diversity(t=0.3), Diversity(l=2, t=0.4)]
)
def test_diversity_is_that_of_the_definition(diversity):
    problem = posed(small_tally(2, sensitive=3), k=3, diversity=diversity)
    whole = Counter()
    for secret, count in zip(problem.tally.sensitive_codes, problem.tally.counts, strict=True):
        whole[tuple(secret)] += int(count)
    verdicts = set()
    chromosomes = list(every_chromosome(problem))
    for bits, measures in zip(chromosomes, problem.measure(np.array(chromosomes)), strict=True):
        classes = plain_classes(problem.tally, bits).values()
        expected = all(answers.total() >= 3 and is_diverse(answers, whole, diversity) for answers in classes)
        assert (measures[STRENGTH] >= 3) == expected
        verdicts.add(expected)
    assert verdicts == {True, False}


def test_several_sets_are_judged_apart():
    problem = posed(small_tally(3, sets=((0, 1), (1, 2))), k=3)
    chromosomes = list(every_chromosome(problem))
    for bits, measures in zip(chromosomes, problem.measure(np.array(chromosomes)), strict=True):
        sizes = [
            answers.total()
            for members in problem.tally.sets
            for answers in plain_classes(problem.tally, bits, members).values()
        ]
        assert measures[SMALLEST] == min(sizes)


def test_too_many_combinations_are_not_searched():
    for attributes, can_be_searched in ((12, True), (24, False)):
        posed_attributes = tuple(attribute(f"x{j}", 50) for j in range(attributes))
        tally = tally_rows(posed_attributes, np.zeros((1, attributes), np.int64), np.ones(1, np.int64))
        assert pose(tally, 1, np.full(attributes, 1 / attributes)).can_be_searched == can_be_searched
