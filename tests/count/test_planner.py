from __future__ import annotations

import itertools
import math
import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit.count.planner import COVER_CELLS, block_covers, covers, margin

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


def yes_no(columns: int) -> dict[str, int]:
    return {f"q{i}": 2 for i in range(columns)}


@given(
    st.lists(st.sets(st.sampled_from(sorted(SIZES)), max_size=4).map(sorted), min_size=1, max_size=20),
    st.sampled_from([100, 1000, COVER_CELLS]),
)
def test_covers_made_of_blocks_hold_every_wanted_set(wanted: list[list[str]], cells: int) -> None:
    found = block_covers(wanted, SIZES, cells)
    assert sorted(i for cover in found for i in cover.wanted) == list(range(len(wanted)))
    for cover in found:
        assert all(set(wanted[i]) <= set(cover.columns) for i in cover.wanted)
        largest = max(math.prod(SIZES[name] for name in wanted[i]) for i in cover.wanted)
        assert math.prod(SIZES[name] for name in cover.columns) <= max(cells, largest)


def test_all_pairs_of_two_hundred_questions_are_planned_in_a_moment() -> None:
    sizes = yes_no(200)
    wanted = list(itertools.combinations(sizes, 2))
    started = time.process_time()
    found = covers(wanted, sizes)
    assert time.process_time() - started < 1
    # Sixteen questions make 65,536 cells and 120 pairs; 166 such covers would be the very least.
    assert len(found) <= 330


def test_planning_grows_with_the_number_of_tables_and_hardly_faster() -> None:
    def seconds(columns: int) -> float:
        sizes = yes_no(columns)
        wanted = list(itertools.combinations(sizes, 2))
        started = time.process_time()
        covers(wanted, sizes)
        return time.process_time() - started

    seconds(100)
    assert seconds(400) < 40 * max(min(seconds(100) for _ in range(3)), 0.005)  # sixteen times as many tables
