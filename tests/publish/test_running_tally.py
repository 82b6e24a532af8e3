"""A tally added up batch by batch is that of the whole table, by keys and by columns of codes."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest

from tacit.errors import InvalidInput
from tacit.publish import running_tally as module
from tacit.publish.running_tally import _ByCodes, _ByKeys, running_tally

SIZES = (7, 5, 30)


def rows(number: int, seed: int = 3) -> np.ndarray:
    return (np.random.default_rng(seed).random((number, 3)) ** 2 * SIZES).astype(np.uint8)


@pytest.mark.parametrize("kind", [_ByKeys, _ByCodes])
def test_batches_count_as_one_table(kind, monkeypatch):
    monkeypatch.setattr(module, "WAITING", 100)
    whole, tally = rows(5_000), kind(SIZES)
    for start in range(0, 5_000, 61):
        tally.add(list(whole[start : start + 61].T))
    codes, counts = tally.counted()
    expected, times = np.unique(whole, axis=0, return_counts=True)
    assert codes.tolist() == expected.tolist()
    assert counts.tolist() == times.tolist()
    assert (codes.dtype, counts.dtype) == (np.int16, np.int64)


@pytest.mark.parametrize("sizes", [(3, 4), (1_000,) * 30])
def test_nothing_is_refused_and_the_way_fits_the_size(sizes):
    tally = running_tally(sizes)
    assert isinstance(tally, _ByKeys if len(sizes) == 2 else _ByCodes)
    with pytest.raises(InvalidInput, match="no rows"):
        tally.counted()


@pytest.mark.parametrize("kind", [_ByKeys, _ByCodes])
def test_rows_that_are_alike_take_no_memory(kind, monkeypatch):
    monkeypatch.setattr(module, "WAITING", 2_000)
    part = list(rows(1_000).T)

    def peak(batches: int) -> int:
        tally = kind(SIZES)
        tracemalloc.start()
        for _ in range(batches):
            tally.add(part)
        tally.counted()
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return most

    assert peak(200) < peak(20) * 1.1


def test_codes_take_two_bytes_where_these_hold_them_and_four_beyond():
    narrow, wide = running_tally([2**15, 3]), running_tally([2**15 + 1, 3])
    narrow.add([np.array([2**15 - 1, 0]), np.array([2, 1])])
    wide.add([np.array([2**15, 0]), np.array([2, 1])])
    assert narrow.counted()[0].tolist() == [[0, 1], [2**15 - 1, 2]]
    assert wide.counted()[0].tolist() == [[0, 1], [2**15, 2]]
