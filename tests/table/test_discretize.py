import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit.errors import InvalidInput
from tacit.schema import Cut
from tacit.table import equal_width, middle, quantiles

NUMBERS = st.lists(st.integers(-50, 50), min_size=2, max_size=60).filter(lambda values: len(set(values)) > 1)


def counts(cut: Cut, numbers) -> list[int]:
    codes = np.searchsorted(cut.edges, numbers, side=cut.side)
    return np.bincount(codes, minlength=len(cut.edges) + 1).tolist()


def test_equal_widths_run_from_the_least_to_the_greatest():
    assert equal_width(4)(np.array([0.0, 8.0, 3.0])).edges == (2.0, 4.0, 6.0)


def test_the_middle_is_that_of_the_range_and_belongs_to_the_chosen_side():
    numbers = np.array([1.0, 50.0, 50.0, 99.0])
    assert counts(middle()(numbers), numbers) == [3, 1]
    assert counts(middle(closed="left")(numbers), numbers) == [1, 3]


@pytest.mark.parametrize("closed", ["left", "right"])
def test_quantiles_hold_equally_many_numbers(closed):
    numbers = np.arange(12.0)
    assert counts(quantiles(4, closed=closed)(numbers), numbers) == [3, 3, 3, 3]


@pytest.mark.parametrize("closed", ["left", "right"])
@pytest.mark.parametrize("numbers", [[0, 1, 1, 1, 1], [0, 0, 0, 0, 1], [0, 9, 10, 10, 10, 10], [0, 0, 0, 0, 1, 9]])
def test_ties_never_leave_an_interval_empty(numbers, closed):
    numbers = np.array(numbers, dtype=np.float64)
    assert min(counts(quantiles(3, closed=closed)(numbers), numbers)) > 0


@given(NUMBERS, st.integers(2, 8), st.sampled_from(["left", "right"]))
def test_quantile_intervals_are_never_empty(values, intervals, closed):
    numbers = np.array(values, dtype=np.float64)
    cut = quantiles(intervals, closed=closed)(numbers)
    assert min(counts(cut, numbers)) > 0
    assert len(cut.edges) < intervals


@given(NUMBERS, st.integers(2, 8))
def test_quantiles_closed_on_the_left_mirror_those_closed_on_the_right(values, intervals):
    numbers = np.array(values, dtype=np.float64)
    left, right = quantiles(intervals, closed="left")(numbers), quantiles(intervals)(-numbers)
    assert counts(left, numbers) == counts(right, -numbers)[::-1]


@pytest.mark.parametrize("intervals", [1, 0, 2.5])
@pytest.mark.parametrize("rule", [equal_width, quantiles])
def test_fewer_than_two_intervals_are_refused(rule, intervals):
    with pytest.raises(InvalidInput, match=f"at least 2 intervals, not {intervals}"):
        rule(intervals)


@pytest.mark.parametrize("rule", [equal_width(3), quantiles(3), middle()])
@pytest.mark.parametrize(
    ("numbers", "message"),
    [
        ([], "There are no numbers"),
        ([7.0, 7.0], "All numbers are 7: there is nothing to cut"),
        ([1.0, np.nan], "all of them are finite"),
        ([1.0, np.inf], "all of them are finite"),
    ],
)
def test_numbers_without_a_range_are_refused(rule, numbers, message):
    with pytest.raises(InvalidInput, match=message):
        rule(np.array(numbers, dtype=np.float64))
