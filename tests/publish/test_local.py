from __future__ import annotations

import numpy as np
import pytest

from tacit.publish import local
from tacit.publish._local_kernels import best_cut
from tacit.publish.local import recode_locally, tight_boxes
from tests.publish.small import posed, small_tally


def nwp(problem, classes) -> float:
    low, high = tight_boxes(problem.tally.codes, classes)
    share = ((high - low)[classes] / (problem.tally.sizes - 1)) @ problem.weights
    return float(np.average(share, weights=problem.tally.counts))


@pytest.mark.parametrize("seed", range(4))
def test_boxes_are_disjoint_and_large_enough(seed):
    problem = posed(small_tally(seed, sizes=(9, 6, 5), rows=500), k=7)
    classes = recode_locally(problem).classes
    low, high = tight_boxes(problem.tally.codes, classes)
    assert np.bincount(classes, problem.tally.counts).min() >= 7
    for a in range(len(low)):
        overlaps = ((low <= high[a]) & (high >= low[a])).all(axis=1)
        assert overlaps.sum() == 1


def test_piloting_loses_less_than_greedy_cutting():
    problem = posed(small_tally(1, sizes=(9, 6, 5), rows=500), k=7)
    assert nwp(problem, recode_locally(problem, pilots=8).classes) < nwp(
        problem, recode_locally(problem, pilots=1).classes
    )


def test_nothing_can_be_cut_below_two_k():
    problem = posed(small_tally(1, rows=60), k=31)
    assert set(recode_locally(problem).classes) == {0}


@pytest.mark.parametrize("cuts", [0, 1, 7, 30])
def test_an_interruption_leaves_publishable_boxes(cuts, monkeypatch):
    problem = posed(small_tally(1, sizes=(9, 6, 5), rows=500), k=7)
    left = iter(range(cuts))

    def cut_some(*arguments):
        if next(left, None) is None:
            raise KeyboardInterrupt
        return best_cut(*arguments)

    monkeypatch.setattr(local, "best_cut", cut_some)
    found = recode_locally(problem)
    assert not found.complete
    assert set(found.classes) == set(range(found.classes.max() + 1))
    assert np.bincount(found.classes, problem.tally.counts).min() >= 7
    assert (found.classes.max() > 0) == (cuts > 0)
