"""No local recoding loses less than the bound, by trying all of them and by what is found."""

from __future__ import annotations

import numpy as np
import pytest

from tacit.publish.local import recode_locally
from tacit.publish.local_bound import least_local_loss
from tacit.publish.recoding import recode_by_classes
from tests.publish.small import posed, small_tally
from tests.publish.test_anonymization import people
from tests.publish.wishes import anonymize


def classes_of_rows(rows: int, k: int):
    """Every way to put rows into classes of at least k."""
    return (classes for classes in _partitions(rows) if all(len(own) >= k for own in classes))


def _partitions(rows: int):
    if rows == 0:
        yield []
        return
    for smaller in _partitions(rows - 1):
        for place in range(len(smaller)):
            yield [*smaller[:place], [*smaller[place], rows - 1], *smaller[place + 1 :]]
        yield [*smaller, [rows - 1]]


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("k", [2, 3])
def test_no_way_to_form_classes_loses_less(seed, k):
    tally = small_tally(seed, sizes=(5, 4, 3), rows=8)
    problem = posed(tally, k=k)
    codes = np.repeat(tally.codes, tally.counts, axis=0)
    scale = problem.weights / (tally.sizes - 1)
    least = min(
        sum(len(own) * ((codes[own].max(axis=0) - codes[own].min(axis=0)) @ scale) for own in classes) / 8
        for classes in classes_of_rows(8, k)
    )
    bound = least_local_loss(tally, problem, k, seconds=10)
    distances = np.abs((codes[:, None] - codes[None]) * scale).sum(axis=2)
    assert bound == pytest.approx(np.sort(distances, axis=1)[:, k - 1].mean())  # as it is defined
    assert bound <= least + 1e-12


@pytest.mark.parametrize("suppress", [0.0, 0.1])
def test_what_is_found_is_above_it_and_not_far(suppress):
    tally = small_tally(1, sizes=(12, 8, 6), rows=600)
    problem = posed(tally, k=5, suppress=suppress)
    recoding = recode_by_classes(tally, recode_locally(problem).classes)
    bound = least_local_loss(tally, problem, 5, seconds=10)
    assert 0 < bound <= float(recoding.losses() @ problem.weights) < 4 * bound


def test_rows_that_are_not_reached_count_nothing():
    tally = small_tally(1, sizes=(12, 8, 6), rows=600)
    problem = posed(tally, k=20)
    few, more = (least_local_loss(tally, problem, 20, seconds=10, nodes=nodes) for nodes in (3, 30))
    assert 0 < few < more <= least_local_loss(tally, problem, 20, seconds=10)


def test_a_local_release_says_its_bound_and_hierarchies_and_sets_ask_for_less():
    release = anonymize(people(), 6, ["age", "town"], method="local", prove=True)
    assert 0 < release.lower_bound <= release.nwp
    assert f"at least {release.lower_bound:.1%} has to be" in release.describe()
    assert anonymize(people(), 6, [["age"], ["town"]], method="local", prove=True).lower_bound is None
    assert anonymize(people(), 6, ["age", "town"], method="local").lower_bound is None
