from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit.count.planner import COVER_CELLS, covers, margin

SIZES = dict(zip("abcdefghi", (20, 7, 16, 7, 14, 5, 2, 41, 2), strict=True))


@given(st.lists(st.sets(st.sampled_from(sorted(SIZES)), max_size=5).map(sorted), max_size=20))
def test_every_wanted_set_lies_in_exactly_one_cover(wanted: list[list[str]]) -> None:
    found = covers(wanted, SIZES)
    assert sorted(i for cover in found for i in cover.wanted) == list(range(len(wanted)))
    for cover in found:
        assert all(set(wanted[i]) <= set(cover.columns) for i in cover.wanted)


@given(st.lists(st.sets(st.sampled_from(sorted(SIZES)), min_size=1, max_size=5).map(sorted), max_size=20))
def test_a_cover_outgrows_the_limit_only_where_a_wanted_set_does(wanted: list[list[str]]) -> None:
    for cover in covers(wanted, SIZES):
        largest = max(math.prod(SIZES[name] for name in wanted[i]) for i in cover.wanted)
        assert math.prod(SIZES[name] for name in cover.columns) <= max(COVER_CELLS, largest)


@pytest.mark.parametrize(("way", "passes"), [(1, 2), (2, 6), (3, 14)])
def test_few_passes_answer_all_small_tallies(way: int, passes: int) -> None:
    assert len(covers(list(itertools.combinations(SIZES, way)), SIZES)) <= passes


def test_a_margin_keeps_the_wanted_order() -> None:
    counts = np.arange(24).reshape(2, 3, 4)
    np.testing.assert_array_equal(margin(counts, "abc", ["c", "a"]), counts.sum(axis=1).T)
